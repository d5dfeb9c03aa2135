//! How often the right entry comes first, by plain cosine: nothing of the router but the
//! vectors, so that the encoder alone is measured.

use std::collections::BTreeMap;

use candle_core::Tensor;
use serde::Serialize;

use super::mine::ranked;
use super::states::{PromptAt, States};
use super::{AdaptError, Set};
use crate::embed::Upper;
use crate::eval::{Metrics, Scored};

/// Depth of the ranking.
const DEPTH: usize = 10;

/// Figures over a number of prompts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scores {
    /// Share of prompts whose first entry is right.
    pub top1: f64,
    /// Normalised discounted cumulative gain of the first ten.
    pub ndcg_at_10: f64,
    /// Probability that a prompt is nearer to its nearest entry than one that nothing serves;
    /// absent where the prompts are of one sort.
    pub auroc: Option<f64>,
    /// Prompts that have an entry.
    pub prompts: usize,
    /// Prompts that nothing serves.
    pub outside: usize,
}

impl Scores {
    fn of(scored: &[&Scored]) -> Self {
        let metrics = Metrics::of(scored);
        Self {
            top1: metrics.top1,
            ndcg_at_10: metrics.ndcg_at_10,
            auroc: metrics.auroc,
            prompts: metrics.n - metrics.n_out_of_scope,
            outside: metrics.n_out_of_scope,
        }
    }
}

/// Of each set its name and its prompts kept back.
pub(super) type ScoredSets = Vec<(String, Vec<Scored>)>;

/// Ranks the entries of each set for the prompts that it keeps back.
pub(super) fn score(
    states: &States,
    upper: &Upper,
    sets: &[Set],
    entries: &[Tensor],
) -> Result<ScoredSets, AdaptError> {
    let mut scored = Vec::with_capacity(sets.len());
    for (number, set) in sets.iter().enumerate() {
        let held: Vec<PromptAt> = set.held().map(|at| (number, at)).collect();
        if held.is_empty() {
            continue;
        }
        let vectors = states.prompt_vectors(upper, &held)?;
        let cosines = vectors.matmul(&entries[number].t()?)?.to_vec2::<f32>()?;
        let of_set = held.iter().zip(cosines).map(|((_, at), cosines)| {
            let mut order = ranked(&cosines);
            order.truncate(DEPTH);
            let best = order.first().map_or(0.0, |first| cosines[*first]);
            let names = |places: &[usize]| places.iter().map(usize::to_string).collect();
            let gold: Vec<String> = names(&set.prompts[*at].gold);
            Scored::new(&gold, names(&order), f64::from(best))
        });
        scored.push((set.name.clone(), of_set.collect()));
    }
    Ok(scored)
}

/// Figures over all prompts.
pub(super) fn all(scored: &ScoredSets) -> Scores {
    let all: Vec<&Scored> = scored.iter().flat_map(|(_, scored)| scored).collect();
    Scores::of(&all)
}

/// Figures of each set.
pub(super) fn by_set(scored: &ScoredSets) -> BTreeMap<String, Scores> {
    let of_set = |(name, scored): &(String, Vec<Scored>)| {
        let scored: Vec<&Scored> = scored.iter().collect();
        (name.clone(), Scores::of(&scored))
    };
    scored.iter().map(of_set).collect()
}
