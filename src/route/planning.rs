//! A plan from the rankings of a prompt's parts.

use std::ops::Range;

use super::adjust::slots_named;
use super::asked::Asked;
use super::confidence::Thresholds;
use super::evidence::Evidence;
use super::request::Request;
use super::result::{Outcome, Ranked, RouteResult};
use super::select::Scored;
use crate::index::Snapshot;
use crate::params::{Clock, Extraction, extract};
use crate::plan::{Candidate, Draft, Fit, Limits, Plan, Ranking, Step, arrange, decide};
use crate::text::tokenize;

/// Entries of a ranking that a decision looks at.
const LOOKED_AT: usize = 16;

/// What a part was ranked as.
pub(super) struct PartRanking<'a> {
    pub evidence: Evidence<'a>,
    pub ranked: Vec<Scored>,
}

/// The ranking of the prompt as a whole.
#[derive(Clone, Copy)]
pub(super) struct Whole<'a> {
    pub ranked: &'a [Scored],
    /// Says everything that is known of entries of the ranking.
    pub describe: &'a dyn Fn(&[Scored]) -> Vec<Ranked>,
}

/// Makes the plan. `whole` ranks the prompt, `parts` each of `asked.parts`.
pub(super) fn plan(
    snapshot: &Snapshot,
    asked: &Asked,
    whole: Whole<'_>,
    parts: &[PartRanking<'_>],
    thresholds: Thresholds,
    clock: &Clock,
) -> Plan {
    if asked.nothing {
        return Plan::default();
    }
    let Whole { ranked, describe } = whole;
    let limits = Limits {
        floor: thresholds.floor,
        accept: thresholds.accept,
    };
    let proposed: Vec<(&crate::intent::Part, Ranking)> = asked
        .parts
        .iter()
        .zip(parts)
        .map(|(at, part)| (&asked.reading.parts[*at], candidates(&part.ranked)))
        .collect();
    let is_named = |slot: u32, word: &str| is_named(snapshot, slot, word);
    let drafts = decide(&proposed, &candidates(ranked), limits, &is_named);
    if drafts.len() < 2 {
        let step = single(asked, ranked, describe, thresholds, clock);
        return arranged(snapshot, vec![step]);
    }
    let mut numbered: Vec<(usize, Step)> = drafts
        .iter()
        .map(|draft| {
            let lead = draft.parts[0];
            let step = step(asked, draft, &parts[lead], thresholds, clock);
            (asked.parts[lead], step)
        })
        .collect();
    let order = asked.reading.order();
    numbered.sort_by_key(|(part, _)| order.iter().position(|at| at == part));
    arranged(
        snapshot,
        numbered.into_iter().map(|(_, step)| step).collect(),
    )
}

fn candidates(ranked: &[Scored]) -> Ranking {
    ranked
        .iter()
        .take(LOOKED_AT)
        .map(|scored| Candidate {
            slot: scored.slot,
            score: scored.score,
        })
        .collect()
}

/// Whether a word is what sets an entry's name apart: `git-push` is named by "push".
fn is_named(snapshot: &Snapshot, slot: u32, word: &str) -> bool {
    let Some(indexed) = snapshot.entry(slot) else {
        return false;
    };
    let word = word.to_lowercase();
    let entry = &indexed.entry;
    let by_name = tokenize(&entry.id.name).contains(&word);
    by_name
        || entry
            .aliases
            .iter()
            .any(|alias| alias.to_lowercase() == word)
}

fn fit_of(thresholds: Thresholds, score: f64) -> Fit {
    match thresholds.decide(score) {
        Outcome::Accepted => Fit::Accepted,
        Outcome::Abstained => Fit::Missing,
        Outcome::Uncertain | Outcome::UnknownCommand => Fit::Uncertain,
    }
}

fn step(
    asked: &Asked,
    draft: &Draft,
    ranking: &PartRanking<'_>,
    thresholds: Thresholds,
    clock: &Clock,
) -> Step {
    let lead = &asked.reading.parts[asked.parts[draft.parts[0]]];
    let best: Vec<Scored> = ranking.ranked.iter().take(1).copied().collect();
    let fit = match draft.slot {
        Some(_) => fit_of(thresholds, draft.score),
        None => Fit::Missing,
    };
    let entry = match fit {
        Fit::Missing => None,
        Fit::Accepted | Fit::Uncertain => ranking.evidence.describe(&best).pop(),
    };
    // Everything that belongs to the step is read for its parameters.
    let spans = draft
        .parts
        .iter()
        .map(|part| &asked.reading.parts[asked.parts[*part]].span);
    let span = spans.fold(lead.span.clone(), |all, span| {
        all.start.min(span.start)..all.end.max(span.end)
    });
    Step {
        text: lead.text.clone(),
        parameters: parameters(entry.as_ref(), &asked.visible, span.clone(), clock),
        span,
        fit,
        confidence: draft.score,
        entry,
        after: Vec::new(),
        unmet: Vec::new(),
    }
}

/// The prompt as one step.
fn single(
    asked: &Asked,
    ranked: &[Scored],
    describe: &dyn Fn(&[Scored]) -> Vec<Ranked>,
    thresholds: Thresholds,
    clock: &Clock,
) -> Step {
    let best = ranked.first();
    let score = best.map_or(0.0, |best| best.score);
    let fit = fit_of(thresholds, score);
    let entry = match fit {
        Fit::Missing => None,
        Fit::Accepted | Fit::Uncertain => describe(&ranked[..ranked.len().min(1)]).pop(),
    };
    let span = asked
        .reading
        .wanted()
        .map(|part| part.span.clone())
        .reduce(|all, span| all.start.min(span.start)..all.end.max(span.end));
    let span = span.unwrap_or(0..asked.visible.len());
    Step {
        text: asked.request.prompt.clone(),
        parameters: parameters(entry.as_ref(), &asked.visible, span.clone(), clock),
        span,
        fit,
        confidence: score,
        entry,
        after: Vec::new(),
        unmet: Vec::new(),
    }
}

/// The plan of an exact command.
pub(super) fn exact(request: &Request, result: &RouteResult) -> Plan {
    let Some(first) = result.matches.first() else {
        return Plan::default();
    };
    let step = Step {
        text: request.prompt.clone(),
        span: 0..request.prompt.len(),
        fit: Fit::Accepted,
        confidence: 1.0,
        entry: Some(first.clone()),
        after: Vec::new(),
        unmet: first.entry.depends_on.clone(),
        parameters: result.parameters.clone().unwrap_or_default(),
    };
    Plan {
        steps: vec![step],
        cycle: Vec::new(),
    }
}

/// Parameters of an entry from a span of a prompt; their spans are the prompt's.
pub(super) fn parameters(
    entry: Option<&Ranked>,
    prompt: &str,
    span: Range<usize>,
    clock: &Clock,
) -> Extraction {
    let schema = entry.and_then(|found| found.entry.input_schema.as_deref());
    let Some(schema) = schema else {
        return Extraction::default();
    };
    let offset = span.start;
    let text = prompt.get(span).unwrap_or_default();
    let mut extraction = extract(schema, text, clock);
    for parameter in &mut extraction.found {
        parameter.span.start += offset;
        parameter.span.end += offset;
    }
    extraction
}

/// Lays `depends_on` over the order of the text.
fn arranged(snapshot: &Snapshot, mut steps: Vec<Step>) -> Plan {
    let slot_of = |step: &Step| {
        let id = &step.entry.as_ref()?.entry.id;
        slots_named(snapshot, id, &id.name)
            .into_iter()
            .find(|slot| {
                snapshot
                    .entry(*slot)
                    .is_some_and(|found| found.entry.id == *id)
            })
    };
    let slots: Vec<Option<u32>> = steps.iter().map(slot_of).collect();
    let needs = |slot: u32| -> Vec<u32> {
        let Some(indexed) = snapshot.entry(slot) else {
            return Vec::new();
        };
        let entry = &indexed.entry;
        let names = entry.depends_on.iter();
        names
            .flat_map(|name| slots_named(snapshot, &entry.id, name))
            .collect()
    };
    let ordered = arrange(&slots, &needs);
    let place = |at: usize| {
        ordered
            .order
            .iter()
            .position(|old| *old == at)
            .unwrap_or(at)
    };
    let cycle = ordered
        .cycle
        .iter()
        .filter_map(|slot| snapshot.entry(*slot))
        .map(|indexed| std::sync::Arc::new(indexed.entry.id.clone()))
        .collect();
    for (at, step) in steps.iter_mut().enumerate() {
        step.after = ordered.after[at]
            .iter()
            .map(|before| place(*before))
            .collect();
        step.after.sort_unstable();
        let Some(found) = &step.entry else { continue };
        step.unmet = found
            .entry
            .depends_on
            .iter()
            .filter(|name| {
                let needed = slots_named(snapshot, &found.entry.id, name);
                !slots.iter().flatten().any(|slot| needed.contains(slot))
            })
            .cloned()
            .collect();
    }
    let mut taken: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    let steps = ordered
        .order
        .iter()
        .filter_map(|at| taken[*at].take())
        .collect();
    Plan { steps, cycle }
}
