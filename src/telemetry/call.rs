//! One call as it is told: a server span below the caller's, and its measurements.
//!
//! A call begins when its head has arrived and ends with its last byte, or when it is dropped:
//! then its caller has gone, and it is told as cancelled.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::HeaderMap;
use opentelemetry::KeyValue;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::Status;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tokio::time::Instant;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::instruments::instruments;
use super::{SPAN_TARGET, TRACING};

/// Name of a method that the server does not have; its real name could be anything.
const OTHER: &str = "_OTHER";

/// The methods of the server, by path. Names that callers make up must not become series.
#[derive(Debug, Clone, Default)]
pub struct Methods(Arc<HashMap<String, Method>>);

/// One method.
#[derive(Debug, Clone)]
pub struct Method {
    /// `package.Service/Method`.
    name: Arc<str>,
    /// Whether its calls get a span.
    traced: bool,
}

impl Methods {
    /// Methods by their names (`package.Service/Method`); calls of those for which `traced`
    /// says no get no span.
    pub fn new(names: impl IntoIterator<Item = String>, traced: impl Fn(&str) -> bool) -> Self {
        let methods = names.into_iter().map(|name| {
            let path = format!("/{name}");
            let traced = traced(&path);
            let name = name.into();
            (path, Method { name, traced })
        });
        Self(Arc::new(methods.collect()))
    }

    /// The method of a path.
    pub fn of(&self, path: &str) -> Method {
        self.0.get(path).cloned().unwrap_or_else(|| Method {
            name: OTHER.into(),
            traced: true,
        })
    }
}

/// How a call ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Name of the status code.
    pub code: &'static str,
    /// Whether the fault is the server's.
    pub is_fault: bool,
    /// Reason of the status, empty where it has none.
    pub reason: &'static str,
}

/// A call in flight.
#[derive(Debug)]
pub struct Call {
    method: Arc<str>,
    begun: Instant,
    span: Span,
    told: bool,
}

impl Call {
    /// A call whose head has arrived.
    pub fn begin(method: &Method, path: &str, headers: &HeaderMap) -> Self {
        let span = if method.traced && TRACING.load(Ordering::Relaxed) {
            span(&method.name, path, headers)
        } else {
            Span::none()
        };
        Self {
            method: method.name.clone(),
            begun: Instant::now(),
            span,
            told: false,
        }
    }

    /// Its span; none where it is not traced.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// Tells how it ended; what comes after that is not told.
    pub fn end(&mut self, ended: &Ended) {
        if std::mem::replace(&mut self.told, true) {
            return;
        }
        let mut attributes = vec![
            KeyValue::new("rpc.system.name", "grpc"),
            KeyValue::new("rpc.method", self.method.clone()),
            KeyValue::new("rpc.response.status_code", ended.code),
        ];
        if ended.code != "OK" {
            attributes.push(KeyValue::new("error.type", ended.code));
        }
        if let Some(instruments) = instruments() {
            let seconds = self.begun.elapsed().as_secs_f64();
            instruments.call_duration.record(seconds, &attributes);
            if !ended.reason.is_empty() {
                let attributes = [KeyValue::new("signalbox.reason", ended.reason)];
                instruments.call_errors.add(1, &attributes);
            }
        }
        if self.span.is_none() {
            return;
        }
        self.span
            .set_attribute("rpc.response.status_code", ended.code);
        if ended.is_fault {
            // A caller's mistake is no error of this server's.
            self.span.set_attribute("error.type", ended.code);
            self.span.set_status(Status::error(ended.reason));
        }
        if !ended.reason.is_empty() {
            self.span.set_attribute("signalbox.reason", ended.reason);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.end(&Ended {
            code: "CANCELLED",
            is_fault: false,
            reason: "",
        });
    }
}

fn span(method: &Arc<str>, path: &str, headers: &HeaderMap) -> Span {
    let span = tracing::info_span!(
        target: SPAN_TARGET,
        parent: None,
        "call",
        otel.name = &**method,
        otel.kind = "server",
        rpc.system.name = "grpc",
        rpc.method = &**method,
    );
    if &**method == OTHER {
        let original: String = path.trim_start_matches('/').chars().take(128).collect();
        span.set_attribute("rpc.method_original", original);
    }
    let parent = TraceContextPropagator::new().extract(&Headers(headers));
    // Only a span that has begun already refuses a parent.
    let _ = span.set_parent(parent);
    span
}

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}
