//! What the process tells about itself: its log, and through OpenTelemetry its traces and
//! metrics.
//!
//! [`Telemetry`] owns the providers and lives as long as the server. The rest of the crate
//! only knows the small functions that say what happened ([`Call`], [`genai`], [`count`]);
//! where no [`Telemetry`] was started, as in the other commands, they do nothing. The text of
//! a prompt leaves the process only where `telemetry.prompts` is set.

mod call;
pub mod count;
pub mod genai;
mod instruments;
mod log;
mod observe;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use prometheus::process_collector::ProcessCollector;
use prometheus::{Registry, TextEncoder};

use crate::config::{LogConfig, TelemetryConfig};

pub use call::{Call, Ended, Method, Methods};
pub use log::start_log;
pub use observe::{CallCount, Observed, observe};

/// Name of our instruments' scope.
const SCOPE: &str = "signalbox";

/// How long the collector may take to have the last spans and metrics.
const LAST_DELIVERY: Duration = Duration::from_secs(3);

/// Target of our spans; prefix of everything that the tracing layer takes.
pub(crate) const SPAN_TARGET: &str = "signalbox::span";

/// Whether spans are made at all.
static TRACING: AtomicBool = AtomicBool::new(false);

/// Whether spans carry the text of prompts.
static PROMPTS: AtomicBool = AtomicBool::new(false);

/// Log, traces and metrics of a server. Cheap to clone.
#[derive(Clone)]
pub struct Telemetry {
    meters: SdkMeterProvider,
    spans: Option<SdkTracerProvider>,
    registry: Registry,
}

impl Telemetry {
    /// Starts the log, and what the configuration asks for. Has to be called on the runtime,
    /// once.
    ///
    /// # Errors
    ///
    /// A collector's address that cannot be used.
    pub fn start(config: &TelemetryConfig, log: &LogConfig) -> anyhow::Result<Self> {
        let endpoint = config.endpoint();
        let traced = endpoint.as_ref().filter(|_| config.traces);
        let spans = match traced {
            Some(endpoint) => Some(tracer(config, endpoint)?),
            None => None,
        };
        log::start(log, "info", spans.as_ref().map(|p| p.tracer(SCOPE)));
        TRACING.store(spans.is_some(), Ordering::Relaxed);
        PROMPTS.store(config.prompts, Ordering::Relaxed);

        let registry = Registry::new();
        let measured = endpoint.as_ref().filter(|_| config.metrics);
        let meters = meters(config, measured.map(String::as_str), &registry)?;
        instruments::install(&meters.meter(SCOPE));
        if let Some(endpoint) = endpoint {
            tracing::info!(
                endpoint,
                traces = config.traces,
                metrics = config.metrics,
                prompts = config.prompts,
                "telling an OpenTelemetry collector"
            );
        }
        Ok(Self {
            meters,
            spans,
            registry,
        })
    }

    /// Makes instruments.
    pub fn meter(&self) -> Meter {
        self.meters.meter(SCOPE)
    }

    /// All metrics in Prometheus' text format. Asks callbacks that may read files: not for
    /// the runtime's threads.
    ///
    /// # Errors
    ///
    /// Metrics that cannot be written as text.
    pub fn render(&self) -> Result<String, prometheus::Error> {
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }

    /// Delivers what is left. A collector that does not answer costs three seconds.
    pub async fn stop(self) {
        let deliver = move || {
            if let Some(spans) = &self.spans
                && let Err(error) = spans.shutdown_with_timeout(LAST_DELIVERY)
            {
                tracing::warn!(%error, "the last spans were not delivered");
            }
            if let Err(error) = self.meters.shutdown_with_timeout(LAST_DELIVERY) {
                tracing::warn!(%error, "the last metrics were not delivered");
            }
        };
        let delivered = tokio::task::spawn_blocking(deliver);
        if tokio::time::timeout(LAST_DELIVERY, delivered)
            .await
            .is_err()
        {
            tracing::warn!("the collector did not take the last spans and metrics in time");
        }
    }
}

fn tracer(config: &TelemetryConfig, endpoint: &str) -> anyhow::Result<SdkTracerProvider> {
    let exporter = SpanExporter::builder()
        .with_tonic()
        .with_endpoint(endpoint)
        .build()
        .context("traces cannot be sent")?;
    let ratio = Sampler::TraceIdRatioBased(config.sample_ratio);
    Ok(SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_sampler(Sampler::ParentBased(Box::new(ratio)))
        .with_resource(resource())
        .build())
}

fn meters(
    config: &TelemetryConfig,
    endpoint: Option<&str>,
    registry: &Registry,
) -> anyhow::Result<SdkMeterProvider> {
    let prometheus = opentelemetry_prometheus::exporter()
        .with_registry(registry.clone())
        .scope_info_enabled(false)
        .build()
        .context("metrics cannot be shown")?;
    // Memory, processor time and open files under the names that every dashboard knows.
    registry.register(Box::new(ProcessCollector::for_self()))?;
    let mut provider = SdkMeterProvider::builder()
        .with_reader(prometheus)
        .with_resource(resource());
    if let Some(endpoint) = endpoint {
        let exporter = MetricExporter::builder()
            .with_tonic()
            .with_endpoint(endpoint)
            .build()
            .context("metrics cannot be sent")?;
        let reader = PeriodicReader::builder(exporter).with_interval(config.metrics_interval());
        provider = provider.with_reader(reader.build());
    }
    Ok(provider.build())
}

/// Who speaks. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win.
fn resource() -> Resource {
    let mut resource = Resource::builder();
    if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
        resource = resource.with_service_name(SCOPE);
    }
    resource
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build()
}

#[cfg(test)]
mod tests;
