//! Routing decisions as events.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::event::{Entry, LoopEvent, RouteDecided, RouteMatch, RouteRequest};
use super::{Append, Journal, JournalError, NewEvent, ROUTES_LOOP, lookup};
use crate::preferences::{Effective, Owner};
use crate::route::{Conversation, KindFilter, Request, RouteResult};

/// Decisions of one append; each may hold a large prompt.
const BATCH: usize = 64;

/// A decision with what it rests on. `model_digest` is that of the model that took part, and
/// not looked at where none did.
pub fn decided(request: &Request, result: &RouteResult, model_digest: &str) -> RouteDecided {
    let matches = result.matches.iter().map(|found| RouteMatch {
        kind: found.entry.kind,
        source: found.entry.id.source.clone(),
        name: found.entry.id.name.clone(),
        score: found.score,
        lexical_score: found.lexical_score,
    });
    let mut decided = RouteDecided {
        route_id: String::new(),
        request: RouteRequest {
            prompt: request.prompt.clone(),
            limit: u32::try_from(request.limit).unwrap_or(u32::MAX),
            min_score: request.min_score,
            mode: request.mode.as_str().to_owned(),
            no_commands: request.kinds.no_commands,
            no_tools: request.kinds.no_tools,
            no_skills: request.kinds.no_skills,
            context: request.conversation.text(),
            tenant: request.owner.tenant.clone(),
            user: request.owner.user.clone(),
            preferences: request.preferences.to_preferences(),
        },
        catalog_revision: result.revision.clone(),
        model_id: result.model.clone().unwrap_or_default(),
        model_digest: result
            .model
            .as_ref()
            .map_or("", |_| model_digest)
            .to_owned(),
        mode: result.mode.as_str().to_owned(),
        outcome: result.decision.outcome.as_str().to_owned(),
        confidence: result.decision.confidence,
        floor: result.decision.floor,
        accept_threshold: result.decision.accept_threshold,
        matches: matches.collect(),
        degraded: result
            .degraded
            .iter()
            .map(|d| d.reason.as_str().to_owned())
            .collect(),
        agent_id: String::new(),
    };
    decided.route_id = route_id(&decided);
    decided
}

/// Stands for what was asked, the catalogue, the model and the thresholds: equal calls have
/// equal ids, whatever they were answered.
fn route_id(decided: &RouteDecided) -> String {
    let RouteRequest {
        prompt,
        limit,
        min_score,
        mode,
        no_commands,
        no_tools,
        no_skills,
        context,
        // What counts are the preferences, not whose they are.
        tenant: _,
        user: _,
        preferences,
    } = &decided.request;
    let mut hasher = Sha256::new();
    let texts = [
        prompt,
        mode,
        &decided.catalog_revision,
        &decided.model_id,
        &decided.model_digest,
    ];
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    for number in [*min_score, decided.floor, decided.accept_threshold] {
        hasher.update(number.to_bits().to_le_bytes());
    }
    hasher.update(limit.to_le_bytes());
    hasher.update([*no_commands, *no_tools, *no_skills].map(u8::from));
    if !context.is_empty() {
        hasher.update((context.len() as u64).to_le_bytes());
        hasher.update(context.as_bytes());
    }
    if !preferences.is_empty() {
        // Lists of plain texts always serialise.
        hasher.update(serde_json::to_vec(preferences).unwrap_or_default());
    }
    hasher.finalize()[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The request that a decision answered.
///
/// # Errors
///
/// A mode that this version does not know, in words.
pub fn request_of(decided: &RouteDecided) -> Result<Request, String> {
    let asked = &decided.request;
    let mut request = Request::new(&asked.prompt);
    request.limit = usize::try_from(asked.limit).unwrap_or(usize::MAX);
    request.min_score = asked.min_score;
    request.mode = asked.mode.parse()?;
    request.kinds = KindFilter {
        no_commands: asked.no_commands,
        no_tools: asked.no_tools,
        no_skills: asked.no_skills,
    };
    request.conversation = Conversation {
        turns: vec![asked.context.clone()],
        summary: String::new(),
    };
    request.owner = Owner {
        tenant: asked.tenant.clone(),
        user: asked.user.clone(),
    };
    request.preferences = Arc::new(Effective::of([&asked.preferences]));
    Ok(request)
}

impl Journal {
    /// Writes decisions down, in their order.
    ///
    /// # Errors
    ///
    /// Those of [`Journal::append`]; of many decisions, some may be written.
    pub async fn record_routes(&self, decided: Vec<RouteDecided>) -> Result<(), JournalError> {
        let mut events = decided
            .into_iter()
            .map(|one| NewEvent::from(LoopEvent::RouteDecided(Box::new(one))));
        loop {
            let events: Vec<NewEvent> = events.by_ref().take(BATCH).collect();
            if events.is_empty() {
                return Ok(());
            }
            let loop_id = ROUTES_LOOP.to_owned();
            let append = Append {
                loop_id,
                events,
                ..Append::default()
            };
            self.append(append).await?;
        }
    }

    /// The newest decision with a route id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub async fn find_route(&self, route_id: &str) -> Result<Option<Arc<Entry>>, JournalError> {
        let mut before = u64::MAX >> 1;
        loop {
            let route_id = route_id.to_owned();
            let found = self
                .shared
                .store
                .read(move |conn| lookup::find_route(conn, &route_id, before))
                .await?;
            match found {
                Ok(found) => return Ok(found),
                Err(oldest) => before = oldest,
            }
        }
    }
}
