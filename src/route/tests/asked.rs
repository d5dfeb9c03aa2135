//! What a prompt refuses, what was said before, what is preferred, plans and parameters:
//! through the router, by tokens.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::index::{EntryVectors, Row, RowRole};
use crate::params::Clock;
use crate::plan::Fit;
use crate::preferences::{Effective, Preferences};
use crate::route::adjust::Adjustments;
use crate::route::confidence::Calibration;
use crate::route::select::{Scored, rank};

fn skills() -> Vec<Entry> {
    vec![
        entry(
            Kind::Skill,
            "finance-analysis",
            "",
            "Analyse the finances of a company",
        ),
        entry(
            Kind::Skill,
            "product-brief",
            "",
            "Write a product requirements document",
        ),
        entry(Kind::Tool, "send_email", "", "Send an email to a recipient"),
        entry(Kind::Tool, "write_file", "", "Write text to a file"),
    ]
}

fn ids(names: &[&str]) -> Vec<EntryId> {
    names
        .iter()
        .map(|name| EntryId::new("test", name))
        .collect()
}

#[tokio::test]
async fn what_is_refused_is_marked_and_never_first() {
    let router = router(skills(), Settings::default());
    let prompt = "Not a finance analysis; create a product requirements document";
    let mut request = lexical(prompt);
    request.explain = true;
    let result = router.route(&request).await;
    assert_eq!(names(&result)[0], "product-brief");
    assert!(!names(&result).contains(&"finance-analysis"));
    let [unwanted] = result.unwanted.as_slice() else {
        panic!("{:?}", result.unwanted)
    };
    assert_eq!(&prompt[unwanted.span.clone()], "a finance analysis");
    assert_eq!(unwanted.entries[0].id.name, "finance-analysis");
    let dropped = result
        .dropped
        .iter()
        .find(|dropped| dropped.entry.id.name == "finance-analysis");
    assert_eq!(
        dropped.map(|dropped| dropped.reason),
        Some(DropReason::Negated)
    );

    let result = router
        .route(&lexical("Create a finance analysis without delay"))
        .await;
    assert_eq!(names(&result)[0], "finance-analysis");
    assert!(result.unwanted.is_empty());

    let result = router
        .route(&lexical("Do not send an email, write it to a file"))
        .await;
    assert_eq!(names(&result)[0], "write_file");

    let result = router.route(&lexical("Don't send an email")).await;
    assert_eq!(result.decision.outcome, Outcome::Abstained);
    assert!(result.decision.reason.contains("not wanted"));
}

#[tokio::test]
async fn a_plan_has_a_step_for_each_intent_and_keeps_missing_ones() {
    let full = skills();
    let request = Request {
        plan: true,
        ..lexical("Create a finance analysis and then send an email")
    };
    let steps = |result: &RouteResult| -> Vec<(Option<String>, Fit)> {
        let plan = result.plan.clone().expect("a plan");
        let name =
            |step: &crate::plan::Step| step.entry.as_ref().map(|found| found.entry.id.name.clone());
        plan.steps
            .iter()
            .map(|step| (name(step), step.fit))
            .collect()
    };
    let result = router(full.clone(), Settings::default())
        .route(&request)
        .await;
    let found = steps(&result);
    assert_eq!(found[0].0.as_deref(), Some("finance-analysis"));
    assert_eq!(found[1].0.as_deref(), Some("send_email"));
    let less: Vec<Entry> = full
        .into_iter()
        .filter(|entry| entry.id.name != "send_email")
        .collect();
    let result = router(less, Settings::default()).route(&request).await;
    assert_eq!(steps(&result)[1], (None, Fit::Missing));
    // The answer itself is that of the same request without a plan.
    let plain = Request {
        plan: false,
        ..request.clone()
    };
    let without = router(skills(), Settings::default()).route(&plain).await;
    let with = router(skills(), Settings::default()).route(&request).await;
    assert_eq!(
        (&with.decision, &with.matches),
        (&without.decision, &without.matches)
    );
    assert_eq!(without.plan, None);
}

#[tokio::test]
async fn dependencies_order_the_plan_and_circles_are_named() {
    let mut entries = skills();
    entries[0].depends_on = vec!["send_email".into(), "nowhere".into()];
    let request = Request {
        plan: true,
        ..lexical("Create a finance analysis and then send an email")
    };
    let plan = router(entries.clone(), Settings::default())
        .route(&request)
        .await
        .plan
        .expect("a plan");
    let names: Vec<&str> = plan
        .steps
        .iter()
        .filter_map(|step| Some(step.entry.as_ref()?.entry.id.name.as_str()))
        .collect();
    assert_eq!(names, ["send_email", "finance-analysis"]);
    assert_eq!(plan.steps[1].after, [0]);
    assert_eq!(plan.steps[1].unmet, ["nowhere"]);
    entries[2].depends_on = vec!["finance-analysis".into()];
    let plan = router(entries, Settings::default())
        .route(&request)
        .await
        .plan
        .expect("a plan");
    let cycle: Vec<&str> = plan.cycle.iter().map(|id| id.name.as_str()).collect();
    assert_eq!(cycle, ["finance-analysis", "send_email"]);
}

#[tokio::test]
async fn parameters_are_those_of_the_first_match() {
    let mut entries = skills();
    entries[3].input_schema = Some(
        r#"{"properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}"#
            .into(),
    );
    let prompt = "Do not send an email to a.txt, write text to a file b.txt";
    let mut request = lexical(prompt);
    request.clock = Some(Clock::system());
    let result = router(entries, Settings::default()).route(&request).await;
    assert_eq!(names(&result)[0], "write_file");
    let extraction = result.parameters.expect("parameters");
    let [path] = extraction.found.as_slice() else {
        panic!("{extraction:?}")
    };
    // What is refused gives no parameter, and the span is the whole prompt's.
    assert_eq!(&prompt[path.span.clone()], "b.txt");
    assert_eq!(extraction.missing, ["content"]);
}

#[tokio::test]
async fn blocked_kinds_and_limits_are_said_where_candidates_are_dropped() {
    let mut request = lexical("write a file to a recipient");
    request.explain = true;
    request.limit = 1;
    request.kinds.no_skills = true;
    let blocked = Preferences {
        blocked: ids(&["send_email"]),
        ..Preferences::default()
    };
    request.preferences = Arc::new(Effective::of([&blocked]));
    let result = router(skills(), open()).route(&request).await;
    assert_eq!(names(&result), ["write_file"]);
    let reason = |name: &str| {
        let dropped = result
            .dropped
            .iter()
            .find(|dropped| dropped.entry.id.name == name);
        dropped.map(|dropped| dropped.reason)
    };
    assert_eq!(reason("send_email"), Some(DropReason::Blocked));
    assert_eq!(reason("product-brief"), Some(DropReason::KindExcluded));
}

/// Three entries whose description lies along an axis; `a` is not for what lies between.
fn with_vectors() -> Arc<Index> {
    let index = Arc::new(Index::default());
    let mut a = entry(Kind::Command, "a", "", "");
    a.not_when = vec![crate::catalog::NotWhen {
        text: "the other thing".into(),
        redirect: Some("b".into()),
    }];
    let entries = [
        a,
        entry(Kind::Command, "b", "", ""),
        entry(Kind::Command, "c", "", ""),
    ];
    index.apply(
        entries
            .into_iter()
            .map(|entry| Change::Put(Arc::new(entry)))
            .collect(),
    );
    let snapshot = index.snapshot();
    let vectors = snapshot.entries().map(|indexed| {
        let mut own = [0.0f32; 3];
        own[indexed.slot as usize] = 1.0;
        let not_when = match indexed.entry.not_when.is_empty() {
            true => Vec::new(),
            false => vec![[0.6f32, 0.8, 0.0].as_slice().into()],
        };
        let row = Row {
            role: RowRole::Text,
            vector: own.as_slice().into(),
        };
        let vectors = EntryVectors {
            rows: vec![row],
            not_when,
            ..EntryVectors::default()
        };
        (indexed.clone(), Arc::new(vectors))
    });
    index.attach(vectors.collect());
    index
}

#[test]
fn what_an_entry_is_not_for_lowers_it_and_raises_the_redirect() {
    let snapshot = with_vectors().snapshot();
    let calibration = Calibration {
        bias: 0.0,
        slope: 10.0,
    };
    let own = |raw: [f32; 3]| -> Vec<Scored> {
        let mut scored: Vec<Scored> = (0..3)
            .map(|slot| Scored {
                slot,
                raw: raw[slot as usize],
                score: calibration.probability(raw[slot as usize]),
            })
            .collect();
        rank(&snapshot, &mut scored);
        scored
    };
    let changed = |prompt: [f32; 3]| {
        let ranked = own([0.72, 0.69, 0.1]);
        let mut adjustments = Adjustments::default();
        adjustments.not_when(&snapshot, &ranked, &prompt, &|slot| {
            Some(prompt[slot as usize])
        });
        let after = adjustments.apply(&snapshot, &ranked, &calibration);
        (
            after.iter().map(|scored| scored.slot).collect::<Vec<u32>>(),
            adjustments,
        )
    };
    // Nearer to the not_when text (cosine 0.99) than to the entry (0.72).
    let (order, adjustments) = changed([0.72, 0.69, 0.0]);
    assert_eq!(order, [1, 0, 2]);
    let causes = |slot: u32| {
        adjustments
            .of(slot)
            .iter()
            .map(|change| change.cause.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(causes(0), [Cause::NotWhen("the other thing".into())]);
    assert_eq!(causes(1), [Cause::Redirect("a".into())]);
    assert!(adjustments.of(0)[0].amount < 0.0);
    assert_eq!(adjustments.of(0)[0].amount, -adjustments.of(1)[0].amount);
    // Nearer to the entry itself: nothing changes.
    let (order, adjustments) = changed([1.0, 0.0, 0.0]);
    assert_eq!(order, [0, 1, 2]);
    assert!(adjustments.of(0).is_empty() && adjustments.of(1).is_empty());
}

/// Catalogues, prompts and conversations of a few words that often meet.
fn words(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "branch", "file", "mail", "chart", "merge", "report", "plan", "tax",
    ]);
    prop::collection::vec(word, count).prop_map(|words| words.join(" "))
}

fn catalogues() -> impl Strategy<Value = Vec<Entry>> {
    prop::collection::vec(words(1..5), 2..9).prop_map(|texts| {
        let named = texts.into_iter().enumerate();
        named
            .map(|(at, text)| {
                let kind = Kind::ALL[at % 3];
                entry(kind, &format!("e{at}"), "", &text)
            })
            .collect()
    })
}

fn route(entries: &[Entry], request: &Request, floor: f64) -> RouteResult {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("runtime");
    let settings = Settings {
        floor,
        ..Settings::default()
    };
    runtime.block_on(async { router(entries.to_vec(), settings).route(request).await })
}

fn set(result: &RouteResult) -> BTreeSet<String> {
    names(result).into_iter().map(str::to_owned).collect()
}

proptest! {
    /// A conversation changes the order of what the prompt admits and nothing else.
    #[test]
    fn context_ranks_anew_and_admits_nothing(
        entries in catalogues(), prompt in words(1..5), context in words(1..6), floor in 0.0..0.9f64,
    ) {
        let mut request = lexical(&prompt);
        request.limit = 100;
        let without = route(&entries, &request, floor);
        request.conversation.turns = vec![context];
        let with = route(&entries, &request, floor);
        prop_assert_eq!(with.decision.outcome == Outcome::Abstained, without.decision.outcome == Outcome::Abstained);
        prop_assert_eq!(set(&with), set(&without));
        for found in &with.matches {
            let before = without.matches.iter().find(|other| other.entry.id == found.entry.id);
            let own = before.map_or(0.0, |before| before.score);
            // Below the floor nothing is gained, above it nothing is lost.
            let holds = if own < floor { found.score == own } else { found.score >= own };
            prop_assert!(holds, "{} became {}", own, found.score);
        }
    }

    /// A blocked entry is nowhere, and the others stay as they are.
    #[test]
    fn blocked_entries_take_no_part(entries in catalogues(), prompt in words(1..5), blocked in 0usize..9) {
        let name = format!("e{blocked}");
        let mut request = lexical(&prompt);
        request.limit = 100;
        request.plan = true;
        let without = route(&entries, &request, 0.0);
        let preferences = Preferences { blocked: ids(&[&name]), ..Preferences::default() };
        request.preferences = Arc::new(Effective::of([&preferences]));
        let with = route(&entries, &request, 0.0);
        let mut rest = set(&without);
        rest.remove(&name);
        prop_assert_eq!(set(&with), rest);
        prop_assert!(with.nearest.iter().all(|near| near.entry.id.name != name));
        let plan = with.plan.expect("a plan");
        prop_assert!(plan.steps.iter().all(|step| step.entry.as_ref().is_none_or(|found| found.entry.id.name != name)));
    }

    /// A pinned entry that takes part keeps a place in every answer that is no abstention, and
    /// changes neither the decision nor the order of the others.
    #[test]
    fn pinned_entries_keep_a_place(
        entries in catalogues(), prompt in words(1..5), pinned in 0usize..9, limit in 1usize..6, floor in 0.0..0.9f64,
    ) {
        let name = format!("e{pinned}");
        let mut request = lexical(&prompt);
        request.limit = limit;
        let without = route(&entries, &request, floor);
        let preferences = Preferences { pinned: ids(&[&name]), ..Preferences::default() };
        request.preferences = Arc::new(Effective::of([&preferences]));
        let with = route(&entries, &request, floor);
        prop_assert_eq!(&with.decision, &without.decision);
        prop_assert!(with.matches.len() <= limit);
        let takes_part = with.nearest.iter().any(|near| near.entry.id.name == name);
        if with.decision.outcome != Outcome::Abstained && takes_part {
            prop_assert!(set(&with).contains(&name));
        }
        let scores: Vec<f64> = with.matches.iter().map(|found| found.score).collect();
        prop_assert!(scores.is_sorted_by(|a, b| a >= b));
    }

    /// A preferred entry never falls, and is never admitted by that.
    #[test]
    fn preferred_entries_rise_where_they_fit(
        entries in catalogues(), prompt in words(1..5), preferred in 0usize..9, floor in 0.0..0.9f64,
    ) {
        let name = format!("e{preferred}");
        let mut request = lexical(&prompt);
        request.limit = 100;
        let without = route(&entries, &request, floor);
        let preferences = Preferences { preferred: ids(&[&name]), ..Preferences::default() };
        request.preferences = Arc::new(Effective::of([&preferences]));
        let with = route(&entries, &request, floor);
        prop_assert_eq!(set(&with), set(&without));
        let place = |result: &RouteResult| result.matches.iter().position(|found| found.entry.id.name == name);
        if let (Some(now), Some(before)) = (place(&with), place(&without)) {
            prop_assert!(now <= before);
            let own = without.matches[before].score;
            let adjusted = !with.matches[now].parts.adjustments.is_empty();
            prop_assert_eq!(adjusted, own >= floor);
        }
    }
}
