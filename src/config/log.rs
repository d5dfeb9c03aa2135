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
    /// A level, or directives such as `info,signalbox::route=debug`. Where absent a server
    /// logs from `info` on, other commands from `warn` on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// How a line is written.
    pub format: LogFormat,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            level: None,
            format: LogFormat::Text,
        }
    }
}

impl LogConfig {
    pub(super) fn check(&self, violations: &mut Violations) {
        if let Some(level) = &self.level
            && let Err(error) = EnvFilter::try_new(level)
        {
            violations.add("log.level", error.to_string());
        }
    }
}
