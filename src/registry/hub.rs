//! Hub correction: how near an entry is to prompts that ask for nothing in particular.
//!
//! Some entries are near to everything. The mean of an entry's largest similarities with a
//! pool of neutral, task-like prompts measures that, and half of it is taken off when
//! ranking.

use std::sync::Arc;

use serde::Deserialize;

use crate::index::{EntryVectors, Hub, RowRole, dot};
use crate::text::script::{ScriptGroup, script_group};

/// Largest similarities that are averaged.
const NEAREST: usize = 5;

const POOL: &str = include_str!("pool.jsonl");

#[derive(Deserialize)]
struct Line {
    prompt: String,
}

/// Prompts of the pool, in its order. The pool is part of the binary and read by a test, so
/// an unreadable line can only be one that the test has refused.
pub(super) fn prompts() -> Vec<String> {
    POOL.lines()
        .filter_map(|line| serde_json::from_str::<Line>(line).ok())
        .map(|line| line.prompt)
        .collect()
}

/// Vectors of the pool's prompts.
#[derive(Debug, Clone, Default)]
pub(super) struct Pool {
    cjk: Vec<Arc<[f32]>>,
    other: Vec<Arc<[f32]>>,
}

impl Pool {
    /// Pairs the prompts with their vectors.
    pub fn new(prompts: &[String], vectors: &[Arc<[f32]>]) -> Self {
        let mut pool = Self::default();
        for (prompt, vector) in prompts.iter().zip(vectors) {
            match script_group(prompt) {
                ScriptGroup::Cjk => pool.cjk.push(vector.clone()),
                ScriptGroup::Latin | ScriptGroup::Other => pool.other.push(vector.clone()),
            }
        }
        pool
    }

    /// Adds the hubs of an entry's vectors.
    pub fn measure(&self, vectors: &mut EntryVectors) {
        for row in &vectors.rows {
            match row.role {
                RowRole::Text => {
                    // Of several own texts the largest hub counts, as the nearest text does.
                    let hub = self.hub(&row.vector);
                    vectors.text_hub.cjk = vectors.text_hub.cjk.max(hub.cjk);
                    vectors.text_hub.other = vectors.text_hub.other.max(hub.other);
                }
                RowRole::Centroid => vectors.centroid_hub = self.hub(&row.vector),
                RowRole::Example(_) => {}
            }
        }
    }

    fn hub(&self, vector: &[f32]) -> Hub {
        Hub {
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
