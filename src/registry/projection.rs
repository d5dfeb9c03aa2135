//! Which texts of an entry the encoder reads, and which vectors they become.

use std::sync::Arc;

use crate::catalog::Entry;
use crate::index::{Row, RowRole, normalised_mean};
use crate::route::profile::Projection;
use crate::text::script::{Segment, segment};
use crate::text::tokenize;

/// Texts of one entry, in a fixed order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Projected {
    projection: Projection,
    /// The entry's own texts.
    pub own: Vec<String>,
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
            (Some(text), Projection::Mean) => {
                vec![format!("{name}: {text}"), text.clone(), name]
            }
        };
        Self {
            projection,
            own,
            examples: entry.examples.clone(),
            not_when: entry.not_when.iter().map(|not| not.text.clone()).collect(),
        }
    }

    /// All texts, own ones first.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        self.own.iter().chain(&self.examples).chain(&self.not_when)
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.own.len() + self.examples.len() + self.not_when.len()
    }

    /// Vectors of what it is not for, from those of [`Projected::texts`].
    pub fn not_when_of(&self, vectors: &[Arc<[f32]>]) -> Vec<Arc<[f32]>> {
        let before = self.len() - self.not_when.len();
        vectors.get(before..).unwrap_or_default().to_vec()
    }

    /// Rows from the vectors of [`Projected::texts`], in its order.
    pub fn rows(&self, vectors: &[Arc<[f32]>]) -> Vec<Row> {
        let ranked = (self.len() - self.not_when.len()).min(vectors.len());
        let (own, examples) = vectors[..ranked].split_at(self.own.len().min(ranked));
        let mut rows: Vec<Row> = match self.projection {
            Projection::Nearest => own.to_vec(),
            Projection::Mean => normalised_mean(own.iter().map(|vector| &**vector))
                .into_iter()
                .collect(),
        }
        .into_iter()
        .map(|vector| Row {
            role: RowRole::Text,
            vector,
        })
        .collect();
        rows.extend((0u16..).zip(examples).map(|(number, vector)| Row {
            role: RowRole::Example(number),
            vector: vector.clone(),
        }));
        let centroid = normalised_mean(examples.iter().map(|vector| &**vector));
        rows.extend(centroid.map(|vector| Row {
            role: RowRole::Centroid,
            vector,
        }));
        rows
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
