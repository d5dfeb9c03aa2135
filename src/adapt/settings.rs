//! Every number of a training, and its limits.

use serde::{Deserialize, Serialize};

use crate::error::Violations;

/// How a training runs. The defaults suit a few hundred prompts of one catalogue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Steps.
    pub steps: usize,
    /// What every random choice follows from.
    pub seed: u64,
    /// Prompts of a step.
    pub batch: usize,
    /// Wrong entries that a step shows for each prompt.
    pub negatives: usize,
    /// Nearest wrong entries of a prompt that these are drawn from.
    pub nearest: usize,
    /// Share of steps that mix the prompts of four sets.
    pub mixed: f64,
    /// Rank of the factors.
    pub rank: usize,
    /// The change is scaled by `alpha / rank` while training.
    pub alpha: f64,
    /// And by this as well where it is merged.
    pub strength: f64,
    /// Largest learning rate.
    pub learning_rate: f64,
    /// Share of a factor that goes, times the learning rate, at each step.
    pub weight_decay: f64,
    /// Steps over which the learning rate grows.
    pub warm_up: usize,
    /// Cosines are divided by this.
    pub temperature: f64,
    /// Weight of finding the prompt of an entry, against finding the entry of a prompt.
    pub reverse: f64,
    /// Weight of keeping prompts that nothing serves away from all entries.
    pub outside: f64,
    /// Such prompts of a step and set.
    pub outside_prompts: usize,
    /// How often an entry is shown as "name: description", as name, and as description.
    pub texts: [f64; 3],
    /// Tokens that are read of a text.
    pub max_tokens: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            steps: 40,
            seed: 1,
            batch: 32,
            negatives: 2,
            nearest: 20,
            mixed: 0.1,
            rank: 16,
            alpha: 32.0,
            strength: 0.5,
            learning_rate: 5e-4,
            weight_decay: 0.01,
            warm_up: 15,
            temperature: 0.03,
            reverse: 0.3,
            outside: 0.3,
            outside_prompts: 8,
            texts: [0.6, 0.2, 0.2],
            max_tokens: 72,
        }
    }
}

impl Settings {
    /// Every value that is out of its limits.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::default();
        for (name, value, least, most) in [
            ("steps", self.steps, 1, 1_000),
            ("batch", self.batch, 4, 128),
            ("negatives", self.negatives, 0, 8),
            ("nearest", self.nearest, self.negatives, 100),
            ("rank", self.rank, 1, 64),
            ("warm_up", self.warm_up, 0, 1_000),
            ("outside_prompts", self.outside_prompts, 0, 64),
            ("max_tokens", self.max_tokens, 16, 128),
        ] {
            if !(least..=most).contains(&value) {
                violations.add(name, format!("{value} is not within {least} to {most}"));
            }
        }
        for (name, value, least, most) in [
            ("mixed", self.mixed, 0.0, 1.0),
            ("alpha", self.alpha, 1.0, 256.0),
            ("strength", self.strength, 0.01, 2.0),
            ("learning_rate", self.learning_rate, 1e-6, 0.1),
            ("weight_decay", self.weight_decay, 0.0, 1.0),
            // Cosines over it, and sums of those, are exponents: outside, they leave F32.
            ("temperature", self.temperature, 0.02, 0.1),
            ("reverse", self.reverse, 0.0, 10.0),
            ("outside", self.outside, 0.0, 10.0),
            ("texts[0]", self.texts[0], 0.0, 1.0),
            ("texts[1]", self.texts[1], 0.0, 1.0),
            ("texts[2]", self.texts[2], 0.0, 1.0),
        ] {
            // Written so that NaN is out.
            if !(value >= least && value <= most) {
                violations.add(name, format!("{value} is not within {least} to {most}"));
            }
        }
        if self.texts.iter().sum::<f64>() <= 0.0 {
            violations.add("texts", "one of the shares must be above 0");
        }
        violations
    }
}
