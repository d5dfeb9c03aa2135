//! The live end: committed entries, handed to whoever follows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::broadcast;

use super::event::Entry;

/// Appends that a follower may be behind.
pub(super) const BEHIND: usize = 1_024;

/// Bytes of entries kept for followers with one append. What is larger is read from the store
/// instead, so that slow followers can hold back 64 MiB at most.
const KEPT_BYTES: usize = 64 << 10;
/// Bytes that an entry takes beside its event, roughly.
const ENTRY_BYTES: usize = 256;

/// The entries of one append.
#[derive(Debug, Clone)]
pub(super) struct Published {
    /// Position of the first entry.
    pub first: u64,
    /// Position of the last entry.
    pub last: u64,
    /// None where they are too large to be kept.
    pub entries: Option<Arc<[Arc<Entry>]>>,
}

/// Committed entries in the order of their positions.
#[derive(Debug)]
pub(super) struct Tail {
    sender: broadcast::Sender<Published>,
    /// Position of the newest published entry.
    last: AtomicU64,
}

impl Tail {
    pub fn new(last: u64) -> Self {
        Self {
            sender: broadcast::channel(BEHIND).0,
            last: AtomicU64::new(last),
        }
    }

    /// Hands on what was committed, of `bytes` as JSON. Called by the one writer, in the order
    /// of commits.
    pub fn publish(&self, entries: Vec<Arc<Entry>>, bytes: usize) {
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            return;
        };
        let (first, last) = (first.position, last.position);
        // Before it is sent: who subscribes and then reads a smaller `last` is sent the rest.
        self.last.store(last, Ordering::SeqCst);
        if self.sender.receiver_count() == 0 {
            return;
        }
        let small = bytes + entries.len() * ENTRY_BYTES <= KEPT_BYTES;
        let entries = small.then(|| entries.into());
        // The last follower may have gone since.
        let _ = self.sender.send(Published {
            first,
            last,
            entries,
        });
    }

    /// Follows from now on, and the position of the newest entry that is not sent any more.
    pub fn subscribe(&self) -> (broadcast::Receiver<Published>, u64) {
        let receiver = self.sender.subscribe();
        (receiver, self.last.load(Ordering::SeqCst))
    }

    pub fn last(&self) -> u64 {
        self.last.load(Ordering::SeqCst)
    }

    pub fn followers(&self) -> usize {
        self.sender.receiver_count()
    }
}
