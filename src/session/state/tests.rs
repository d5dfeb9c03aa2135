//! Whole loops: the cases from the field, and what holds for every loop.

use proptest::prelude::*;

use super::*;
use crate::session::report::AskedReport;
use crate::session::rules::{Limits, LoopRules};
use crate::session::tracker::{StepIteration, StopReason};
use Decision::{Continue, Nudge, RetryableOutage, Stop};

/// A loop that is fed one report after another.
struct Fed {
    state: LoopState,
    sequence: u64,
}

impl Fed {
    fn new(config: LoopConfig) -> Self {
        Self {
            state: LoopState::new(config),
            sequence: 0,
        }
    }

    /// A loop of which only the rules matter.
    fn unlimited() -> Self {
        Self::new(LoopConfig {
            max_iterations: 1_000_000,
            ..LoopConfig::default()
        })
    }

    fn apply(&mut self, record: &LoopRecord) -> Verdict {
        self.sequence += 1;
        self.state.apply(self.sequence, Duration::ZERO, record)
    }

    fn report(&mut self, report: StepReport) -> Verdict {
        assert!(report.check().as_slice().is_empty());
        self.apply(&LoopRecord::Step(report.record()))
    }

    fn call(&mut self, call: CallReport) -> Verdict {
        self.report(StepReport {
            calls: vec![call],
            ..StepReport::default()
        })
    }

    fn attempt(&mut self, step: &str, action: &str, error: &str) -> Verdict {
        let record = self
            .state
            .record_attempt(step, action, error)
            .expect("a record");
        self.apply(&record)
    }

    fn ok(&mut self, action: &str, output: &str) -> Decision {
        self.call(ok(action, output)).decision
    }

    fn failed(&mut self, action: &str, output: &str) -> Decision {
        self.call(failed(action, output)).decision
    }

    fn said(&mut self, message: &str) -> Decision {
        self.report(StepReport {
            message: message.into(),
            ..StepReport::default()
        })
        .decision
    }
}

fn ok(action: &str, output: &str) -> CallReport {
    CallReport {
        arguments: action.into(),
        output: output.into(),
        ..CallReport::default()
    }
}

fn failed(action: &str, output: &str) -> CallReport {
    CallReport {
        outcome: Outcome::Failed,
        ..ok(action, output)
    }
}

fn times(count: usize, mut next: impl FnMut(usize) -> Decision) -> Vec<Decision> {
    (1..=count).map(&mut next).collect()
}

fn changing_timeout(n: usize) -> String {
    format!(
        "2026-11-30T10:00:0{n}Z pid=812{n} req 6941afa7{n} timeout after 30.0{n} s connecting to \
         db:5432"
    )
}

#[test]
fn an_error_that_differs_in_times_and_ids_only_is_stuck_by_the_fourth() {
    let mut fed = Fed::unlimited();
    let decisions = times(6, |n| fed.failed("migrate --all", &changing_timeout(n)));
    assert_eq!(decisions, [Continue, Continue, Nudge, Stop, Stop, Stop]);
    let raw = crate::text::similarity::similarity(&changing_timeout(1), &changing_timeout(2));
    assert!(
        raw.value > 0.85,
        "one digit of each changes here: {}",
        raw.value
    );
}

#[test]
fn the_same_holds_for_attempts_without_a_tracker() {
    let mut fed = Fed::unlimited();
    let decisions = times(6, |n| {
        fed.attempt("migrate", "", &changing_timeout(n)).decision
    });
    assert_eq!(decisions, [Continue, Continue, Nudge, Stop, Stop, Stop]);
}

#[test]
fn progress_of_a_poll_is_no_loop() {
    let mut fed = Fed::unlimited();
    let shares = ["10 %", "25 %", "40 %", "55 %", "80 %", "100 %"];
    assert_eq!(
        times(6, |n| fed.ok("poll(job)", shares[n - 1])),
        [Continue; 6]
    );
}

#[test]
fn one_edit_for_each_of_many_files_is_no_loop() {
    for output in ["ok", "", "File edited.", "1 line changed"] {
        let mut fed = Fed::unlimited();
        let decisions = times(8, |n| fed.ok(&format!("edit(file_{n})"), output));
        assert_eq!(decisions, [Continue; 8], "{output:?}");
    }
}

#[test]
fn a_poll_without_news_is_nudged_and_then_stopped_by_its_own_limit() {
    let mut fed = Fed::unlimited();
    let decisions = times(11, |_| fed.ok("poll(job)", "no new output"));
    assert_eq!(decisions[..4], [Continue; 4]);
    assert_eq!(decisions[4], Nudge);
    assert_eq!(decisions[5..9], [Continue; 4]);
    assert_eq!(decisions[9..], [Stop, Stop]);
    let verdict = fed.call(ok("poll(job)", "no new output"));
    assert_eq!((verdict.rule, verdict.count), (Some(Rule::Polling), 12));
    // News begins anew.
    assert_eq!(fed.ok("poll(job)", "line 1"), Continue);
    assert_eq!(
        times(4, |_| fed.ok("poll(job)", "no new output")),
        [Continue; 4]
    );
}

#[test]
fn waiting_between_polls_that_bring_news_is_no_loop() {
    let mut fed = Fed::unlimited();
    for n in 0..20 {
        assert_eq!(fed.ok("sleep 5", ""), Continue, "{n}");
        assert_eq!(fed.ok("poll(job)", &format!("{n} of 20")), Continue, "{n}");
    }
    let mut fed = Fed::unlimited();
    let decisions = times(10, |n| match n % 2 {
        0 => fed.ok("poll(job)", "no new output"),
        _ => fed.ok("sleep 5", ""),
    });
    assert_eq!(
        decisions
            .iter()
            .filter(|decision| **decision == Nudge)
            .count(),
        1
    );
}

/// A test log of about 10 KB.
fn log(failing: &str, failures: u32) -> String {
    let passing: String = (0..360)
        .map(|n| format!("test unit_{n:03} ... ok in 3 ms\n"))
        .collect();
    format!("{passing}test {failing} FAILED\n{failures} failures\n")
}

#[test]
fn another_failing_test_and_fewer_failures_are_progress() {
    let mut fed = Fed::unlimited();
    let logs = [
        log("test_a", 12),
        log("test_b", 12),
        log("test_b", 3),
        log("test_b", 1),
    ];
    assert!(logs[0].len() > 10_000);
    assert_eq!(
        times(4, |n| fed.failed("cargo test", &logs[n - 1])),
        [Continue; 4]
    );
    assert!(crate::text::similarity::similarity(&logs[0], &logs[1]).value > 0.99);
}

#[test]
fn an_alternation_is_a_cycle() {
    let mut config = LoopConfig {
        max_iterations: 100,
        ..LoopConfig::default()
    };
    // Other rules see it too; this is about the cycle alone.
    config.rules = LoopRules {
        repeated_call: Limits::new(0, 0),
        ..LoopRules::default()
    };
    let mut fed = Fed::new(config);
    let verdicts: Vec<Verdict> = (0..10)
        .map(|n| fed.call([ok("read a", "alpha"), ok("read b", "beta")][n % 2].clone()))
        .collect();
    let decisions: Vec<_> = verdicts.iter().map(|verdict| verdict.decision).collect();
    assert_eq!(decisions[..5], [Continue; 5]);
    assert_eq!(decisions[5], Nudge);
    assert_eq!(decisions[6..9], [Continue; 3]);
    assert_eq!(decisions[9], Stop);
    assert_eq!(verdicts[5].rule, Some(Rule::Cycle));
    assert_eq!(
        (verdicts[5].count, &verdicts[5].evidence[..]),
        (3, &[1, 2, 3, 4, 5, 6][..])
    );
}

#[test]
fn with_every_rule_an_alternation_is_seen_within_three_rounds() {
    let mut fed = Fed::unlimited();
    let decisions = times(6, |n| {
        fed.ok(["read b", "read a"][n % 2], ["beta", "alpha"][n % 2])
    });
    assert_eq!(
        decisions
            .iter()
            .filter(|decision| **decision == Nudge)
            .count(),
        1
    );
}

#[test]
fn longer_cycles_up_to_five_are_seen() {
    for period in 2..=5 {
        let mut fed = Fed::unlimited();
        let decisions = times(period * 5, |n| {
            fed.ok(
                &format!("tool_{}", n % period),
                &format!("result of {}", n % period),
            )
        });
        assert!(
            decisions.contains(&Nudge) && decisions.contains(&Stop),
            "{period}"
        );
    }
}

#[test]
fn two_huge_outputs_are_answered_for() {
    let output = "2026-11-30T10:00:01Z worker 17 is waiting for a lock\n".repeat(20_000);
    let mut fed = Fed::unlimited();
    assert_eq!(
        times(4, |_| fed.failed("run", &output)),
        [Continue, Nudge, Stop, Stop]
    );
}

#[test]
fn a_nudge_names_tool_count_and_first_error_once_and_a_stop_names_rule_and_evidence() {
    let mut fed = Fed::unlimited();
    let call = |n: usize| CallReport {
        tool: "deploy".into(),
        ..failed(
            &format!("{{\"try\": {n}}}"),
            "permission denied\nid 6941afa71",
        )
    };
    let verdicts: Vec<Verdict> = (1..=6).map(|n| fed.call(call(n * 1_000_003))).collect();
    let decisions: Vec<_> = verdicts.iter().map(|verdict| verdict.decision).collect();
    let nudge = decisions.iter().position(|d| *d == Nudge).expect("a nudge");
    assert_eq!(
        decisions.iter().filter(|d| **d == Nudge).count(),
        1,
        "{decisions:?}"
    );
    assert_eq!(decisions[3..], [Stop; 3]);
    let text = &verdicts[nudge].text;
    assert!(
        text.contains("`deploy`") && text.contains("\"permission denied\""),
        "{text}"
    );
    let count = verdicts[nudge].count;
    assert!(
        text.contains(if count == 2 { "twice" } else { "3 times" }),
        "{text}"
    );
    let stop = &verdicts[3];
    assert_eq!((stop.rule, stop.count), (Some(Rule::ErrorStreak), 4));
    assert_eq!(stop.evidence, [1, 2, 3, 4]);
    assert_eq!(
        (stop.ending, stop.action),
        (Some(Ending::Stuck), Some(LimitAction::SkipStep))
    );
}

#[test]
fn a_veto_does_not_reset_the_streak() {
    let mut fed = Fed::unlimited();
    let call = failed("rm build", "permission denied");
    let vetoed = CallReport {
        outcome: Outcome::Vetoed,
        output: "blocked".into(),
        ..call.clone()
    };
    assert_eq!(
        times(4, |_| fed.call(call.clone()).decision),
        [Continue, Nudge, Stop, Stop]
    );
    assert_eq!(fed.call(vetoed.clone()).decision, Stop);
    assert_eq!(fed.call(vetoed).decision, Stop);
    let verdict = fed.call(call);
    assert_eq!((verdict.decision, verdict.count), (Stop, 7));
    let other = CallReport {
        outcome: Outcome::Vetoed,
        ..ok("something else", "blocked")
    };
    assert_eq!(fed.call(other).decision, Continue);
    assert_eq!(fed.failed("rm build", "permission denied"), Stop);
}

#[test]
fn a_nudge_comes_once_for_each_streak() {
    let mut fed = Fed::unlimited();
    let stuck = |fed: &mut Fed| times(3, |_| fed.ok("ls", "a b c"));
    assert_eq!(stuck(&mut fed), [Continue, Nudge, Continue]);
    for n in 0..20 {
        assert_eq!(fed.ok(&format!("read {n}"), &format!("text {n}")), Continue);
    }
    assert_eq!(stuck(&mut fed), [Continue, Nudge, Continue]);
}

#[test]
fn a_stop_never_comes_without_a_nudge_before() {
    let mut config = LoopConfig::default();
    config.rules.error_streak = Limits::new(1, 0);
    let mut violations = Violations::default();
    config.rules.check("", &mut violations);
    assert_eq!(violations.as_slice().len(), 1);
    // Four equal calls in one report reach the limit to stop at once.
    let mut fed = Fed::unlimited();
    let report = StepReport {
        calls: vec![failed("x", "broken"); 4],
        ..StepReport::default()
    };
    assert_eq!(fed.report(report.clone()).decision, Nudge);
    assert_eq!(fed.report(report).decision, Stop);
}

#[test]
fn counters_of_steps_are_apart() {
    let mut fed = Fed::unlimited();
    for n in 0..6 {
        let report = StepReport {
            step_id: format!("step {n}"),
            calls: vec![failed("make", "no rule")],
            ..StepReport::default()
        };
        assert_eq!(fed.report(report).decision, Continue);
    }
}

#[test]
fn beginning_a_step_anew_forgets_its_counters() {
    let mut fed = Fed::unlimited();
    assert_eq!(
        times(2, |_| fed.failed("make", "no rule")),
        [Continue, Nudge]
    );
    assert_eq!(
        fed.apply(&LoopRecord::Begin {
            step_id: String::new()
        })
        .decision,
        Continue
    );
    assert_eq!(fed.failed("make", "no rule"), Continue);
}

#[test]
fn an_outage_is_waited_out_and_is_no_loop() {
    let mut fed = Fed::unlimited();
    let mut waits = Vec::new();
    for _ in 0..6 {
        let verdict = fed.call(failed("search", "HTTP 429 Too Many Requests"));
        assert_eq!(
            (verdict.decision, verdict.rule),
            (RetryableOutage, Some(Rule::Outage))
        );
        waits.push(verdict.retry_after.expect("a wait").as_secs());
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32]);
    assert_eq!(fed.ok("search", "found"), Continue);
    let verdict = fed.call(CallReport {
        http_status: Some(503),
        retry_after: Some(Duration::from_secs(20)),
        ..failed("search", "")
    });
    assert_eq!(verdict.retry_after, Some(Duration::from_secs(20)));
}

#[test]
fn an_outage_does_not_reset_a_streak() {
    let mut fed = Fed::unlimited();
    assert_eq!(
        times(2, |_| fed.failed("make", "no rule")),
        [Continue, Nudge]
    );
    assert_eq!(
        fed.failed("make", "503 Service Unavailable"),
        RetryableOutage
    );
    assert_eq!(fed.failed("make", "no rule"), Stop);
}

#[test]
fn results_are_joined_with_the_calls_that_asked_for_them() {
    let mut fed = Fed::unlimited();
    let mut turn = |n: usize, arguments: &str| {
        let asked = vec![AskedReport {
            call_id: n.to_string(),
            tool: "read".into(),
            arguments: arguments.into(),
        }];
        let message = format!("turn {n}");
        let thought = StepReport {
            asked,
            message,
            ..StepReport::default()
        };
        assert_eq!(fed.report(thought).decision, Continue);
        let output = if n < 3 {
            "the same line".into()
        } else {
            format!("line {n}")
        };
        let call = CallReport {
            call_id: n.to_string(),
            ..ok("", &output)
        };
        let verdict = fed.report(StepReport {
            calls: vec![call],
            ..StepReport::default()
        });
        (verdict.decision, verdict.evidence)
    };
    assert_eq!(turn(1, "a"), (Continue, vec![]));
    assert_eq!(turn(2, "a"), (Nudge, vec![2, 4]));
    for n in 3..9 {
        assert_eq!(turn(n, "a").0, Continue, "{n}");
    }
    assert_eq!(fed.state.used().iterations, 8);
}

#[test]
fn a_monologue_is_nudged() {
    let mut fed = Fed::unlimited();
    let texts = [
        "let me think",
        "I should plan",
        "perhaps so",
        "or so",
        "well",
    ];
    let decisions = times(5, |n| fed.said(texts[n - 1]));
    assert_eq!(decisions, [Continue, Continue, Nudge, Continue, Stop]);
    fed.ok("read a", "alpha");
    assert_eq!(fed.said("now I know"), Continue);
}

#[test]
fn the_same_words_with_the_same_results_are_seen_and_with_new_ones_are_not() {
    let mut fed = Fed::unlimited();
    let mut report = |output: String| {
        let calls = vec![ok("next page", &output)];
        let message = "Let me look at the next page.".into();
        fed.report(StepReport {
            message,
            calls,
            ..StepReport::default()
        })
        .decision
    };
    for n in 0..8 {
        assert_eq!(report(format!("page {n}")), Continue);
    }
    let decisions = times(4, |_| report("the end".into()));
    assert_eq!(decisions, [Continue, Nudge, Continue, Stop]);
    let rules = LoopRules {
        monologue: Limits::new(0, 0),
        ..LoopRules::default()
    };
    let mut fed = Fed::new(LoopConfig {
        rules,
        ..LoopConfig::default()
    });
    let decisions = times(4, |n| fed.said(&format!("I will try again at 10:00:0{n}.")));
    assert_eq!(decisions, [Continue, Continue, Nudge, Stop]);
}

#[test]
fn trying_three_mends_of_one_test_is_nudged_but_not_stopped() {
    let mut fed = Fed::unlimited();
    let mut decisions = Vec::new();
    for n in 0..4 {
        decisions.push(fed.failed("cargo test", "test_a FAILED"));
        decisions.push(fed.ok(&format!("sed -i s/a{n}/b/ src/lib.rs"), ""));
        decisions.push(fed.ok(&format!("sed -n {n}p src/lib.rs"), &format!("line {n}")));
    }
    assert!(!decisions.contains(&Stop), "{decisions:?}");
}

#[test]
fn a_repetition_between_new_calls_is_nudged_but_not_stopped() {
    let mut fed = Fed::unlimited();
    let mut decisions = Vec::new();
    for n in 0..8 {
        decisions.push(fed.failed("cargo test", "test_a FAILED"));
        decisions.push(fed.ok(&format!("cat src/part_{n}.rs"), &format!("text {n}")));
    }
    assert!(
        decisions.contains(&Nudge) && !decisions.contains(&Stop),
        "{decisions:?}"
    );
}

#[test]
fn similar_calls_that_say_nothing_are_nudged_late_and_never_stopped() {
    let mut fed = Fed::unlimited();
    let call = |n: usize| {
        format!(
            "sed -i s/old_name/new_name/ src/file.rs {}",
            "-e x ".repeat(n)
        )
    };
    let decisions = times(8, |n| fed.ok(&call(n), ""));
    assert_eq!(decisions[..4], [Continue, Continue, Continue, Nudge]);
    assert_eq!(decisions[4..], [Continue; 4]);
}

#[test]
fn one_call_over_and_over_is_no_cycle() {
    let off = Limits::new(0, 0);
    let mut config = LoopConfig {
        max_iterations: 100,
        ..LoopConfig::default()
    };
    config.rules = LoopRules {
        repeated_call: off,
        immediate_repeat: off,
        similar_call: off,
        same_result: off,
        ..LoopRules::default()
    };
    let mut fed = Fed::new(config);
    assert_eq!(times(20, |_| fed.ok("read a", "alpha")), [Continue; 20]);
}

#[test]
fn looking_at_the_same_thing_now_and_then_is_no_loop() {
    let mut fed = Fed::unlimited();
    for n in 0..30 {
        assert_eq!(fed.ok("git status", "nothing to commit"), Continue, "{n}");
        for part in 0..3 {
            let decision = fed.ok(&format!("cat f{n}_{part}"), &format!("text {n} {part}"));
            assert_eq!(decision, Continue);
        }
    }
}

#[test]
fn rules_can_be_switched_off() {
    let off = Limits::new(0, 0);
    let mut config = LoopConfig {
        max_iterations: 100,
        ..LoopConfig::default()
    };
    config.rules = LoopRules {
        repeated_call: off,
        repeated_failure: off,
        immediate_repeat: off,
        error_streak: off,
        similar_call: off,
        same_result: off,
        cycle: off,
        polling: off,
        repeated_text: off,
        monologue: off,
        ..LoopRules::default()
    };
    let mut fed = Fed::new(config);
    assert_eq!(times(20, |_| fed.failed("make", "no rule")), [Continue; 20]);
    assert_eq!(times(20, |_| fed.said("hm")), [Continue; 20]);
    assert_eq!(
        times(20, |_| fed.ok("poll", "no new output")),
        [Continue; 20]
    );
}

#[test]
fn iterations_are_warned_of_and_then_stopped() {
    let mut fed = Fed::new(LoopConfig {
        max_iterations: 5,
        ..LoopConfig::default()
    });
    let decisions = times(6, |n| fed.ok(&format!("read {n}"), &format!("text {n}")));
    assert_eq!(decisions, [Continue, Continue, Continue, Nudge, Stop, Stop]);
    let verdict = fed.call(ok("read", "text"));
    assert_eq!(
        (verdict.rule, verdict.ending),
        (Some(Rule::MaxIterations), Some(Ending::MaxIterations))
    );
}

#[test]
fn time_runs_out_without_a_report_too() {
    let mut state = LoopState::new(LoopConfig::default());
    assert_eq!(state.tick(1, Duration::from_secs(299)).decision, Continue);
    let verdict = state.tick(1, Duration::from_secs(300));
    assert_eq!(
        (verdict.decision, verdict.ending),
        (Stop, Some(Ending::Timeout))
    );
}

#[test]
fn too_many_tools_at_once_are_warned_of_and_then_stopped() {
    let mut fed = Fed::unlimited();
    let report = StepReport {
        concurrent_tools: 6,
        ..StepReport::default()
    };
    assert_eq!(fed.report(report.clone()).decision, Nudge);
    assert_eq!(fed.report(report).decision, Stop);
    let report = StepReport {
        delegation_depth: 4,
        ..StepReport::default()
    };
    assert_eq!(fed.report(report).rule, Some(Rule::DelegationDepth));
}

#[test]
fn the_tracker_stops_before_the_rules_do() {
    let step_iteration = Some(StepIteration {
        on_limit_reached: LimitAction::AbortTask,
        ..StepIteration::default()
    });
    let mut fed = Fed::new(LoopConfig {
        step_iteration,
        ..LoopConfig::default()
    });
    let mut attempt = |error: &str| fed.attempt("build", "make", error);
    let first = attempt("error A");
    assert_eq!(first.decision, Continue);
    assert!(
        first
            .attempt
            .is_some_and(|attempt| attempt.begun_implicitly)
    );
    let second = attempt("error B");
    assert_eq!(
        (second.decision, second.rule),
        (Stop, Some(Rule::StepLimit))
    );
    assert_eq!(
        (second.action, second.count),
        (Some(LimitAction::AbortTask), 2)
    );
    assert!(matches!(
        second.attempt.and_then(|a| a.stop),
        Some(StopReason::Stuck(_))
    ));
    assert_eq!(second.ending, Some(Ending::StepLimit));
}

/// Something that happens in a loop.
#[derive(Debug, Clone)]
enum Happening {
    Report(StepReport),
    Attempt(String),
    Begin,
}

fn happenings(most: usize) -> impl Strategy<Value = Vec<Happening>> {
    let call = ("[ab]", "[xy]", 0..4u8).prop_map(|(action, output, how)| CallReport {
        outcome: match how {
            0 => Outcome::Failed,
            1 => Outcome::Vetoed,
            _ => Outcome::Succeeded,
        },
        ..ok(&action, &output)
    });
    let report = (prop::collection::vec(call, 0..3), "[mn]?", 0..3u8);
    let one = prop_oneof![
        6 => report.prop_map(|(calls, message, step)| {
            let step_id = step.to_string();
            Happening::Report(StepReport { step_id, calls, message, ..StepReport::default() })
        }),
        1 => "[ab]{0,2}".prop_map(Happening::Attempt),
        1 => Just(Happening::Begin),
    ];
    prop::collection::vec(one, 1..most)
}

impl Fed {
    fn live(&mut self, happening: &Happening) -> (LoopRecord, Verdict) {
        let record = match happening {
            Happening::Report(report) => LoopRecord::Step(report.record()),
            Happening::Attempt(error) => {
                self.state.record_attempt("1", "", error).expect("a record")
            }
            Happening::Begin => LoopRecord::Begin {
                step_id: "1".into(),
            },
        };
        let verdict = self.apply(&record);
        (record, verdict)
    }
}

proptest! {
    #[test]
    fn a_loop_rebuilt_from_its_records_goes_on_the_same(
        happenings in happenings(60), cut in 0..60usize,
    ) {
        let config = LoopConfig {
            step_iteration: Some(StepIteration::default()),
            ..LoopConfig::default()
        };
        let mut whole = Fed::new(config.clone());
        let lived: Vec<_> = happenings.iter().map(|happening| whole.live(happening)).collect();
        let mut rebuilt = Fed::new(config);
        let cut = cut.min(lived.len());
        for (record, _) in &lived[..cut] {
            let json = serde_json::to_string(record).expect("JSON");
            rebuilt.apply(&serde_json::from_str(&json).expect("reads"));
        }
        for (happening, (_, verdict)) in happenings[cut..].iter().zip(&lived[cut..]) {
            prop_assert_eq!(&rebuilt.live(happening).1, verdict);
        }
    }

    #[test]
    fn evidence_is_ascending_within_the_loop_and_bounded(happenings in happenings(120)) {
        let mut fed = Fed::unlimited();
        let mut nudged = false;
        for happening in &happenings {
            let (_, verdict) = fed.live(happening);
            nudged |= verdict.decision == Nudge;
            prop_assert!(verdict.evidence.len() <= 64);
            prop_assert!(verdict.evidence.is_sorted_by(|a, b| a < b));
            prop_assert!(verdict.evidence.iter().all(|seen| *seen <= fed.sequence));
            prop_assert_eq!(verdict.decision == Continue, verdict.text.is_empty());
            prop_assert!(verdict.decision != Stop || nudged, "a stop before any nudge");
        }
    }
}
