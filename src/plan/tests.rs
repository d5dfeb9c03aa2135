use super::*;
use crate::intent::{Part, Reading};

const LIMITS: Limits = Limits {
    floor: 0.15,
    accept: 0.85,
};

/// A ranking with these slots and scores.
fn ranking(found: &[(u32, f64)]) -> Ranking {
    found
        .iter()
        .map(|(slot, score)| Candidate {
            slot: *slot,
            score: *score,
        })
        .collect()
}

/// The entries of the steps of a prompt whose parts rank so; 0 is missing.
fn steps(prompt: &str, parts: &[&[(u32, f64)]], whole: &[(u32, f64)]) -> Vec<u32> {
    named_steps(prompt, parts, whole, &|_, _| false)
}

fn named_steps(
    prompt: &str,
    rankings: &[&[(u32, f64)]],
    whole: &[(u32, f64)],
    is_named: &dyn Fn(u32, &str) -> bool,
) -> Vec<u32> {
    let reading = Reading::of(prompt);
    let parts: Vec<&Part> = reading.wanted().collect();
    assert_eq!(parts.len(), rankings.len(), "{parts:?}");
    let parts: Vec<(&Part, Ranking)> = parts
        .into_iter()
        .zip(rankings.iter().map(|found| ranking(found)))
        .collect();
    decide(&parts, &ranking(whole), LIMITS, is_named)
        .iter()
        .map(|draft| draft.slot.unwrap_or_default())
        .collect()
}

#[test]
fn two_entries_are_two_steps_and_one_is_one() {
    let prompt = "Commit my changes and push them";
    assert_eq!(
        steps(prompt, &[&[(1, 0.9)], &[(2, 0.9)]], &[(1, 0.9), (2, 0.8)]),
        [1, 2]
    );
    assert_eq!(steps(prompt, &[&[(1, 0.9)], &[(1, 0.9)]], &[(1, 0.9)]), [1]);
    // "then" makes two steps of one entry.
    let prompt = "Read the first file, then read the second file";
    assert_eq!(
        steps(prompt, &[&[(1, 0.9)], &[(1, 0.9)]], &[(1, 0.9)]),
        [1, 1]
    );
}

#[test]
fn a_step_without_an_entry_stays() {
    let prompt = "Track my parcel and wash my car";
    assert_eq!(
        steps(prompt, &[&[(1, 0.9)], &[(2, 0.1)]], &[(1, 0.9)]),
        [1, 0]
    );
    // A pronoun for an object makes it a detail of the step before.
    let prompt = "Create a branch and call it x";
    assert_eq!(steps(prompt, &[&[(1, 0.9)], &[(2, 0.1)]], &[(1, 0.9)]), [1]);
    let prompt = "Create a scorecard and a requirements document";
    assert_eq!(
        steps(prompt, &[&[(1, 0.9)], &[(2, 0.1)]], &[(1, 0.8)]),
        [1, 0]
    );
    // The entry gains from the second noun: it is part of what it does.
    assert_eq!(steps(prompt, &[&[(1, 0.8)], &[(2, 0.1)]], &[(1, 0.9)]), [1]);
}

#[test]
fn a_lone_verb_is_a_step_only_by_name() {
    let prompt = "lint and format the code";
    let rankings: [&[(u32, f64)]; 2] = [&[(1, 0.9)], &[(2, 0.9)]];
    let named =
        |slot: u32, word: &str| (slot, word) == (1, "lint") || (slot, word) == (2, "format");
    assert_eq!(named_steps(prompt, &rankings, &[(1, 0.9)], &named), [1, 2]);
    assert_eq!(
        named_steps(prompt, &rankings, &[(1, 0.9)], &|_, _| false),
        [2]
    );
}

#[test]
fn a_wish_may_only_prepare_a_question() {
    let prompt = "I want to post a picture. Can you suggest some tags?";
    assert_eq!(
        steps(prompt, &[&[(1, 0.5)], &[(2, 0.6)]], &[(2, 0.6), (1, 0.5)]),
        [2]
    );
    assert_eq!(
        steps(prompt, &[&[(1, 0.95)], &[(2, 0.95)]], &[(2, 0.9), (1, 0.9)]),
        [1, 2]
    );
    let prompt = "Find the flights. Can you help me with that?";
    assert_eq!(steps(prompt, &[&[(1, 0.9)], &[(2, 0.1)]], &[(1, 0.9)]), [1]);
}

#[test]
fn dependencies_go_first_and_the_text_decides_the_rest() {
    let needs = |slot: u32| match slot {
        1 => vec![5],
        5 => vec![3],
        _ => Vec::new(),
    };
    // 1 needs 3 by way of 5, which is no step.
    let ordered = arrange(&[Some(1), None, Some(2), Some(3)], &needs);
    assert_eq!(ordered.order, [1, 2, 3, 0]);
    assert_eq!(ordered.after, [vec![3], vec![], vec![], vec![]]);
    assert!(ordered.cycle.is_empty());
    let same = arrange(&[Some(3), Some(1)], &needs);
    assert_eq!(same.order, [0, 1]);
}

#[test]
fn a_circle_is_named_and_keeps_the_order() {
    let needs = |slot: u32| match slot {
        1 => vec![2],
        2 => vec![3],
        3 => vec![2],
        _ => Vec::new(),
    };
    let ordered = arrange(&[Some(4), Some(1)], &needs);
    assert_eq!((ordered.order, ordered.cycle), (vec![0, 1], vec![2, 3]));
}

#[test]
fn a_long_chain_is_followed_without_recursion() {
    let needs = |slot: u32| {
        if slot < 200_000 {
            vec![slot + 1]
        } else {
            Vec::new()
        }
    };
    let ordered = arrange(&[Some(1), Some(9_000)], &needs);
    assert_eq!(ordered.order, [1, 0]);
}
