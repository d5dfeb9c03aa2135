//! `KnowledgeService`.

use tonic::{Request, Response, Status};

use super::Domain;
use super::convert::{convention_to, fact_to, recall_from, recalled_to, resolve_from, resolved_to};
use super::error::{invalid, status};
use super::pb;
use super::pb::knowledge_service_server::KnowledgeService;
use crate::error::Violations;
use crate::knowledge::item::DEFAULT_CONFIDENCE;
use crate::knowledge::{Convention, Directory, Fact, Listing};

/// Conventions of a page that asks for no size, and of the largest page.
const PAGE: (usize, usize) = (100, 1_000);
/// Bytes of one page: half of what clients take by default.
const MAX_PAGE_BYTES: usize = 2 << 20;

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
impl KnowledgeService for Service {
    async fn recall_knowledge(
        &self,
        request: Request<pb::RecallKnowledgeRequest>,
    ) -> Result<Response<pb::RecallKnowledgeResponse>, Status> {
        let mut violations = Violations::default();
        let recall = recall_from(request.into_inner(), &mut violations);
        violations.into_result().map_err(status)?;
        let recalled = self.domain.knowledge.recall(&recall).await;
        Ok(Response::new(recalled_to(recalled.map_err(status)?)))
    }

    async fn store_knowledge(
        &self,
        request: Request<pb::StoreKnowledgeRequest>,
    ) -> Result<Response<pb::StoreKnowledgeResponse>, Status> {
        let request = request.into_inner();
        let fact = Fact::new(
            &request.subject,
            &request.predicate,
            &request.object,
            request.confidence.unwrap_or(DEFAULT_CONFIDENCE),
            &request.agent_id,
        );
        let fact = self.domain.knowledge.store_fact(fact).await;
        Ok(Response::new(pb::StoreKnowledgeResponse {
            fact: Some(fact_to(&*fact.map_err(status)?)),
        }))
    }

    async fn list_conventions(
        &self,
        request: Request<pb::ListConventionsRequest>,
    ) -> Result<Response<pb::ListConventionsResponse>, Status> {
        let request = request.into_inner();
        let knowledge = &self.domain.knowledge;
        let mut violations = Violations::default();
        let directory = request
            .directory
            .as_deref()
            .and_then(|path| knowledge.directory("directory", path, &mut violations));
        let page_size = match usize::try_from(request.page_size) {
            Ok(0) => PAGE.0,
            Ok(size) => size.min(PAGE.1),
            Err(_) => {
                violations.add("page_size", format!("{} is negative", request.page_size));
                0
            }
        };
        let after = match request.page_token.as_str() {
            "" => None,
            token => {
                let after = page_from(token);
                if after.is_none() {
                    violations.add("page_token", "is no token of an earlier page");
                }
                after
            }
        };
        violations.into_result().map_err(status)?;
        let listing = Listing {
            directory,
            recursive: request.recursive,
            language: request.language.trim().to_lowercase(),
            after,
            page_size,
        };
        let (mut page, mut more) = knowledge.list(&listing);
        let mut bytes = 0;
        let fits = page.iter().take_while(|convention| {
            bytes += convention.content.len();
            bytes <= MAX_PAGE_BYTES
        });
        let fits = fits.count();
        more |= fits < page.len();
        page.truncate(fits);
        let next_page_token = match page.last() {
            Some(last) if more => page_to(last),
            _ => String::new(),
        };
        Ok(Response::new(pb::ListConventionsResponse {
            conventions: page
                .iter()
                .map(|convention| convention_to(convention))
                .collect(),
            next_page_token,
        }))
    }

    async fn upsert_convention(
        &self,
        request: Request<pb::UpsertConventionRequest>,
    ) -> Result<Response<pb::UpsertConventionResponse>, Status> {
        let Some(given) = request.into_inner().convention else {
            return Err(invalid("convention", "is required"));
        };
        let knowledge = &self.domain.knowledge;
        let mut violations = Violations::default();
        let directory = given
            .directory
            .as_deref()
            .and_then(|path| knowledge.directory("convention.directory", path, &mut violations));
        let convention = Convention::new(&given.id, directory, &given.language, &given.content);
        for found in convention.check().as_slice() {
            violations.add(format!("convention.{}", found.field), &found.message);
        }
        violations.into_result().map_err(status)?;
        let convention = knowledge.upsert_convention(convention).await;
        Ok(Response::new(pb::UpsertConventionResponse {
            convention: Some(convention_to(&*convention.map_err(status)?)),
        }))
    }

    async fn delete_convention(
        &self,
        request: Request<pb::DeleteConventionRequest>,
    ) -> Result<Response<pb::DeleteConventionResponse>, Status> {
        let request = request.into_inner();
        if request.id.is_empty() {
            return Err(invalid("id", "must not be empty"));
        }
        self.domain
            .knowledge
            .delete_convention(&request.id, request.allow_missing)
            .await
            .map_err(status)?;
        Ok(Response::new(pb::DeleteConventionResponse {}))
    }

    async fn resolve_conventions(
        &self,
        request: Request<pb::ResolveConventionsRequest>,
    ) -> Result<Response<pb::ResolveConventionsResponse>, Status> {
        let mut violations = Violations::default();
        let resolve = resolve_from(request.into_inner(), &mut violations);
        violations.into_result().map_err(status)?;
        let resolved = self.domain.knowledge.resolve(&resolve).await;
        Ok(Response::new(resolved_to(resolved.map_err(status)?)))
    }

    async fn call_knowledge_tool(
        &self,
        request: Request<pb::CallKnowledgeToolRequest>,
    ) -> Result<Response<pb::CallKnowledgeToolResponse>, Status> {
        let request = request.into_inner();
        let result = self
            .domain
            .knowledge
            .call_tool(&request.name, &request.arguments, &request.agent_id)
            .await
            .map_err(status)?;
        Ok(Response::new(pb::CallKnowledgeToolResponse {
            content: result.text,
            is_error: result.is_error,
        }))
    }
}

/// A page token: directory and id of the last convention, as JSON in hex.
fn page_to(last: &Convention) -> String {
    let key = (last.directory.as_ref().map(Directory::as_str), &last.id);
    let json = serde_json::to_vec(&key).unwrap_or_default();
    json.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn page_from(token: &str) -> Option<(Option<Directory>, String)> {
    let bytes: Option<Vec<u8>> = (0..token.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(token.get(at..at + 2)?, 16).ok())
        .collect();
    let (directory, id): (Option<String>, String) = serde_json::from_slice(&bytes?).ok()?;
    let directory = match directory {
        Some(path) => Some(Directory::parse(&path, None).ok()?),
        None => None,
    };
    Some((directory, id))
}
