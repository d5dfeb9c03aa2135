//! `[route]`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::within;
use crate::error::Violations;
use crate::route::{FieldWeights, Settings};

/// How prompts are decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RouteConfig {
    /// Strictly above this confidence a match is accepted.
    pub accept_threshold: f64,
    /// Below this confidence the router abstains.
    pub floor: f64,
    /// File that `signalbox calibrate` made; its floors replace `floor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<PathBuf>,
    /// Weights of the lexical score.
    pub weights: FieldWeights,
}

impl Default for RouteConfig {
    fn default() -> Self {
        let Settings {
            weights,
            accept_threshold,
            floor,
        } = Settings::default();
        Self {
            accept_threshold,
            floor,
            calibration: None,
            weights,
        }
    }
}

impl RouteConfig {
    /// The same for the router.
    pub fn settings(&self) -> Settings {
        let Self {
            accept_threshold,
            floor,
            weights,
            ..
        } = *self;
        Settings {
            weights,
            accept_threshold,
            floor,
        }
    }

    pub(super) fn check(&self, violations: &mut Violations) {
        within(
            violations,
            "route.accept_threshold",
            self.accept_threshold,
            (0.0, 1.0),
        );
        within(violations, "route.floor", self.floor, (0.0, 1.0));
        if self.floor > self.accept_threshold {
            violations.add("route.floor", "must not exceed route.accept_threshold");
        }
        let FieldWeights {
            name,
            source_hint,
            responsibility,
        } = self.weights;
        within(violations, "route.weights.name", name, (0.0, 1.0));
        within(
            violations,
            "route.weights.source_hint",
            source_hint,
            (0.0, 1.0),
        );
        within(
            violations,
            "route.weights.responsibility",
            responsibility,
            (0.0, 1.0),
        );
    }
}
