//! What an orchestrator reports of one step, and what is kept of it.
//!
//! A [`StepReport`] holds whole texts; a [`StepRecord`] holds their fingerprints and short
//! excerpts, a few hundred bytes. Only records reach the state of a loop and the journal, so
//! a loop can be rebuilt from its journal without ever having stored an output.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::fingerprint::{Fingerprint, masked_call};
use super::outage::{self, Failure};
use crate::error::Violations;

/// Characters of a step's id.
pub const MAX_STEP_ID_CHARS: usize = 128;
/// Calls of one report.
pub const MAX_CALLS: usize = 64;
/// Characters of a tool's name.
pub const MAX_TOOL_CHARS: usize = 256;
/// Characters that are kept of a call's arguments, half from each end; enough to see what
/// two calls have in common.
pub const CALL_EXCERPT_CHARS: usize = 1_024;
/// Characters that are kept of an error, for the text of a nudge.
pub const ERROR_EXCERPT_CHARS: usize = 200;
/// Characters of a result that may be no more than an acknowledgement, or "nothing new".
const SHORT_RESULT_CHARS: usize = 200;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outcome {
    /// With a result.
    #[default]
    Succeeded,
    /// With an error.
    Failed,
    /// It was not made, because the guard, a policy or a person refused it.
    Vetoed,
}

/// A call that the model asked for, before it was made.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AskedReport {
    /// Id that its result will name.
    pub call_id: String,
    /// Name of the tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: String,
}

/// One call of a tool, or one action of an agent that has no named tools.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallReport {
    /// Id under which it was asked for; empty where tool and arguments stand here.
    pub call_id: String,
    /// Name of the tool; empty where the action is plain text.
    pub tool: String,
    /// Its arguments, or the action itself.
    pub arguments: String,
    /// Result or error.
    pub output: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Status of the HTTP call behind it, where there was one.
    pub http_status: Option<u16>,
    /// When the other side wants to be asked again.
    pub retry_after: Option<Duration>,
}

/// What happened in a step since the last report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepReport {
    /// The step; counters of two steps are apart. Empty is a step of its own.
    pub step_id: String,
    /// Iteration of the loop, from 1; counted here where it is 0.
    pub iteration: u32,
    /// Tokens used since the last report.
    pub tokens: u64,
    /// What the agent said itself.
    pub message: String,
    /// Calls it asked for, whose results are reported later.
    pub asked: Vec<AskedReport>,
    /// The calls it made, in their order.
    pub calls: Vec<CallReport>,
    /// Agents above this one.
    pub delegation_depth: u32,
    /// Tools that ran at the same time.
    pub concurrent_tools: u32,
}

impl StepReport {
    /// Every limit the report breaks.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::default();
        check_step_id(&self.step_id, &mut violations);
        if self.calls.len() > MAX_CALLS {
            let count = self.calls.len();
            violations.add(
                "calls",
                format!("{count} calls exceed the limit of {MAX_CALLS}"),
            );
        }
        if self.asked.len() > MAX_CALLS {
            let count = self.asked.len();
            violations.add(
                "asked",
                format!("{count} calls exceed the limit of {MAX_CALLS}"),
            );
        }
        for (at, call) in self.calls.iter().take(MAX_CALLS).enumerate() {
            let count = call.tool.chars().count();
            if count > MAX_TOOL_CHARS {
                violations.add(
                    format!("calls[{at}].tool"),
                    format!("{count} characters exceed the limit of {MAX_TOOL_CHARS}"),
                );
            }
        }
        violations
    }

    /// What is kept of the report. Takes up to two milliseconds for each output of 1 MB.
    pub fn record(&self) -> StepRecord {
        StepRecord {
            step_id: self.step_id.clone(),
            iteration: self.iteration,
            tokens: self.tokens,
            said: (!self.message.trim().is_empty()).then(|| Fingerprint::of_result(&self.message)),
            asked: self
                .asked
                .iter()
                .map(|asked| AskedRecord {
                    call_id: asked.call_id.clone(),
                    tool: asked.tool.clone(),
                    call: Fingerprint::of_call(&asked.tool, &asked.arguments),
                    excerpt: masked_call(&ends(&asked.arguments, CALL_EXCERPT_CHARS)),
                })
                .collect(),
            calls: self.calls.iter().map(CallReport::record).collect(),
            delegation_depth: self.delegation_depth,
            concurrent_tools: self.concurrent_tools,
        }
    }
}

/// The limit of a step's id.
pub(super) fn check_step_id(step_id: &str, violations: &mut Violations) {
    let count = step_id.chars().count();
    if count > MAX_STEP_ID_CHARS {
        violations.add(
            "step_id",
            format!("{count} characters exceed the limit of {MAX_STEP_ID_CHARS}"),
        );
    }
}

impl CallReport {
    fn record(&self) -> CallRecord {
        let result = match self.outcome {
            Outcome::Vetoed => ResultKind::Vetoed,
            Outcome::Failed => match outage::classify(&self.output, self.http_status) {
                Failure::Outage => ResultKind::Outage,
                Failure::Transient => ResultKind::TransientError,
                Failure::Lasting => ResultKind::Error,
            },
            Outcome::Succeeded => kind_of_result(&self.output),
        };
        let failed = self.outcome == Outcome::Failed;
        CallRecord {
            call_id: self.call_id.clone(),
            tool: self.tool.clone(),
            call: Fingerprint::of_call(&self.tool, &self.arguments),
            excerpt: masked_call(&ends(&self.arguments, CALL_EXCERPT_CHARS)),
            output: Fingerprint::of_result(&self.output),
            result,
            error: if failed {
                first_line(&self.output)
            } else {
                String::new()
            },
            retry_after_ms: self
                .retry_after
                .or_else(|| outage::retry_after(&self.output).filter(|_| failed))
                .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
        }
    }
}

/// What a result says about progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultKind {
    /// It holds something.
    Data,
    /// A list or an object without items: nothing was found.
    Empty,
    /// Blank, or no more than "ok": equal results of this kind say little.
    Quiet,
    /// It says that there is nothing new yet.
    Pending,
    /// An error that will not go away by itself.
    Error,
    /// An error that may: a timeout, a broken connection.
    TransientError,
    /// The other side refuses for now: a rate limit or a 5xx.
    Outage,
    /// The call was not made.
    Vetoed,
}

impl ResultKind {
    /// Whether the call failed for a reason of its own.
    pub fn is_error(self) -> bool {
        matches!(self, ResultKind::Error | ResultKind::TransientError)
    }
}

/// What is kept of a call that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedRecord {
    /// Id that its result will name.
    pub call_id: String,
    /// Name of the tool.
    pub tool: String,
    /// Fingerprint of tool and arguments.
    pub call: Fingerprint,
    /// Head and tail of the arguments, masked.
    pub excerpt: String,
}

/// What is kept of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// Id under which it was asked for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub call_id: String,
    /// Name of the tool.
    pub tool: String,
    /// Fingerprint of tool and arguments.
    pub call: Fingerprint,
    /// Head and tail of the arguments, masked.
    pub excerpt: String,
    /// Fingerprint of the output.
    pub output: Fingerprint,
    /// What the output is.
    pub result: ResultKind,
    /// First line of the error; empty without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
    /// Milliseconds the other side asks to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl CallRecord {
    /// Fingerprint of the call with its result.
    pub fn key(&self) -> Fingerprint {
        self.call.joined(self.output)
    }

    /// The tool's name, or the first word of an action without one.
    pub fn name(&self) -> &str {
        let first = self
            .excerpt
            .split(|c: char| c.is_whitespace() || c == '(')
            .next();
        if self.tool.is_empty() {
            first.unwrap_or_default()
        } else {
            &self.tool
        }
    }
}

/// What is kept of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecord {
    /// The step.
    pub step_id: String,
    /// Iteration, 0 where the report gave none.
    pub iteration: u32,
    /// Tokens used.
    pub tokens: u64,
    /// Fingerprint of what the agent said; `None` where it said nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Fingerprint>,
    /// Calls whose results come later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<AskedRecord>,
    /// The calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallRecord>,
    /// Agents above this one.
    #[serde(default)]
    pub delegation_depth: u32,
    /// Tools that ran at the same time.
    #[serde(default)]
    pub concurrent_tools: u32,
}

/// Phrases of a short result that mean "nothing new yet".
const PENDING: [&str; 14] = [
    "no new output",
    "no new message",
    "no new event",
    "no output yet",
    "nothing new",
    "no change",
    "still running",
    "still waiting",
    "in progress",
    "not ready",
    "not finished",
    "not yet",
    "please wait",
    "status: pending",
];

/// Whole results that mean the same.
const PENDING_WORDS: [&str; 6] = [
    "pending",
    "running",
    "queued",
    "waiting",
    "processing",
    "busy",
];

/// Whole results that only acknowledge.
const QUIET_WORDS: [&str; 9] = [
    "ok",
    "okay",
    "done",
    "success",
    "successful",
    "true",
    "null",
    "none",
    "completed",
];

fn kind_of_result(output: &str) -> ResultKind {
    // Long results are never only an acknowledgement.
    if output.chars().nth(SHORT_RESULT_CHARS).is_some() {
        return ResultKind::Data;
    }
    let lower = output.to_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
    if lower.trim().is_empty() || QUIET_WORDS.contains(&bare) {
        ResultKind::Quiet
    } else if bare.is_empty() {
        ResultKind::Empty
    } else if PENDING_WORDS.contains(&bare) || PENDING.iter().any(|text| lower.contains(text)) {
        ResultKind::Pending
    } else {
        ResultKind::Data
    }
}

/// The whole text, or as many characters from both ends.
fn ends(text: &str, most: usize) -> String {
    let half = most / 2;
    let (Some((head, _)), Some((tail, _))) = (
        text.char_indices().nth(half),
        text.char_indices().nth_back(half - 1),
    ) else {
        return text.to_owned();
    };
    if head >= tail {
        text.to_owned()
    } else {
        format!("{}{}", &text[..head], &text[tail..])
    }
}

/// The first line that says something, short and without control characters: it is shown to
/// a model, and an output is nothing to trust.
fn first_line(text: &str) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    line.chars()
        .filter(|c| !c.is_control())
        .take(ERROR_EXCERPT_CHARS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(output: &str, outcome: Outcome) -> CallRecord {
        CallReport {
            tool: "bash".into(),
            arguments: "ls".into(),
            output: output.into(),
            outcome,
            ..CallReport::default()
        }
        .record()
    }

    #[test]
    fn results_are_told_apart() {
        for (output, kind) in [
            ("", ResultKind::Quiet),
            (" OK.\n", ResultKind::Quiet),
            ("[]", ResultKind::Empty),
            ("{ }\n", ResultKind::Empty),
            ("no new output", ResultKind::Pending),
            ("Status: PENDING", ResultKind::Pending),
            ("running", ResultKind::Pending),
            ("3 tests running", ResultKind::Data),
            ("10 %", ResultKind::Data),
        ] {
            assert_eq!(call(output, Outcome::Succeeded).result, kind, "{output}");
        }
        assert_eq!(
            call(&"not yet ".repeat(100), Outcome::Succeeded).result,
            ResultKind::Data
        );
        assert_eq!(call("x", Outcome::Failed).result, ResultKind::Error);
        assert_eq!(call("x", Outcome::Vetoed).result, ResultKind::Vetoed);
    }

    #[test]
    fn a_record_is_small_whatever_the_report() {
        let big = "é\u{1b}x 1 ".repeat(1 << 18);
        let record = CallReport {
            tool: "t".into(),
            arguments: big.clone(),
            output: big,
            outcome: Outcome::Failed,
            ..CallReport::default()
        }
        .record();
        assert!(record.excerpt.chars().count() <= CALL_EXCERPT_CHARS);
        assert!(record.error.chars().count() <= ERROR_EXCERPT_CHARS);
        assert!(!record.error.contains('\u{1b}'));
    }

    #[test]
    fn limits_are_named() {
        let mut report = StepReport {
            step_id: "s".repeat(129),
            ..StepReport::default()
        };
        report.calls = vec![
            CallReport {
                tool: "t".repeat(257),
                ..CallReport::default()
            };
            65
        ];
        let violations = report.check();
        let fields: Vec<_> = violations
            .as_slice()
            .iter()
            .map(|v| v.field.as_str())
            .collect();
        assert_eq!(fields[..3], ["step_id", "calls", "calls[0].tool"]);
    }

    #[test]
    fn an_action_without_a_tool_is_named_by_its_first_word() {
        let record = CallReport {
            arguments: "poll(job)".into(),
            ..CallReport::default()
        }
        .record();
        assert_eq!(record.name(), "poll");
        assert_eq!(call("", Outcome::Succeeded).name(), "bash");
    }

    #[test]
    fn a_record_is_written_and_read_back() {
        let report = StepReport {
            message: "hello".into(),
            calls: vec![CallReport::default()],
            ..StepReport::default()
        };
        let record = report.record();
        let json = serde_json::to_string(&record).expect("JSON");
        assert_eq!(
            serde_json::from_str::<StepRecord>(&json).expect("reads"),
            record
        );
    }
}
