//! The exact command rule: `/name` selects, and never guesses.

use crate::catalog::Kind;
use crate::index::Snapshot;
use crate::text::nearest_names;

use super::request::Request;

/// Names suggested for an unknown command.
const SUGGESTIONS: usize = 3;

/// What a prompt that begins with `/` names.
pub(super) enum Exact {
    /// These commands, in listing order.
    Found(Vec<u32>),
    /// None; the nearest names.
    Unknown {
        /// The name as written.
        name: String,
        /// Nearest first.
        nearest: Vec<String>,
    },
}

/// Reads the command of a prompt; `None` where its first word does not begin with `/`.
pub(super) fn find(snapshot: &Snapshot, request: &Request) -> Option<Exact> {
    let word = request
        .prompt
        .split_whitespace()
        .next()?
        .strip_prefix('/')?;
    let name = word.trim_end_matches(|c: char| !c.is_alphanumeric());
    let slots: Vec<u32> = snapshot
        .commands_named(name)
        .iter()
        .copied()
        .filter(|slot| {
            snapshot
                .entry(*slot)
                .is_some_and(|found| request.allows(&found.entry))
        })
        .collect();
    if !slots.is_empty() {
        return Some(Exact::Found(slots));
    }
    let names = snapshot
        .entries()
        .map(|indexed| &indexed.entry)
        .filter(|entry| entry.kind == Kind::Command && request.allows(entry))
        .map(|entry| entry.id.name.as_str());
    let nearest = nearest_names(name, names, SUGGESTIONS);
    Some(Exact::Unknown {
        name: name.to_owned(),
        nearest,
    })
}
