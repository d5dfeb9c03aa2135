//! `[telemetry]`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::within;
use crate::error::Violations;

/// Variable of OpenTelemetry's that names the collector; the operator of Kubernetes sets it.
const ENV_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// What is told to an OpenTelemetry collector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetryConfig {
    /// Address of the collector (OTLP over gRPC); none where absent or empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp_endpoint: Option<String>,
    /// Whether spans are sent there.
    pub traces: bool,
    /// Whether metrics are sent there; `/metrics` has them in any case.
    pub metrics: bool,
    /// Share of the calls without a sampled caller that are traced.
    pub sample_ratio: f64,
    /// Seconds between two deliveries of metrics.
    pub metrics_interval_seconds: u64,
    /// Whether spans carry the text of prompts, instead of hash and length alone.
    pub prompts: bool,
}

impl Default for TelemetryConfig {
    fn default() -> Self {
        Self {
            otlp_endpoint: None,
            traces: true,
            metrics: true,
            sample_ratio: 1.0,
            metrics_interval_seconds: 60,
            prompts: false,
        }
    }
}

impl TelemetryConfig {
    /// The collector's address: the configured one, else that of OpenTelemetry's own variable.
    pub fn endpoint(&self) -> Option<String> {
        self.otlp_endpoint
            .clone()
            .or_else(|| std::env::var(ENV_ENDPOINT).ok())
            .filter(|endpoint| !endpoint.is_empty())
    }

    /// Time between two deliveries of metrics.
    pub fn metrics_interval(&self) -> Duration {
        Duration::from_secs(self.metrics_interval_seconds)
    }

    pub(super) fn check(&self, violations: &mut Violations) {
        if let Some(endpoint) = self
            .otlp_endpoint
            .as_deref()
            .filter(|text| !text.is_empty())
            && let Err(why) = readable(endpoint)
        {
            violations.add("telemetry.otlp_endpoint", format!("{endpoint:?} {why}"));
        }
        within(
            violations,
            "telemetry.sample_ratio",
            self.sample_ratio,
            (0.0, 1.0),
        );
        within(
            violations,
            "telemetry.metrics_interval_seconds",
            self.metrics_interval_seconds,
            (1, 3_600),
        );
    }
}

/// Whether an address can be that of a collector.
fn readable(endpoint: &str) -> Result<(), &'static str> {
    let uri: http::Uri = endpoint.parse().map_err(|_| "is no address")?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http"), Some(_)) => Ok(()),
        // A collector is reached within the pod or node; a build with TLS would only grow.
        (Some("https"), _) => Err("needs TLS, which this build has not; use a local collector"),
        _ => Err("is no address such as http://127.0.0.1:4317"),
    }
}
