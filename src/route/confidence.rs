//! From sums to probabilities, and from a probability to a decision.

use super::result::Outcome;

/// A logistic model: probability = sigma(bias + best * raw + margin * (raw - second)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Intercept.
    pub bias: f64,
    /// Weight of the sum itself.
    pub best: f64,
    /// Weight of its lead over the second.
    pub margin: f64,
}

impl Calibration {
    /// Score of one entry, 0 to 1: rises with the sum, whatever the others reach.
    pub fn score(&self, raw: f32) -> f64 {
        logistic(self.bias + self.best * f64::from(raw))
    }

    /// Probability that the best entry is right.
    pub fn confidence(&self, best: f32, second: Option<f32>) -> f64 {
        let lead = second.map_or(0.0, |second| f64::from(best - second).max(0.0));
        logistic(self.bias + self.best * f64::from(best) + self.margin * lead)
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Confidence limits of a decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Below it the router abstains.
    pub floor: f64,
    /// Strictly above it a match is accepted.
    pub accept: f64,
}

impl Thresholds {
    /// The outcome at a confidence.
    pub fn decide(&self, confidence: f64) -> Outcome {
        if confidence > self.accept {
            Outcome::Accepted
        } else if confidence < self.floor {
            Outcome::Abstained
        } else {
            Outcome::Uncertain
        }
    }
}
