//! The one SQLite file behind catalogue, vectors, journal, knowledge and feedback.
//!
//! | module | owns |
//! |---|---|
//! | `file` | the folder, its lock, its connections |
//! | `log` | what a crash left of the write-ahead log |
//! | `schema` | the tables and their migrations |
//! | `writer` | the one writing thread and its group commit |
//! | `reader` | the reading threads |
//! | `catalog`, `knowledge`, `preferences`, `vectors` | typed functions for their tables |
//!
//! What always holds:
//!
//! - an acknowledged write is on disk: write-ahead log, `synchronous = FULL`, and the answer
//!   leaves after the commit (in memory: after the commit);
//! - SQLite runs on this module's own threads only, never on tokio's;
//! - every queue is bounded, and a full one refuses at once;
//! - one process at a time has the folder.

mod catalog;
mod error;
mod file;
mod knowledge;
mod log;
mod preferences;
mod reader;
mod schema;
mod vectors;
mod writer;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::{Builder, JoinHandle};

use rusqlite::{Connection, Transaction};
use tokio::sync::{oneshot, watch};

pub use error::StoreError;
pub use vectors::{Role, VectorKey};

use file::Lock;
use reader::{Read, ReadJob};
use writer::{Work, Write};

/// Write jobs that may wait; about eight full groups.
const WRITES_WAITING: usize = 1024;
/// Read jobs that may wait.
const READS_WAITING: usize = 256;
/// Reading threads, each with a connection.
const READERS: usize = 2;

/// A handle on the store; clones share it.
///
/// The last one to be dropped ends the threads, which first finish what waits. It does not
/// wait for them: use [`Store::close`] for that.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// The file; none in memory.
    path: Option<PathBuf>,
    /// Taken by `close`. Once the senders are gone, the threads drain their queues and end.
    lanes: RwLock<Option<Lanes>>,
    /// The writer thread holds the one receiver, and drops it as its last act.
    running: watch::Sender<()>,
}

type ReadSender = SyncSender<Box<dyn ReadJob>>;

#[derive(Debug)]
struct Lanes {
    writes: SyncSender<Work>,
    /// None in memory, where the writer reads too.
    reads: Option<ReadSender>,
}

impl Store {
    /// Opens the store in `dir`, creating the folder (for its owner alone) and the file where
    /// they are missing. Blocks; meant for start-up.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`] where another process has the folder (after a second's grace
    /// for one that is about to end), [`StoreError::Corrupt`] for a damaged file,
    /// [`StoreError::NewerSchema`] for one of a newer version, [`StoreError::Full`] where
    /// there is no space to create it, and [`StoreError::Open`] for anything else.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let (path, lock, conn) = file::open(dir)?;
        let connections = (0..READERS).map(|_| file::connect_reader(&path)).collect();
        let (reads, readers) = start_readers(&path, connections)?;
        Self::start(Some((path, lock)), conn, Some(reads), readers)
    }

    /// Opens the store in `dir` for reading, also while another process serves it. Nothing is
    /// created, migrated or repaired; writes answer [`StoreError::Closed`].
    ///
    /// # Errors
    ///
    /// [`StoreError::Open`] where there is none, or one of an older version,
    /// [`StoreError::NewerSchema`] and [`StoreError::Corrupt`] as for [`Store::open`].
    pub fn open_read_only(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(file::DB_FILE);
        let connections = (0..READERS)
            .map(|_| file::connect_read_only(&path))
            .collect();
        let (reads, readers) = start_readers(&path, connections)?;
        let (running, alive) = watch::channel(());
        let waiting = Builder::new().name("store-end".to_owned()).spawn(move || {
            for reader in readers {
                // One that panicked has ended, too.
                let _ = reader.join();
            }
            drop(alive);
        });
        waiting.map_err(|error| no_thread(&path, &error))?;
        // Without a receiver: every write is refused as closed.
        let (writes, _) = sync_channel(1);
        let lanes = RwLock::new(Some(Lanes {
            writes,
            reads: Some(reads),
        }));
        Ok(Self {
            shared: Arc::new(Shared {
                path: Some(path),
                lanes,
                running,
            }),
        })
    }

    /// A store that lives as long as its handles. It runs the same code, except that there
    /// is nothing to be durable on and that reads wait for the group being written.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sqlite`] where SQLite gets no memory, [`StoreError::Open`] where there
    /// is no thread to be had.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::start(None, file::in_memory()?, None, Vec::new())
    }

    fn start(
        folder: Option<(PathBuf, Lock)>,
        mut conn: Connection,
        reads: Option<ReadSender>,
        readers: Vec<JoinHandle<()>>,
    ) -> Result<Self, StoreError> {
        let (path, lock) = folder.unzip();
        let (writes, queue) = sync_channel(WRITES_WAITING);
        let (running, alive) = watch::channel(());
        Builder::new()
            .name("store-write".to_owned())
            .spawn(move || {
                writer::serve(&mut conn, &queue);
                finish(conn, readers);
                // In this order: whoever waits in `close` may open the folder again.
                drop(lock);
                drop(alive);
            })
            .map_err(|error| no_thread(path.as_deref().unwrap_or(Path::new("")), &error))?;
        Ok(Self {
            shared: Arc::new(Shared {
                path,
                lanes: RwLock::new(Some(Lanes { writes, reads })),
                running,
            }),
        })
    }

    /// Whether an acknowledged write survives the process.
    pub fn is_durable(&self) -> bool {
        self.shared.path.is_some()
    }

    /// Runs `job` in a transaction and returns its result once the commit that holds its
    /// changes is done. If it fails or panics, its changes are rolled back, and only its own.
    ///
    /// The job shares its transaction with others. It must not begin, commit or roll back
    /// (a `SAVEPOINT` of its own is fine), and it should be short. A refusal that is no fault
    /// of the store is best part of `T`, answered before anything is written.
    ///
    /// If the returned future is dropped, the job may or may not be done: one that has not
    /// begun is skipped, one that has is committed. Who also keeps state in memory should
    /// therefore await it in a task of its own.
    ///
    /// # Errors
    ///
    /// [`StoreError::Overloaded`] at once where too many jobs wait, [`StoreError::Full`] and
    /// others where the commit failed; in each case nothing is applied. After an I/O error
    /// while syncing followed by a crash of the machine, the job may yet be found done.
    pub async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(|lanes| {
            let work = Work::Write(Box::new(Write::new(job, reply)));
            lanes.writes.try_send(work).map_err(refusal)
        })?;
        self.answer(answer).await
    }

    /// Runs `job` on a connection that cannot write. All its statements see the same state,
    /// which holds every write acknowledged before; it must not begin a transaction itself.
    ///
    /// A long read keeps the write-ahead log from being reused, so page through large
    /// results.
    ///
    /// # Errors
    ///
    /// [`StoreError::Overloaded`] at once where too many jobs wait, and what the job returns.
    pub async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(|lanes| {
            let job: Box<dyn ReadJob> = Box::new(Read { job, reply });
            match &lanes.reads {
                Some(reads) => reads.try_send(job).map_err(refusal),
                None => lanes.writes.try_send(Work::Read(job)).map_err(refusal),
            }
        })?;
        self.answer(answer).await
    }

    /// Takes no more jobs, finishes those that wait, carries the log over into the file and
    /// returns once the folder is free. Every handle is closed; a second call only waits.
    pub async fn close(&self) {
        let lanes = self.shared.lanes.write();
        drop(lanes.unwrap_or_else(PoisonError::into_inner).take());
        self.shared.running.closed().await;
    }

    fn send(&self, send: impl FnOnce(&Lanes) -> Result<(), StoreError>) -> Result<(), StoreError> {
        // Held for the moment of a `try_send` only, so it blocks no runtime thread.
        let lanes = self.shared.lanes.read();
        let lanes = lanes.unwrap_or_else(PoisonError::into_inner);
        send(lanes.as_ref().ok_or(StoreError::Closed)?)
    }

    async fn answer<T>(
        &self,
        answer: oneshot::Receiver<Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        // A sender that went without an answer went with its thread.
        let outcome = answer.await.unwrap_or(Err(StoreError::Closed));
        outcome.map_err(|error| {
            let error = error.at(self.shared.path.as_deref().unwrap_or(Path::new("")));
            if let StoreError::Corrupt { .. } = &error {
                tracing::error!(%error, "the store is damaged");
            }
            error
        })
    }
}

/// Starts a reading thread for each connection.
fn start_readers(
    path: &Path,
    connections: Result<Vec<Connection>, StoreError>,
) -> Result<(ReadSender, Vec<JoinHandle<()>>), StoreError> {
    let connections = connections.map_err(|error| error.opening(path))?;
    let (reads, queue) = sync_channel(READS_WAITING);
    let queue = Arc::new(Mutex::new(queue));
    let mut readers = Vec::with_capacity(connections.len());
    for (number, conn) in (1..).zip(connections) {
        let queue = Arc::clone(&queue);
        let thread = Builder::new()
            .name(format!("store-read-{number}"))
            .spawn(move || reader::serve(&conn, &queue));
        readers.push(thread.map_err(|error| no_thread(path, &error))?);
    }
    Ok((reads, readers))
}

/// Ends the writing thread: last of all connections, so that its close removes the log.
fn finish(conn: Connection, readers: Vec<JoinHandle<()>>) {
    for reader in readers {
        if reader.join().is_err() {
            tracing::error!("a reading thread of the store had panicked");
        }
    }
    let outcome = writer::checkpoint(&conn, "TRUNCATE")
        .and_then(|()| conn.close().map_err(|(_, error)| error));
    if let Err(error) = outcome {
        // Nothing is lost: the log stays, and the next start reads it.
        tracing::warn!(%error, "the store's log was not carried over at the end");
    }
}

fn refusal<T>(error: TrySendError<T>) -> StoreError {
    match error {
        TrySendError::Full(_) => StoreError::Overloaded,
        TrySendError::Disconnected(_) => StoreError::Closed,
    }
}

fn no_thread(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Open {
        path: path.to_owned(),
        reason: format!("no thread for it: {error}"),
    }
}
