//! `SystemService`.

use tonic::{Request, Response, Status};

use super::Domain;
use super::convert::{count, degradation_to};
use super::pb::system_service_server::SystemService;
use super::pb::{
    GetServerInfoRequest, GetServerInfoResponse, ModelInfo, ModelState as PbState, ServerLimits,
};
use crate::embed::{EmbedError, ModelState};
use crate::route::{Degradation, DegradedReason, degradation_of};

/// Implements the service.
pub(super) struct Service {
    domain: Domain,
}

impl Service {
    pub(super) fn new(domain: Domain) -> Self {
        Self { domain }
    }
}

#[tonic::async_trait]
impl SystemService for Service {
    async fn get_server_info(
        &self,
        _request: Request<GetServerInfoRequest>,
    ) -> Result<Response<GetServerInfoResponse>, Status> {
        let domain = &self.domain;
        let snapshot = domain.registry.index().snapshot();
        let state = domain.embedder.state();
        let mut degraded = Vec::new();
        let model = match &state {
            ModelState::Disabled => {
                degraded.push(degradation_of(&EmbedError::Disabled));
                ModelInfo {
                    state: PbState::Disabled.into(),
                    ..ModelInfo::default()
                }
            }
            ModelState::Loading => {
                degraded.push(degradation_of(&EmbedError::Loading));
                ModelInfo {
                    state: PbState::Loading.into(),
                    ..ModelInfo::default()
                }
            }
            ModelState::Failed(why) => {
                degraded.push(degradation_of(&EmbedError::Failed(why.clone())));
                ModelInfo {
                    state: PbState::Failed.into(),
                    ..ModelInfo::default()
                }
            }
            ModelState::Ready(info) => ModelInfo {
                id: info.id.clone(),
                digest: info.digest.clone(),
                state: PbState::Ready.into(),
                dimensions: count(info.dimensions),
                max_tokens: count(info.max_tokens),
                device: info.device.to_owned(),
            },
        };
        let pending = snapshot.pending_vectors();
        if pending > 0 && matches!(state, ModelState::Ready(_)) {
            let detail = format!("{pending} entries have no vectors yet");
            degraded.push(Degradation {
                reason: DegradedReason::VectorsPending,
                detail,
            });
        }
        if let ModelState::Ready(info) = &state {
            degraded.extend(domain.router.check_fitted(info).err());
        }
        let limits = &domain.limits;
        let blockers = domain.readiness.state().blockers;
        Ok(Response::new(GetServerInfoResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            catalog_revision: snapshot.revision(),
            entry_count: count(snapshot.len()),
            model: Some(model),
            limits: Some(ServerLimits {
                max_prompt_bytes: count(limits.max_prompt_bytes),
                max_message_bytes: count(limits.max_message_bytes),
                max_batch: count(limits.max_batch),
                max_entries: count(limits.max_entries),
                max_in_flight: count(limits.max_in_flight),
                max_streams: count(limits.max_streams),
            }),
            features: crate::FEATURES
                .iter()
                .map(|feature| (*feature).to_owned())
                .collect(),
            degraded: degraded.into_iter().map(degradation_to).collect(),
            pending: blockers
                .into_iter()
                .map(|blocker| blocker.as_str().to_owned())
                .collect(),
            durable: domain.durable,
        }))
    }
}
