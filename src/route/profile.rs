//! What is known of each encoder: which texts of an entry it is shown, how its similarities
//! are weighed, and how a sum becomes a probability.
//!
//! The weights were chosen on the development halves of public tool-choice sets, never for one
//! set alone, and so was the calibration of the multilingual encoder; the other calibrations
//! are set by hand. docs/routing.md has the figures.

use super::confidence::Calibration;

/// How an entry's own text becomes vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projection {
    /// "name: description" and the name stand side by side; the nearer one counts.
    Nearest,
    /// Mean direction of "name: description", the description and the name.
    Mean,
}

/// Weights of one encoder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// How entries are shown to it.
    pub projection: Projection,
    /// Share of the hub that is taken off a similarity.
    pub hub: f32,
    /// Weight of coverage next to similarity.
    pub coverage: f32,
    /// Weight of the examples' centroid against the nearest text, for entries with examples.
    pub centroid: f32,
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
    hub: 0.0,
    coverage: 0.5,
    centroid: 0.58,
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
    hub: 0.5,
    coverage: 0.3,
    centroid: 0.75,
    hybrid: Calibration {
        bias: -9.5,
        slope: 20.0,
    },
    semantic: Calibration {
        bias: -9.0,
        slope: 20.0,
    },
};

impl Profile {
    /// Profile of a model id; an unknown encoder is weighed like MiniLM.
    pub fn of(model: &str) -> &'static Profile {
        match model {
            "multilingual-e5-small" => &MULTILINGUAL_E5,
            _ => &MINILM,
        }
    }
}
