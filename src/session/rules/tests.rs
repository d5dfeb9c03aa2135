use super::*;
use crate::session::report::{CallReport, StepReport};

fn observe(rules: &mut StepRules, sequence: u64, call: CallReport) -> Vec<Rule> {
    let record = StepReport {
        calls: vec![call],
        ..StepReport::default()
    }
    .record();
    let findings = rules.observe(sequence, &record, &LoopRules::default());
    findings.iter().map(|finding| finding.rule).collect()
}

fn call(action: &str, output: &str) -> CallReport {
    CallReport {
        arguments: action.into(),
        output: output.into(),
        ..CallReport::default()
    }
}

#[test]
fn evidence_keeps_both_ends_of_a_long_streak_and_counts_a_report_once() {
    let mut evidence = Evidence::default();
    for sequence in 1..=200 {
        evidence.push(sequence);
        evidence.push(sequence);
    }
    let expected: Vec<u64> = (1..=32).chain(169..=200).collect();
    assert_eq!(evidence.to_vec(), expected);
}

#[test]
fn each_rule_sees_what_it_is_for() {
    let mut rules = StepRules::default();
    observe(&mut rules, 1, call("select a from t", "(1, 2)"));
    observe(&mut rules, 2, call("select a from t limit 5", "(1, 2)"));
    let found = observe(&mut rules, 3, call("select a from t order by a", "(1, 2)"));
    assert_eq!(found, [Rule::SameResult]);
    let mut rules = StepRules::default();
    observe(&mut rules, 1, call("select a from table_1 x", "(1, 2)"));
    observe(&mut rules, 2, call("select a from table_1 x1", "(1, 2)"));
    let found = observe(&mut rules, 3, call("select a from table_1", "(1, 2)"));
    assert!(found.contains(&Rule::SimilarCall), "{found:?}");
    let mut rules = StepRules::default();
    observe(&mut rules, 1, call("ls", "a b"));
    observe(&mut rules, 2, call("ls", "a b"));
    assert!(observe(&mut rules, 3, call("ls", "a b")).contains(&Rule::RepeatedCall));
}

#[test]
fn another_tool_is_no_similar_call() {
    let mut rules = StepRules::default();
    let by = |tool: &str, action: &str| CallReport {
        tool: tool.into(),
        ..call(action, "")
    };
    for sequence in 1..=12 {
        let tool = ["read", "write"][sequence as usize % 2];
        let found = observe(
            &mut rules,
            sequence,
            by(tool, &format!("path {sequence} of all")),
        );
        assert!(!found.contains(&Rule::SimilarCall), "{found:?}");
    }
}

#[test]
fn what_is_kept_does_not_grow() {
    let mut rules = StepRules::default();
    for sequence in 1..=2_000 {
        observe(
            &mut rules,
            sequence,
            call(&format!("poll {sequence}"), "no new output"),
        );
        observe(
            &mut rules,
            sequence,
            call(&format!("read {sequence}"), "same"),
        );
    }
    let size = format!("{rules:?}").len();
    assert!(size < 64 << 10, "{size}");
}
