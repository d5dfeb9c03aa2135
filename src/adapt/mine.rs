//! The wrong entries that are nearest to a prompt, with the model as it is before training.
//! They are what there is to learn from: far ones are told apart already.

use std::collections::{BTreeSet, HashMap};

use candle_core::Tensor;

use super::states::{PromptAt, States};
use super::{AdaptError, Set};
use crate::embed::Upper;

/// Of each planned prompt with an entry its `count` nearest wrong entries, nearest first.
pub(super) struct Nearest(HashMap<PromptAt, Vec<usize>>);

impl Nearest {
    /// The entries of one prompt.
    pub(super) fn of(&self, prompt: &PromptAt) -> Vec<usize> {
        self.0.get(prompt).cloned().unwrap_or_default()
    }
}

/// Ranks the entries of each set for its prompts in `planned`.
pub(super) fn nearest(
    states: &States,
    upper: &Upper,
    sets: &[Set],
    planned: impl Iterator<Item = PromptAt>,
    entries: &[Tensor],
    count: usize,
) -> Result<Nearest, AdaptError> {
    let planned: BTreeSet<PromptAt> = planned.collect();
    let mut found = HashMap::with_capacity(planned.len());
    for (number, set) in sets.iter().enumerate() {
        let prompts: Vec<PromptAt> = planned
            .range((number, 0)..(number + 1, 0))
            .copied()
            .collect();
        if prompts.is_empty() {
            continue;
        }
        let vectors = states.prompt_vectors(upper, &prompts)?;
        let cosines = vectors.matmul(&entries[number].t()?)?.to_vec2::<f32>()?;
        for (prompt, cosines) in prompts.iter().zip(cosines) {
            let gold = &set.prompts[prompt.1].gold;
            let mut order = ranked(&cosines);
            order.retain(|entry| !gold.contains(entry));
            order.truncate(count);
            found.insert(*prompt, order);
        }
    }
    Ok(Nearest(found))
}

/// Places by falling score; of equal ones the earlier first.
pub(super) fn ranked(scores: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    order
}
