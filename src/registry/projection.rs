//! Which texts of an entry the encoder reads, and which vectors they become.

use std::sync::Arc;

use crate::catalog::Entry;
use crate::index::{Row, RowRole, mean_direction};
use crate::route::profile::Projection;
use crate::text::script::{Segment, segment};
use crate::text::tokenize;

/// Texts of one entry, in a fixed order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Projected {
    projection: Projection,
    /// The entry's own texts.
    pub own: Vec<String>,
    /// When to use it, then what it can do.
    pub facets: Vec<String>,
    /// Its examples.
    pub examples: Vec<String>,
    /// Texts on what it is not for.
    pub not_when: Vec<String>,
}

impl Projected {
    /// The texts of an entry for a projection.
    pub fn new(entry: &Entry, projection: Projection) -> Self {
        let name = words_of(&entry.id.name);
        let description = [&entry.responsibility, &entry.title]
            .into_iter()
            .find(|text| !text.trim().is_empty());
        let own = match (description, projection) {
            (None, _) => vec![name],
            (Some(text), Projection::Nearest) => vec![format!("{name}: {text}"), name],
            (Some(text), Projection::Mean | Projection::MeanAndNearest) => {
                vec![format!("{name}: {text}"), text.clone(), name]
            }
        };
        Self {
            projection,
            own,
            facets: [&entry.use_when, &entry.capabilities]
                .into_iter()
                .flatten()
                .cloned()
                .collect(),
            examples: entry.examples.clone(),
            not_when: entry.not_when.iter().map(|not| not.text.clone()).collect(),
        }
    }

    /// All texts, own ones first.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        self.own
            .iter()
            .chain(&self.facets)
            .chain(&self.examples)
            .chain(&self.not_when)
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ranked() + self.not_when.len()
    }

    // Those before `not_when`, which rank.
    fn ranked(&self) -> usize {
        self.own.len() + self.facets.len() + self.examples.len()
    }

    /// Vectors of what it is not for, from those of [`Projected::texts`].
    pub fn not_when_of(&self, vectors: &[Arc<[f32]>]) -> Vec<Arc<[f32]>> {
        vectors.get(self.ranked()..).unwrap_or_default().to_vec()
    }

    /// Rows from the vectors of [`Projected::texts`], in its order. `first` is how many numbers
    /// of a vector the first of two encoders made.
    pub fn rows(&self, vectors: &[Arc<[f32]>], first: Option<usize>) -> Vec<Row> {
        let vectors = &vectors[..self.ranked().min(vectors.len())];
        let (own, rest) = vectors.split_at(self.own.len().min(vectors.len()));
        let (facets, examples) = rest.split_at(self.facets.len().min(rest.len()));
        let row = |role, vector: &Arc<[f32]>| Row {
            role,
            vector: vector.clone(),
        };
        let mut rows: Vec<Row> = self
            .own_rows(own, first)
            .iter()
            .map(|vector| row(RowRole::Text, vector))
            .collect();
        let numbered = (0u16..).zip(facets);
        rows.extend(numbered.map(|(number, vector)| row(RowRole::Facet(number), vector)));
        let numbered = (0u16..).zip(examples);
        rows.extend(numbered.map(|(number, vector)| row(RowRole::Example(number), vector)));
        let centroid = mean_direction(examples, first);
        rows.extend(centroid.map(|vector| row(RowRole::Centroid, &vector)));
        rows
    }

    fn own_rows(&self, own: &[Arc<[f32]>], first: Option<usize>) -> Vec<Arc<[f32]>> {
        let mean = || mean_direction(own, first);
        match self.projection {
            Projection::Nearest => own.to_vec(),
            Projection::Mean => mean().into_iter().collect(),
            Projection::MeanAndNearest => {
                let Some(mean) = mean() else {
                    return Vec::new();
                };
                let split = first.unwrap_or(mean.len()).min(mean.len());
                // Of the second encoder's vectors, those of the whole text and of the name.
                let ends = if own.len() > 1 {
                    vec![&own[0], &own[own.len() - 1]]
                } else {
                    vec![&own[0]]
                };
                ends.into_iter()
                    .map(|own| [&mean[..split], &own[split..]].concat().into())
                    .collect()
            }
        }
    }
}

/// The texts that an entry is learnt by: "name: description", name and description. One that is
/// missing is the name.
pub(crate) fn texts_of(entry: &Entry) -> [String; 3] {
    match Projected::new(entry, Projection::Mean).own.as_slice() {
        [full, description, name] => [full.clone(), name.clone(), description.clone()],
        own => std::array::from_fn(|_| own.first().cloned().unwrap_or_default()),
    }
}

/// A name as words: `git-branch` and `gitBranch` are "git branch". A name in a script that
/// is written without spaces stays as it is.
fn words_of(name: &str) -> String {
    if name
        .chars()
        .any(|c| matches!(segment(c), Segment::Cjk | Segment::Thai))
    {
        return name.to_owned();
    }
    let words = tokenize(name);
    if words.is_empty() {
        name.to_owned()
    } else {
        words.join(" ")
    }
}
