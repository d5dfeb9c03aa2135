//! `[loops]`.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::within;
use crate::error::Violations;
use crate::session::hub::HubOptions;
use crate::session::profile::{Trust, Verification};

/// Length of a digest in hex.
const DIGEST_LEN: usize = 64;

/// How loops are watched, and which tools are trusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LoopsConfig {
    /// Loops that may be open at once.
    pub max_loops: usize,
    /// Milliseconds between two looks at leases and timeouts.
    pub sweep_ms: u64,
    /// Seconds that an ended loop is remembered.
    pub linger_seconds: u64,
    /// Sources whose tools are believed: `[verified]` in a description, and the hints.
    pub trusted_sources: Vec<String>,
    /// Tools that somebody has looked at.
    pub verified: Vec<VerifiedTool>,
}

/// A definition of a tool that somebody vouches for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifiedTool {
    /// Source of the tool.
    pub source: String,
    /// Sha256 of its definition, in hex, as `FilterTools` shows it.
    pub digest: String,
    /// Who.
    pub by: String,
    /// When: seconds since 1970.
    #[serde(default)]
    pub at: u64,
}

impl Default for LoopsConfig {
    fn default() -> Self {
        let HubOptions {
            max_loops,
            sweep_interval,
            linger,
            ..
        } = HubOptions::default();
        Self {
            max_loops,
            sweep_ms: u64::try_from(sweep_interval.as_millis()).unwrap_or(500),
            linger_seconds: linger.as_secs(),
            trusted_sources: Vec::new(),
            verified: Vec::new(),
        }
    }
}

impl LoopsConfig {
    /// The same for the hub.
    pub fn options(&self) -> HubOptions {
        let verified = self.verified.iter().map(|tool| Verification {
            source: tool.source.clone(),
            digest: tool.digest.to_ascii_lowercase(),
            verified_by: tool.by.clone(),
            verified_at: SystemTime::UNIX_EPOCH
                .checked_add(Duration::from_secs(tool.at))
                .unwrap_or(SystemTime::UNIX_EPOCH),
        });
        HubOptions {
            max_loops: self.max_loops,
            sweep_interval: Duration::from_millis(self.sweep_ms),
            linger: Duration::from_secs(self.linger_seconds),
            trust: Trust::new(self.trusted_sources.clone(), verified),
        }
    }

    pub(super) fn check(&self, violations: &mut Violations) {
        within(violations, "loops.max_loops", self.max_loops, (1, 100_000));
        within(violations, "loops.sweep_ms", self.sweep_ms, (10, 60_000));
        within(
            violations,
            "loops.linger_seconds",
            self.linger_seconds,
            (0, 86_400),
        );
        for (at, tool) in self.verified.iter().enumerate() {
            let hex = tool.digest.bytes().all(|byte| byte.is_ascii_hexdigit());
            if tool.digest.len() != DIGEST_LEN || !hex {
                let field = format!("loops.verified[{at}].digest");
                violations.add(field, format!("must be {DIGEST_LEN} hexadecimal digits"));
            }
            if tool.by.is_empty() {
                violations.add(format!("loops.verified[{at}].by"), "must not be empty");
            }
        }
    }
}
