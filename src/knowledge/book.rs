//! All items in memory, by id and by directory.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use super::directory::Directory;
use super::item::{Convention, Fact};

/// Where a convention stands in the order of a listing: whole languages first, then
/// directories.
type Place = (Option<Directory>, String);

/// Which conventions are listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// Only those of this directory.
    pub directory: Option<Directory>,
    /// With the directories below it.
    pub recursive: bool,
    /// Only those for this language; empty for all.
    pub language: String,
    /// Id and directory of the last one that was seen.
    pub after: Option<(Option<Directory>, String)>,
    /// Conventions of one page.
    pub page_size: usize,
}

/// The items.
#[derive(Debug, Default)]
pub(super) struct Book {
    facts: HashMap<String, Arc<Fact>>,
    conventions: HashMap<String, Arc<Convention>>,
    by_place: BTreeMap<Place, Arc<Convention>>,
    /// Conventions of each language that any is for.
    languages: BTreeMap<String, usize>,
}

impl Book {
    /// Facts and conventions together.
    pub fn len(&self) -> usize {
        self.facts.len() + self.conventions.len()
    }

    pub fn fact(&self, id: &str) -> Option<Arc<Fact>> {
        self.facts.get(id).cloned()
    }

    pub fn convention(&self, id: &str) -> Option<Arc<Convention>> {
        self.conventions.get(id).cloned()
    }

    pub fn put_fact(&mut self, fact: Arc<Fact>) {
        self.facts.insert(fact.id.clone(), fact);
    }

    pub fn put_convention(&mut self, convention: Arc<Convention>) {
        self.remove_convention(&convention.id);
        if !convention.language.is_empty() {
            *self
                .languages
                .entry(convention.language.clone())
                .or_default() += 1;
        }
        let place = (convention.directory.clone(), convention.id.clone());
        self.by_place.insert(place, convention.clone());
        self.conventions.insert(convention.id.clone(), convention);
    }

    pub fn remove_convention(&mut self, id: &str) -> bool {
        let Some(gone) = self.conventions.remove(id) else {
            return false;
        };
        self.by_place
            .remove(&(gone.directory.clone(), id.to_owned()));
        if let Some(count) = self.languages.get_mut(&gone.language) {
            *count -= 1;
            if *count == 0 {
                self.languages.remove(&gone.language);
            }
        }
        true
    }

    /// Whether any convention is for that language.
    pub fn knows_language(&self, language: &str) -> bool {
        self.languages.contains_key(language)
    }

    /// Conventions of exactly that place, by id; none for whole languages.
    pub fn at(&self, place: Option<&Directory>) -> impl Iterator<Item = &Arc<Convention>> {
        let place = place.cloned();
        let from = (place.clone(), String::new());
        self.by_place
            .range(from..)
            .take_while(move |((at, _), _)| *at == place)
            .map(|(_, convention)| convention)
    }

    /// A page of conventions, and whether there are more.
    pub fn list(&self, listing: &Listing) -> (Vec<Arc<Convention>>, bool) {
        let first = (listing.directory.clone(), String::new());
        let from = match &listing.after {
            Some(after) => Bound::Excluded(after.clone().max(first)),
            None => Bound::Included(first),
        };
        let fits = |convention: &Convention| {
            let there = match (&listing.directory, &convention.directory) {
                (None, _) => true,
                (Some(wanted), Some(at)) if listing.recursive => at.is_within(wanted),
                (Some(wanted), at) => at.as_ref() == Some(wanted),
            };
            let language = &listing.language;
            there && (language.is_empty() || convention.language == *language)
        };
        let mut found = self
            .by_place
            .range((from, Bound::Unbounded))
            .map(|(_, convention)| convention)
            .filter(|convention| fits(convention))
            .cloned();
        let page: Vec<_> = found.by_ref().take(listing.page_size).collect();
        let more = found.next().is_some();
        (page, more)
    }
}
