//! The measures.

use std::collections::BTreeMap;

use serde::Serialize;

/// Depths at which recall is measured.
const DEPTHS: [usize; 4] = [1, 3, 5, 10];

/// Share of the prompts in scope that must pass when the false positive rate is taken.
const TRUE_POSITIVE_RATE: f64 = 0.95;

/// One prompt with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// Number of right entries; 0 out of scope.
    gold: usize,
    /// Which places of the ranking hold a right entry.
    hits: Vec<bool>,
    confidence: f64,
}

impl Scored {
    /// Compares a ranking, best first, with the right ids.
    pub fn new(gold: &[String], ranking: Vec<String>, confidence: f64) -> Self {
        let hits = ranking.iter().map(|id| gold.contains(id)).collect();
        Self {
            gold: gold.len(),
            hits,
            confidence,
        }
    }

    fn recall(&self, depth: usize) -> f64 {
        self.found(depth) as f64 / self.gold as f64
    }

    fn found(&self, depth: usize) -> usize {
        self.hits.iter().take(depth).filter(|hit| **hit).count()
    }

    fn ndcg(&self, depth: usize) -> f64 {
        let gain = |place: usize| 1.0 / ((place + 2) as f64).log2();
        let reached: f64 = self
            .hits
            .iter()
            .take(depth)
            .enumerate()
            .filter(|(_, hit)| **hit)
            .map(|(place, _)| gain(place))
            .sum();
        let ideal: f64 = (0..self.gold.min(depth)).map(gain).sum();
        reached / ideal
    }
}

/// Measures over a set of prompts. Those of ranking count prompts in scope only; those of
/// abstention need prompts of both sorts and are absent otherwise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Metrics {
    /// Share of prompts whose first entry is right.
    pub top1: f64,
    /// Mean share of the right entries among the first k.
    pub recall_at: BTreeMap<String, f64>,
    /// Normalised discounted cumulative gain of the first ten.
    pub ndcg_at_10: f64,
    /// Probability that a prompt in scope has more confidence than one out of scope.
    pub auroc: Option<f64>,
    /// Share of the prompts out of scope that pass where 95 % of those in scope do.
    pub fpr95: Option<f64>,
    /// Prompts in all.
    pub n: usize,
    /// Prompts out of scope.
    pub n_out_of_scope: usize,
}

impl Metrics {
    /// Measures a set.
    pub fn of(scored: &[&Scored]) -> Self {
        let (inside, outside): (Vec<&Scored>, Vec<&Scored>) =
            scored.iter().partition(|scored| scored.gold > 0);
        let mean = |measure: &dyn Fn(&Scored) -> f64| -> f64 {
            let sum: f64 = inside.iter().map(|scored| measure(scored)).sum();
            if inside.is_empty() {
                0.0
            } else {
                sum / inside.len() as f64
            }
        };
        let confidences = |list: &[&Scored]| -> Vec<f64> {
            list.iter().map(|scored| scored.confidence).collect()
        };
        let (positives, negatives) = (confidences(&inside), confidences(&outside));
        Self {
            top1: mean(&|scored| f64::from(u8::from(scored.found(1) > 0))),
            recall_at: DEPTHS
                .iter()
                .map(|depth| (depth.to_string(), mean(&|scored| scored.recall(*depth))))
                .collect(),
            ndcg_at_10: mean(&|scored| scored.ndcg(10)),
            auroc: auroc(&positives, &negatives),
            fpr95: false_positive_rate(&positives, &negatives),
            n: scored.len(),
            n_out_of_scope: outside.len(),
        }
    }
}

/// Area under the receiver operating characteristic, by ranks; ties count half.
fn auroc(positives: &[f64], negatives: &[f64]) -> Option<f64> {
    if positives.is_empty() || negatives.is_empty() {
        return None;
    }
    let mut all: Vec<(f64, bool)> = positives
        .iter()
        .map(|value| (*value, true))
        .chain(negatives.iter().map(|value| (*value, false)))
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut won, mut below) = (0.0, 0.0);
    for tied in all.chunk_by(|a, b| a.0 == b.0) {
        let up = tied.iter().filter(|(_, positive)| *positive).count() as f64;
        let down = tied.len() as f64 - up;
        won += up * (below + down / 2.0);
        below += down;
    }
    Some(won / (positives.len() as f64 * negatives.len() as f64))
}

fn false_positive_rate(positives: &[f64], negatives: &[f64]) -> Option<f64> {
    if positives.is_empty() || negatives.is_empty() {
        return None;
    }
    let mut sorted = positives.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let must_pass = (sorted.len() as f64 * TRUE_POSITIVE_RATE).ceil() as usize;
    let threshold = sorted[must_pass.clamp(1, sorted.len()) - 1];
    let passed = negatives
        .iter()
        .filter(|value| **value >= threshold)
        .count();
    Some(passed as f64 / negatives.len() as f64)
}
