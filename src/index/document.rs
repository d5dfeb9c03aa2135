//! One entry as the index holds it.

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::{EntryVectors, Token};
use crate::catalog::Entry;
use crate::text::tokenize;

/// Field of an entry that a token stands in, heaviest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The name.
    Name,
    /// The source hint.
    SourceHint,
    /// The description.
    Responsibility,
    /// Title, aliases, triggers, examples, capabilities, use_when, tags: they rank, but are
    /// not part of the lexical score.
    Other,
}

impl Field {
    /// How many times an occurrence counts in BM25 (as in BM25F): a name is short, and its
    /// words say more of the entry than any others.
    fn frequency(self) -> u32 {
        match self {
            Field::Name => 3,
            Field::SourceHint | Field::Responsibility | Field::Other => 1,
        }
    }
}

/// A token of an entry: its heaviest field, and how often it stands in all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The token.
    pub token: Token,
    /// Heaviest field that holds it.
    pub field: Field,
    /// Occurrences in all fields, those in the name counted three times.
    pub count: u32,
}

/// An entry with everything computed from it. Immutable: a change makes a new one.
#[derive(Debug)]
pub struct IndexedEntry {
    /// The entry.
    pub entry: Arc<Entry>,
    /// Place in the snapshot's tables; reused after the entry has gone.
    pub slot: u32,
    /// Sha256 of the entry's canonical JSON.
    pub hash: [u8; 32],
    /// Distinct tokens, sorted.
    pub terms: Box<[Term]>,
    /// Sum of the counts, for length normalisation.
    pub length: u32,
    /// Absent until the encoder has seen the entry.
    pub vectors: Option<Arc<EntryVectors>>,
}

impl IndexedEntry {
    /// Tokenises an entry for a slot.
    pub(super) fn new(entry: Arc<Entry>, hash: [u8; 32], slot: u32) -> Self {
        let mut terms: BTreeMap<String, (Field, u32)> = BTreeMap::new();
        let mut length = 0;
        for (field, text) in fields(&entry) {
            for token in tokenize(text) {
                let frequency = field.frequency();
                length += frequency;
                terms
                    .entry(token)
                    .and_modify(|(heaviest, count)| {
                        *heaviest = field.min(*heaviest);
                        *count += frequency;
                    })
                    .or_insert((field, frequency));
            }
        }
        let terms = terms
            .into_iter()
            .map(|(token, (field, count))| Term {
                token: token.into(),
                field,
                count,
            })
            .collect();
        Self {
            entry,
            slot,
            hash,
            terms,
            length,
            vectors: None,
        }
    }

    /// The same entry with vectors.
    pub(super) fn with_vectors(&self, vectors: Arc<EntryVectors>) -> Self {
        Self {
            entry: self.entry.clone(),
            slot: self.slot,
            hash: self.hash,
            terms: self.terms.clone(),
            length: self.length,
            vectors: Some(vectors),
        }
    }
}

/// Sha256 of an entry's canonical JSON: equal entries have equal hashes.
pub fn content_hash(entry: &Entry) -> [u8; 32] {
    // Serialising strings, lists and sorted maps to memory cannot fail.
    let json = serde_json::to_vec(entry).unwrap_or_default();
    Sha256::digest(json).into()
}

fn fields(entry: &Entry) -> impl Iterator<Item = (Field, &str)> {
    let lists = [
        &entry.aliases,
        &entry.triggers,
        &entry.examples,
        &entry.capabilities,
        &entry.use_when,
        &entry.tags,
    ];
    [
        (Field::Name, entry.id.name.as_str()),
        (Field::SourceHint, entry.source_hint.as_str()),
        (Field::Responsibility, entry.responsibility.as_str()),
        (Field::Other, entry.title.as_str()),
    ]
    .into_iter()
    .chain(
        lists
            .into_iter()
            .flatten()
            .map(|text| (Field::Other, text.as_str())),
    )
}
