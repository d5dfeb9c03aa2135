//! `grpc.health.v1`, following readiness.
//!
//! `liveness` is SERVING from the first moment to the last. `startup` becomes SERVING with
//! the first readiness and stays so. `""`, `readiness` and every service of ours are SERVING
//! while nothing blocks and the server does not drain.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response};
use tonic::body::Body;
use tonic::service::Routes;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};
use tower::ServiceExt;

use super::SERVICES;
use super::edge::complete_head;
use crate::lifecycle::{Phase, Readiness, State};

/// The health service alone, for another listener. Cheap to clone.
#[derive(Clone)]
pub struct HealthDoor(Routes);

impl HealthDoor {
    /// A health service that follows readiness from now on.
    pub async fn open(readiness: &Readiness) -> Self {
        Self(Routes::new(service(readiness).await).prepare())
    }

    /// Answers one call.
    pub async fn handle<B>(self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let answered: Result<_, Infallible> = self.0.oneshot(request.map(Body::new)).await;
        match answered {
            Ok(response) => complete_head(response),
            Err(never) => match never {},
        }
    }
}

/// The health service, NOT_SERVING where it has to be from the beginning, and a task that
/// keeps it so.
pub(super) async fn service(readiness: &Readiness) -> HealthServer<HealthService> {
    let reporter = HealthReporter::new();
    reporter
        .set_service_status("liveness", ServingStatus::Serving)
        .await;
    reporter
        .set_service_status("startup", ServingStatus::NotServing)
        .await;
    tell(&reporter, &readiness.state()).await;
    let mut states = readiness.follow();
    let follower = reporter.clone();
    tokio::spawn(async move {
        while states.changed().await.is_ok() {
            let state = states.borrow_and_update().clone();
            tell(&follower, &state).await;
        }
    });
    HealthServer::new(HealthService::from_health_reporter(reporter))
}

async fn tell(reporter: &HealthReporter, state: &State) {
    let ready = state.is_ready();
    let status = if ready {
        ServingStatus::Serving
    } else {
        ServingStatus::NotServing
    };
    for name in ["", "readiness"].into_iter().chain(SERVICES) {
        reporter.set_service_status(name, status).await;
    }
    if state.has(Phase::Started) {
        reporter
            .set_service_status("startup", ServingStatus::Serving)
            .await;
    }
}
