//! Hub correction: how near an entry is to prompts that ask for nothing in particular.
//!
//! Some entries are near to everything. The mean of an entry's largest similarities with a
//! pool of neutral, task-like prompts measures that, and half of it is taken off when
//! ranking.

use std::sync::Arc;

use serde::Deserialize;

use crate::index::{EntryVectors, Hub, PromptGroup, RowRole, dot};

/// Largest similarities that are averaged.
const NEAREST: usize = 5;

const POOL: &str = include_str!("pool.jsonl");

/// A prompt of the pool.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Neutral {
    lang: String,
    /// The prompt.
    pub prompt: String,
}

impl Neutral {
    fn group(&self) -> PromptGroup {
        match self.lang.as_str() {
            "en" => PromptGroup::English,
            "zh" | "ja" => PromptGroup::Cjk,
            _ => PromptGroup::Other,
        }
    }
}

/// Prompts of the pool, in its order. The pool is part of the binary and read by a test, so
/// an unreadable line can only be one that the test has refused.
pub(super) fn prompts() -> Vec<Neutral> {
    POOL.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Vectors of the pool's prompts.
#[derive(Debug, Clone, Default)]
pub(super) struct Pool {
    english: Vec<Arc<[f32]>>,
    cjk: Vec<Arc<[f32]>>,
    other: Vec<Arc<[f32]>>,
}

impl Pool {
    /// Pairs the prompts with their vectors.
    pub fn new(prompts: &[Neutral], vectors: &[Arc<[f32]>]) -> Self {
        let mut pool = Self::default();
        for (prompt, vector) in prompts.iter().zip(vectors) {
            let group = match prompt.group() {
                PromptGroup::English => &mut pool.english,
                PromptGroup::Cjk => &mut pool.cjk,
                PromptGroup::Other => &mut pool.other,
            };
            group.push(vector.clone());
        }
        pool
    }

    /// Adds the hubs of an entry's vectors.
    pub fn measure(&self, vectors: &mut EntryVectors) {
        for row in &vectors.rows {
            match row.role {
                RowRole::Text => {
                    // Of several own texts the largest hub counts, as the nearest text does.
                    vectors.text_hub = vectors.text_hub.max(self.hub(&row.vector));
                }
                RowRole::Centroid => vectors.centroid_hub = self.hub(&row.vector),
                RowRole::Facet(_) | RowRole::Example(_) => {}
            }
        }
    }

    fn hub(&self, vector: &[f32]) -> Hub {
        Hub {
            english: nearest(&self.english, vector),
            cjk: nearest(&self.cjk, vector),
            other: nearest(&self.other, vector),
        }
    }
}

fn nearest(pool: &[Arc<[f32]>], vector: &[f32]) -> f32 {
    let mut cosines: Vec<f32> = pool.iter().map(|prompt| dot(prompt, vector)).collect();
    cosines.sort_unstable_by(|a, b| b.total_cmp(a));
    cosines.truncate(NEAREST);
    if cosines.is_empty() {
        0.0
    } else {
        cosines.iter().sum::<f32>() / cosines.len() as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_pool_is_read() {
        assert_eq!(prompts().len(), POOL.lines().count());
    }

    #[test]
    fn a_hub_is_the_mean_of_the_nearest() {
        let near: Vec<Arc<[f32]>> = vec![vec![1.0, 0.0].into(); 5];
        let far: Vec<Arc<[f32]>> = vec![vec![0.0, 1.0].into(); 20];
        let all: Vec<_> = near.into_iter().chain(far).collect();
        assert_eq!(nearest(&all, &[1.0, 0.0]), 1.0);
        assert_eq!(nearest(&[], &[1.0, 0.0]), 0.0);
    }
}
