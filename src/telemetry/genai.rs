//! Spans by OpenTelemetry's conventions for generative AI: choosing entries for a prompt is a
//! `retrieval`, encoding texts is `embeddings`, and a loop is the `conversation` of an agent.
//!
//! A prompt is told as SHA-256 and length; its text only where `telemetry.prompts` is set.

use std::sync::atomic::Ordering;

use opentelemetry::KeyValue;
use sha2::{Digest, Sha256};
use tokio::time::Instant;
use tracing::Span;
use tracing::instrument::{Instrument, Instrumented};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::instruments::instruments;
use super::{PROMPTS, SPAN_TARGET, TRACING};

/// What retrievals look in.
const DATA_SOURCE: &str = "signalbox.catalog";

/// Who answers.
const PROVIDER: &str = "signalbox";

/// Characters of a prompt that a span carries at most.
const MAX_PROMPT_CHARS: usize = 4_096;

/// Span of routing one prompt, below the current one; none where nothing is traced.
pub fn retrieval(prompt: &str) -> Span {
    if is_idle() {
        return Span::none();
    }
    let span = tracing::info_span!(
        target: SPAN_TARGET,
        "retrieval",
        otel.name = "retrieval signalbox.catalog",
        otel.kind = "internal",
        gen_ai.operation.name = "retrieval",
        gen_ai.provider.name = PROVIDER,
        gen_ai.data_source.id = DATA_SOURCE,
    );
    span.set_attribute("signalbox.prompt.sha256", digest(prompt));
    span.set_attribute(
        "signalbox.prompt.length",
        i64::try_from(prompt.len()).unwrap_or(i64::MAX),
    );
    if PROMPTS.load(Ordering::Relaxed) {
        let text: String = prompt.chars().take(MAX_PROMPT_CHARS).collect();
        span.set_attribute("gen_ai.retrieval.query.text", text);
    }
    span
}

/// Says what a retrieval decided.
pub fn retrieved(span: &Span, outcome: &'static str, confidence: f64, revision: &str, best: &str) {
    if span.is_none() {
        return;
    }
    span.set_attribute("signalbox.outcome", outcome);
    span.set_attribute("signalbox.confidence", confidence);
    span.set_attribute("signalbox.catalog.revision", revision.to_owned());
    if !best.is_empty() {
        span.set_attribute("signalbox.entry.name", best.to_owned());
    }
}

/// Says which loop the current call is about.
pub fn conversation(loop_id: &str, agent_id: &str) {
    if is_idle() {
        return;
    }
    let span = Span::current();
    span.set_attribute("gen_ai.conversation.id", loop_id.to_owned());
    if !agent_id.is_empty() {
        span.set_attribute("gen_ai.agent.id", agent_id.to_owned());
    }
}

/// Encoding the prompts of one call.
#[derive(Debug)]
pub struct Encoding {
    span: Span,
    begun: Instant,
    model: String,
}

impl Encoding {
    /// Begins: the prompts are about to be queued.
    pub fn begin(model: &str, dimensions: usize) -> Self {
        let span = if is_idle() {
            Span::none()
        } else {
            let span = tracing::info_span!(
                target: SPAN_TARGET,
                "embeddings",
                otel.name = format!("embeddings {model}"),
                otel.kind = "internal",
                gen_ai.operation.name = "embeddings",
                gen_ai.provider.name = PROVIDER,
                gen_ai.request.model = model,
            );
            span.set_attribute(
                "gen_ai.embeddings.dimension.count",
                i64::try_from(dimensions).unwrap_or(i64::MAX),
            );
            span
        };
        Self {
            span,
            begun: Instant::now(),
            model: model.to_owned(),
        }
    }

    /// The work, on this span.
    pub fn follow<F: Future>(&self, work: F) -> Instrumented<F> {
        work.instrument(self.span.clone())
    }

    /// Ends, with the tokens that were read or why none were.
    pub fn end(self, read: Result<u32, &'static str>) {
        if let Some(instruments) = instruments() {
            let mut attributes = vec![
                KeyValue::new("gen_ai.operation.name", "embeddings"),
                KeyValue::new("gen_ai.provider.name", PROVIDER),
                KeyValue::new("gen_ai.request.model", self.model),
            ];
            attributes.extend(read.err().map(|error| KeyValue::new("error.type", error)));
            let seconds = self.begun.elapsed().as_secs_f64();
            instruments.encoding.record(seconds, &attributes);
        }
        match read {
            Ok(tokens) => self
                .span
                .set_attribute("gen_ai.usage.input_tokens", i64::from(tokens)),
            Err(error) => self.span.set_attribute("error.type", error),
        }
    }
}

fn is_idle() -> bool {
    !TRACING.load(Ordering::Relaxed)
}

fn digest(text: &str) -> String {
    use std::fmt::Write as _;

    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
