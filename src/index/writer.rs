//! The one writer: changes the live maps and publishes snapshots.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::document::content_hash;
use super::postings::FrozenPostings;
use super::{EntryVectors, Index, IndexedEntry, PackedMatrix, Posting, Snapshot, Token};
use crate::catalog::{Entry, EntryId};

/// A change of the catalogue.
#[derive(Debug, Clone)]
pub enum Change {
    /// Inserts the entry, or replaces the one of its id.
    Put(Arc<Entry>),
    /// Deletes the entry of that id, if there is one.
    Remove(EntryId),
}

/// What a batch of changes did.
#[derive(Debug, Default)]
pub struct Applied {
    /// Entries that are new.
    pub created: Vec<Arc<IndexedEntry>>,
    /// Entries that replaced another text of the same id.
    pub updated: Vec<Arc<IndexedEntry>>,
    /// Entries that went, as they were.
    pub deleted: Vec<Arc<IndexedEntry>>,
    /// Puts of what was there already, and removals of what was not.
    pub unchanged: usize,
    /// Revision after the batch.
    pub revision: String,
}

/// State that only the writer needs.
#[derive(Default)]
pub(super) struct Writer {
    slots: Vec<Option<Arc<IndexedEntry>>>,
    free: BTreeSet<u32>,
    frozen: FrozenPostings,
    matrix: PackedMatrix,
    digest: u128,
    len: usize,
    total_length: u64,
    pending: usize,
}

/// Postings to take away from and to add to one token.
#[derive(Default)]
struct TokenChange {
    removed: BTreeSet<u32>,
    added: Vec<Posting>,
}

/// What has to be rebuilt before the next snapshot.
#[derive(Default)]
struct Touched {
    tokens: BTreeMap<Token, TokenChange>,
    slots: Vec<u32>,
}

impl Writer {
    pub(super) fn apply(&mut self, index: &Index, changes: Vec<Change>) -> Applied {
        let mut applied = Applied::default();
        let mut touched = Touched::default();
        for change in changes {
            match change {
                Change::Put(entry) => {
                    let hash = content_hash(&entry);
                    let before = index.entries.get(&entry.id).map(|indexed| indexed.clone());
                    if before.as_ref().is_some_and(|before| before.hash == hash) {
                        applied.unchanged += 1;
                        continue;
                    }
                    let replaces = before.is_some();
                    if let Some(before) = before {
                        self.take_out(&before, &mut touched);
                    }
                    let indexed = self.put_in(entry, hash, &mut touched);
                    index
                        .entries
                        .insert(indexed.entry.id.clone(), indexed.clone());
                    let list = if replaces {
                        &mut applied.updated
                    } else {
                        &mut applied.created
                    };
                    list.push(indexed);
                }
                Change::Remove(id) => match index.entries.remove(&id) {
                    Some((_, before)) => {
                        self.take_out(&before, &mut touched);
                        applied.deleted.push(before);
                    }
                    None => applied.unchanged += 1,
                },
            }
        }
        self.publish(index, touched);
        applied.revision = index.snapshot.load().revision();
        applied
    }

    pub(super) fn attach(
        &mut self,
        index: &Index,
        vectors: Vec<(Arc<IndexedEntry>, Arc<EntryVectors>)>,
    ) -> usize {
        let mut touched = Touched::default();
        for (wanted, vectors) in vectors {
            let Some(current) = self.slots[wanted.slot as usize].as_ref() else {
                continue;
            };
            if current.hash != wanted.hash || current.entry.id != wanted.entry.id {
                continue;
            }
            if current.vectors.is_none() {
                self.pending -= 1;
            }
            let with_vectors = Arc::new(current.with_vectors(vectors));
            index
                .entries
                .insert(with_vectors.entry.id.clone(), with_vectors.clone());
            touched.slots.push(with_vectors.slot);
            self.slots[wanted.slot as usize] = Some(with_vectors);
        }
        let count = touched.slots.len();
        self.publish(index, touched);
        count
    }

    fn put_in(
        &mut self,
        entry: Arc<Entry>,
        hash: [u8; 32],
        touched: &mut Touched,
    ) -> Arc<IndexedEntry> {
        let slot = self.free.pop_first().unwrap_or(self.slots.len() as u32);
        let indexed = Arc::new(IndexedEntry::new(entry, hash, slot));
        if slot as usize == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[slot as usize] = Some(indexed.clone());
        self.len += 1;
        self.pending += 1;
        self.total_length += u64::from(indexed.length);
        self.digest = self.digest.wrapping_add(short_hash(&hash));
        for term in &indexed.terms {
            let posting = Posting {
                slot,
                field: term.field,
                count: term.count,
            };
            touched
                .tokens
                .entry(term.token.clone())
                .or_default()
                .added
                .push(posting);
        }
        touched.slots.push(slot);
        indexed
    }

    fn take_out(&mut self, indexed: &IndexedEntry, touched: &mut Touched) {
        self.slots[indexed.slot as usize] = None;
        self.free.insert(indexed.slot);
        self.len -= 1;
        self.pending -= usize::from(indexed.vectors.is_none());
        self.total_length -= u64::from(indexed.length);
        self.digest = self.digest.wrapping_sub(short_hash(&indexed.hash));
        for term in &indexed.terms {
            let change = touched.tokens.entry(term.token.clone()).or_default();
            change.added.retain(|posting| posting.slot != indexed.slot);
            change.removed.insert(indexed.slot);
        }
        touched.slots.push(indexed.slot);
    }

    fn publish(&mut self, index: &Index, touched: Touched) {
        for (token, change) in touched.tokens {
            let before = index.postings.get(&token).map(|list| list.clone());
            let mut list: Vec<Posting> = before
                .iter()
                .flat_map(|list| list.iter())
                .copied()
                .filter(|posting| !change.removed.contains(&posting.slot))
                .chain(change.added)
                .collect();
            list.sort_unstable_by_key(|posting| posting.slot);
            if list.is_empty() {
                index.postings.remove(&token);
                self.frozen.set(token, None);
            } else {
                let list: Arc<[Posting]> = list.into();
                index.postings.insert(token.clone(), list.clone());
                self.frozen.set(token, Some(list));
            }
        }
        self.matrix.refresh(&self.slots, &touched.slots);
        index.snapshot.store(Arc::new(Snapshot {
            slots: self.slots.clone(),
            postings: self.frozen.clone(),
            matrix: self.matrix.clone(),
            digest: self.digest,
            len: self.len,
            total_length: self.total_length,
            pending: self.pending,
            ..Snapshot::default()
        }));
    }
}

fn short_hash(hash: &[u8; 32]) -> u128 {
    u128::from_le_bytes(std::array::from_fn(|at| hash[at]))
}
