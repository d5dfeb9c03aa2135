//! The best items for a query, on the same index and with the same scores as routing: words
//! from the postings, similarity from the packed vectors, both added up.

use std::sync::Arc;

use crate::embed::{EmbedError, Language, ModelInfo, ModelState, Priority, TextRole};
use crate::index::{IndexedEntry, Snapshot};
use crate::route::lexical::{self, FieldWeights};
use crate::route::profile::{LEXICAL, Profile};
use crate::route::{Degradation, DegradedReason, degradation_of, group_of, reads, semantic};
use crate::text::script::script_group;
use crate::text::{distinct, tokenize};

use super::keep::Knowledge;

/// Items from which a search leaves the runtime's threads.
const INLINE_ITEMS: usize = 1_000;
/// A score below this says that the item has nothing to do with the query; as in routing.
const LEAST_SCORE: f64 = 0.02;
/// Bytes of a query that are read.
const MAX_QUERY_BYTES: usize = 4 << 10;

/// An item that was found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The item as the index holds it.
    pub indexed: Arc<IndexedEntry>,
    /// How well it fits, 0 to 1.
    pub score: f64,
}

/// A query's vector and the model that made it.
#[derive(Debug, Clone)]
pub struct QueryVector {
    /// Numbers of length 1.
    pub vector: Arc<[f32]>,
    /// Language of the query, where the model can tell.
    pub language: Option<Language>,
    /// Id of the model.
    pub model: String,
}

/// Which items take part.
pub type Allowed = Arc<dyn Fn(&IndexedEntry) -> bool + Send + Sync>;

impl Knowledge {
    /// The best items, best first, and why less took part than could.
    pub(super) async fn search(
        &self,
        query: &str,
        limit: usize,
        allowed: Allowed,
    ) -> (Vec<Hit>, Vec<Degradation>) {
        let query = query[..query.floor_char_boundary(MAX_QUERY_BYTES)].to_owned();
        let snapshot = self.index().snapshot();
        let mut degraded = Vec::new();
        let vector = match self.vector_of(&query).await {
            Ok(vector) => vector,
            Err(error) => {
                degraded.push(degradation_of(&error));
                None
            }
        };
        let pending = snapshot.pending_vectors();
        if vector.is_some() && pending > 0 {
            let detail = format!("{pending} items have no vectors yet");
            degraded.push(Degradation {
                reason: DegradedReason::VectorsPending,
                detail,
            });
        }
        if snapshot.len() <= INLINE_ITEMS {
            return (
                best(&snapshot, &query, vector.as_ref(), limit, &*allowed),
                degraded,
            );
        }
        let search = move || best(&snapshot, &query, vector.as_ref(), limit, &*allowed);
        // Nothing panics in there; only a runtime that is shutting down cancels it.
        let hits = tokio::task::spawn_blocking(search)
            .await
            .unwrap_or_default();
        (hits, degraded)
    }

    /// The vector of a query; none where the model does not read its script.
    async fn vector_of(&self, query: &str) -> Result<Option<QueryVector>, EmbedError> {
        let model: Arc<ModelInfo> = match self.embedder().state() {
            ModelState::Ready(model) => model,
            ModelState::Disabled => return Err(EmbedError::Disabled),
            ModelState::Loading => return Err(EmbedError::Loading),
            ModelState::Failed(why) => return Err(EmbedError::Failed(why)),
        };
        if !reads(&model, script_group(query)) {
            return Ok(None);
        }
        let queries = vec![query.to_owned()];
        let made = self
            .embedder()
            .embed(TextRole::Query, Priority::Interactive, queries)
            .await?;
        Ok(made.into_iter().next().map(|made| QueryVector {
            vector: made.vector,
            language: made.language,
            model: model.id.clone(),
        }))
    }
}

/// The best items of a snapshot, best first; equal ones by id. Without a vector only items
/// that share a word with the query are found.
pub fn best(
    snapshot: &Snapshot,
    query: &str,
    vector: Option<&QueryVector>,
    limit: usize,
    allowed: &(dyn Fn(&IndexedEntry) -> bool + Send + Sync),
) -> Vec<Hit> {
    let tokens = distinct(tokenize(query));
    let language = vector.and_then(|vector| vector.language);
    let group = group_of(language, script_group(query));
    let coverage = lexical::score(snapshot, &tokens, &FieldWeights::default());
    let profile = vector.map(|vector| Profile::of(&vector.model));
    let similar = vector.map(|vector| semantic::scan(snapshot, &vector.vector));
    let sum = |indexed: &IndexedEntry| {
        let slot = indexed.slot as usize;
        let coverage = coverage[slot].coverage;
        match (&similar, profile) {
            (Some(similar), Some(profile)) => {
                let vectors = indexed.vectors.as_ref();
                let similarity = vectors.map_or(0.0, |vectors| {
                    similar[slot].combined(vectors, group, profile)
                });
                similarity + profile.weights(group).coverage * coverage
            }
            _ => coverage,
        }
    };
    let calibration = profile.map_or(&LEXICAL, |profile| &profile.weights(group).hybrid);
    let mut found: Vec<(f32, u32)> = snapshot
        .entries()
        .filter(|indexed| allowed(indexed))
        .map(|indexed| (sum(indexed), indexed.slot))
        .filter(|(sum, _)| sum.is_finite() && (similar.is_some() || *sum > 0.0))
        .collect();
    let id = |slot: u32| snapshot.entry(slot).map(|indexed| &indexed.entry.id);
    let order =
        |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then_with(|| id(a.1).cmp(&id(b.1)));
    // Only the best have to be in order.
    if limit < found.len() {
        found.select_nth_unstable_by(limit, order);
        found.truncate(limit);
    }
    found.sort_unstable_by(order);
    found
        .into_iter()
        .filter_map(|(sum, slot)| {
            let indexed = snapshot.entry(slot)?.clone();
            let score = calibration.probability(sum);
            (score >= LEAST_SCORE).then_some(Hit { indexed, score })
        })
        .collect()
}
