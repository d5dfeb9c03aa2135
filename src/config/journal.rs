//! `[journal]`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::within;
use crate::error::Violations;
use crate::journal::{Clock, Options};

/// What is written down, and how long it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JournalConfig {
    /// Whether each decision of `Route` and `StreamRoute` is written down before it is
    /// answered. Off by default: it costs each call a sync of the disk, and keeps prompts.
    pub routes: bool,
    /// Seconds that events are kept; 0 for no limit.
    pub max_age_seconds: u64,
    /// Bytes of events that are kept on disk; 0 for no limit.
    pub max_bytes: u64,
    /// Events that are kept of one loop; 0 for no limit.
    pub max_loop_events: u64,
    /// Seconds between two looks at these limits.
    pub retention_seconds: u64,
    /// Events that are kept without a data directory.
    pub memory_events: u64,
    /// Bytes of events that are kept without a data directory.
    pub memory_bytes: u64,
    /// Request ids that are kept, the newest of all loops.
    pub max_request_ids: u64,
    /// Seconds between two heartbeats of a quiet stream.
    pub heartbeat_seconds: u64,
}

impl Default for JournalConfig {
    fn default() -> Self {
        Self {
            routes: false,
            max_age_seconds: 30 * 86_400,
            max_bytes: 4 << 30,
            max_loop_events: 0,
            retention_seconds: 60,
            memory_events: 100_000,
            memory_bytes: 64 << 20,
            max_request_ids: 100_000,
            heartbeat_seconds: 15,
        }
    }
}

impl JournalConfig {
    /// The same for the journal.
    pub fn options(&self) -> Options {
        let age = self.max_age_seconds;
        Options {
            max_age: (age > 0).then(|| Duration::from_secs(age)),
            max_bytes: if self.max_bytes > 0 {
                self.max_bytes
            } else {
                u64::MAX
            },
            max_loop_events: self.max_loop_events,
            retention_interval: Duration::from_secs(self.retention_seconds),
            memory_events: self.memory_events,
            memory_bytes: self.memory_bytes,
            max_request_ids: self.max_request_ids,
            clock: Clock::default(),
        }
    }

    /// Time between two heartbeats of a quiet stream.
    pub fn heartbeat(&self) -> Duration {
        Duration::from_secs(self.heartbeat_seconds)
    }

    pub(super) fn check(&self, violations: &mut Violations) {
        let limits = [
            (
                "journal.max_age_seconds",
                self.max_age_seconds,
                (0, 100 * 366 * 86_400),
            ),
            ("journal.max_bytes", self.max_bytes, (0, 1 << 50)),
            (
                "journal.max_loop_events",
                self.max_loop_events,
                (0, 1 << 50),
            ),
            (
                "journal.retention_seconds",
                self.retention_seconds,
                (1, 86_400),
            ),
            (
                "journal.memory_events",
                self.memory_events,
                (1, 100_000_000),
            ),
            (
                "journal.memory_bytes",
                self.memory_bytes,
                (1 << 10, 1 << 40),
            ),
            (
                "journal.max_request_ids",
                self.max_request_ids,
                (0, 10_000_000),
            ),
            (
                "journal.heartbeat_seconds",
                self.heartbeat_seconds,
                (1, 3_600),
            ),
        ];
        for (field, value, range) in limits {
            within(violations, field, value, range);
        }
    }
}
