//! Reading: jobs on connections that cannot write.
//!
//! Each job runs inside one read transaction, so all its statements see the same state:
//! the last commit before its first statement.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use super::StoreError;

/// A read job with its caller.
pub(super) trait ReadJob: Send {
    /// Runs the job, unless its caller has gone, and answers.
    fn run(self: Box<Self>, conn: &Connection);
}

/// The queue that the reader threads share.
pub(super) type ReadQueue = Arc<Mutex<Receiver<Box<dyn ReadJob>>>>;

/// A job of one result type, and where its answer goes.
pub(super) struct Read<T, F> {
    pub job: F,
    pub reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> ReadJob for Read<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, StoreError> + Send,
{
    fn run(self: Box<Self>, conn: &Connection) {
        let Self { job, reply } = *self;
        if reply.is_closed() {
            return;
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let snapshot = Transaction::new_unchecked(conn, TransactionBehavior::Deferred)?;
            job(&snapshot)
        }));
        // Nobody listening is no error: the caller has gone meanwhile.
        let _ = reply.send(outcome.unwrap_or_else(|panic| Err(StoreError::panicked(panic))));
    }
}

/// Runs jobs until the queue is closed and empty.
pub(super) fn serve(conn: &Connection, queue: &ReadQueue) {
    loop {
        // One idle thread waits in `recv` with the lock, the others wait for the lock.
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match next {
            Ok(job) => run(conn, job),
            Err(_) => return,
        }
    }
}

/// Runs one job; the thread outlives whatever the job does, dropping its result included.
pub(super) fn run(conn: &Connection, job: Box<dyn ReadJob>) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| job.run(conn))) {
        tracing::error!(error = %StoreError::panicked(panic), "dropping a result panicked");
    }
}
