//! The best items for a query, on the same index and with the same scores as routing: words
//! from the postings, similarity from the packed vectors, both added up.

use std::sync::Arc;

use rayon::prelude::*;

use crate::embed::{EmbedError, Language, ModelInfo, ModelState, Priority, TextRole};
use crate::index::{IndexedEntry, PromptGroup, SLOTS_PER_CHUNK, Snapshot};
use crate::route::lexical::{self, FieldWeights, LexicalScore};
use crate::route::profile::{LEXICAL, Profile};
use crate::route::semantic::Similarity;
use crate::route::{Degradation, DegradedReason, degradation_of, group_of, reads};
use crate::text::script::script_group;
use crate::text::{distinct, tokenize};

use super::keep::Knowledge;

/// Items from which a search leaves the runtime's threads.
const INLINE_ITEMS: usize = 1_000;
/// A score below this says that the item has nothing to do with the query; as in routing.
const LEAST_SCORE: f64 = 0.02;
/// Items of one part of a search: about half a millisecond.
const PART_SLOTS: usize = 64 * SLOTS_PER_CHUNK;
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
/// that share a word with the query are found. Large snapshots are searched in parts, at the
/// same time; what is found does not depend on how many there are.
pub fn best(
    snapshot: &Snapshot,
    query: &str,
    vector: Option<&QueryVector>,
    limit: usize,
    allowed: &(dyn Fn(&IndexedEntry) -> bool + Send + Sync),
) -> Vec<Hit> {
    let tokens = telling(snapshot, distinct(tokenize(query)));
    let language = vector.and_then(|vector| vector.language);
    let search = Search {
        snapshot,
        group: group_of(language, script_group(query)),
        coverage: lexical::score(snapshot, &tokens, &FieldWeights::default()),
        vector: vector.map(|vector| (&*vector.vector, Profile::of(&vector.model))),
        limit,
        allowed,
    };
    let parts = snapshot.slot_count().div_ceil(PART_SLOTS);
    let found: Vec<(f32, u32)> = match parts {
        0 | 1 => search.part(0),
        parts => (0..parts)
            .into_par_iter()
            .flat_map_iter(|part| search.part(part))
            .collect(),
    };
    let calibration = search.vector.map_or(&LEXICAL, |(_, profile)| {
        &profile.weights(search.group).hybrid
    });
    search
        .first(found)
        .into_iter()
        .filter_map(|(sum, slot)| {
            let indexed = snapshot.entry(slot)?.clone();
            let score = calibration.probability(sum);
            (score >= LEAST_SCORE).then_some(Hit { indexed, score })
        })
        .collect()
}

/// Tokens without those that most items hold: they rank nothing, and have the longest postings.
/// Where there are no others, all of them.
fn telling(snapshot: &Snapshot, tokens: Vec<String>) -> Vec<String> {
    let common = |token: &String| snapshot.postings(token).len() * 2 > snapshot.len();
    match snapshot.len() < INLINE_ITEMS || tokens.iter().all(common) {
        true => tokens,
        false => tokens.into_iter().filter(|token| !common(token)).collect(),
    }
}

/// One query against one snapshot.
struct Search<'a> {
    snapshot: &'a Snapshot,
    group: PromptGroup,
    /// By slot.
    coverage: Vec<LexicalScore>,
    vector: Option<(&'a [f32], &'static Profile)>,
    limit: usize,
    allowed: &'a (dyn Fn(&IndexedEntry) -> bool + Send + Sync),
}

impl Search<'_> {
    /// The best items of one part, in no order.
    fn part(&self, part: usize) -> Vec<(f32, u32)> {
        let from = part * PART_SLOTS;
        let to = (from + PART_SLOTS).min(self.snapshot.slot_count());
        // Slots are numbered with 32 bits.
        let slots = from as u32..to as u32;
        let mut similar = vec![Similarity::NONE; slots.len()];
        if let Some((vector, _)) = self.vector {
            let matrix = self.snapshot.matrix();
            matrix.scan_part(slots.clone(), vector, |slot, role, cosine| {
                similar[(slot - slots.start) as usize].take(role, cosine);
            });
        }
        let found = slots.zip(&similar).filter_map(|(slot, similar)| {
            let coverage = self.coverage[slot as usize].coverage;
            if self.vector.is_none() && coverage <= 0.0 {
                return None;
            }
            let indexed = self.snapshot.entry(slot)?;
            let sum = match (self.vector, &indexed.vectors) {
                (None, _) => coverage,
                (Some((_, profile)), None) => profile.weights(self.group).coverage * coverage,
                (Some((_, profile)), Some(vectors)) => {
                    let similarity = similar.combined(vectors, self.group, profile);
                    similarity + profile.weights(self.group).coverage * coverage
                }
            };
            (sum.is_finite() && (self.allowed)(indexed)).then_some((sum, slot))
        });
        self.first(found.collect())
    }

    /// The best of what was found, best first.
    fn first(&self, mut found: Vec<(f32, u32)>) -> Vec<(f32, u32)> {
        let id = |slot: u32| self.snapshot.entry(slot).map(|indexed| &indexed.entry.id);
        let order = |a: &(f32, u32), b: &(f32, u32)| {
            b.0.total_cmp(&a.0).then_with(|| id(a.1).cmp(&id(b.1)))
        };
        // Only the best have to be in order.
        if self.limit < found.len() {
            found.select_nth_unstable_by(self.limit, order);
            found.truncate(self.limit);
        }
        found.sort_unstable_by(order);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Entry, Kind};
    use crate::index::{Change, EntryVectors, Index, Row, RowRole};
    use crate::route::semantic;

    /// More items than two parts hold.
    const ITEMS: usize = 2 * PART_SLOTS + 700;

    fn index() -> Index {
        let index = Index::default();
        let entries = (0..ITEMS).map(|n| {
            let mut entry = Entry::new(Kind::Skill, &format!("fact:{n}"), &format!("place {n}"));
            entry.responsibility = format!("keep topic {} apart from {}", n % 97, n % 13);
            Change::Put(Arc::new(entry))
        });
        let created = index.apply(entries.collect()).created;
        let vectors = created.into_iter().enumerate().map(|(n, indexed)| {
            let angle = (n * 37 % 1_009) as f32 / 100.0;
            let rows = vec![Row {
                role: RowRole::Text,
                vector: vec![angle.cos(), angle.sin()].into(),
            }];
            let vectors = EntryVectors {
                rows,
                ..EntryVectors::default()
            };
            (indexed, Arc::new(vectors))
        });
        index.attach(vectors.collect());
        index
    }

    #[test]
    fn parts_find_what_the_whole_would() {
        let snapshot = index().snapshot();
        let vector = QueryVector {
            language: None,
            vector: vec![0.6, 0.8].into(),
            model: "multilingual-e5-small".into(),
        };
        let query = "topic 42 of place 7777";
        let found = best(&snapshot, query, Some(&vector), 20, &|_| true);
        let profile = Profile::of(&vector.model);
        let tokens = distinct(tokenize(query));
        let coverage = lexical::score(&snapshot, &tokens, &FieldWeights::default());
        let similar = semantic::scan(&snapshot, &vector.vector);
        let mut sums: Vec<(f32, String)> = snapshot
            .entries()
            .map(|indexed| {
                let slot = indexed.slot as usize;
                let sum = similar[slot].text + profile.other.coverage * coverage[slot].coverage;
                (sum, indexed.entry.id.source.clone())
            })
            .collect();
        sums.sort_by(|a, b| b.0.total_cmp(&a.0));
        let least = sums[19].0;
        assert_eq!(found.len(), 20);
        let sum_of = |source: &str| sums.iter().find(|(_, known)| known == source);
        for hit in &found {
            let sum = sum_of(&hit.indexed.entry.id.source).expect("an item").0;
            assert!(sum >= least - 1e-6, "{sum} {least}");
        }
        let words = best(&snapshot, query, None, 1, &|_| true);
        assert_eq!(words[0].indexed.entry.id.source, "fact:7777");
        let none = best(&snapshot, query, Some(&vector), 5, &|_| false);
        assert!(none.is_empty());
    }
}
