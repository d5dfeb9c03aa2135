//! Which prompts and entries meet in a step.
//!
//! The prompts of all steps are drawn before the first, so that nothing has to be known of the
//! others. The entries are drawn step by step, once the nearest wrong ones are known. Every
//! draw follows from the seed alone.

use rand::Rng;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::states::PromptAt;
use super::{Set, Settings};

/// Sets that a mixed step takes its prompts from.
const MIXED_SETS: usize = 4;

/// The prompts of one step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Batch {
    /// Prompts that have an entry.
    pub(super) prompts: Vec<PromptAt>,
    /// For each of them the one of its right entries that it is to find.
    pub(super) chosen: Vec<usize>,
    /// Prompts that nothing serves.
    pub(super) outside: Vec<PromptAt>,
}

/// The generator for one purpose of a training.
pub(super) fn generator(seed: u64, purpose: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(purpose);
    rng
}

/// The prompts of all steps. Prompts of a set come again only when all were drawn.
pub(super) fn plan(sets: &[Set], settings: &Settings) -> Vec<Batch> {
    let rng = &mut generator(settings.seed, 0);
    let weights: Vec<f64> = sets.iter().map(|set| set.weight).collect();
    let mut bags: Vec<Bag> = sets.iter().map(|set| Bag::new(set.learnt())).collect();
    let mut outsides: Vec<Bag> = sets.iter().map(|set| Bag::new(set.outside())).collect();
    let mut plan = Vec::with_capacity(settings.steps);
    for _ in 0..settings.steps {
        let numbers: Vec<usize> = if sets.len() > 1 && rng.random_bool(settings.mixed) {
            (0..MIXED_SETS).map(|_| weighted(&weights, rng)).collect()
        } else {
            vec![weighted(&weights, rng)]
        };
        let share = settings.batch / numbers.len();
        let mut prompts = Vec::with_capacity(settings.batch);
        for number in &numbers {
            let drawn = bags[*number].draw(share, rng);
            prompts.extend(drawn.into_iter().map(|at| (*number, at)));
        }
        let chosen = prompts
            .iter()
            .map(|(set, at)| {
                let gold = &sets[*set].prompts[*at].gold;
                gold[rng.random_range(0..gold.len())]
            })
            .collect();
        let mut outside: Vec<PromptAt> = Vec::new();
        if settings.outside > 0.0 {
            for number in &numbers {
                let drawn = outsides[*number].draw(settings.outside_prompts, rng);
                outside.extend(drawn.into_iter().map(|at| (*number, at)));
            }
            outside.sort_unstable();
            outside.dedup();
        }
        plan.push(Batch {
            prompts,
            chosen,
            outside,
        });
    }
    plan
}

/// Things that are drawn in a random order, and again once all were.
struct Bag {
    all: Vec<usize>,
    left: Vec<usize>,
}

impl Bag {
    fn new(all: impl Iterator<Item = usize>) -> Self {
        Self {
            all: all.collect(),
            left: Vec::new(),
        }
    }

    // Fewer than `count` only where there are none at all.
    fn draw(&mut self, count: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
        let mut drawn = Vec::with_capacity(count);
        while drawn.len() < count && !self.all.is_empty() {
            match self.left.pop() {
                Some(at) => drawn.push(at),
                None => {
                    self.left.clone_from(&self.all);
                    self.left.shuffle(rng);
                }
            }
        }
        drawn
    }
}

/// A place, as likely as its weight among all.
pub(super) fn weighted(weights: &[f64], rng: &mut ChaCha8Rng) -> usize {
    let mut left = rng.random_range(0.0..1.0) * weights.iter().sum::<f64>();
    let mut last = 0;
    for (at, weight) in weights.iter().enumerate() {
        if *weight > 0.0 {
            last = at;
            if left < *weight {
                break;
            }
        }
        left -= weight;
    }
    last
}

/// The entries of one step.
pub(super) struct Pool {
    /// Set, entry and which of its texts is shown.
    pub(super) entries: Vec<(usize, usize, usize)>,
    /// For each prompt the place of its chosen entry.
    pub(super) chosen: Vec<usize>,
    /// For each prompt the places of all its right entries that are there.
    pub(super) gold: Vec<Vec<usize>>,
}

impl Pool {
    /// The right entries of each prompt, and some of the nearest wrong ones.
    pub(super) fn draw(
        batch: &Batch,
        sets: &[Set],
        nearest: impl Fn(&PromptAt) -> Vec<usize>,
        settings: &Settings,
        rng: &mut ChaCha8Rng,
    ) -> Self {
        let mut keys: Vec<(usize, usize)> = Vec::new();
        for prompt in &batch.prompts {
            let (set, at) = *prompt;
            let gold = sets[set].prompts[at].gold.iter().copied();
            keys.extend(gold.map(|entry| (set, entry)));
            let mut wrong = nearest(prompt);
            let (shown, _) = wrong.partial_shuffle(rng, settings.negatives);
            keys.extend(shown.iter().map(|entry| (set, *entry)));
        }
        keys.sort_unstable();
        keys.dedup();
        // Every key that is looked up was put in above.
        let place = |key: (usize, usize)| keys.binary_search(&key).unwrap_or_default();
        let chosen = batch.prompts.iter().zip(&batch.chosen);
        let chosen = chosen
            .map(|((set, _), entry)| place((*set, *entry)))
            .collect();
        let gold = batch.prompts.iter().map(|(set, at)| {
            let gold = &sets[*set].prompts[*at].gold;
            gold.iter().map(|entry| place((*set, *entry))).collect()
        });
        Self {
            chosen,
            gold: gold.collect(),
            entries: keys
                .iter()
                .map(|(set, entry)| (*set, *entry, weighted(&settings.texts, rng)))
                .collect(),
        }
    }
}
