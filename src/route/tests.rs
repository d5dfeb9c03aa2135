mod asked;

use std::collections::HashSet;
use std::sync::Arc;

use super::*;
use crate::catalog::{Entry, EntryId, Kind};
use crate::embed::Embedder;
use crate::error::Violations;
use crate::index::{Change, Index};

fn entry(kind: Kind, name: &str, hint: &str, responsibility: &str) -> Entry {
    let mut entry = Entry::new(kind, "test", name);
    entry.source_hint = hint.into();
    entry.responsibility = responsibility.into();
    entry
}

fn router(entries: Vec<Entry>, settings: Settings) -> Router {
    let index = Arc::new(Index::default());
    index.apply(
        entries
            .into_iter()
            .map(|entry| Change::Put(Arc::new(entry)))
            .collect(),
    );
    Router::new(index, Embedder::disabled(), settings)
}

fn catalogue() -> Vec<Entry> {
    vec![
        entry(
            Kind::Command,
            "git-branch",
            "git_commands",
            "Create and manage branches",
        ),
        entry(
            Kind::Command,
            "git-commit",
            "git_commands",
            "Record changes",
        ),
        entry(Kind::Tool, "Read", "files", "Read a file"),
        entry(
            Kind::Skill,
            "summary",
            "writing",
            "Create a summary of a file",
        ),
    ]
}

fn lexical(prompt: &str) -> Request {
    Request {
        mode: Mode::Lexical,
        ..Request::new(prompt)
    }
}

fn names(result: &RouteResult) -> Vec<&str> {
    result
        .matches
        .iter()
        .map(|ranked| ranked.entry.id.name.as_str())
        .collect()
}

fn open() -> Settings {
    Settings {
        floor: 0.0,
        ..Settings::default()
    }
}

#[tokio::test]
async fn the_lexical_score_is_the_weighted_share_of_the_prompt() {
    let weights = FieldWeights {
        name: 1.0,
        source_hint: 1.0,
        responsibility: 1.0,
    };
    let plain = router(catalogue(), Settings { weights, ..open() });
    let result = plain.route(&lexical("create new git branch")).await;
    assert_eq!(names(&result)[0], "git-branch");
    assert_eq!(result.matches[0].lexical_score, 0.75);

    let weighted = router(catalogue(), open());
    let result = weighted.route(&lexical("create new git branch")).await;
    // "create" stands in the responsibility, "git" and "branch" in the name.
    assert!((result.matches[0].lexical_score - (0.6 + 1.0 + 1.0) / 4.0).abs() < 1e-12);
    let matched: Vec<&str> = result.matches[0]
        .matched
        .iter()
        .map(|matched| matched.token.as_str())
        .collect();
    assert_eq!(matched, ["create", "git", "branch"]);
}

#[tokio::test]
async fn bands_are_half_open_from_below() {
    for (score, band) in [
        (0.0, Band::Weak),
        (0.3, Band::Fair),
        (0.5, Band::Good),
        (0.7, Band::VeryGood),
        (0.9, Band::Exact),
        (1.0, Band::Exact),
    ] {
        assert_eq!(Band::of(score), band, "{score}");
    }
}

#[tokio::test]
async fn a_slash_names_a_command_and_never_guesses() {
    let mut entries = catalogue();
    entries[0].aliases = vec!["branch".into()];
    let router = router(entries, Settings::default());
    for prompt in ["/git-branch login", "/GIT-Branch!", "/branch"] {
        let result = router.route(&Request::new(prompt)).await;
        assert_eq!(result.decision.outcome, Outcome::Accepted, "{prompt}");
        assert_eq!(names(&result), ["git-branch"], "{prompt}");
        assert_eq!(result.matches[0].score, 1.0);
    }
    let result = router.route(&Request::new("/git-brnch login")).await;
    assert_eq!(result.decision.outcome, Outcome::UnknownCommand);
    assert_eq!(result.decision.nearest_commands[0], "git-branch");
    assert!(result.matches.is_empty());
    // A tool is no command, and prose forces nothing.
    let result = router.route(&Request::new("/Read")).await;
    assert_eq!(result.decision.outcome, Outcome::UnknownCommand);
    let result = router.route(&lexical("git-branch")).await;
    assert_ne!(result.decision.outcome, Outcome::UnknownCommand);
}

#[tokio::test]
async fn every_kind_keeps_a_place_if_there_is_room() {
    let router = router(catalogue(), open());
    let mut request = lexical("create git branch summary file");
    request.limit = 3;
    let kinds: HashSet<Kind> = router
        .route(&request)
        .await
        .matches
        .iter()
        .map(|ranked| ranked.entry.kind)
        .collect();
    assert_eq!(kinds.len(), 3);
    // With less room than kinds the best scores win.
    request.limit = 2;
    assert_eq!(router.route(&request).await.matches.len(), 2);
    request.limit = 0;
    assert!(router.route(&request).await.matches.is_empty());
    request.limit = 10;
    request.kinds.no_commands = true;
    let result = router.route(&request).await;
    assert!(
        result
            .matches
            .iter()
            .all(|ranked| ranked.entry.kind != Kind::Command)
    );
}

#[tokio::test]
async fn what_matches_nothing_is_left_out() {
    let router = router(catalogue(), open());
    let result = router.route(&lexical("record")).await;
    assert_eq!(names(&result), ["git-commit"]);
    let result = router.route(&lexical("legitimate survey")).await;
    assert_eq!(result.decision.outcome, Outcome::Abstained);
    assert!(result.matches.is_empty());
}

#[tokio::test]
async fn the_minimum_is_inclusive() {
    let router = router(catalogue(), open());
    let mut request = lexical("record");
    let score = router.route(&request).await.matches[0].score;
    request.min_score = score;
    assert_eq!(router.route(&request).await.matches.len(), 1);
    request.min_score = score + 1e-9;
    assert!(router.route(&request).await.matches.is_empty());
}

#[tokio::test]
async fn words_of_most_entries_rank_nothing() {
    let mut entries: Vec<Entry> = (0..20)
        .map(|n| {
            entry(
                Kind::Command,
                &format!("c{n}"),
                "",
                "Boilerplate of this catalogue",
            )
        })
        .collect();
    entries[7].responsibility.push_str(" parrots");
    let router = router(entries, open());
    let result = router.route(&lexical("boilerplate of parrots")).await;
    assert_eq!(names(&result), ["c7"]);
    assert!(result.matches[0].lexical_score > 0.0);
}

#[tokio::test]
async fn only_the_given_entries_take_part() {
    let router = router(catalogue(), open());
    let mut request = lexical("create summary");
    request.only = Some(HashSet::from([EntryId::new("test", "git-branch")]));
    assert_eq!(names(&router.route(&request).await), ["git-branch"]);
}

#[tokio::test]
async fn without_a_model_tokens_answer_and_say_so() {
    let router = router(catalogue(), open());
    let result = router.route(&Request::new("create a branch")).await;
    assert_eq!(result.mode, Mode::Lexical);
    assert_eq!(result.degraded[0].reason, DegradedReason::ModelDisabled);
    assert_eq!(names(&result)[0], "git-branch");
    let asked = router.route(&lexical("create a branch")).await;
    assert!(asked.degraded.is_empty());
}

#[tokio::test]
async fn equal_scores_are_ordered_by_kind_name_source() {
    let same = |kind, source: &str, name: &str| {
        let mut entry = Entry::new(kind, source, name);
        entry.responsibility = "word".into();
        entry
    };
    let mut entries = vec![
        same(Kind::Skill, "t", "a"),
        same(Kind::Tool, "s", "b"),
        same(Kind::Tool, "r", "b"),
        same(Kind::Command, "s", "z"),
        same(Kind::Tool, "s", "a"),
    ];
    let order = |result: &RouteResult| -> Vec<String> {
        result
            .matches
            .iter()
            .map(|ranked| ranked.entry.id.to_string())
            .collect()
    };
    let first = router(entries.clone(), open())
        .route(&lexical("word"))
        .await;
    assert_eq!(order(&first), ["s/z", "s/a", "r/b", "s/b", "t/a"]);
    entries.reverse();
    let second = router(entries, open()).route(&lexical("word")).await;
    assert_eq!(first, second);
}

#[tokio::test]
async fn stages_come_in_order() {
    let router = router(catalogue(), open());
    let mut stages = Vec::new();
    let request = Request::new("create a branch");
    let result = router
        .route_in_stages(&request, &mut |stage| stages.push(stage))
        .await;
    assert!(matches!(stages.as_slice(), [Stage::Lexical(matches)] if *matches == result.matches));
    stages.clear();
    let request = Request::new("/git-branch");
    router
        .route_in_stages(&request, &mut |stage| stages.push(stage))
        .await;
    assert!(matches!(stages.as_slice(), [Stage::Exact(entry)] if entry.id.name == "git-branch"));
}

#[test]
fn limits_are_named() {
    let mut request = Request::new(" \u{0}\n");
    request.limit = MAX_LIMIT + 1;
    request.min_score = f64::NAN;
    let mut violations = Violations::default();
    request.check("requests[2].", 10, &mut violations);
    let fields: Vec<&str> = violations
        .as_slice()
        .iter()
        .map(|violation| violation.field.as_str())
        .collect();
    assert_eq!(
        fields,
        [
            "requests[2].prompt",
            "requests[2].limit",
            "requests[2].min_score"
        ]
    );
    let mut violations = Violations::default();
    Request::new("x".repeat(11)).check("", 10, &mut violations);
    assert!(violations.to_string().contains("limit of 10"));
}
