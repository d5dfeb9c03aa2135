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
        }
    }

    /// All texts, own ones first.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        self.own.iter().chain(&self.examples)
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.own.len() + self.examples.len()
    }

    /// Rows from the vectors of [`Projected::texts`], in its order.
    pub fn rows(&self, vectors: &[Arc<[f32]>]) -> Vec<Row> {
        let (own, examples) = vectors.split_at(self.own.len().min(vectors.len()));
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
