//! Gauges: what is looked at when somebody asks for the metrics.

use std::path::PathBuf;
use std::sync::Arc;

use opentelemetry::KeyValue;
use opentelemetry::metrics::Meter;

use crate::embed::{Embedder, ModelState};
use crate::index::Index;
use crate::journal::Journal;
use crate::lifecycle::{Blocker, Readiness};
use crate::session::LoopHub;

/// What is looked at. All of it is shared with the services and cheap to clone.
#[derive(Clone)]
pub struct Observed {
    /// Entries and their vectors.
    pub index: Arc<Index>,
    /// The encoder.
    pub embedder: Embedder,
    /// Open loops.
    pub loops: LoopHub,
    /// Followers of the journal.
    pub journal: Journal,
    /// What readiness waits for.
    pub readiness: Arc<Readiness>,
    /// Folder of the database.
    pub data_dir: Option<PathBuf>,
    /// Calls in flight and their limit, by kind.
    pub calls: Arc<dyn Fn() -> [CallCount; 2] + Send + Sync>,
}

/// Calls of one kind.
#[derive(Debug, Clone, Copy)]
pub struct CallCount {
    /// `calls` or `streams`.
    pub kind: &'static str,
    /// In flight.
    pub in_flight: usize,
    /// At most.
    pub limit: usize,
}

/// Begins to show it.
pub fn observe(meter: &Meter, observed: &Observed) {
    let gauge = |name: &'static str, unit: &'static str, text: &'static str| {
        meter
            .u64_observable_gauge(name)
            .with_unit(unit)
            .with_description(text)
    };

    let readiness = observed.readiness.clone();
    gauge("signalbox.ready", "", "Whether new work is welcome")
        .with_callback(move |observer| {
            observer.observe(u64::from(readiness.state().is_ready()), &[]);
        })
        .build();
    let readiness = observed.readiness.clone();
    gauge(
        "signalbox.blocked",
        "",
        "Whether readiness waits for this part",
    )
    .with_callback(move |observer| {
        let blockers = readiness.state().blockers;
        for blocker in [Blocker::Catalogue, Blocker::Journal, Blocker::Model] {
            let blocked = u64::from(blockers.contains(&blocker));
            observer.observe(
                blocked,
                &[KeyValue::new("signalbox.blocker", blocker.as_str())],
            );
        }
    })
    .build();

    let index = observed.index.clone();
    gauge(
        "signalbox.catalog.entries",
        "{entry}",
        "Entries of the catalogue",
    )
    .with_callback(move |observer| observer.observe(count(index.snapshot().len()), &[]))
    .build();
    let index = observed.index.clone();
    gauge(
        "signalbox.catalog.pending",
        "{entry}",
        "Entries without vectors, ranked by tokens alone",
    )
    .with_callback(move |observer| {
        observer.observe(count(index.snapshot().pending_vectors()), &[]);
    })
    .build();

    let embedder = observed.embedder.clone();
    gauge(
        "signalbox.model.state",
        "",
        "1 for the state that the model is in",
    )
    .with_callback(move |observer| {
        let now = state_name(&embedder.state());
        for state in ["disabled", "loading", "ready", "failed"] {
            let is_now = u64::from(state == now);
            observer.observe(is_now, &[KeyValue::new("signalbox.state", state)]);
        }
    })
    .build();

    let loops = observed.loops.clone();
    gauge(
        "signalbox.loops.open",
        "{loop}",
        "Loops open or lately ended",
    )
    .with_callback(move |observer| observer.observe(count(loops.len()), &[]))
    .build();
    let journal = observed.journal.clone();
    gauge(
        "signalbox.journal.followers",
        "{stream}",
        "Streams that follow the journal",
    )
    .with_callback(move |observer| observer.observe(count(journal.followers()), &[]))
    .build();
    if let Some(dir) = observed.data_dir.clone() {
        gauge(
            "signalbox.store.size",
            "By",
            "Size of the database with its log",
        )
        .with_callback(move |observer| {
            let files = ["signalbox.db", "signalbox.db-wal", "signalbox.db-shm"];
            let sizes = files
                .iter()
                .filter_map(|name| dir.join(name).metadata().ok());
            observer.observe(sizes.map(|file| file.len()).sum(), &[]);
        })
        .build();
    }

    let calls = observed.calls.clone();
    gauge("signalbox.rpc.in_flight", "{call}", "Calls in flight")
        .with_callback(move |observer| {
            for calls in calls() {
                observer.observe(count(calls.in_flight), &[kind(&calls)]);
            }
        })
        .build();
    let calls = observed.calls.clone();
    gauge(
        "signalbox.rpc.limit",
        "{call}",
        "Calls that may be in flight",
    )
    .with_callback(move |observer| {
        for calls in calls() {
            observer.observe(count(calls.limit), &[kind(&calls)]);
        }
    })
    .build();
}

fn kind(calls: &CallCount) -> KeyValue {
    KeyValue::new("signalbox.kind", calls.kind)
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn state_name(state: &ModelState) -> &'static str {
    match state {
        ModelState::Disabled => "disabled",
        ModelState::Loading => "loading",
        ModelState::Ready(_) => "ready",
        ModelState::Failed(_) => "failed",
    }
}
