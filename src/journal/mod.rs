//! The journal: every decision and every step of a loop, durable before it is acknowledged.
//!
//! | module | owns |
//! |---|---|
//! | `event` | what is written: [`LoopEvent`] and [`Entry`] |
//! | `check` | its limits |
//! | `append`, `writer` | one append; the one task that stores them, group by group |
//! | `reader` | pages of what is stored |
//! | `lookup` | the newest entries, open loops, a route |
//! | `tail`, `follow` | the live end; replay first, then live |
//! | `retention` | purging, and the limits of age, size and loop |
//! | `routes` | routing decisions as events |
//! | `verify` | counting and checking all of it |
//! | `record`, `token`, `time` | rows and their checksums; places; points in time |
//!
//! What always holds:
//!
//! - an acknowledged event is on disk (in memory where there is no data directory);
//! - the sequences of a loop run from 1 without gaps, and what is kept of it is its end;
//! - positions grow in the order of commits, and times never run backwards along them;
//! - a reader gets every event that follows its place, in order, once, or is told why not;
//! - everything that waits or is kept in memory is bounded.

mod append;
mod check;
mod error;
pub mod event;
mod follow;
mod lookup;
mod reader;
mod record;
mod retention;
pub mod routes;
mod tail;
mod time;
mod token;
mod verify;
mod writer;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::store::{Store, StoreError};

pub use append::{Append, Appended};
#[cfg(test)]
pub(crate) use tests::events::one_of_each as event_samples;

pub use check::{MAX_BATCH, MAX_EVENT_BYTES, RESERVED_PREFIX, check_loop_id, check_optional_id};
pub use error::JournalError;
pub use event::{Entry, EventType, LoopEvent, NewEvent};
pub use follow::{Follow, Followed, From};
pub use lookup::OpenLoop;
pub use reader::{Filter, Listing};
pub use record::TypeSet;
pub use retention::{Purge, Purged};
pub use time::Timestamp;
pub use token::Token;
pub use verify::{Stats, Verified};

use append::Prepared;
use record::State;
use tail::Tail;
use writer::Job;

/// Loop that routing decisions are written under. It has neither beginning nor end.
pub const ROUTES_LOOP: &str = "signalbox.routes";

/// Pages that are read at once.
const PAGES_AT_ONCE: usize = 16;

/// What an operator sets.
#[derive(Debug, Clone)]
pub struct Options {
    /// Older events are removed.
    pub max_age: Option<Duration>,
    /// With more bytes of events, the oldest are removed.
    pub max_bytes: u64,
    /// With more events, a loop loses its oldest; 0 for no limit.
    pub max_loop_events: u64,
    /// How often that is looked at.
    pub retention_interval: Duration,
    /// Events kept without a data directory.
    pub memory_events: u64,
    /// Bytes of events kept without a data directory.
    pub memory_bytes: u64,
    /// Request ids kept, the newest of all loops.
    pub max_request_ids: u64,
    /// The time.
    pub clock: Clock,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_age: Some(Duration::from_secs(30 * 86_400)),
            max_bytes: 4 << 30,
            max_loop_events: 0,
            retention_interval: Duration::from_secs(60),
            memory_events: 100_000,
            memory_bytes: 64 << 20,
            max_request_ids: 100_000,
            clock: Clock::default(),
        }
    }
}

/// Where the time comes from.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// A clock that asks a function.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(Timestamp::now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// A handle on the journal; clones share it. Its tasks end with the last one.
#[derive(Debug, Clone)]
pub struct Journal {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    store: Store,
    options: Options,
    epoch: u64,
    tail: Tail,
    appends: mpsc::Sender<Job>,
    /// Pages that are read at once; followers wait for their turn rather than fill the
    /// store's queue.
    pages: Semaphore,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Job")
    }
}

impl Journal {
    /// The journal of a store, created where it is missing. Takes as long with a million
    /// events as with none. Its tasks run on the runtime that this is called on.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub async fn open(store: Store, options: Options) -> Result<Self, JournalError> {
        let state = store.write(create).await?;
        let journal = Self::over(store, options, state, mpsc::channel(writer::WAITING));
        let every = journal.shared.options.retention_interval;
        tokio::spawn(retention::run(Arc::downgrade(&journal.shared), every));
        Ok(journal)
    }

    /// The journal of a store that cannot be written to: appends fail, nothing is removed.
    ///
    /// # Errors
    ///
    /// Storage errors; a store without a journal is [`StoreError::Corrupt`].
    pub async fn open_read_only(store: Store) -> Result<Self, JournalError> {
        let state = store.read(State::require).await?;
        Ok(Self::over(
            store,
            Options::default(),
            state,
            mpsc::channel(1),
        ))
    }

    fn over(
        store: Store,
        options: Options,
        state: State,
        (appends, queue): (mpsc::Sender<Job>, mpsc::Receiver<Job>),
    ) -> Self {
        let tail = Tail::new(state.last_position);
        let pages = Semaphore::new(PAGES_AT_ONCE);
        let epoch = state.epoch;
        let shared = Arc::new(Shared {
            store,
            options,
            epoch,
            tail,
            appends,
            pages,
        });
        tokio::spawn(writer::run(Arc::downgrade(&shared), queue));
        Self { shared }
    }

    /// Appends events to a loop, all or none, and returns once they are stored. If the call
    /// is dropped, they may or may not be.
    ///
    /// # Errors
    ///
    /// [`JournalError::Invalid`] names every value out of its limits;
    /// [`JournalError::SequenceMismatch`], [`JournalError::RequestReused`] and
    /// [`JournalError::LoopEnded`] say what the caller did not know;
    /// [`JournalError::Overloaded`] comes at once where too many appends wait. Nothing is
    /// stored in any of these cases, nor after a [`StoreError::Full`].
    pub async fn append(&self, append: Append) -> Result<Appended, JournalError> {
        let prepared = Prepared::new(append)?;
        let (reply, answer) = oneshot::channel();
        self.shared
            .appends
            .try_send(Job { prepared, reply })
            .map_err(|error| match error {
                TrySendError::Full(_) => JournalError::Overloaded,
                TrySendError::Closed(_) => JournalError::Closed,
            })?;
        answer.await.unwrap_or(Err(JournalError::Closed))
    }

    /// Whether an acknowledged event survives the process.
    pub fn is_durable(&self) -> bool {
        self.shared.store.is_durable()
    }

    /// Followers that are told of what comes.
    pub fn followers(&self) -> usize {
        self.shared.tail.followers()
    }

    /// Token of the place behind an append to a loop, good for that loop.
    pub fn token_after(&self, loop_id: &str, appended: &Appended) -> Token {
        let position = appended.last_position;
        self.token(position, position, Some(token::scope_of(loop_id)))
    }

    fn token(&self, position: u64, horizon: u64, scope: Option<u64>) -> Token {
        Token {
            epoch: self.shared.epoch,
            position,
            horizon,
            scope,
        }
    }
}

/// Creates the journal where it is missing.
fn create(tx: &rusqlite::Transaction<'_>) -> Result<State, StoreError> {
    if let Some(state) = State::load(tx)? {
        return Ok(state);
    }
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let state = State {
        // Never 0, so that a token of a journal without an epoch is noticed.
        epoch: (since.as_nanos() as u64 >> 1).max(1),
        last_position: 0,
        last_time: Timestamp::default(),
        purged_position: 0,
        events: 0,
        bytes: 0,
    };
    state.save(tx)?;
    Ok(state)
}
