//! The vectors of one entry.

use std::sync::Arc;

/// What a vector was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowRole {
    /// The entry's own text; where there are several, the nearest counts.
    Text,
    /// The n-th of the texts on when to use the entry, then of those on what it can do.
    Facet(u16),
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

/// Groups of prompts whose similarities lie at one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PromptGroup {
    /// In English.
    English,
    /// In Han, kana and Hangul.
    Cjk,
    /// All others.
    Other,
}

/// Mean of an entry's largest similarities with a pool of neutral prompts, for each group of
/// prompts: some entries are near to everything, and to everything in one language more than
/// in another.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Hub {
    /// Against prompts in English.
    pub english: f32,
    /// Against prompts in Han, kana and Hangul.
    pub cjk: f32,
    /// Against all others.
    pub other: f32,
}

impl Hub {
    /// The hub that a prompt of that group is corrected by.
    pub fn of(self, group: PromptGroup) -> f32 {
        match group {
            PromptGroup::English => self.english,
            PromptGroup::Cjk => self.cjk,
            PromptGroup::Other => self.other,
        }
    }

    /// The larger of each.
    pub fn max(self, other: Self) -> Self {
        Self {
            english: self.english.max(other.english),
            cjk: self.cjk.max(other.cjk),
            other: self.other.max(other.other),
        }
    }
}

/// All vectors of an entry and what was derived from them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EntryVectors {
    /// In the order: texts, facets, examples, centroid.
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

/// Mean direction of vectors, as long as the first of them; `None` for no vectors or a mean of
/// length 0. The vectors of two encoders side by side have a mean of their own in each part:
/// `first` says how many numbers the first part has.
pub fn mean_direction(vectors: &[Arc<[f32]>], first: Option<usize>) -> Option<Arc<[f32]>> {
    let dimensions = vectors.first()?.len();
    let split = first.unwrap_or(dimensions).min(dimensions);
    let mut mean = Vec::with_capacity(dimensions);
    for part in [0..split, split..dimensions] {
        let wanted = length(&vectors[0][part.clone()]);
        let mut sum = vec![0.0f32; part.len()];
        for vector in vectors.iter().filter(|vector| vector.len() == dimensions) {
            let numbers = &vector[part.clone()];
            sum.iter_mut().zip(numbers).for_each(|(sum, x)| *sum += x);
        }
        let found = length(&sum);
        if wanted > 1e-12 && found <= 1e-12 {
            return None;
        }
        let scale = if wanted > 1e-12 { wanted / found } else { 0.0 };
        mean.extend(sum.iter().map(|x| x * scale));
    }
    (length(&mean) > 1e-12).then(|| mean.into())
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|x| x * x).sum::<f32>().sqrt()
}
