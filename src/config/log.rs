//! `[log]`.

use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;

use crate::error::Violations;

/// How a line of the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

/// What is logged, to standard error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// A level, or directives such as `info,signalbox::route=debug`.
    pub level: String,
    /// How a line is written.
    pub format: LogFormat,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { level: "info".into(), format: LogFormat::Text }
    }
}

impl LogConfig {
    pub(super) fn check(&self, violations: &mut Violations) {
        if let Err(error) = EnvFilter::try_new(&self.level) {
            violations.add("log.level", error.to_string());
        }
    }
}
