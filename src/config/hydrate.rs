//! `[hydrate]`.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::within;
use crate::error::Violations;
use crate::hydrate::Options;
use crate::hydrate::address::AddressRules;
use crate::hydrate::file::Files;
use crate::hydrate::http::HttpOptions;

/// Where the context before the first turn may come from. Which resolver is used for what is
/// part of a loop's configuration; here is what the built-in ones may do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HydrateConfig {
    /// Whether `builtin:http` may be used.
    pub http: bool,
    /// Whether it may fetch without TLS.
    pub plain_http: bool,
    /// Networks it may connect to although they are not public.
    pub allow_networks: Vec<String>,
    /// Bytes of one answer.
    pub max_http_bytes: usize,
    /// Folders that `builtin:file` may read below.
    pub roots: Vec<PathBuf>,
    /// Bytes of one file.
    pub max_file_bytes: u64,
    /// Milliseconds for one reference.
    pub reference_timeout_ms: u64,
    /// References that the built-in resolvers work on at once, in all calls.
    pub max_concurrent: usize,
}

impl Default for HydrateConfig {
    fn default() -> Self {
        Self {
            http: true,
            plain_http: false,
            allow_networks: Vec::new(),
            max_http_bytes: 1 << 20,
            roots: Vec::new(),
            max_file_bytes: 1 << 20,
            reference_timeout_ms: 10_000,
            max_concurrent: 64,
        }
    }
}

impl HydrateConfig {
    /// The same for the hydrator.
    pub fn options(&self) -> Options {
        let allowed = self.allow_networks.iter();
        let allowed = allowed.filter_map(|net| net.parse().ok()).collect();
        Options {
            http: HttpOptions {
                enabled: self.http,
                plain: self.plain_http,
                max_bytes: self.max_http_bytes,
                addresses: AddressRules::allowing(allowed),
                ..HttpOptions::default()
            },
            files: Files {
                roots: self.roots.clone(),
                max_bytes: self.max_file_bytes,
            },
            reference_timeout: Duration::from_millis(self.reference_timeout_ms),
            max_concurrent: self.max_concurrent,
        }
    }

    pub(super) fn check(&self, violations: &mut Violations) {
        for (at, net) in self.allow_networks.iter().enumerate() {
            if net.parse::<ipnet::IpNet>().is_err() {
                let message = format!("{net:?} is no network such as 10.1.0.0/16");
                violations.add(format!("hydrate.allow_networks[{at}]"), message);
            }
        }
        let bytes = (1 << 10, 16 << 20);
        within(
            violations,
            "hydrate.max_http_bytes",
            self.max_http_bytes,
            bytes,
        );
        within(
            violations,
            "hydrate.max_file_bytes",
            self.max_file_bytes,
            (1 << 10, 16 << 20),
        );
        within(
            violations,
            "hydrate.reference_timeout_ms",
            self.reference_timeout_ms,
            (1, 600_000),
        );
        within(
            violations,
            "hydrate.max_concurrent",
            self.max_concurrent,
            (1, 10_000),
        );
    }
}
