//! What changed, for watchers: a bounded history and a bounded broadcast.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::broadcast;

use crate::catalog::{EntryId, Kind};
use crate::index::{Applied, IndexedEntry};

/// Changes kept for watchers that come back.
const HISTORY: usize = 1_024;

/// Entries that the kept changes may name together: an import names as many as it holds.
const HISTORY_REFS: usize = 200_000;

/// Changes a watcher may be behind before it is closed.
const BEHIND: usize = 256;

/// A committed change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogChange {
    /// Number of the change in this process, from 1.
    pub number: u64,
    /// Revision after the change.
    pub revision: String,
    /// Entries that came or changed.
    pub upserted: Vec<(Kind, EntryId)>,
    /// Entries that went.
    pub deleted: Vec<(Kind, EntryId)>,
}

/// Where a watch stands: the epoch of the process and the number of the last change seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResumeToken {
    epoch: u64,
    number: u64,
}

impl fmt::Display for ResumeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{:x}", self.epoch, self.number)
    }
}

impl FromStr for ResumeToken {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = |part: &str| u64::from_str_radix(part, 16).ok();
        text.split_once('-')
            .and_then(|(epoch, number)| {
                Some(Self {
                    epoch: parse(epoch)?,
                    number: parse(number)?,
                })
            })
            .ok_or_else(|| "is no resume token".to_owned())
    }
}

/// Why a watch cannot start.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum WatchError {
    /// The token is older than the history, or of another process.
    #[error("the resume token is older than what is kept; list the entries again")]
    Expired,
}

/// What a watcher is told next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent {
    /// A change.
    Change(Arc<CatalogChange>),
    /// The watcher fell too far behind; the last event.
    Behind,
    /// No more changes will come; the last event.
    Closed,
}

/// A running watch.
pub struct Watch {
    epoch: u64,
    last: u64,
    replay: VecDeque<Arc<CatalogChange>>,
    live: broadcast::Receiver<Arc<CatalogChange>>,
}

impl Watch {
    /// Token that resumes after everything seen so far.
    pub fn token(&self) -> ResumeToken {
        ResumeToken {
            epoch: self.epoch,
            number: self.last,
        }
    }

    /// The next event. May be dropped and called again.
    pub async fn next(&mut self) -> WatchEvent {
        let change = match self.replay.pop_front() {
            Some(change) => change,
            None => match self.live.recv().await {
                Ok(change) => change,
                Err(broadcast::error::RecvError::Lagged(_)) => return WatchEvent::Behind,
                Err(broadcast::error::RecvError::Closed) => return WatchEvent::Closed,
            },
        };
        self.last = change.number;
        WatchEvent::Change(change)
    }
}

/// History and broadcast; both change under one lock, so a watcher misses nothing.
pub(super) struct Changes {
    epoch: u64,
    history: Mutex<VecDeque<Arc<CatalogChange>>>,
    live: broadcast::Sender<Arc<CatalogChange>>,
}

impl Default for Changes {
    fn default() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            epoch: since.as_nanos() as u64,
            history: Mutex::default(),
            live: broadcast::channel(BEHIND).0,
        }
    }
}

impl Changes {
    /// Tells watchers of a change; one that changed nothing is no news.
    pub(super) fn publish(&self, applied: &Applied) {
        let refs = |list: &[Arc<IndexedEntry>]| -> Vec<(Kind, EntryId)> {
            list.iter()
                .map(|indexed| (indexed.entry.kind, indexed.entry.id.clone()))
                .collect()
        };
        let mut upserted = refs(&applied.created);
        upserted.extend(refs(&applied.updated));
        let deleted = refs(&applied.deleted);
        if upserted.is_empty() && deleted.is_empty() {
            return;
        }
        let mut history = self.lock();
        let number = history.back().map_or(1, |last| last.number + 1);
        let revision = applied.revision.clone();
        let change = Arc::new(CatalogChange {
            number,
            revision,
            upserted,
            deleted,
        });
        history.push_back(change.clone());
        let refs = |change: &Arc<CatalogChange>| change.upserted.len() + change.deleted.len();
        let mut named: usize = history.iter().map(refs).sum();
        while history.len() > 1 && (history.len() > HISTORY || named > HISTORY_REFS) {
            named -= history.pop_front().as_ref().map_or(0, refs);
        }
        // Without a watcher nobody is told.
        let _ = self.live.send(change);
    }

    pub(super) fn watch(&self, resume: Option<ResumeToken>) -> Result<Watch, WatchError> {
        let history = self.lock();
        let last = history.back().map_or(0, |last| last.number);
        let first = history.front().map_or(1, |first| first.number);
        let (last, replay) = match resume {
            None => (last, VecDeque::new()),
            Some(token)
                if token.epoch == self.epoch
                    && (first.saturating_sub(1)..=last).contains(&token.number) =>
            {
                let newer = history.iter().filter(|change| change.number > token.number);
                (token.number, newer.cloned().collect())
            }
            Some(_) => return Err(WatchError::Expired),
        };
        Ok(Watch {
            epoch: self.epoch,
            last,
            replay,
            live: self.live.subscribe(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<CatalogChange>>> {
        // The history is whole between any two statements that change it.
        self.history
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
