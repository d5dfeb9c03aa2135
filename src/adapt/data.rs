//! Labelled prompts with the catalogue they belong to, and which of them are kept back.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use super::MIN_PROMPTS;
use crate::catalog::Entry;
use crate::eval::Query;
use crate::index::{Change, Index};
use crate::registry::texts_of;
use crate::text::tokenize;

/// Entries of all sets together. Their states, three texts each, are kept in memory: about
/// 100 KB an entry.
const MAX_ENTRIES: usize = 5_000;
/// Prompts of all sets together.
const MAX_PROMPTS: usize = 50_000;

/// Which prompts are kept back for measuring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Holdout {
    /// Share of the prompts, above 0 and at most 0.5.
    pub share: f64,
}

impl Holdout {
    /// Whether a prompt is kept back. It depends on its words alone, so that prompts which
    /// differ in case, digits or punctuation stay on one side, whatever else the file holds.
    fn keeps(self, prompt: &str) -> bool {
        let mut words = tokenize(prompt);
        words.retain(|word| !word.chars().all(|c| c.is_ascii_digit()));
        let digest = Sha256::digest(words.join(" "));
        let head = digest.iter().take(4);
        let place = head.fold(0u32, |sum, byte| (sum << 8) | u32::from(*byte));
        f64::from(place) < self.share * f64::from(u32::MAX)
    }
}

/// A catalogue with its labelled prompts.
#[derive(Debug, Clone, PartialEq)]
pub struct Set {
    /// What reports call it.
    pub name: String,
    /// How often it is drawn, against the other sets.
    pub weight: f64,
    /// Of each entry "name: description", name and description.
    pub(super) entries: Vec<[String; 3]>,
    pub(super) prompts: Vec<Prompt>,
    revision: String,
}

/// One labelled prompt.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Prompt {
    pub(super) text: String,
    /// Places of the right entries, each once; empty where nothing serves it.
    pub(super) gold: Vec<usize>,
    /// Kept back for measuring.
    pub(super) held: bool,
}

impl Set {
    /// Joins a catalogue and prompts whose `gold` names its entries by id, by name, or as
    /// `source/name`.
    ///
    /// # Errors
    /// Names the line and the entry that is not there, or is there twice.
    pub fn new(
        name: &str,
        weight: f64,
        entries: Vec<Entry>,
        queries: &[Query],
        holdout: Holdout,
    ) -> Result<Self, String> {
        if entries.len() < 2 {
            return Err(format!("{name}: the catalogue needs at least 2 entries"));
        }
        let names = names_of(&entries);
        let mut prompts = Vec::with_capacity(queries.len());
        for query in queries {
            let mut gold = Vec::with_capacity(query.gold.len());
            for id in &query.gold {
                let line = query.line;
                match names.get(id.as_str()) {
                    Some(Some(at)) if gold.contains(at) => {}
                    Some(Some(at)) => gold.push(*at),
                    Some(None) => {
                        return Err(format!(
                            "{name}: line {line}: the catalogue has several entries {id:?}; \
                             write source/name"
                        ));
                    }
                    None => {
                        return Err(format!(
                            "{name}: line {line}: the catalogue has no entry {id:?}"
                        ));
                    }
                }
            }
            prompts.push(Prompt {
                text: query.query.clone(),
                gold,
                held: holdout.keeps(&query.query),
            });
        }
        let texts = entries.iter().map(texts_of).collect();
        let index = Index::default();
        let changes = entries.into_iter().map(|entry| Change::Put(entry.into()));
        let revision = index.apply(changes.collect()).revision;
        Ok(Self {
            name: name.to_owned(),
            weight,
            entries: texts,
            prompts,
            revision,
        })
    }

    /// Places of the prompts that are learnt from and have an entry.
    pub(super) fn learnt(&self) -> impl Iterator<Item = usize> {
        self.places(|prompt| !prompt.held && !prompt.gold.is_empty())
    }

    /// Places of the prompts that are learnt from and that nothing serves.
    pub(super) fn outside(&self) -> impl Iterator<Item = usize> {
        self.places(|prompt| !prompt.held && prompt.gold.is_empty())
    }

    /// Places of the prompts that are kept back.
    pub(super) fn held(&self) -> impl Iterator<Item = usize> {
        self.places(|prompt| prompt.held)
    }

    fn places(&self, wanted: impl Fn(&Prompt) -> bool) -> impl Iterator<Item = usize> {
        let places = self.prompts.iter().enumerate();
        places.filter_map(move |(at, prompt)| wanted(prompt).then_some(at))
    }
}

// Entries by everything that may name them; `None` where two have the name.
fn names_of(entries: &[Entry]) -> HashMap<String, Option<usize>> {
    let mut names: HashMap<String, Option<usize>> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        let id = entry.annotations.get("id");
        let all: HashSet<String> = [
            id.cloned(),
            Some(entry.id.name.clone()),
            Some(entry.id.to_string()),
        ]
        .into_iter()
        .flatten()
        .collect();
        for name in all {
            names
                .entry(name)
                .and_modify(|place| *place = None)
                .or_insert(Some(at));
        }
    }
    // An id is meant for naming, so it wins over another entry's name.
    for (at, entry) in entries.iter().enumerate() {
        if let Some(id) = entry.annotations.get("id") {
            names.insert(id.clone(), Some(at));
        }
    }
    names
}

/// One revision for all catalogues: the only one's own, or a digest of all.
pub(super) fn revision(sets: &[Set]) -> String {
    if let [only] = sets {
        return only.revision.clone();
    }
    let mut digest = Sha256::new();
    for set in sets {
        digest.update(&set.revision);
    }
    let digest = digest.finalize();
    digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Whether a training can use these sets.
pub(super) fn check(sets: &[Set]) -> Result<(), String> {
    let entries: usize = sets.iter().map(|set| set.entries.len()).sum();
    if entries > MAX_ENTRIES {
        return Err(format!(
            "{entries} entries exceed the limit of {MAX_ENTRIES}"
        ));
    }
    let prompts: usize = sets.iter().map(|set| set.prompts.len()).sum();
    if prompts > MAX_PROMPTS {
        return Err(format!(
            "{prompts} prompts exceed the limit of {MAX_PROMPTS}"
        ));
    }
    if !sets.iter().any(|set| set.weight > 0.0) {
        return Err("no set has a weight above 0".into());
    }
    let mut held = 0;
    for set in sets {
        let name = &set.name;
        // Also where it is NaN.
        if !(set.weight >= 0.0 && set.weight <= 1e6) {
            return Err(format!(
                "{name}: weight {} is not within 0 to 1000000",
                set.weight
            ));
        }
        let labelled = set.prompts.iter().filter(|p| !p.gold.is_empty()).count();
        if labelled < MIN_PROMPTS {
            return Err(format!(
                "{name}: {labelled} prompts have an entry, and at least {MIN_PROMPTS} are needed: \
                 with fewer, those kept back for measuring would say nothing"
            ));
        }
        if set.learnt().next().is_none() {
            return Err(format!("{name}: every prompt is kept back"));
        }
        held += set
            .held()
            .filter(|at| !set.prompts[*at].gold.is_empty())
            .count();
    }
    if held == 0 {
        return Err("no prompt is kept back for measuring; take a larger share".into());
    }
    Ok(())
}
