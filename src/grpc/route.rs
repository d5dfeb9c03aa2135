//! `RouteService`.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures_util::FutureExt;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};
use tracing::Instrument;

use super::Domain;
use super::convert::{plan_to, request_from, result_to, stage_to, wants_full};
use super::error::{CALL_FAILED, Fault, Reason, status};
use super::pb::route_service_server::RouteService;
use super::pb::stream_route_response::Stage as PbStage;
use super::pb::{
    BatchRouteRequest, BatchRouteResponse, PlanRouteRequest, PlanRouteResponse, RouteRequest,
    RouteResponse, StreamRouteRequest, StreamRouteResponse,
};
use crate::embed::ModelState;
use crate::error::Violations;
use crate::journal::event::RouteDecided;
use crate::journal::routes::decided;
use crate::route::{self, Degradation, DegradedReason, RouteResult};
use crate::telemetry::{count, genai};

/// Messages of one StreamRoute: three stages and the decision.
const STAGES: usize = 4;

/// Implements the service.
pub(super) struct Service {
    domain: Domain,
}

impl Service {
    pub(super) fn new(domain: Domain) -> Self {
        Self { domain }
    }

    fn read(&self, message: RouteRequest, path: &str) -> Result<(route::Request, bool), Status> {
        let full = wants_full(message.view);
        let mut violations = Violations::default();
        let limit = self.domain.limits.max_prompt_bytes;
        let mut request = request_from(message, path, limit, &mut violations);
        violations.into_result().map_err(status)?;
        self.apply_preferences(&mut request);
        Ok((request, full))
    }

    fn apply_preferences(&self, request: &mut route::Request) {
        request.preferences = self.domain.preferences.effective(&request.owner);
    }
}

#[tonic::async_trait]
impl RouteService for Service {
    async fn route(
        &self,
        request: Request<RouteRequest>,
    ) -> Result<Response<RouteResponse>, Status> {
        let (request, full) = self.read(request.into_inner(), "")?;
        let span = genai::retrieval(&request.prompt);
        let route = self.domain.router.route(&request);
        let result = route.instrument(span.clone()).await;
        tell(&span, &result);
        Ok(Response::new(
            record(&self.domain, &request, result, full).await,
        ))
    }

    async fn plan_route(
        &self,
        request: Request<PlanRouteRequest>,
    ) -> Result<Response<PlanRouteResponse>, Status> {
        // A missing request has no prompt, which is the violation to name.
        let message = request.into_inner().route.unwrap_or_default();
        let (mut request, full) = self.read(message, "route.")?;
        request.plan = true;
        let mut result = self.domain.router.route(&request).await;
        let plan = result.plan.take().unwrap_or_default();
        if let Some(first) = plan.cycle.first() {
            let names = plan.cycle.iter().chain([first]).map(|id| id.to_string());
            let cycle = names.collect::<Vec<String>>().join(" -> ");
            let message = format!("the entries depend on each other in a circle: {cycle}");
            let fault = Fault::new(Reason::DependencyCycle, message).with("cycle", cycle);
            return Err(fault.into());
        }
        let recorded = record(&self.domain, &request, result, full).await;
        Ok(Response::new(PlanRouteResponse {
            plan: Some(plan_to(plan, full)),
            unwanted: recorded.unwanted,
            catalog_revision: recorded.catalog_revision,
            mode: recorded.mode,
            model_id: recorded.model_id,
            degraded: recorded.degraded,
            warnings: recorded.warnings,
            route_id: recorded.route_id,
        }))
    }

    async fn batch_route(
        &self,
        request: Request<BatchRouteRequest>,
    ) -> Result<Response<BatchRouteResponse>, Status> {
        let messages = request.into_inner().requests;
        let limits = &self.domain.limits;
        let mut violations = Violations::default();
        if messages.is_empty() {
            violations.add("requests", "must not be empty");
        } else if messages.len() > limits.max_batch {
            let text = format!(
                "{} exceed the limit of {}",
                messages.len(),
                limits.max_batch
            );
            violations.add("requests", text);
        }
        violations.into_result().map_err(status)?;

        let mut violations = Violations::default();
        let (requests, full): (Vec<route::Request>, Vec<bool>) = messages
            .into_iter()
            .enumerate()
            .map(|(at, message)| {
                let full = wants_full(message.view);
                let path = format!("requests[{at}].");
                let limit = limits.max_prompt_bytes;
                let mut request = request_from(message, &path, limit, &mut violations);
                self.apply_preferences(&mut request);
                (request, full)
            })
            .unzip();
        violations.into_result().map_err(status)?;

        let (results, catalog_revision) = self.domain.router.route_batch(&requests).await;
        for result in &results {
            tell(&tracing::Span::none(), result);
        }
        let asked = requests.iter().zip(results).zip(full);
        let asked = asked
            .map(|((request, result), full)| (request, result, full))
            .collect();
        let responses = record_all(&self.domain, asked).await;
        Ok(Response::new(BatchRouteResponse {
            responses,
            catalog_revision,
        }))
    }

    type StreamRouteStream =
        Pin<Box<dyn Stream<Item = Result<StreamRouteResponse, Status>> + Send>>;

    async fn stream_route(
        &self,
        request: Request<StreamRouteRequest>,
    ) -> Result<Response<Self::StreamRouteStream>, Status> {
        // A missing request has no prompt, which is the violation to name.
        let message = request.into_inner().route.unwrap_or_default();
        let (request, full) = self.read(message, "route.")?;

        let domain = self.domain.clone();
        let (stages, receiver) = mpsc::channel(STAGES);
        let span = genai::retrieval(&request.prompt);
        let told = span.clone();
        let work = async move {
            let send = |stage| {
                let response = StreamRouteResponse { stage: Some(stage) };
                // There is room for every stage; a caller that has gone wants none.
                let _ = stages.try_send(Ok(response));
            };
            let mut observe = |stage| send(stage_to(stage, full));
            let routed = async {
                let route = domain.router.route_in_stages(&request, &mut observe);
                match AssertUnwindSafe(route).catch_unwind().await {
                    Ok(result) => {
                        tell(&told, &result);
                        let response = record(&domain, &request, result, full).await;
                        send(PbStage::Decision(response));
                    }
                    Err(_) => {
                        let fault = Fault::new(Reason::Internal, CALL_FAILED);
                        let _ = stages.try_send(Err(fault.into()));
                    }
                }
            };
            // Work whose caller has gone never reaches the model.
            tokio::select! {
                () = routed => {}
                () = stages.closed() => {}
            }
        };
        tokio::spawn(work.instrument(span));
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }
}

/// Counts a decision, and says it on its span.
fn tell(span: &tracing::Span, result: &RouteResult) {
    let decision = &result.decision;
    let outcome = decision.outcome.as_str();
    let degraded: Vec<_> = result
        .degraded
        .iter()
        .map(|each| each.reason.as_str())
        .collect();
    count::routed(outcome, result.mode.as_str(), &degraded);
    let best = result.matches.first();
    let best = best.map_or("", |best| best.entry.id.name.as_str());
    genai::retrieved(span, outcome, decision.confidence, &result.revision, best);
}

/// Writes a decision down where that is configured, and then answers it.
async fn record(
    domain: &Domain,
    request: &route::Request,
    result: RouteResult,
    full: bool,
) -> RouteResponse {
    record_all(domain, vec![(request, result, full)])
        .await
        .pop()
        .unwrap_or_default()
}

/// The same for several. A call does not fail because its decision cannot be written down; it
/// says so.
async fn record_all(
    domain: &Domain,
    asked: Vec<(&route::Request, RouteResult, bool)>,
) -> Vec<RouteResponse> {
    let digest = match domain.embedder.state() {
        ModelState::Ready(model) => model.digest.clone(),
        ModelState::Disabled | ModelState::Loading | ModelState::Failed(_) => String::new(),
    };
    let decided: Vec<RouteDecided> = asked
        .iter()
        .map(|(request, result, _)| decided(request, result, &digest))
        .collect();
    let ids: Vec<String> = decided
        .iter()
        .map(|decided| decided.route_id.clone())
        .collect();
    let mut failed = None;
    if domain.journal_routes
        && let Err(error) = domain.journal.record_routes(decided).await
    {
        tracing::warn!(%error, "a routing decision was not journaled");
        failed = Some(Degradation {
            reason: DegradedReason::NotJournaled,
            detail: format!("the decision was not journaled: {error}"),
        });
    }
    let answers = asked
        .into_iter()
        .zip(ids)
        .map(|((_, mut result, full), route_id)| {
            result.degraded.extend(failed.clone());
            result_to(result, route_id, full)
        });
    answers.collect()
}
