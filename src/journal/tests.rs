//! What the journal promises.

mod appending;
mod crash;
mod damage;
mod disk_full;
pub(super) mod events;
mod following;
mod retaining;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tempfile::TempDir;

use super::event::{Custom, Terminated, TerminationReason};
use super::*;

/// A journal in a new folder.
async fn durable() -> (TempDir, Journal) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let journal = Journal::open(store, Options::default()).await.unwrap();
    (dir, journal)
}

/// Opens the folder's journal again, once the one before is closed.
async fn reopen(dir: &TempDir, journal: Journal) -> Journal {
    journal.shared.store.close().await;
    drop(journal);
    Journal::open(Store::open(dir.path()).unwrap(), Options::default())
        .await
        .unwrap()
}

async fn in_memory(options: Options) -> Journal {
    Journal::open(Store::in_memory().unwrap(), options)
        .await
        .unwrap()
}

/// A time that only moves when told to.
fn hand_clock() -> (Clock, impl Fn(i64) + Send + Sync) {
    let seconds = Arc::new(AtomicI64::new(1_700_000_000));
    let read = seconds.clone();
    let clock = Clock::new(move || Timestamp::from_parts(read.load(Ordering::SeqCst), 0).unwrap());
    (clock, move |by| {
        seconds.fetch_add(by, Ordering::SeqCst);
    })
}

fn custom(name: impl Into<String>) -> NewEvent {
    LoopEvent::Custom(Custom {
        name: name.into(),
        data: String::new(),
    })
    .into()
}

fn terminated() -> NewEvent {
    LoopEvent::Terminated(Terminated {
        reason: TerminationReason::Completed,
        iterations: 1,
        total_usage: Default::default(),
        duration: Duration::from_secs(1),
        detail: String::new(),
    })
    .into()
}

/// An append of `count` numbered events.
fn batch(loop_id: &str, first: u64, count: u64) -> Append {
    Append {
        loop_id: loop_id.to_owned(),
        events: (first..first + count)
            .map(|number| custom(format!("event {number}")))
            .collect(),
        ..Append::default()
    }
}

/// Appends events one after the other.
async fn append_each(journal: &Journal, loop_id: &str, first: u64, count: u64) {
    for number in first..first + count {
        let appended = journal.append(batch(loop_id, number, 1)).await.unwrap();
        assert_eq!(appended.first_sequence, number);
    }
}

async fn all(journal: &Journal, filter: &Filter) -> Vec<Arc<Entry>> {
    let (mut entries, mut after) = (Vec::new(), None);
    loop {
        let listing = journal.list(filter, after.as_ref(), 7).await.unwrap();
        entries.extend(listing.entries);
        after = match listing.next {
            Some(next) => Some(next),
            None => return entries,
        }
    }
}

fn sequences(entries: &[Arc<Entry>]) -> Vec<u64> {
    entries.iter().map(|entry| entry.sequence).collect()
}

fn name_of(entry: &Entry) -> &str {
    match &entry.event {
        LoopEvent::Custom(custom) => &custom.name,
        other => panic!("{other:?}"),
    }
}
