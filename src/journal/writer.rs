//! The one task that appends.
//!
//! Appends that wait are stored together, one commit for all of them, and answered after it,
//! in the order of their positions; only then does the next group begin. So whoever follows is
//! told of committed events only, each once, in order. A group that the store fails is tried
//! again append by append, so that what met a full disk fails and nothing else.

use std::sync::{Arc, Weak};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::append::{Appended, Outcome, Prepared};
use super::record::State;
use super::{JournalError, Shared, retention};
use crate::store::StoreError;

/// Appends that may wait.
pub(super) const WAITING: usize = 1_024;
/// Appends of one commit.
const GROUP: usize = 256;
/// Bytes of events of one commit, from which on no further append joins it.
const GROUP_BYTES: usize = 8 << 20;

/// Where the answer goes.
pub(super) type Reply = oneshot::Sender<Result<Appended, JournalError>>;

/// An append with its caller.
pub(super) struct Job {
    pub prepared: Prepared,
    pub reply: Reply,
}

/// Appends until the journal is dropped.
pub(super) async fn run(shared: Weak<Shared>, mut queue: mpsc::Receiver<Job>) {
    while let Some(first) = queue.recv().await {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        // Those that were just answered get the chance to come back: a group of one, with the
        // others waiting behind it, would cost a sync of its own.
        tokio::task::yield_now().await;
        let mut bytes = first.prepared.bytes();
        let mut group = vec![first];
        while group.len() < GROUP && bytes < GROUP_BYTES {
            let Ok(job) = queue.try_recv() else { break };
            bytes += job.prepared.bytes();
            group.push(job);
        }
        // Nobody was promised anything yet.
        group.retain(|job| !job.reply.is_closed());
        let (prepared, replies): (Vec<_>, Vec<_>) = group
            .into_iter()
            .map(|job| (job.prepared, job.reply))
            .unzip();
        append(&shared, Arc::new(prepared), replies).await;
    }
}

/// Stores a group and answers it.
async fn append(shared: &Shared, group: Arc<Vec<Prepared>>, replies: Vec<Reply>) {
    match store(shared, &group, 0..group.len()).await {
        Ok(outcomes) => {
            for ((reply, outcome), prepared) in replies.into_iter().zip(outcomes).zip(&*group) {
                settle(shared, reply, outcome, prepared.bytes());
            }
        }
        Err(error) if group.len() == 1 || is_final(&error) => {
            for reply in replies {
                let _ = reply.send(Err(error.clone().into()));
            }
        }
        Err(_) => {
            for (at, reply) in replies.into_iter().enumerate() {
                match store(shared, &group, at..at + 1)
                    .await
                    .map(|mut outcomes| outcomes.pop())
                {
                    Ok(Some(outcome)) => settle(shared, reply, outcome, group[at].bytes()),
                    Ok(None) => {}
                    Err(error) => {
                        let _ = reply.send(Err(error.into()));
                    }
                }
            }
        }
    }
}

/// Whether another try by itself is pointless.
fn is_final(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Closed | StoreError::Overloaded | StoreError::Corrupt { .. }
    )
}

/// Stores some of the appends in one commit.
async fn store(
    shared: &Shared,
    prepared: &Arc<Vec<Prepared>>,
    part: std::ops::Range<usize>,
) -> Result<Vec<Outcome>, StoreError> {
    let prepared = prepared.clone();
    let limits = shared.options.clone();
    let bounded = !shared.store.is_durable();
    shared
        .store
        .write(move |tx| {
            let mut state = State::require(tx)?;
            // A clock that was set back repeats the last time rather than go backwards.
            state.last_time = state.last_time.max(limits.clock.now());
            let outcomes = prepared[part]
                .iter()
                .map(|prepared| prepared.store(tx, &mut state))
                .collect::<Result<Vec<_>, _>>()?;
            forget_requests(tx, limits.max_request_ids)?;
            if bounded {
                let (events, bytes) = (limits.memory_events, limits.memory_bytes);
                while retention::trim(tx, &mut state, events, bytes)? > 0 {}
            }
            state.save(tx)?;
            Ok(outcomes)
        })
        .await
}

/// Tells followers, then the caller: who has an answer finds its events followed, too.
fn settle(shared: &Shared, reply: Reply, outcome: Outcome, bytes: usize) {
    let answer = outcome.map(|(appended, entries)| {
        shared.tail.publish(entries, bytes);
        appended
    });
    // The caller may have gone meanwhile; its events are stored all the same.
    let _ = reply.send(answer);
}

/// Keeps the newest request ids.
fn forget_requests(conn: &Connection, keep: u64) -> Result<(), StoreError> {
    conn.prepare_cached(
        "DELETE FROM journal_requests
         WHERE id <= (SELECT max(id) FROM journal_requests) - ?1",
    )?
    .execute([i64::try_from(keep).unwrap_or(i64::MAX)])?;
    Ok(())
}
