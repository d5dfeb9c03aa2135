//! What every call passes before it reaches a service: admission, its deadline, and a
//! status that says why whatever happened.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, Request, Response};
use http_body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::body::Body;
use tonic::service::Routes;
use tower::ServiceExt;
use tracing::Instrument;

use super::error::{CALL_FAILED, Fault, Reason, complete};
use super::told;
use crate::config::LimitsConfig;
use crate::telemetry::{Call, CallCount, Methods};

/// Header of the caller's deadline.
const TIMEOUT_HEADER: &str = "grpc-timeout";

/// Calls that stay open for long; they are counted apart, so that they never take the room
/// of short ones.
const LONG_CALLS: [&str; 4] = [
    "/signalbox.v1.CatalogService/WatchCatalog",
    "/signalbox.v1.JournalService/StreamEvents",
    "/signalbox.v1.LoopService/HydrateContext",
    "/signalbox.v1.LoopService/RunLoop",
];

/// Services that an overloaded server still answers.
const ALWAYS_ADMITTED: [&str; 2] = ["/grpc.health.v1.", "/grpc.reflection."];

/// How long the streams of those services may go on after the drain has begun: long enough
/// for a watcher to be told NOT_SERVING.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The services behind admission and deadlines. Cheap to clone.
#[derive(Clone)]
pub struct Edge {
    routes: Routes,
    short: Arc<Semaphore>,
    long: Arc<Semaphore>,
    max_in_flight: usize,
    max_streams: usize,
    draining: CancellationToken,
    methods: Methods,
}

impl Edge {
    /// Puts the services behind the limits.
    pub fn new(routes: Routes, limits: &LimitsConfig, draining: CancellationToken) -> Self {
        told::expect_reasons();
        Self {
            routes: routes.prepare(),
            short: Arc::new(Semaphore::new(limits.max_in_flight)),
            long: Arc::new(Semaphore::new(limits.max_streams)),
            max_in_flight: limits.max_in_flight,
            max_streams: limits.max_streams,
            draining,
            methods: told::methods(|path| !is_always_admitted(path)),
        }
    }

    /// Calls in flight and their limits.
    pub fn counts(&self) -> [CallCount; 2] {
        let count = |kind, permits: &Semaphore, limit: usize| CallCount {
            kind,
            in_flight: limit.saturating_sub(permits.available_permits()),
            limit,
        };
        [
            count("calls", &self.short, self.max_in_flight),
            count("streams", &self.long, self.max_streams),
        ]
    }

    /// Answers one call. Never fails: what goes wrong is a status.
    pub async fn handle<B>(self, request: Request<B>) -> Result<Response<Body>, Infallible>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let path = request.uri().path();
        let call = Call::begin(&self.methods.of(path), path, request.headers());
        let span = call.span().clone();
        let response = self.answer(request).instrument(span).await;
        Ok(told::follow(response, call))
    }

    async fn answer<B>(self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let deadline = deadline_of(request.headers()).map(|timeout| Instant::now() + timeout);
        // Our own streams say goodbye themselves; those of the libraries never end.
        let endless = is_always_admitted(request.uri().path());
        let draining = endless.then(|| self.draining.clone());
        let permit = match self.admit(request.uri().path()) {
            Ok(permit) => permit,
            Err(fault) => return Status::from(fault).into_http(),
        };
        let call = AssertUnwindSafe(self.routes.oneshot(request.map(Body::new))).catch_unwind();
        let answered = match deadline {
            Some(deadline) => match tokio::time::timeout_at(deadline, call).await {
                Ok(answered) => answered,
                Err(_) => return deadline_exceeded().into_http(),
            },
            None => call.await,
        };
        let response = match answered {
            Ok(Ok(response)) => complete_head(response),
            Ok(Err(never)) => match never {},
            Err(_) => {
                return Status::from(Fault::new(Reason::Internal, CALL_FAILED)).into_http();
            }
        };
        response.map(|body| {
            let end = match (deadline, draining) {
                (None, None) => None,
                (deadline, draining) => Some(Box::pin(end_of(deadline, draining)) as End),
            };
            Body::new(Guarded {
                body,
                end,
                ended: false,
                _permit: permit,
            })
        })
    }

    fn admit(&self, path: &str) -> Result<Option<OwnedSemaphorePermit>, Fault> {
        if is_always_admitted(path) {
            return Ok(None);
        }
        let (permits, limit, what) = if LONG_CALLS.contains(&path) {
            (&self.long, self.max_streams, "streams")
        } else {
            (&self.short, self.max_in_flight, "calls")
        };
        permits.clone().try_acquire_owned().map(Some).map_err(|_| {
            Fault::new(
                Reason::Overloaded,
                format!("{limit} {what} are in flight already"),
            )
            .with("limit", limit)
            .with("what", what)
        })
    }
}

fn is_always_admitted(path: &str) -> bool {
    ALWAYS_ADMITTED
        .iter()
        .any(|prefix| path.starts_with(prefix))
}

/// Resolves with the status that a body has to end with, whatever its service does.
type End = Pin<Box<dyn Future<Output = Status> + Send>>;

async fn end_of(deadline: Option<Instant>, draining: Option<CancellationToken>) -> Status {
    let passed = async {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    };
    let drained = async {
        match draining {
            Some(draining) => {
                draining.cancelled().await;
                tokio::time::sleep(LAST_WORDS).await;
            }
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = passed => deadline_exceeded(),
        () = drained => Fault::new(Reason::Draining, "the server is shutting down").into(),
    }
}

fn deadline_exceeded() -> Status {
    Fault::new(
        Reason::DeadlineExceeded,
        "the deadline passed before the answer was ready",
    )
    .into()
}

/// A response whose head holds the status already, completed.
pub(super) fn complete_head(response: Response<Body>) -> Response<Body> {
    match Status::from_header_map(response.headers()) {
        Some(status) => complete(status).into_http(),
        None => response,
    }
}

/// Reads `grpc-timeout`: up to eight digits and a unit. One that cannot be read is none, as
/// the protocol says nothing else.
fn deadline_of(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(TIMEOUT_HEADER)?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 {
        return None;
    }
    let amount: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(amount * 3_600)),
        "M" => Some(Duration::from_secs(amount * 60)),
        "S" => Some(Duration::from_secs(amount)),
        "m" => Some(Duration::from_millis(amount)),
        "u" => Some(Duration::from_micros(amount)),
        "n" => Some(Duration::from_nanos(amount)),
        _ => None,
    }
}

/// A response body that holds its call's permit to the end, ends by itself when its time is
/// over, and whose closing status is complete.
struct Guarded {
    body: Body,
    end: Option<End>,
    ended: bool,
    _permit: Option<OwnedSemaphorePermit>,
}

impl http_body::Body for Guarded {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => Poll::Ready(Some(Ok(complete_trailers(frame)))),
            Poll::Ready(end) => {
                self.ended = true;
                Poll::Ready(end)
            }
            Poll::Pending => {
                let end = self.end.as_mut().map(|end| end.as_mut().poll(cx));
                let Some(Poll::Ready(status)) = end else {
                    return Poll::Pending;
                };
                self.ended = true;
                Poll::Ready(Some(Ok(Frame::trailers(trailers_of(&status)))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn complete_trailers(frame: Frame<Bytes>) -> Frame<Bytes> {
    match frame.into_trailers() {
        Ok(trailers) => match Status::from_header_map(&trailers) {
            Some(status) => Frame::trailers(trailers_of(&complete(status))),
            None => Frame::trailers(trailers),
        },
        Err(frame) => frame,
    }
}

fn trailers_of(status: &Status) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    if let Err(error) = status.add_header(&mut trailers) {
        tracing::error!(%error, "a status could not be written");
    }
    trailers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deadline(text: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(TIMEOUT_HEADER, text.parse().expect("header"));
        deadline_of(&headers)
    }

    #[test]
    fn deadlines_are_read_in_every_unit() {
        assert_eq!(deadline("2H"), Some(Duration::from_secs(7_200)));
        assert_eq!(deadline("3M"), Some(Duration::from_secs(180)));
        assert_eq!(deadline("4S"), Some(Duration::from_secs(4)));
        assert_eq!(deadline("5m"), Some(Duration::from_millis(5)));
        assert_eq!(deadline("6u"), Some(Duration::from_micros(6)));
        assert_eq!(
            deadline("99999999n"),
            Some(Duration::from_nanos(99_999_999))
        );
    }

    #[test]
    fn what_is_no_deadline_is_none() {
        for text in ["", "m", "5", "5x", "-5m", "123456789m", "1.5S", "5 m"] {
            assert_eq!(deadline(text), None, "{text:?}");
        }
    }
}
