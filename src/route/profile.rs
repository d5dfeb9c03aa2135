//! What is known of each encoder: which texts of an entry it is shown, how its similarities
//! are weighed, and how a sum becomes a probability.
//!
//! The weights were chosen on the development halves of public tool-choice sets, never for one
//! set alone, and so were the hybrid calibrations of the multilingual encoder, alone and beside
//! MiniLM; for languages other than English the bias was then raised by 0.5, so that one floor
//! refuses about as much in all. The other calibrations are set by hand. docs/routing.md has the figures.

use super::confidence::Calibration;
use crate::index::PromptGroup;

/// Raised whenever the same model and catalogue would give other sums: what was fitted to the
/// sums before does not hold for those after.
pub const PROJECTION_VERSION: u32 = 2;

/// How an entry's own text becomes vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projection {
    /// "name: description" and the name stand side by side; the nearer one counts.
    Nearest,
    /// Mean direction of "name: description", the description and the name.
    Mean,
    /// The first in the part of a second encoder, the second in that of the first.
    MeanAndNearest,
}

/// What is known of one encoder, or of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// How entries are shown to it.
    pub projection: Projection,
    /// Weight of the examples' centroid against the nearest text, for entries with examples.
    pub centroid: f32,
    /// For prompts that it knows to be in English.
    pub english: Weights,
    /// For all others.
    pub other: Weights,
}

/// Weights for prompts of one sort.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Share of the hub that is taken off a similarity.
    pub hub: f32,
    /// Weight of coverage next to similarity.
    pub coverage: f32,
    /// Hybrid sums to probabilities.
    pub hybrid: Calibration,
    /// Similarities alone to probabilities.
    pub semantic: Calibration,
}

/// Coverage alone to probabilities, whatever encoder is configured.
pub const LEXICAL: Calibration = Calibration {
    bias: -3.0,
    slope: 9.0,
};

const MINILM: Profile = Profile {
    projection: Projection::Nearest,
    centroid: 0.58,
    english: MINILM_WEIGHTS,
    other: MINILM_WEIGHTS,
};

const MINILM_WEIGHTS: Weights = Weights {
    hub: 0.0,
    coverage: 0.5,
    hybrid: Calibration {
        bias: -5.0,
        slope: 9.0,
    },
    semantic: Calibration {
        bias: -4.5,
        slope: 9.0,
    },
};

const MULTILINGUAL_E5: Profile = Profile {
    projection: Projection::Mean,
    centroid: 0.75,
    english: E5_WEIGHTS,
    other: E5_WEIGHTS,
};

const E5_WEIGHTS: Weights = Weights {
    hub: 0.5,
    coverage: 0.3,
    hybrid: Calibration {
        bias: -10.1,
        slope: 23.4,
    },
    semantic: Calibration {
        bias: -9.8,
        slope: 23.4,
    },
};

/// multilingual-e5-small with MiniLM beside it in English. Two thirds of the similarity are
/// e5's, and of these half the hub is taken off.
const E5_WITH_MINILM: Profile = Profile {
    projection: Projection::MeanAndNearest,
    centroid: 0.75,
    english: Weights {
        hub: 1.0 / 3.0,
        coverage: 0.233,
        hybrid: Calibration {
            bias: -5.94,
            slope: 12.3,
        },
        semantic: Calibration {
            bias: -5.6,
            slope: 12.3,
        },
    },
    other: E5_WEIGHTS,
};

impl Profile {
    /// Profile of a model id; an unknown encoder is weighed like MiniLM.
    pub fn of(model: &str) -> &'static Profile {
        match model {
            "multilingual-e5-small" => &MULTILINGUAL_E5,
            "multilingual-e5-small+all-minilm-l6-v2" => &E5_WITH_MINILM,
            _ => &MINILM,
        }
    }

    /// Weights for a prompt of a group.
    pub fn weights(&self, group: PromptGroup) -> &Weights {
        match group {
            PromptGroup::English => &self.english,
            PromptGroup::Cjk | PromptGroup::Other => &self.other,
        }
    }
}
