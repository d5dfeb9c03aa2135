//! Measures the loop guard on labelled runs: how many that were stuck it notices and when,
//! and how many that were solved it disturbs.

use serde::{Deserialize, Serialize};

use super::QueryError;
use crate::session::config::MAX_TIME;
use crate::session::{
    CallReport, Decision, LoopConfig, LoopRecord, LoopRules, LoopState, Outcome, StepReport,
};

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// It made no progress.
    Stuck,
    /// It reached its goal.
    Solved,
    /// Neither.
    Other,
}

/// One turn of a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Turn {
    /// What the agent did.
    pub action: String,
    /// What came of it.
    pub output: String,
    /// Whether it could be done; `false` is a failure.
    #[serde(default = "valid")]
    pub valid: bool,
}

fn valid() -> bool {
    true
}

/// One labelled run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Run {
    /// Its turns.
    pub steps: Vec<Turn>,
    /// What became of it.
    #[serde(alias = "label")]
    pub weak_label: Label,
}

/// Reads one run from each line of JSON; blank lines are passed over.
///
/// # Errors
///
/// The first line that is no run.
pub fn read_runs(text: &str) -> Result<Vec<Run>, QueryError> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|cause| QueryError {
                line: at + 1,
                message: cause.to_string(),
            })
        })
        .collect()
}

/// How one kind of verdict did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Row {
    /// Share of the stuck runs in which it came; `None` where there are none.
    pub stuck_recall: Option<f64>,
    /// Share of the solved runs in which it came.
    pub solved_false_alarm: Option<f64>,
    /// Mean turn of its first coming, from 1, over the stuck runs in which it came.
    pub first_alarm_turn: Option<f64>,
    /// Share of the other runs in which it came; neither good nor bad.
    pub other_alarm: Option<f64>,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoopReport {
    /// A nudge, or anything stronger.
    #[serde(flatten)]
    pub nudge: Row,
    /// A stop.
    pub stop: Row,
    /// Runs that were stuck.
    pub stuck_runs: usize,
    /// Runs that were solved.
    pub solved_runs: usize,
    /// Other runs.
    pub other_runs: usize,
    /// Milliseconds of the guard for all turns.
    pub milliseconds: f64,
}

/// Turns, from 1, of the first alarm and of the first stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Alarms {
    nudge: Option<usize>,
    stop: Option<usize>,
}

/// Plays all runs to a guard with these rules and no budgets.
pub fn measure(runs: &[Run], rules: &LoopRules) -> LoopReport {
    let started = std::time::Instant::now();
    let alarms: Vec<(Label, Alarms)> = runs
        .iter()
        .map(|run| (run.weak_label, play(run, rules)))
        .collect();
    let milliseconds = started.elapsed().as_secs_f64() * 1e3;
    let count = |label| alarms.iter().filter(|(found, _)| *found == label).count();
    LoopReport {
        nudge: row(&alarms, |alarms| alarms.nudge),
        stop: row(&alarms, |alarms| alarms.stop),
        stuck_runs: count(Label::Stuck),
        solved_runs: count(Label::Solved),
        other_runs: count(Label::Other),
        milliseconds,
    }
}

fn row(alarms: &[(Label, Alarms)], select: impl Fn(&Alarms) -> Option<usize>) -> Row {
    let of = |label| -> Vec<Option<usize>> {
        alarms
            .iter()
            .filter(|(found, _)| *found == label)
            .map(|(_, a)| select(a))
            .collect()
    };
    let share = |turns: &[Option<usize>]| {
        (!turns.is_empty()).then(|| turns.iter().flatten().count() as f64 / turns.len() as f64)
    };
    let stuck = of(Label::Stuck);
    let turns: Vec<usize> = stuck.iter().flatten().copied().collect();
    Row {
        stuck_recall: share(&stuck),
        solved_false_alarm: share(&of(Label::Solved)),
        first_alarm_turn: (!turns.is_empty())
            .then(|| turns.iter().sum::<usize>() as f64 / turns.len() as f64),
        other_alarm: share(&of(Label::Other)),
    }
}

fn play(run: &Run, rules: &LoopRules) -> Alarms {
    let mut state = LoopState::new(LoopConfig {
        max_iterations: u32::MAX,
        max_total_tokens: u64::MAX,
        timeout: MAX_TIME,
        rules: rules.clone(),
        ..LoopConfig::default()
    });
    let mut alarms = Alarms::default();
    for (
        turn,
        Turn {
            action,
            output,
            valid,
        },
    ) in (1..).zip(&run.steps)
    {
        let call = CallReport {
            arguments: action.clone(),
            output: output.clone(),
            outcome: if *valid {
                Outcome::Succeeded
            } else {
                Outcome::Failed
            },
            ..CallReport::default()
        };
        let report = StepReport {
            calls: vec![call],
            ..StepReport::default()
        };
        let record = LoopRecord::Step(report.record());
        let verdict = state.apply(turn as u64, Default::default(), &record);
        if matches!(verdict.decision, Decision::Nudge | Decision::Stop) {
            alarms.nudge.get_or_insert(turn);
        }
        if verdict.decision == Decision::Stop {
            alarms.stop.get_or_insert(turn);
        }
    }
    alarms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(label: &str, outputs: &[&str]) -> String {
        let steps: Vec<String> = outputs
            .iter()
            .map(|output| format!(r#"{{"action":"make","output":"{output}","valid":false}}"#))
            .collect();
        format!(
            r#"{{"id":"x","weak_label":"{label}","steps":[{}]}}"#,
            steps.join(",")
        )
    }

    #[test]
    fn shares_and_turns_are_counted() {
        let text = [
            run("stuck", &["a", "b", "b", "b", "b"]),
            run("stuck", &["a", "b"]),
            run("solved", &["a"]),
            run("other", &["a", "a"]),
        ]
        .join("\n\n");
        let report = measure(&read_runs(&text).expect("reads"), &LoopRules::default());
        assert_eq!(
            (report.stuck_runs, report.solved_runs, report.other_runs),
            (2, 1, 1)
        );
        assert_eq!(report.nudge.stuck_recall, Some(0.5));
        assert_eq!(report.nudge.solved_false_alarm, Some(0.0));
        assert_eq!(report.nudge.first_alarm_turn, Some(3.0));
        assert_eq!(report.nudge.other_alarm, Some(1.0));
        assert_eq!(report.stop.first_alarm_turn, Some(4.0));
        let json = serde_json::to_value(&report).expect("JSON");
        for key in ["stuck_recall", "solved_false_alarm", "first_alarm_turn"] {
            assert!(
                json[key].is_number() && json["stop"][key].is_number(),
                "{key}"
            );
        }
    }

    #[test]
    fn a_bad_line_is_named_and_no_runs_are_no_shares() {
        let error = read_runs("\n{\"steps\":[]}").expect_err("refused");
        assert_eq!(error.line, 2);
        let report = measure(&[], &LoopRules::default());
        assert_eq!(
            (report.nudge.stuck_recall, report.nudge.first_alarm_turn),
            (None, None)
        );
    }
}
