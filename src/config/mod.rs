//! Configuration: defaults, then a TOML file, then the environment, then flags.
//!
//! A key may be given as `SIGNALBOX_SECTION__KEY` (`SIGNALBOX_SERVER__LISTEN`). Unknown keys
//! are refused wherever they stand, and every value out of its limits is named.

mod admin;
mod catalog;
mod hydrate;
mod journal;
mod knowledge;
mod log;
mod loops;
mod model;
mod route;
mod server;
mod store;
mod telemetry;

use std::path::Path;

use figment::Figment;
use figment::providers::{Env, Format, Serialized, Toml};
use serde::{Deserialize, Serialize};

use crate::error::Violations;

pub use admin::{AdminConfig, AdminDoor};
pub use catalog::CatalogConfig;
pub use hydrate::HydrateConfig;
pub use journal::JournalConfig;
pub use knowledge::KnowledgeConfig;
pub use log::{LogConfig, LogFormat};
pub use loops::{LoopsConfig, VerifiedTool};
pub use model::{HubConfig, ModelConfig, Secret};
pub use route::RouteConfig;
pub use server::{LimitsConfig, ServerConfig};
pub use store::StoreConfig;
pub use telemetry::TelemetryConfig;

/// Prefix of environment variables.
pub const ENV_PREFIX: &str = "SIGNALBOX_";

/// Variable that names the configuration file.
pub const ENV_FILE: &str = "SIGNALBOX_CONFIG";

/// Everything that can be set.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where the server listens and how it stops.
    pub server: ServerConfig,
    /// Where health and metrics are served.
    pub admin: AdminConfig,
    /// What it takes at most.
    pub limits: LimitsConfig,
    /// Where entries are read from.
    pub catalog: CatalogConfig,
    /// The encoder.
    pub model: ModelConfig,
    /// Where model files are fetched from.
    pub hub: HubConfig,
    /// How prompts are decided.
    pub route: RouteConfig,
    /// Where changes are written down.
    pub store: StoreConfig,
    /// What is written down, and how long it is kept.
    pub journal: JournalConfig,
    /// How loops are watched.
    pub loops: LoopsConfig,
    /// Where the context before the first turn may come from.
    pub hydrate: HydrateConfig,
    /// What is known, and where conventions are read from.
    pub knowledge: KnowledgeConfig,
    /// What is logged.
    pub log: LogConfig,
    /// What a collector is told.
    pub telemetry: TelemetryConfig,
}

/// Why a configuration is refused.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It cannot be read: unknown key, wrong type, bad syntax.
    #[error("configuration: {0}")]
    Unreadable(Box<figment::Error>),
    /// The file is not there.
    #[error("configuration: there is no file {0}")]
    Missing(String),
    /// Values are out of their limits.
    #[error("configuration: {0}")]
    Invalid(Violations),
}

/// Values given as flags; they win over everything else.
pub type Overrides = toml::Table;

impl Config {
    /// Reads and checks the configuration. `file` is the one named on the command line.
    pub fn load(file: Option<&Path>, overrides: Overrides) -> Result<Self, ConfigError> {
        let mut figment = Figment::from(Serialized::defaults(Config::default()));
        if let Some(file) = file {
            if !file.is_file() {
                return Err(ConfigError::Missing(file.display().to_string()));
            }
            figment = figment.merge(Toml::file_exact(file));
        }
        let config: Config = figment
            .merge(
                Env::prefixed(ENV_PREFIX)
                    .filter(|key| is_ours(key.as_str()))
                    .split("__"),
            )
            .merge(Serialized::defaults(overrides))
            .extract()
            .map_err(|error| ConfigError::Unreadable(Box::new(error)))?;
        config.check().into_result().map_err(ConfigError::Invalid)?;
        Ok(config)
    }

    /// Every value that is out of its limits.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::default();
        self.server.check(&mut violations);
        self.admin.check(&mut violations);
        self.limits.check(&mut violations);
        self.model.check(&mut violations);
        self.route.check(&mut violations);
        self.journal.check(&mut violations);
        self.loops.check(&mut violations);
        self.hydrate.check(&mut violations);
        self.knowledge.check(&mut violations);
        self.log.check(&mut violations);
        self.telemetry.check(&mut violations);
        violations
    }

    /// The whole configuration as TOML, secrets replaced.
    pub fn dump(&self) -> String {
        // Plain tables of scalars and lists always serialise.
        toml::to_string_pretty(self).unwrap_or_default()
    }
}

/// Whether an environment variable (without its prefix) is a setting. Kubernetes describes a
/// Service named "signalbox" to every pod in variables with our prefix, but never with two
/// underscores.
fn is_ours(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let of_a_service = ["service_host", "service_port", "port"]
        .iter()
        .any(|name| key == *name || key.starts_with(&format!("{name}_")));
    key != "config" && (key.contains("__") || !of_a_service)
}

/// Adds a violation unless a value lies within its limits.
fn within<T: PartialOrd + std::fmt::Display>(
    violations: &mut Violations,
    field: &str,
    value: T,
    (least, most): (T, T),
) {
    // Written so that NaN is out.
    if !(value >= least && value <= most) {
        violations.add(field, format!("{value} is not within {least} to {most}"));
    }
}

#[cfg(test)]
mod tests;
