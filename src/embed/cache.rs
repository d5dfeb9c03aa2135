//! Vectors of recent queries.
//!
//! Only queries are kept: a passage's vector is stored with its entry, so it is asked for
//! once, and an import would push every prompt out. The bound is the number of entries times
//! [`MAX_TEXT_BYTES`] plus a vector, because longer texts are not kept.

use quick_cache::{Equivalent, sync::Cache};

use super::types::{Embedded, TextRole};

/// Longest text that is kept, in bytes: the key holds the text, and 10,000 prompts of 100 KB
/// would be a gigabyte. A prompt that long is not asked twice.
pub(super) const MAX_TEXT_BYTES: usize = 4096;

/// Bounded, shared by all callers.
pub(super) struct QueryCache {
    // None: switched off.
    entries: Option<Cache<Key, Embedded>>,
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    role: TextRole,
    text: Box<str>,
}

// Hashes as `Key` does (same fields in the same order), so that a look-up copies no text.
#[derive(Hash)]
struct KeyRef<'a> {
    role: TextRole,
    text: &'a str,
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.role == key.role && self.text == &*key.text
    }
}

impl QueryCache {
    /// A cache of about `capacity` entries (rounded up for each of its shards); 0 keeps none.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            entries: (capacity > 0).then(|| Cache::new(capacity)),
        }
    }

    /// The vector of `text`, if it is kept.
    pub(super) fn get(&self, role: TextRole, text: &str) -> Option<Embedded> {
        self.entries.as_ref()?.get(&KeyRef { role, text })
    }

    /// Keeps a query's vector; does nothing for a passage or a long text.
    pub(super) fn insert(&self, role: TextRole, text: &str, embedded: &Embedded) {
        let Some(entries) = &self.entries else { return };
        if role == TextRole::Query && text.len() <= MAX_TEXT_BYTES {
            entries.insert(
                Key {
                    role,
                    text: text.into(),
                },
                embedded.clone(),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedded(tokens: u32) -> Embedded {
        Embedded {
            language: None,
            vector: vec![1.0].into(),
            tokens,
            used_tokens: tokens,
        }
    }

    #[test]
    fn a_query_is_kept_by_its_exact_text() {
        let cache = QueryCache::new(10);
        cache.insert(TextRole::Query, "list files", &embedded(4));
        assert_eq!(cache.get(TextRole::Query, "list files"), Some(embedded(4)));
        assert_eq!(cache.get(TextRole::Query, "list files "), None);
        assert_eq!(cache.get(TextRole::Passage, "list files"), None);
    }

    #[test]
    fn passages_and_long_texts_are_not_kept() {
        let cache = QueryCache::new(10);
        cache.insert(TextRole::Passage, "list files", &embedded(4));
        assert_eq!(cache.get(TextRole::Passage, "list files"), None);
        let long = "x".repeat(MAX_TEXT_BYTES + 1);
        cache.insert(TextRole::Query, &long, &embedded(4));
        assert_eq!(cache.get(TextRole::Query, &long), None);
        cache.insert(TextRole::Query, &long[1..], &embedded(4));
        assert!(cache.get(TextRole::Query, &long[1..]).is_some());
    }

    #[test]
    fn it_is_bounded() {
        let cache = QueryCache::new(64);
        for n in 0..5_000 {
            cache.insert(TextRole::Query, &n.to_string(), &embedded(1));
        }
        let kept = (0..5_000).filter(|n| cache.get(TextRole::Query, &n.to_string()).is_some());
        // 64, rounded up to whole entries in at most 64 shards.
        let kept = kept.count();
        assert!((1..=128).contains(&kept), "{kept} of 64 kept");
    }

    #[test]
    fn capacity_zero_keeps_nothing() {
        let cache = QueryCache::new(0);
        cache.insert(TextRole::Query, "list files", &embedded(4));
        assert_eq!(cache.get(TextRole::Query, "list files"), None);
    }
}
