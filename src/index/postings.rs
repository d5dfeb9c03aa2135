//! Postings: for each token, the entries that hold it.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Field, Token};

/// One entry that holds a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// Slot of the entry.
    pub slot: u32,
    /// Heaviest field that holds the token.
    pub field: Field,
    /// Occurrences in all fields, those in the name counted three times.
    pub count: u32,
}

/// Postings of one token, by slot, shared between the live map and the snapshots.
pub(super) type PostingList = Arc<[Posting]>;

const SHARDS: usize = 256;

/// Postings of all tokens at one revision. Split into shards so that publishing a change
/// copies only the shards that the changed tokens fall into.
#[derive(Debug, Clone)]
pub(super) struct FrozenPostings {
    shards: Box<[Arc<HashMap<Token, PostingList>>]>,
}

impl Default for FrozenPostings {
    fn default() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Arc::default()).collect(),
        }
    }
}

impl FrozenPostings {
    pub(super) fn get(&self, token: &str) -> &[Posting] {
        self.shards[shard_of(token)]
            .get(token)
            .map_or(&[], |list| list)
    }

    pub(super) fn set(&mut self, token: Token, list: Option<PostingList>) {
        let shard = Arc::make_mut(&mut self.shards[shard_of(&token)]);
        match list {
            Some(list) => shard.insert(token, list),
            None => shard.remove(&token),
        };
    }
}

/// FNV-1a, folded to a shard: cheap, and the same in every process.
fn shard_of(token: &str) -> usize {
    let hash = token.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    ((hash ^ (hash >> 32)) as usize) % SHARDS
}
