//! The operator's listener: health for the kubelet, metrics for Prometheus, on a port of their
//! own, so that neither needs the way in that callers have.
//!
//! It is served from before the catalogue is read until the process ends, and shows nothing
//! that callers have sent. HTTP/2 with gRPC is `grpc.health.v1`; over HTTP/1.1 or HTTP/2 there
//! are `/metrics`, and `/livez`, `/readyz` and `/startupz` for those who cannot ask by gRPC.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::config::AdminDoor;
use crate::grpc::HealthDoor;
use crate::lifecycle::{Phase, Readiness};
use crate::telemetry::Telemetry;

/// Connections open at once: a kubelet and a few scrapers need less.
const MAX_CONNECTIONS: usize = 64;

/// Streams of one connection.
const MAX_STREAMS: u32 = 64;

/// A connection that sends no request, or answers no ping, for this long is closed.
const PATIENCE: Duration = Duration::from_secs(30);

/// Content type of Prometheus' text format.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

type Error = Box<dyn std::error::Error + Send + Sync>;
type Body = UnsyncBoxBody<Bytes, Error>;

/// The bound listener.
#[derive(Debug)]
pub struct Admin(TcpListener);

/// What the listener shows. Cheap to clone.
#[derive(Clone)]
pub struct Shown {
    /// Health by gRPC.
    pub health: HealthDoor,
    /// Health by HTTP.
    pub readiness: Arc<Readiness>,
    /// The metrics.
    pub telemetry: Telemetry,
}

impl Admin {
    /// Binds what is wanted.
    ///
    /// # Errors
    ///
    /// An address that was asked for and cannot be had.
    pub async fn bind(door: AdminDoor) -> io::Result<Option<Self>> {
        let (address, needed) = match door {
            AdminDoor::Closed => return Ok(None),
            AdminDoor::IfFree(address) => (address, false),
            AdminDoor::At(address) => (address, true),
        };
        match TcpListener::bind(address).await {
            Ok(listener) => Ok(Some(Self(listener))),
            Err(error) if needed => Err(io::Error::new(
                error.kind(),
                format!("admin.listen: cannot listen on {address}: {error}"),
            )),
            Err(error) => {
                tracing::warn!(%address, %error, "no admin listener; admin.listen names another");
                Ok(None)
            }
        }
    }

    /// Where it listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.0.local_addr().ok()
    }

    /// Serves until it is dropped.
    pub async fn serve(self, shown: Shown) {
        let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let http = http();
        loop {
            // Waits for room instead of closing: whoever scrapes comes back at once anyway.
            let Ok(permit) = room.clone().acquire_owned().await else {
                return;
            };
            match self.0.accept().await {
                Ok((stream, _)) => {
                    let connection = connection(http.clone(), stream, shown.clone());
                    tokio::spawn(async move {
                        connection.await;
                        drop(permit);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "an admin connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
    }
}

fn http() -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE);
    http.http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .keep_alive_interval(PATIENCE)
        .keep_alive_timeout(PATIENCE);
    http
}

async fn connection(http: auto::Builder<TokioExecutor>, stream: TcpStream, shown: Shown) {
    let service = hyper::service::service_fn(move |request| {
        let shown = shown.clone();
        async move { Ok::<_, Infallible>(shown.answer(request).await) }
    });
    if let Err(error) = http.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "an admin connection ended early");
    }
}

impl Shown {
    async fn answer(self, request: Request<Incoming>) -> Response<Body> {
        let is_grpc = request
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
        if is_grpc {
            let response = self.health.handle(request).await;
            return response.map(|body| body.map_err(Error::from).boxed_unsync());
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut refused = text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n".into());
            let methods = http::HeaderValue::from_static("GET, HEAD");
            refused.headers_mut().insert(ALLOW, methods);
            return refused;
        }
        match request.uri().path() {
            "/metrics" => self.metrics().await,
            "/livez" => self.phase(Phase::Alive),
            "/readyz" => self.phase(Phase::Ready),
            "/startupz" => self.phase(Phase::Started),
            "/" => text(
                StatusCode::OK,
                format!(
                    "signalbox {}\n/metrics\n/livez\n/readyz\n/startupz\ngrpc.health.v1.Health\n",
                    env!("CARGO_PKG_VERSION")
                ),
            ),
            _ => text(StatusCode::NOT_FOUND, "not here; see /\n".into()),
        }
    }

    async fn metrics(self) -> Response<Body> {
        let rendered = tokio::task::spawn_blocking(move || self.telemetry.render()).await;
        let problem = match rendered {
            Ok(Ok(metrics)) => {
                let mut response = text(StatusCode::OK, metrics);
                let kind = http::HeaderValue::from_static(METRICS_TYPE);
                response.headers_mut().insert(CONTENT_TYPE, kind);
                return response;
            }
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        tracing::error!(problem, "the metrics could not be shown");
        text(StatusCode::INTERNAL_SERVER_ERROR, "see the log\n".into())
    }

    fn phase(&self, phase: Phase) -> Response<Body> {
        let state = self.readiness.state();
        if state.has(phase) {
            return text(StatusCode::OK, "ok\n".into());
        }
        let mut missing: Vec<&str> = state.blockers.iter().map(|each| each.as_str()).collect();
        if state.draining {
            missing.push("draining");
        }
        let message = format!("waiting for: {}\n", missing.join(", "));
        text(StatusCode::SERVICE_UNAVAILABLE, message)
    }
}

fn text(status: StatusCode, text: String) -> Response<Body> {
    let body = Full::new(Bytes::from(text)).map_err(|never| match never {});
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = status;
    let kind = http::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
