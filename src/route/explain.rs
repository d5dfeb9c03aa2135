//! Which candidates are not among the matches, and why.

use std::collections::HashSet;

use super::adjust::Adjustments;
use super::request::Request;
use super::result::{DropReason, Dropped, Outcome};
use super::select::{LEAST_SCORE, Scored};
use crate::index::Snapshot;

/// Candidates that are told of at most.
const MOST: usize = 10;

/// The best candidates that are not among the matches. `all` ranks every entry, also those
/// that take no part; `outcome` is what was decided on those that do.
pub(super) fn dropped(
    snapshot: &Snapshot,
    request: &Request,
    all: &[Scored],
    matches: &[Scored],
    adjustments: &Adjustments,
    outcome: Outcome,
) -> Vec<Dropped> {
    let kept: HashSet<u32> = matches.iter().map(|scored| scored.slot).collect();
    let mut found: Vec<Dropped> = Vec::new();
    for (at, scored) in all.iter().enumerate() {
        let Some(indexed) = snapshot
            .entry(scored.slot)
            .filter(|_| !kept.contains(&scored.slot))
        else {
            continue;
        };
        let entry = &indexed.entry;
        let reason = if adjustments.negates(scored.slot) {
            DropReason::Negated
        } else if request.preferences.blocks(&entry.id) {
            DropReason::Blocked
        } else if !request.kinds.allows(entry.kind) {
            DropReason::KindExcluded
        } else if !request.allows(entry) {
            DropReason::NotAskedFor
        } else if outcome == Outcome::Abstained {
            DropReason::BelowFloor
        } else if scored.score < request.min_score {
            DropReason::BelowMinScore
        } else if scored.score < LEAST_SCORE {
            DropReason::NoMatch
        } else {
            DropReason::OverLimit
        };
        // What is refused stands at the end of the ranking and is told of all the same.
        if found.len() >= MOST && reason != DropReason::Negated {
            continue;
        }
        found.push(Dropped {
            entry: entry.clone(),
            score: scored.score,
            rank: at + 1,
            reason,
        });
    }
    // By tokens alone, what shares none with the wanted text is in no ranking.
    let ranked: HashSet<u32> = all.iter().map(|scored| scored.slot).collect();
    let rest = adjustments
        .negated()
        .into_iter()
        .filter(|slot| !ranked.contains(slot));
    found.extend(rest.filter_map(|slot| {
        Some(Dropped {
            entry: snapshot.entry(slot)?.entry.clone(),
            score: 0.0,
            rank: all.len() + 1,
            reason: DropReason::Negated,
        })
    }));
    found
}
