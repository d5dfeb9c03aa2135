//! Prompts for a catalogue that has no labelled ones: its own examples.

use crate::catalog::Entry;
use crate::eval::Query;
use crate::registry::neutral_prompts;

/// Takes every other example out of the entries and makes it a prompt that asks for its
/// entry; `fold` says which ones, 0 or 1. An entry with one example keeps it in both, for it
/// would be judged without any.
pub fn hold_out_examples(entries: &[Entry], fold: usize) -> (Vec<Entry>, Vec<Query>) {
    let mut queries = Vec::new();
    let mut kept = Vec::with_capacity(entries.len());
    for entry in entries {
        let mut entry = entry.clone();
        if entry.examples.len() > 1 {
            let examples = std::mem::take(&mut entry.examples);
            let id = entry.annotations.get("id").unwrap_or(&entry.id.name);
            for (at, example) in examples.into_iter().enumerate() {
                if at % 2 == fold {
                    queries.push(Query::new(example, vec![id.clone()]));
                } else {
                    entry.examples.push(example);
                }
            }
        }
        kept.push(entry);
    }
    (kept, queries)
}

/// Prompts that ask for nothing in particular, taken as asking for no entry at all: few
/// catalogues serve more than a handful of them.
pub fn neutral() -> Vec<Query> {
    neutral_prompts()
        .into_iter()
        .map(|prompt| Query::new(prompt, Vec::new()))
        .collect()
}
