//! Similarities, through one exact scan of the packed matrix.

use super::profile::Profile;
use crate::index::{EntryVectors, PromptGroup, RowRole, Snapshot};

/// How far a nearer facet draws the similarity of the own text towards its own. A facet says
/// one thing that an entry is for, so it may only help, and not as much as the text itself:
/// otherwise an entry with many of them would be near to everything.
const FACET_SHARE: f32 = 0.5;

/// Similarities of one entry with the prompt; cosines, so -1 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Similarity {
    /// Nearest of the entry's own texts; -infinity where it has no vectors.
    pub text: f32,
    /// Nearest text on when to use it or what it can do, and its number.
    pub facet: Option<(f32, u16)>,
    /// Nearest example and its number.
    pub example: Option<(f32, u16)>,
    /// Mean direction of the examples.
    pub centroid: Option<f32>,
}

impl Similarity {
    /// Of an entry without vectors.
    pub const NONE: Similarity = Similarity {
        text: f32::NEG_INFINITY,
        facet: None,
        example: None,
        centroid: None,
    };

    /// Takes the cosine of one of the entry's vectors.
    pub fn take(&mut self, role: RowRole, cosine: f32) {
        match role {
            RowRole::Text => self.text = self.text.max(cosine),
            RowRole::Facet(number) => {
                if self.facet.is_none_or(|(best, _)| cosine > best) {
                    self.facet = Some((cosine, number));
                }
            }
            RowRole::Example(number) => {
                if self.example.is_none_or(|(best, _)| cosine > best) {
                    self.example = Some((cosine, number));
                }
            }
            RowRole::Centroid => self.centroid = Some(cosine),
        }
    }

    /// Whether the entry has vectors.
    pub fn is_known(&self) -> bool {
        self.text.is_finite()
    }

    /// The nearer of the entry's own text and its nearest example.
    pub fn nearest(&self) -> f32 {
        let example = self.example.map_or(f32::NEG_INFINITY, |(cosine, _)| cosine);
        self.text.max(example)
    }

    /// What the similarities of one entry are worth together, hub taken off.
    pub fn combined(&self, vectors: &EntryVectors, group: PromptGroup, profile: &Profile) -> f32 {
        if !self.is_known() {
            return 0.0;
        }
        let facet = self.facet.map_or(self.text, |(facet, _)| facet);
        let text = self.text + FACET_SHARE * (facet - self.text).max(0.0);
        let similarity = match (self.example, self.centroid) {
            (Some((example, _)), Some(centroid)) => {
                let nearest = text.max(example);
                (1.0 - profile.centroid) * nearest + profile.centroid * centroid
            }
            _ => text,
        };
        similarity - self.hub(vectors, group, profile)
    }

    /// What is taken off for being near to every prompt. Entries with examples are mostly
    /// ranked by the examples' centroid, so that is whose hub counts; either way a prompt
    /// that asks for nothing in particular ends at about the same sum.
    pub fn hub(&self, vectors: &EntryVectors, group: PromptGroup, profile: &Profile) -> f32 {
        let hub = match self.centroid {
            Some(_) => vectors.centroid_hub,
            None => vectors.text_hub,
        };
        profile.weights(group).hub * hub.of(group)
    }
}

/// Scans all vectors; indexed by slot.
pub(crate) fn scan(snapshot: &Snapshot, prompt: &[f32]) -> Vec<Similarity> {
    let mut found = vec![Similarity::NONE; snapshot.slot_count()];
    snapshot.matrix().scan(prompt, |slot, role, cosine| {
        found[slot as usize].take(role, cosine);
    });
    found
}
