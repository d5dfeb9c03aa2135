//! The immutable state that one call reads.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::postings::FrozenPostings;
use super::{IndexedEntry, PackedMatrix, Posting};
use crate::catalog::{EntryId, Kind};

/// The catalogue at one revision.
#[derive(Debug, Default)]
pub struct Snapshot {
    pub(super) slots: Vec<Option<Arc<IndexedEntry>>>,
    pub(super) postings: FrozenPostings,
    pub(super) matrix: PackedMatrix,
    /// Sum of the entries' hashes: it depends on what the catalogue holds, not on the order
    /// in which it came.
    pub(super) digest: u128,
    pub(super) len: usize,
    pub(super) total_length: u64,
    pub(super) pending: usize,
    pub(super) order: OnceLock<Vec<u32>>,
    pub(super) names: OnceLock<HashMap<String, Vec<u32>>>,
    pub(super) all_names: OnceLock<HashMap<String, Vec<u32>>>,
}

impl Snapshot {
    /// Opaque text that is equal exactly where the catalogues are.
    pub fn revision(&self) -> String {
        format!("{:032x}", self.digest)
    }

    /// Entries held.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the catalogue is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Slots, some of them empty; upper bound of every slot number.
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Entries that have no vectors yet.
    pub fn pending_vectors(&self) -> usize {
        self.pending
    }

    /// The entry in a slot.
    pub fn entry(&self, slot: u32) -> Option<&Arc<IndexedEntry>> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// All entries, in slot order.
    pub fn entries(&self) -> impl Iterator<Item = &Arc<IndexedEntry>> {
        self.slots.iter().flatten()
    }

    /// Entries that hold a token.
    pub fn postings(&self, token: &str) -> &[Posting] {
        self.postings.get(token)
    }

    /// The vectors.
    pub fn matrix(&self) -> &PackedMatrix {
        &self.matrix
    }

    /// Mean number of tokens of an entry; 1 for an empty catalogue.
    pub fn mean_length(&self) -> f32 {
        if self.len == 0 {
            1.0
        } else {
            self.total_length as f32 / self.len as f32
        }
    }

    /// Slots ordered by kind, name and source; computed at the first call.
    pub fn ordered(&self) -> &[u32] {
        self.order.get_or_init(|| {
            let mut order: Vec<&Arc<IndexedEntry>> = self.entries().collect();
            order.sort_by(|a, b| listing_key(a).cmp(&listing_key(b)));
            order.into_iter().map(|indexed| indexed.slot).collect()
        })
    }

    /// Commands whose name or alias equals `name` whatever its case, in listing order.
    pub fn commands_named(&self, name: &str) -> &[u32] {
        self.command_names()
            .get(&name.to_lowercase())
            .map_or(&[], Vec::as_slice)
    }

    /// Entries of that very name, in listing order.
    pub fn named(&self, name: &str) -> &[u32] {
        let names = self.all_names.get_or_init(|| {
            let mut names: HashMap<String, Vec<u32>> = HashMap::new();
            for slot in self.ordered() {
                if let Some(indexed) = self.entry(*slot) {
                    let name = indexed.entry.id.name.clone();
                    names.entry(name).or_default().push(*slot);
                }
            }
            names
        });
        names.get(name).map_or(&[], Vec::as_slice)
    }

    /// Lower-case names and aliases of all commands.
    pub fn command_names(&self) -> &HashMap<String, Vec<u32>> {
        self.names.get_or_init(|| {
            let mut names: HashMap<String, Vec<u32>> = HashMap::new();
            // Names before aliases: an alias never takes a name from its owner.
            for own_names in [true, false] {
                for slot in self.ordered() {
                    let Some(indexed) = self.entry(*slot) else {
                        continue;
                    };
                    let entry = &indexed.entry;
                    if entry.kind != Kind::Command {
                        continue;
                    }
                    let names_of: &[String] = if own_names {
                        std::slice::from_ref(&entry.id.name)
                    } else {
                        &entry.aliases
                    };
                    for name in names_of {
                        let slots = names.entry(name.to_lowercase()).or_default();
                        if !slots.contains(slot) {
                            slots.push(*slot);
                        }
                    }
                }
            }
            names
        })
    }
}

/// Key that ties are broken by and lists are ordered by: kind, name, source.
pub fn listing_key(indexed: &IndexedEntry) -> (Kind, &str, &str) {
    let EntryId { source, name } = &indexed.entry.id;
    (indexed.entry.kind, name, source)
}
