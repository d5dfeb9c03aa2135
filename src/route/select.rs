//! Which of the ranked entries are returned: guaranteed picks for each kind, then the best.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::request::Request;
use crate::catalog::Kind;
use crate::index::{Snapshot, listing_key};

/// A score below this says that the entry has nothing to do with the prompt: the sums of
/// entries picked at random lie there.
pub(super) const LEAST_SCORE: f64 = 0.02;

/// An entry with the sum that ranks it and the score that is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    /// Its slot.
    pub slot: u32,
    /// The sum, finite.
    pub raw: f32,
    /// The sum as a score, 0 to 1.
    pub score: f64,
}

/// Best first; ties by kind, name, source.
pub(super) fn rank(snapshot: &Snapshot, scored: &mut [Scored]) {
    scored.sort_by(|a, b| order(snapshot, a, b));
}

fn order(snapshot: &Snapshot, a: &Scored, b: &Scored) -> Ordering {
    let key = |scored: &Scored| {
        snapshot
            .entry(scored.slot)
            .map(|indexed| listing_key(indexed))
    };
    b.raw.total_cmp(&a.raw).then_with(|| key(a).cmp(&key(b)))
}

/// Chooses from ranked entries. The best of each kind keeps a place if the limit has room
/// for all kinds asked for; the rest goes by rank. What matches nothing is left out.
pub(super) fn select(snapshot: &Snapshot, ranked: &[Scored], request: &Request) -> Vec<Scored> {
    let least = request.min_score.max(LEAST_SCORE);
    let pinned = |slot: u32| {
        let preferences = &request.preferences;
        snapshot
            .entry(slot)
            .is_some_and(|indexed| preferences.pins(&indexed.entry.id))
    };
    let eligible: Vec<Scored> = ranked
        .iter()
        .copied()
        .filter(|scored| {
            scored.score >= least || scored.score >= request.min_score && pinned(scored.slot)
        })
        .collect();
    let mut chosen: HashSet<u32> = HashSet::new();
    if !request.preferences.is_empty() {
        let kept = eligible.iter().filter(|scored| pinned(scored.slot));
        chosen.extend(kept.take(request.limit).map(|scored| scored.slot));
    }
    if request.limit >= request.kinds.count() {
        for kind in Kind::ALL {
            let best = eligible.iter().find(|scored| {
                snapshot
                    .entry(scored.slot)
                    .is_some_and(|indexed| indexed.entry.kind == kind)
            });
            if chosen.len() < request.limit {
                chosen.extend(best.map(|scored| scored.slot));
            }
        }
    }
    for scored in &eligible {
        if chosen.len() >= request.limit {
            break;
        }
        chosen.insert(scored.slot);
    }
    eligible
        .into_iter()
        .filter(|scored| chosen.contains(&scored.slot))
        .collect()
}
