//! `[server]` and `[limits]`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::within;
use crate::catalog::import::MAX_DOCUMENT_BYTES;
use crate::error::Violations;

/// Where the server listens and how it stops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// TCP address; empty for none.
    pub listen: String,
    /// Path of the Unix socket; none where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uds: Option<PathBuf>,
    /// Seconds that calls in flight may go on after SIGTERM.
    pub drain_seconds: u64,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:50051".into(),
            uds: None,
            drain_seconds: 20,
        }
    }
}

impl ServerConfig {
    /// The TCP address, if one is wanted.
    pub fn tcp(&self) -> Option<SocketAddr> {
        self.listen.parse().ok()
    }

    /// How long calls in flight may go on after SIGTERM.
    pub fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_seconds)
    }

    pub(super) fn check(&self, violations: &mut Violations) {
        if self.listen.is_empty() {
            if self.uds.is_none() {
                violations.add("server", "needs `listen`, `uds` or both");
            }
        } else if self.tcp().is_none() {
            let message = format!("{:?} is no address such as 127.0.0.1:50051", self.listen);
            violations.add("server.listen", message);
        }
        within(
            violations,
            "server.drain_seconds",
            self.drain_seconds,
            (0, 3_600),
        );
    }
}

/// What the server takes at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// Bytes of a prompt.
    pub max_prompt_bytes: usize,
    /// Bytes of a message.
    pub max_message_bytes: usize,
    /// Prompts of one batch.
    pub max_batch: usize,
    /// Bytes of an imported document.
    pub max_import_bytes: usize,
    /// Entries of the catalogue.
    pub max_entries: usize,
    /// Calls in flight; one more is refused at once.
    pub max_in_flight: usize,
    /// Watches open at once.
    pub max_streams: usize,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            max_prompt_bytes: 64 << 10,
            max_message_bytes: 4 << 20,
            max_batch: 256,
            max_import_bytes: 16 << 20,
            max_entries: 100_000,
            max_in_flight: 512,
            max_streams: 256,
        }
    }
}

impl LimitsConfig {
    pub(super) fn check(&self, violations: &mut Violations) {
        let limits = [
            (
                "limits.max_prompt_bytes",
                self.max_prompt_bytes,
                (1, 1 << 20),
            ),
            (
                "limits.max_message_bytes",
                self.max_message_bytes,
                (1 << 10, 64 << 20),
            ),
            ("limits.max_batch", self.max_batch, (1, 10_000)),
            (
                "limits.max_import_bytes",
                self.max_import_bytes,
                (1 << 10, MAX_DOCUMENT_BYTES),
            ),
            ("limits.max_entries", self.max_entries, (1, 2_000_000)),
            ("limits.max_in_flight", self.max_in_flight, (1, 100_000)),
            ("limits.max_streams", self.max_streams, (1, 100_000)),
        ];
        for (field, value, range) in limits {
            within(violations, field, value, range);
        }
    }
}
