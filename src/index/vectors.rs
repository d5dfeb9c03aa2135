//! The vectors of one entry.

use std::sync::Arc;

use crate::text::script::ScriptGroup;

/// What a vector was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowRole {
    /// The entry's own text; where there are several, the nearest counts.
    Text,
    /// The n-th of the entry's examples.
    Example(u16),
    /// Mean direction of the examples.
    Centroid,
}

/// One unit vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What it was made from.
    pub role: RowRole,
    /// `dimensions` numbers of length 1.
    pub vector: Arc<[f32]>,
}

/// Mean of an entry's largest similarities with a pool of neutral prompts, for each group of
/// scripts the pool has prompts of: some entries are near to everything, and to everything
/// in one language more than in another.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Hub {
    /// Against prompts in Han, kana and Hangul.
    pub cjk: f32,
    /// Against all others.
    pub other: f32,
}

impl Hub {
    /// The hub that a prompt of that group is corrected by.
    pub fn of(self, group: ScriptGroup) -> f32 {
        match group {
            ScriptGroup::Cjk => self.cjk,
            ScriptGroup::Latin | ScriptGroup::Other => self.other,
        }
    }
}

/// All vectors of an entry and what was derived from them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EntryVectors {
    /// In the order: texts, examples, centroid.
    pub rows: Vec<Row>,
    /// One for each text on what the entry is not for. They are compared for the best entries
    /// only, and so are no rows of the scan.
    pub not_when: Vec<Arc<[f32]>>,
    /// How near the entry's text is to prompts that ask for nothing in particular: the part
    /// of its similarity that says nothing; 0 where it is not corrected for.
    pub text_hub: Hub,
    /// The same for the centroid of its examples.
    pub centroid_hub: Hub,
}

/// Mean direction of unit vectors, normalised; `None` for no vectors or a mean of length 0.
pub fn normalised_mean<'a>(vectors: impl IntoIterator<Item = &'a [f32]>) -> Option<Arc<[f32]>> {
    let mut vectors = vectors.into_iter();
    let mut sum = vectors.next()?.to_vec();
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
    }
    let norm = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
    (norm > 1e-12).then(|| sum.iter().map(|x| x / norm).collect())
}
