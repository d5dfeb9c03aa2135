//! Live loops on a journal in memory, on tokio's paused clock.

use std::time::Duration;

use super::*;
use crate::journal::event::{
    Action, Custom, Observation, ObservationsCollected, ReasoningComplete, Terminated,
};
use crate::journal::{Entry, Options};
use crate::session::report::{CallReport, Outcome};
use crate::session::tracker::StepIteration;
use crate::session::verdict::Decision;
use crate::session::verdict::Decision::{Continue, Nudge, Stop};
use crate::store::Store;

async fn journal() -> Journal {
    let store = Store::in_memory().expect("a store");
    Journal::open(store, Options::default())
        .await
        .expect("a journal")
}

async fn hub(journal: &Journal) -> LoopHub {
    LoopHub::open(journal.clone(), HubOptions::default())
        .await
        .expect("a hub")
}

fn named(loop_id: &str) -> NewLoop {
    NewLoop {
        loop_id: loop_id.into(),
        ..NewLoop::default()
    }
}

fn failed(action: &str, output: &str) -> Reported {
    let call = CallReport {
        arguments: action.into(),
        output: output.into(),
        outcome: Outcome::Failed,
        ..CallReport::default()
    };
    let usage = Usage {
        input_tokens: 10,
        output_tokens: 1,
    };
    Reported::Step(
        StepReport {
            calls: vec![call],
            ..StepReport::default()
        },
        usage,
    )
}

async fn decide(hub: &LoopHub, loop_id: &str, reported: Reported) -> Decision {
    hub.report(loop_id, "", "", reported)
        .await
        .expect("an answer")
        .verdict
        .decision
}

async fn entries(journal: &Journal, loop_id: &str) -> Vec<Arc<Entry>> {
    journal
        .list(&Filter::of_loop(loop_id), None, 1_000)
        .await
        .expect("entries")
        .entries
}

async fn types(journal: &Journal, loop_id: &str) -> Vec<&'static str> {
    let entries = entries(journal, loop_id).await;
    entries
        .iter()
        .map(|entry| entry.event.event_type().as_str())
        .collect()
}

/// Keeps a paused clock from moving by itself until it is dropped. Without, it would jump
/// whenever the runtime waits for the journal, which writes on a thread of its own.
fn hold_clock() -> std::sync::mpsc::Sender<()> {
    let (held, wait) = std::sync::mpsc::channel();
    tokio::task::spawn_blocking(move || wait.recv());
    held
}

/// Moves the clock, and lets the sweeper and its appends happen.
async fn pass(time: Duration) {
    tokio::time::advance(time).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[tokio::test]
async fn what_is_answered_is_in_the_journal_first() {
    let journal = journal().await;
    let hub = hub(&journal).await;
    hub.create(named("a")).await.expect("created");
    let mut decisions = Vec::new();
    for _ in 0..3 {
        decisions.push(decide(&hub, "a", failed("make", "no rule")).await);
    }
    assert_eq!(decisions, [Continue, Nudge, Stop]);
    assert_eq!(
        types(&journal, "a").await,
        [
            "started",
            "custom",
            "custom",
            "loop_warning",
            "custom",
            "step_limit_reached"
        ],
    );
    let answer = hub
        .report("a", "", "", failed("make", "no rule"))
        .await
        .expect("an answer");
    assert_eq!(answer.verdict.evidence, [2, 3, 5, 7]);
    assert_eq!(answer.sequence, 7);
    let view = hub.close("a", None, "given up").await.expect("closed");
    let end = view.terminated.expect("an end");
    assert_eq!((end.reason, end.iterations), (TerminationReason::Stuck, 4));
    assert_eq!(
        (end.total_usage.total(), end.detail.as_str()),
        (44, "given up")
    );
}

#[tokio::test]
async fn a_loop_ends_once_however_often_it_is_closed() {
    let journal = journal().await;
    let hub = hub(&journal).await;
    hub.create(named("a")).await.expect("created");
    let first = hub.close("a", None, "").await.expect("closed");
    let again = hub
        .close("a", Some(TerminationReason::Error), "")
        .await
        .expect("closed");
    assert_eq!(first.terminated, again.terminated);
    assert_eq!(types(&journal, "a").await, ["started", "terminated"]);
    let error = hub
        .report("a", "", "", Reported::Begin)
        .await
        .expect_err("ended");
    assert!(matches!(
        error,
        LoopError::Ended {
            reason: TerminationReason::Completed,
            ..
        }
    ));
}

#[tokio::test]
async fn a_budget_ends_the_loop_with_the_report_that_spent_it() {
    let journal = journal().await;
    let hub = hub(&journal).await;
    let config = LoopConfig {
        max_iterations: 2,
        ..LoopConfig::default()
    };
    hub.create(NewLoop {
        config,
        ..named("a")
    })
    .await
    .expect("created");
    assert_eq!(decide(&hub, "a", failed("a", "x")).await, Continue);
    assert_eq!(decide(&hub, "a", failed("b", "y")).await, Stop);
    let end = hub
        .get("a")
        .await
        .expect("a view")
        .terminated
        .expect("an end");
    assert_eq!(
        (end.reason, end.iterations),
        (TerminationReason::MaxIterations, 2)
    );
    assert_eq!(end.total_usage.total(), 22);
    let last = types(&journal, "a").await;
    assert_eq!(last[2..], ["custom", "step_limit_reached", "terminated"]);
}

#[tokio::test]
async fn a_tracker_stop_is_written_before_it_is_answered() {
    let journal = journal().await;
    let hub = hub(&journal).await;
    let config = LoopConfig {
        step_iteration: Some(StepIteration::default()),
        ..LoopConfig::default()
    };
    hub.create(NewLoop {
        config,
        ..named("a")
    })
    .await
    .expect("created");
    let fail = |error: &str| Reported::Failed {
        action: "make".into(),
        error: error.into(),
    };
    let first = hub
        .report("a", "", "build", fail("abc"))
        .await
        .expect("an answer");
    assert!(first.verdict.attempt.expect("an attempt").begun_implicitly);
    let second = hub
        .report("a", "", "build", fail("xyz"))
        .await
        .expect("an answer");
    assert_eq!(second.verdict.decision, Stop);
    let entries = entries(&journal, "a").await;
    let LoopEvent::StepLimitReached(limit) = &entries[3].event else {
        panic!("{entries:?}")
    };
    assert_eq!((limit.step_id.as_str(), limit.attempts), ("build", 2));
    assert!(
        limit.reason.contains("2 attempts failed"),
        "{}",
        limit.reason
    );
}

#[tokio::test]
async fn an_orchestrators_events_are_kept_and_counted() {
    let journal = journal().await;
    let hub = hub(&journal).await;
    hub.create(named("a")).await.expect("created");
    let output = "no such table: users\n".repeat(2_000);
    let mut last = Continue;
    for n in 1..=2u32 {
        let id = n.to_string();
        let action = Action {
            call_id: id.clone(),
            tool_name: "sql".into(),
            arguments: "select 1 from users".into(),
        };
        let thought = LoopEvent::ReasoningComplete(ReasoningComplete {
            iteration: n,
            actions: vec![action],
            usage: Usage {
                input_tokens: 5,
                output_tokens: 5,
            },
            ..ReasoningComplete::default()
        });
        assert_eq!(
            decide(&hub, "a", Reported::Event(Box::new(thought))).await,
            Continue
        );
        let observation = Observation {
            call_id: id,
            tool_name: "sql".into(),
            output: output.clone(),
            is_error: true,
            ..Observation::default()
        };
        let seen = LoopEvent::ObservationsCollected(ObservationsCollected {
            iteration: n,
            observation_count: 1,
            observations: vec![observation],
        });
        last = decide(&hub, "a", Reported::Event(Box::new(seen))).await;
    }
    assert_eq!(last, Nudge);
    let view = hub.get("a").await.expect("a view");
    assert_eq!((view.iterations, view.usage.total()), (2, 20));
    let entries = entries(&journal, "a").await;
    let LoopEvent::ObservationsCollected(seen) = &entries[3].event else {
        panic!("{entries:?}")
    };
    let seen = &seen.observations[0];
    assert_eq!(seen.output_bytes, output.len() as u64);
    assert!(seen.output.len() < output.len() && seen.fingerprint.len() == 32);
    let forged = Custom {
        name: "signalbox.guard".into(),
        data: "{}".into(),
    };
    let forged = Reported::Event(Box::new(LoopEvent::Custom(forged)));
    assert!(matches!(
        hub.report("a", "", "", forged).await,
        Err(LoopError::Invalid(_))
    ));
}

#[tokio::test]
async fn a_request_that_is_sent_again_counts_once() {
    let journal = journal().await;
    let hub = hub(&journal).await;
    let new = NewLoop {
        request_id: "r".into(),
        agent_id: "me".into(),
        ..NewLoop::default()
    };
    let first = hub.create(new.clone()).await.expect("created").view.loop_id;
    assert_eq!(
        hub.create(new.clone())
            .await
            .expect("the same")
            .view
            .loop_id,
        first
    );
    let other = NewLoop {
        input: "other".into(),
        ..new.clone()
    };
    assert!(matches!(hub.create(other).await, Err(LoopError::Exists(_))));
    let report = || hub.report(&first, "1", "", failed("make", "no rule"));
    let answer = report().await.expect("an answer");
    assert_eq!(report().await.expect("the same"), answer);
    let other = hub.report(&first, "1", "", failed("make", "another")).await;
    assert!(matches!(other, Err(LoopError::RequestReused(_))));
    // Also by a server that starts anew.
    drop(hub.clone());
    let again = LoopHub::open(journal.clone(), HubOptions::default())
        .await
        .expect("a hub");
    let repeated = again
        .report(&first, "1", "", failed("make", "no rule"))
        .await;
    assert_eq!(repeated.expect("the same"), answer);
    assert_eq!(
        again.create(new).await.expect("the same").view.loop_id,
        first
    );
    assert_eq!(types(&journal, &first).await, ["started", "custom"]);
}

#[tokio::test]
async fn a_rebuilt_loop_goes_on_where_it_was() {
    let journal = journal().await;
    let hub = hub(&journal).await;
    hub.create(named("a")).await.expect("created");
    hub.create(named("b")).await.expect("created");
    hub.close("b", None, "").await.expect("closed");
    for expected in [Continue, Nudge] {
        assert_eq!(decide(&hub, "a", failed("make", "no rule")).await, expected);
    }
    let before = hub.get("a").await.expect("a view");
    drop(hub);
    let hub = LoopHub::open(journal.clone(), HubOptions::default())
        .await
        .expect("a hub");
    assert_eq!(hub.len(), 1);
    let after = hub.get("a").await.expect("a view");
    assert_eq!(
        (after.iterations, after.usage),
        (before.iterations, before.usage)
    );
    assert_eq!(after.last_sequence, before.last_sequence);
    assert_eq!(decide(&hub, "a", failed("make", "no rule")).await, Stop);
    assert!(matches!(hub.get("b").await, Err(LoopError::NotFound(_))));
    assert!(matches!(
        hub.create(named("b")).await,
        Err(LoopError::Exists(_))
    ));
}

#[tokio::test]
async fn events_that_others_append_do_not_get_in_the_way() {
    let journal = journal().await;
    let hub = hub(&journal).await;
    hub.create(named("a")).await.expect("created");
    let foreign = |event| Append {
        loop_id: "a".into(),
        events: vec![NewEvent::from(event)],
        ..Append::default()
    };
    let note = LoopEvent::Custom(Custom {
        name: "note".into(),
        data: String::new(),
    });
    journal.append(foreign(note)).await.expect("appended");
    assert_eq!(decide(&hub, "a", failed("make", "no rule")).await, Continue);
    let answer = hub
        .report("a", "", "", failed("make", "no rule"))
        .await
        .expect("an answer");
    assert_eq!(answer.verdict.evidence, [3, 4]);
    let end = Terminated {
        reason: TerminationReason::PolicyDenial,
        iterations: 0,
        total_usage: Usage::default(),
        duration: Duration::ZERO,
        detail: String::new(),
    };
    journal
        .append(foreign(LoopEvent::Terminated(end)))
        .await
        .expect("appended");
    let error = hub
        .report("a", "", "", failed("make", "no rule"))
        .await
        .expect_err("ended");
    assert!(matches!(
        error,
        LoopError::Ended {
            reason: TerminationReason::PolicyDenial,
            ..
        }
    ));
    let ends = types(&journal, "a")
        .await
        .iter()
        .filter(|kind| **kind == "terminated")
        .count();
    assert_eq!(ends, 1);
}

#[tokio::test(start_paused = true)]
async fn a_silent_client_is_abandoned_after_its_lease_and_a_stream_keeps_it() {
    let _clock = hold_clock();
    let journal = journal().await;
    let hub = hub(&journal).await;
    let lease = Some(Duration::from_secs(10));
    for id in ["silent", "held"] {
        hub.create(NewLoop { lease, ..named(id) })
            .await
            .expect("created");
    }
    let hold = hub.hold("held").await.expect("held");
    pass(Duration::from_secs(5)).await;
    hub.report("silent", "", "", Reported::Begin)
        .await
        .expect("an answer");
    pass(Duration::from_secs(8)).await;
    assert_eq!(hub.get("silent").await.expect("a view").terminated, None);
    pass(Duration::from_secs(8)).await;
    let reason = async |id: &str| {
        hub.get(id)
            .await
            .expect("a view")
            .terminated
            .map(|terminated| terminated.reason)
    };
    assert_eq!(reason("silent").await, Some(TerminationReason::Abandoned));
    assert_eq!(reason("held").await, None);
    drop(hold);
    pass(Duration::from_secs(11)).await;
    assert_eq!(reason("held").await, Some(TerminationReason::Abandoned));
    assert_eq!(types(&journal, "held").await, ["started", "terminated"]);
    // Forgotten in the end.
    pass(Duration::from_secs(400)).await;
    assert!(hub.is_empty());
}

#[tokio::test(start_paused = true)]
async fn time_ends_a_loop_without_a_report() {
    let _clock = hold_clock();
    let journal = journal().await;
    let hub = hub(&journal).await;
    let config = LoopConfig {
        timeout: Duration::from_secs(5),
        ..LoopConfig::default()
    };
    hub.create(NewLoop {
        config,
        ..named("a")
    })
    .await
    .expect("created");
    pass(Duration::from_secs(6)).await;
    let end = hub
        .get("a")
        .await
        .expect("a view")
        .terminated
        .expect("an end");
    assert_eq!(end.reason, TerminationReason::Timeout);
    assert_eq!(types(&journal, "a").await, ["started", "terminated"]);
}

#[tokio::test]
async fn limits_are_kept() {
    let journal = journal().await;
    let options = HubOptions {
        max_loops: 1,
        ..HubOptions::default()
    };
    let hub = LoopHub::open(journal.clone(), options)
        .await
        .expect("a hub");
    let deep = NewLoop {
        delegation_depth: 4,
        ..named("a")
    };
    assert!(matches!(
        hub.create(deep).await,
        Err(LoopError::TooDeep { depth: 4, limit: 3 })
    ));
    let wrong = NewLoop {
        lease: Some(Duration::ZERO),
        ..named("signalbox.x")
    };
    let Err(LoopError::Invalid(violations)) = hub.create(wrong).await else {
        panic!("accepted")
    };
    assert_eq!(violations.as_slice().len(), 2);
    hub.create(named("a")).await.expect("created");
    assert!(matches!(
        hub.create(named("b")).await,
        Err(LoopError::TooMany(1))
    ));
    assert!(matches!(
        hub.create(named("a")).await,
        Err(LoopError::Exists(_))
    ));
    assert!(matches!(hub.get("c").await, Err(LoopError::NotFound(_))));
}

#[tokio::test]
async fn a_report_goes_on_when_its_caller_has_gone() {
    let journal = journal().await;
    let hub = hub(&journal).await;
    hub.create(named("a")).await.expect("created");
    let mut call = Box::pin(hub.report("a", "", "", failed("make", "no rule")));
    // Polled once, so that it is under way, then dropped.
    let polled = futures_util::poll!(call.as_mut());
    assert!(polled.is_pending());
    drop(call);
    while types(&journal, "a").await.len() < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(decide(&hub, "a", failed("make", "no rule")).await, Nudge);
}

#[tokio::test]
async fn a_prompt_keeps_the_tool_it_is_about() {
    let hub = hub(&journal().await).await;
    let tools: Vec<Tool> = (0..12)
        .map(|at| Tool {
            name: format!("tool_{at}"),
            description: if at == 9 {
                "Sends an invoice"
            } else {
                "Does something else"
            }
            .into(),
            ..Tool::default()
        })
        .collect();
    let profile = ToolProfile {
        max_tools: Some(3),
        ..ToolProfile::default()
    };
    let kept = hub
        .filter(&profile, &tools, "please send the invoice")
        .expect("filters")
        .kept;
    assert!(kept.contains(&9), "{kept:?}");
    assert_eq!(
        hub.filter(&profile, &tools, "").expect("filters").kept,
        [0, 1, 2]
    );
}

#[tokio::test]
async fn missed_verdicts_can_be_had_again() {
    let journal = journal().await;
    let hub = hub(&journal).await;
    hub.create(named("a")).await.expect("created");
    let mut answers = Vec::new();
    for n in 0..4 {
        let action = format!("try {n}");
        answers.push(
            hub.report("a", "", "", failed(&action, "broken"))
                .await
                .expect("an answer"),
        );
    }
    let missed = hub
        .verdicts_after("a", answers[1].sequence)
        .await
        .expect("verdicts");
    assert_eq!(missed, answers[2..]);
}
