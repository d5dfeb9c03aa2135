//! Lexical scores, through postings.
//!
//! Two of them, from the same postings. The *lexical score* is the weighted share of the
//! prompt's distinct tokens that the entry holds; it is reported as it stands. *Coverage*
//! ranks: BM25 divided by what a full match of the prompt would reach, so that words which
//! most entries hold rank nothing.

use serde::{Deserialize, Serialize};

use super::result::MatchedToken;
use crate::index::{Field, IndexedEntry, Snapshot};

/// BM25's term saturation and length normalisation: the usual values (Robertson and
/// Zaragoza 2009).
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Catalogues smaller than this have no boilerplate: two of three entries prove nothing.
const BOILERPLATE_FROM: usize = 8;

/// Weight of a token by the heaviest field that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FieldWeights {
    /// In the name.
    pub name: f64,
    /// In the source hint.
    pub source_hint: f64,
    /// In the responsibility.
    pub responsibility: f64,
}

impl Default for FieldWeights {
    fn default() -> Self {
        Self {
            name: 1.0,
            source_hint: 0.8,
            responsibility: 0.6,
        }
    }
}

impl FieldWeights {
    /// Weight of a field; fields that only rank have none.
    pub fn of(&self, field: Field) -> f64 {
        match field {
            Field::Name => self.name,
            Field::SourceHint => self.source_hint,
            Field::Responsibility => self.responsibility,
            Field::Other => 0.0,
        }
    }
}

/// Both scores of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct LexicalScore {
    /// Weighted share of the prompt's tokens.
    pub share: f64,
    /// BM25 against a full match, 0 to 1.
    pub coverage: f32,
}

/// Scores all entries; indexed by slot. `tokens` are distinct.
pub(crate) fn score(
    snapshot: &Snapshot,
    tokens: &[String],
    weights: &FieldWeights,
) -> Vec<LexicalScore> {
    let mut scores = vec![LexicalScore::default(); snapshot.slot_count()];
    if tokens.is_empty() || snapshot.is_empty() {
        return scores;
    }
    let idfs = inverse_document_frequencies(snapshot, tokens);
    let full: f32 = idfs.iter().map(|idf| idf * (K1 + 1.0)).sum();
    let mean_length = snapshot.mean_length();
    for (token, idf) in tokens.iter().zip(idfs) {
        for posting in snapshot.postings(token) {
            let Some(indexed) = snapshot.entry(posting.slot) else {
                continue;
            };
            let score = &mut scores[posting.slot as usize];
            score.share += weights.of(posting.field) / tokens.len() as f64;
            let count = posting.count as f32;
            let length = 1.0 - B + B * indexed.length as f32 / mean_length;
            let gain = idf * count * (K1 + 1.0) / (count + K1 * length);
            score.coverage += if full > 0.0 { gain / full } else { 0.0 };
        }
    }
    scores
}

/// How much each token tells: unknown ones the most, those that most entries hold nothing,
/// unless the prompt consists of such tokens only.
fn inverse_document_frequencies(snapshot: &Snapshot, tokens: &[String]) -> Vec<f32> {
    let entries = snapshot.len();
    let counts: Vec<usize> = tokens
        .iter()
        .map(|token| snapshot.postings(token).len())
        .collect();
    let idf =
        |count: usize| ((entries as f32 - count as f32 + 0.5) / (count as f32 + 0.5) + 1.0).ln();
    let boilerplate = |count: usize| entries >= BOILERPLATE_FROM && count * 2 > entries;
    let all_boilerplate = counts
        .iter()
        .all(|count| *count == 0 || boilerplate(*count));
    counts
        .iter()
        .map(|count| {
            if boilerplate(*count) && !all_boilerplate {
                0.0
            } else {
                idf(*count)
            }
        })
        .collect()
}

/// The prompt's tokens that an entry holds, in the prompt's order.
pub(super) fn matched(
    indexed: &IndexedEntry,
    tokens: &[String],
    weights: &FieldWeights,
) -> Vec<MatchedToken> {
    tokens
        .iter()
        .filter_map(|token| {
            let at = indexed
                .terms
                .binary_search_by(|term| (*term.token).cmp(token))
                .ok()?;
            let field = indexed.terms[at].field;
            Some(MatchedToken {
                token: token.clone(),
                field,
                weight: weights.of(field),
            })
        })
        .collect()
}
