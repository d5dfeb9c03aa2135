//! What changes an entry's sum besides the prompt's own text: what it is not for, what the
//! prompt refuses, what was said before, and what whoever asks prefers.
//!
//! Conversation and preferences rank anew only what the prompt admits by itself: an entry
//! whose own score is below the floor gains nothing from them.

use std::collections::HashMap;

use super::confidence::Calibration;
use super::result::{Adjustment, Cause};
use super::select::{Scored, rank};
use crate::catalog::EntryId;
use crate::index::{IndexedEntry, Snapshot, dot};
use crate::preferences::Effective;

/// Entries whose `not_when` texts are compared: the best of a ranking.
const COMPARED: usize = 12;

/// Share of the lead of a `not_when` text that is taken off its entry and given to the
/// redirect. With a lead of 0.05 the two pass each other if they were 0.1 apart.
const NOT_WHEN_GAIN: f32 = 1.0;

/// Most that a `not_when` text takes off.
const NOT_WHEN_MOST: f32 = 0.15;

/// What the conversation adds at most, in logits of the calibration.
const CONTEXT_LOGITS: f64 = 1.5;

/// What a preference adds, in logits of the calibration.
const PREFERRED_LOGITS: f64 = 1.0;

/// By how much a refused text has to fit an entry better than the wanted one, in logits.
const NEGATED_LOGITS: f64 = 0.5;

/// Entries of a refused text that may be meant by it.
const NEGATED_ENTRIES: usize = 3;

/// Changes of the entries' sums, by slot.
#[derive(Debug, Default)]
pub(super) struct Adjustments {
    changes: HashMap<u32, Vec<Adjustment>>,
}

impl Adjustments {
    /// What was changed of an entry.
    pub fn of(&self, slot: u32) -> &[Adjustment] {
        self.changes.get(&slot).map_or(&[], Vec::as_slice)
    }

    /// Whether the prompt refuses an entry.
    pub fn negates(&self, slot: u32) -> bool {
        self.of(slot)
            .iter()
            .any(|change| matches!(change.cause, Cause::Negated(_)))
    }

    /// Entries that the prompt refuses, in the order of their slots.
    pub fn negated(&self) -> Vec<u32> {
        let mut slots: Vec<u32> = self.changes.keys().copied().collect();
        slots.retain(|slot| self.negates(*slot));
        slots.sort_unstable();
        slots
    }

    fn add(&mut self, slot: u32, cause: Cause, amount: f32) {
        let amount = f64::from(amount);
        let change = Adjustment { cause, amount };
        self.changes.entry(slot).or_default().push(change);
    }

    /// Lowers the best entries that the prompt is nearer to a `not_when` text of than to
    /// themselves, and raises those they redirect to. `own` is the similarity of an entry with
    /// the prompt: the larger of its description's and its nearest example's.
    pub fn not_when(
        &mut self,
        snapshot: &Snapshot,
        ranked: &[Scored],
        prompt: &[f32],
        own: &dyn Fn(u32) -> Option<f32>,
    ) {
        for scored in ranked.iter().take(COMPARED) {
            let Some(indexed) = snapshot.entry(scored.slot) else {
                continue;
            };
            let (Some(vectors), Some(own)) = (&indexed.vectors, own(scored.slot)) else {
                continue;
            };
            let nearest = vectors
                .not_when
                .iter()
                .enumerate()
                .filter(|(_, vector)| vector.len() == prompt.len())
                .map(|(at, vector)| (at, dot(vector, prompt)))
                .max_by(|a, b| a.1.total_cmp(&b.1));
            let Some((at, cosine)) = nearest.filter(|(_, cosine)| *cosine > own) else {
                continue;
            };
            let Some(not) = indexed.entry.not_when.get(at) else {
                continue;
            };
            let amount = (NOT_WHEN_GAIN * (cosine - own)).min(NOT_WHEN_MOST);
            self.add(scored.slot, Cause::NotWhen(not.text.clone()), -amount);
            let target = not
                .redirect
                .as_ref()
                .and_then(|name| redirect(snapshot, &indexed.entry.id, name));
            if let Some(target) = target
                && ranked.iter().any(|other| other.slot == target.slot)
            {
                let cause = Cause::Redirect(indexed.entry.id.name.clone());
                self.add(target.slot, cause, amount);
            }
        }
    }

    /// Marks the entries that a refused text means: those it fits best, and better than the
    /// wanted text does. They go to the end. Returns their slots.
    pub fn refuse(
        &mut self,
        text: &str,
        refused: &[Scored],
        wanted: &[Scored],
        calibration: &Calibration,
        floor: f64,
    ) -> Vec<u32> {
        let lead = logits(calibration, NEGATED_LOGITS);
        let best = refused.first().map_or(0.0, |best| best.score);
        let mut meant = Vec::new();
        for scored in refused.iter().take(NEGATED_ENTRIES) {
            // What fits the refused text far worse than its best entry is not what it means.
            if scored.score < floor || scored.score < best / 2.0 {
                break;
            }
            let own = wanted.iter().find(|other| other.slot == scored.slot);
            let own = own.map_or(0.0, |own| own.raw);
            if scored.raw < own + lead {
                continue;
            }
            meant.push(scored.slot);
            if !self.negates(scored.slot) {
                let amount = -own.max(0.0) - scored.raw.max(0.0);
                self.add(scored.slot, Cause::Negated(text.to_owned()), amount);
            }
        }
        meant
    }

    /// Raises what the conversation speaks for, by how well it fits the conversation.
    pub fn context(
        &mut self,
        admitted: &[Scored],
        conversation: &[Scored],
        calibration: &Calibration,
    ) {
        let fits: HashMap<u32, f64> = conversation
            .iter()
            .map(|scored| (scored.slot, scored.score))
            .collect();
        for scored in admitted {
            let fit = fits.get(&scored.slot).copied().unwrap_or_default();
            let amount = logits(calibration, CONTEXT_LOGITS * fit);
            if amount > f32::EPSILON {
                self.add(scored.slot, Cause::Context, amount);
            }
        }
    }

    /// Raises what whoever asks prefers.
    pub fn prefer(
        &mut self,
        snapshot: &Snapshot,
        admitted: &[Scored],
        preferences: &Effective,
        calibration: &Calibration,
    ) {
        let amount = logits(calibration, PREFERRED_LOGITS);
        for scored in admitted {
            let prefers = snapshot
                .entry(scored.slot)
                .is_some_and(|indexed| preferences.prefers(&indexed.entry.id));
            if prefers {
                self.add(scored.slot, Cause::Preferred, amount);
            }
        }
    }

    /// Lays the changes on a ranking of own sums and ranks anew.
    pub fn apply(
        &self,
        snapshot: &Snapshot,
        own: &[Scored],
        calibration: &Calibration,
    ) -> Vec<Scored> {
        let mut ranked: Vec<Scored> = own.to_vec();
        if self.changes.is_empty() {
            return ranked;
        }
        for scored in &mut ranked {
            let changes = self.of(scored.slot);
            if changes.is_empty() {
                continue;
            }
            let amount: f64 = changes.iter().map(|change| change.amount).sum();
            scored.raw += amount as f32;
            scored.score = calibration.probability(scored.raw);
        }
        rank(snapshot, &mut ranked);
        ranked
    }
}

/// Entries whose own score reaches the floor.
pub(super) fn admitted(ranked: &[Scored], floor: f64) -> Vec<Scored> {
    ranked
        .iter()
        .copied()
        .filter(|scored| scored.score >= floor)
        .collect()
}

/// A difference of sums that changes a probability by so many logits.
fn logits(calibration: &Calibration, logits: f64) -> f32 {
    match calibration.slope > 0.0 {
        true => (logits / calibration.slope) as f32,
        false => 0.0,
    }
}

/// The entry that a redirect names: of the same source, or the only one of that name.
fn redirect<'a>(snapshot: &'a Snapshot, from: &EntryId, name: &str) -> Option<&'a IndexedEntry> {
    let slot = slots_named(snapshot, from, name).into_iter().next()?;
    snapshot.entry(slot).map(|indexed| &**indexed)
}

/// Entries of a name, those of the same source before others.
pub(super) fn slots_named(snapshot: &Snapshot, from: &EntryId, name: &str) -> Vec<u32> {
    let mut found: Vec<(bool, u32)> = snapshot
        .named(name)
        .iter()
        .filter_map(|slot| {
            let indexed = snapshot.entry(*slot)?;
            Some((indexed.entry.id.source != from.source, *slot))
        })
        .collect();
    found.sort_by_key(|(foreign, _)| *foreign);
    let own = found.iter().any(|(foreign, _)| !foreign);
    found.retain(|(foreign, _)| !(own && *foreign));
    found.into_iter().map(|(_, slot)| slot).collect()
}
