//! The index: token weights and vectors of every entry, side by side.
//!
//! Two `DashMap`s are the live truth: [`IndexedEntry`] by id, and postings by token. Writers
//! change them one at a time. Readers never walk them: each change publishes an immutable
//! [`Snapshot`], built from the one before by replacing only what changed, and a call reads
//! one snapshot from beginning to end. So every answer belongs to exactly one revision.

mod document;
mod packed;
mod postings;
mod snapshot;
mod vectors;
mod writer;

use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use dashmap::DashMap;

use crate::catalog::{Entry, EntryId};

pub use document::{Field, IndexedEntry, Term};
pub use packed::{PackedMatrix, SLOTS_PER_CHUNK, dot};
pub use postings::Posting;
pub use snapshot::{Snapshot, listing_key};
pub use vectors::{EntryVectors, Hub, PromptGroup, Row, RowRole, mean_direction};
pub use writer::{Applied, Change};

use postings::PostingList;
use writer::Writer;

/// A token, shared by the map, the postings and the entries.
pub type Token = Arc<str>;

/// The live index. Cheap to share by `Arc`; see the module's docs for what holds.
#[derive(Default)]
pub struct Index {
    entries: DashMap<EntryId, Arc<IndexedEntry>>,
    postings: DashMap<Token, PostingList>,
    writer: Mutex<Writer>,
    snapshot: ArcSwap<Snapshot>,
}

impl Index {
    /// The newest published state: one atomic load.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// The live entry of that id.
    pub fn get(&self, id: &EntryId) -> Option<Arc<Entry>> {
        self.entries.get(id).map(|indexed| indexed.entry.clone())
    }

    /// Applies changes in order and publishes them together.
    pub fn apply(&self, changes: Vec<Change>) -> Applied {
        self.with_writer(|writer| writer.apply(self, changes))
    }

    /// Gives entries their vectors; one that has changed or gone since is left alone.
    /// Returns how many were given.
    pub fn attach(&self, vectors: Vec<(Arc<IndexedEntry>, Arc<EntryVectors>)>) -> usize {
        self.with_writer(|writer| writer.attach(self, vectors))
    }

    fn with_writer<T>(&self, work: impl FnOnce(&mut Writer) -> T) -> T {
        // A panic while writing leaves slots that no snapshot shows; going on is safe.
        let mut writer = self
            .writer
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        work(&mut writer)
    }
}

#[cfg(test)]
mod tests;
