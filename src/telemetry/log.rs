//! The log on standard error, and beside it the layer that turns spans into traces.

use std::io::{self, IsTerminal};

use opentelemetry_sdk::trace::SdkTracer;
use tracing::Metadata;
use tracing_subscriber::filter::{LevelFilter, Targets, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use super::SPAN_TARGET;
use crate::config::{LogConfig, LogFormat};

/// Starts the log of a command that traces nothing.
pub fn start_log(config: &LogConfig, default_level: &str) {
    start(config, default_level, None);
}

/// Starts the log, and the traces where there is somebody who takes them.
pub(super) fn start(config: &LogConfig, default_level: &str, tracer: Option<SdkTracer>) {
    let level = config.level.as_deref().unwrap_or(default_level);
    let level = EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new(default_level));
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let lines = match config.format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    // Spans are for the collector: in the log each would repeat its fields on every line.
    let lines = lines
        .with_filter(filter_fn(|metadata: &Metadata<'_>| {
            metadata.target() != SPAN_TARGET
        }))
        .with_filter(level);
    let traces = tracer.map(|tracer| {
        tracing_opentelemetry::layer()
            .with_tracer(tracer)
            .with_level(false)
            .with_location(false)
            .with_target(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(
                // Warnings become events of the span that they happened in.
                Targets::new()
                    .with_target("signalbox", LevelFilter::WARN)
                    .with_target(SPAN_TARGET, LevelFilter::INFO),
            )
    });
    Registry::default().with(traces).with(lines).init();
}
