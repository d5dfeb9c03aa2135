//! Writing: one thread, one connection, group commit.
//!
//! The thread takes the jobs that wait, runs each in a savepoint of its own inside one
//! transaction, commits once, and only then answers them all. What always holds:
//!
//! - an `Ok` answer is sent after the commit that holds the job's changes, never before;
//! - a job that fails or panics leaves nothing behind and harms no other job;
//! - if the transaction is lost (the commit failed, or SQLite rolled it back because the
//!   disk is full), every job of the group is told so, and the thread goes on.
//!
//! A job whose caller has gone before it began is skipped: nobody was promised anything,
//! and under load such work is what a queue should shed first. Once begun it is finished,
//! because a savepoint cannot be left half-way; its changes are committed with the group.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use super::StoreError;
use super::reader::{self, ReadJob};

/// Jobs of one commit at most. A larger group gains little over the cost of the sync and
/// makes its first job wait.
pub(super) const GROUP: usize = 128;

/// Pages in the log from which on it is carried over into the file (SQLite's own default,
/// 4 MiB of pages).
const LOG_PAGES: i64 = 1000;

/// A write job with its caller.
pub(super) trait WriteJob: Send {
    /// Whether nobody waits for the answer any more.
    fn is_abandoned(&self) -> bool;
    /// Runs the job and keeps its result until [`WriteJob::answer`]; a panic is an error.
    fn run(&mut self, tx: &Transaction<'_>) -> Result<(), StoreError>;
    /// Hands the result over, given what became of the group's commit.
    fn answer(self: Box<Self>, commit: Result<(), StoreError>);
}

/// What the writer thread is asked to do.
pub(super) enum Work {
    /// A job for the next group.
    Write(Box<dyn WriteJob>),
    /// A read of a store in memory, which has no other connection. It runs between groups,
    /// so it sees committed changes only.
    Read(Box<dyn ReadJob>),
}

/// A job of one result type, and where its answer goes.
pub(super) struct Write<T, F> {
    job: Option<F>,
    outcome: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Write<T, F> {
    pub(super) fn new(job: F, reply: oneshot::Sender<Result<T, StoreError>>) -> Self {
        Self {
            job: Some(job),
            outcome: None,
            reply,
        }
    }
}

impl<T, F> WriteJob for Write<T, F>
where
    T: Send,
    F: FnOnce(&Transaction<'_>) -> Result<T, StoreError> + Send,
{
    fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    fn run(&mut self, tx: &Transaction<'_>) -> Result<(), StoreError> {
        let Some(job) = self.job.take() else {
            return Err(StoreError::Aborted);
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| job(tx)))
            .unwrap_or_else(|panic| Err(StoreError::panicked(panic)));
        let told = outcome.as_ref().map(|_| ()).map_err(StoreError::clone);
        self.outcome = Some(outcome);
        told
    }

    fn answer(self: Box<Self>, commit: Result<(), StoreError>) {
        let outcome = match (self.outcome, commit) {
            // The job's own error says more than what it did to the group.
            (Some(Err(own)), _) => Err(own),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (_, Err(lost)) => Err(lost),
            (None, Ok(())) => Err(StoreError::Aborted),
        };
        // Nobody listening is no error: the caller has gone meanwhile.
        let _ = self.reply.send(outcome);
    }
}

/// Runs work until the queue is closed and empty.
pub(super) fn serve(conn: &mut Connection, queue: &Receiver<Work>) {
    let mut log = Log::default();
    let mut held = None;
    loop {
        let work = match held.take() {
            Some(work) => work,
            None => match queue.recv() {
                Ok(work) => work,
                Err(_) => return,
            },
        };
        match work {
            Work::Read(job) => read_here(conn, job),
            Work::Write(job) => held = run_group(conn, job, queue),
        }
        log.carry_over(conn);
    }
}

/// Commits `first` and the jobs that wait behind it; returns a read that ended the group.
fn run_group(
    conn: &mut Connection,
    first: Box<dyn WriteJob>,
    queue: &Receiver<Work>,
) -> Option<Work> {
    let mut group = Vec::new();
    let mut held = None;
    let commit = match conn.transaction_with_behavior(TransactionBehavior::Immediate) {
        Err(error) => {
            group.push(first);
            Err(error.into())
        }
        Ok(tx) => {
            let mut next = Some(first);
            let mut intact = Ok(());
            while let Some(mut job) = next.take() {
                if !job.is_abandoned() {
                    intact = run_job(&tx, &mut *job);
                    group.push(job);
                }
                if intact.is_err() || group.len() >= GROUP {
                    break;
                }
                match queue.try_recv() {
                    Ok(Work::Write(job)) => next = Some(job),
                    Ok(read) => held = Some(read),
                    Err(_) => {}
                }
            }
            // Where the commit fails, dropping the transaction rolls it back.
            intact.and_then(|()| tx.commit().map_err(StoreError::from))
        }
    };
    if let Err(error) = &commit {
        // Every caller is told; on a full disk a louder line would come with every group.
        tracing::debug!(%error, jobs = group.len(), "a group of writes was not committed");
    }
    for job in group {
        let commit = commit.clone();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| job.answer(commit))) {
            tracing::error!(error = %StoreError::panicked(panic), "dropping a result panicked");
        }
    }
    held
}

/// Runs one job in its savepoint. An error means that the whole transaction is lost.
fn run_job(tx: &Transaction<'_>, job: &mut dyn WriteJob) -> Result<(), StoreError> {
    tx.execute_batch("SAVEPOINT job")?;
    let outcome = job.run(tx);
    if tx.is_autocommit() {
        // Some errors, a full disk first of all, make SQLite roll back everything. Going on
        // would commit each further statement by itself.
        return Err(match outcome {
            Err(error) if error.is_from_sqlite() => error,
            _ => StoreError::Aborted,
        });
    }
    tx.execute_batch(match outcome {
        Ok(()) => "RELEASE job",
        Err(_) => "ROLLBACK TO job; RELEASE job",
    })?;
    Ok(())
}

/// A read on the writer's connection, which cannot write meanwhile.
fn read_here(conn: &Connection, job: Box<dyn ReadJob>) {
    if let Err(error) = conn.pragma_update(None, "query_only", true) {
        // The job is dropped, and its caller told that the store is closed.
        tracing::error!(%error, "a read could not begin");
        return;
    }
    reader::run(conn, job);
    if let Err(error) = conn.pragma_update(None, "query_only", false) {
        tracing::error!(%error, "the store in memory stays read-only");
    }
}

/// The write-ahead log, which the writer carries over into the file after it has answered,
/// so that no answer waits for it.
#[derive(Default)]
struct Log {
    failing: bool,
}

impl Log {
    fn carry_over(&mut self, conn: &Connection) {
        let outcome = waiting_pages(conn).and_then(|pages| {
            if pages < LOG_PAGES {
                return Ok(());
            }
            checkpoint(conn, "PASSIVE")
        });
        // Told once: on a full disk it fails after every group until there is space.
        if let Err(error) = &outcome
            && !self.failing
        {
            tracing::warn!(%error, "the write-ahead log cannot be carried over, and grows");
        }
        self.failing = outcome.is_err();
    }
}

/// Pages in the log that are not in the file yet; 0 in memory, where there is no log.
fn waiting_pages(conn: &Connection) -> rusqlite::Result<i64> {
    conn.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?
        .query_row([], |row| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?))
}

/// Carries the log over; a reader that is still busy leaves the rest for the next time.
pub(super) fn checkpoint(conn: &Connection, mode: &str) -> rusqlite::Result<()> {
    conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()))
}
