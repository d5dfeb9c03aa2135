//! The limits of the loop rules.

use serde::{Deserialize, Serialize};

use super::super::outage::Backoff;
use super::super::report::{CallRecord, ResultKind};
use super::repeat::{KEPT, WINDOW_PER_REPETITION};
use crate::error::Violations;
use crate::text::glob::{Glob, MAX_PATTERN_CHARS};

/// Largest limit for a nudge; evidence keeps as many of a streak's first steps.
pub const MAX_NUDGE: u32 = 32;
/// Largest limit for a stop.
pub const MAX_STOP: u32 = 1_000;
/// Longest cycle that can be looked for.
pub const MAX_PERIOD: u32 = 5;
/// Most rounds of a cycle that can be asked for: what the kept history holds.
pub const MAX_ROUNDS: u32 = 12;
/// Patterns of tools that poll.
const MAX_POLLING_TOOLS: usize = 64;

/// When a rule speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Times at which the agent is nudged; 0 switches the rule off.
    pub nudge: u32,
    /// Times at which the loop is stopped, more than `nudge`; 0 for never.
    pub stop: u32,
}

impl Limits {
    /// Limits from their parts.
    pub const fn new(nudge: u32, stop: u32) -> Self {
        Self { nudge, stop }
    }

    /// What that many times ask for.
    pub(super) fn level(self, count: u32) -> Option<super::Level> {
        match self {
            Limits { nudge: 0, .. } => None,
            Limits { stop, .. } if stop > 0 && count >= stop => Some(super::Level::Stop),
            Limits { nudge, .. } if count >= nudge => Some(super::Level::Nudge),
            _ => None,
        }
    }

    fn check(self, field: &str, least: u32, most: (u32, u32), violations: &mut Violations) {
        let Limits { nudge, stop } = self;
        if nudge == 0 && stop == 0 {
            return;
        }
        if nudge < least || nudge > most.0 {
            violations.add(
                format!("{field}.nudge"),
                format!("{nudge} is not within {least} to {}", most.0),
            );
        }
        if stop > 0 && (stop <= nudge || stop > most.1) {
            let from = nudge.saturating_add(1);
            violations.add(
                format!("{field}.stop"),
                format!("{stop} is not within {from} to {}", most.1),
            );
        }
    }
}

/// The limits of every rule. The numbers are those of the specification where it gives one
/// (its limit is where the loop stops, and a nudge comes at least one step before), else the
/// smallest that raised no alarm on runs that were solved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LoopRules {
    /// The same call with the same result, among the last calls: three times as many as the
    /// larger limit.
    pub repeated_call: Limits,
    /// Nearly the same call (at least 0.9 alike) failing the same lasting way in a row.
    pub repeated_failure: Limits,
    /// The same call with the same result that holds something, in a row.
    pub immediate_repeat: Limits,
    /// The same error in a row, whatever the arguments.
    pub error_streak: Limits,
    /// Calls at least `similarity` alike with one result in a row.
    pub similar_call: Limits,
    /// One result in a row, whatever the calls.
    pub same_result: Limits,
    /// Rounds of a cycle of two to five calls.
    pub cycle: Limits,
    /// Polls with an unchanged answer.
    pub polling: Limits,
    /// The same words of the agent.
    pub repeated_text: Limits,
    /// Turns of the agent without a call.
    pub monologue: Limits,
    /// From where two calls count as similar, 0 to 1.
    pub similarity: f64,
    /// Globs over tools that poll, beside those whose name says so.
    pub polling_tools: Vec<String>,
    /// Advice for outages.
    pub backoff: Backoff,
}

impl Default for LoopRules {
    fn default() -> Self {
        Self {
            repeated_call: Limits::new(3, 4),
            repeated_failure: Limits::new(2, 3),
            immediate_repeat: Limits::new(2, 4),
            error_streak: Limits::new(3, 4),
            similar_call: Limits::new(3, 4),
            same_result: Limits::new(3, 4),
            cycle: Limits::new(3, 5),
            polling: Limits::new(5, 10),
            repeated_text: Limits::new(3, 4),
            monologue: Limits::new(3, 5),
            similarity: 0.7,
            polling_tools: Vec::new(),
            backoff: Backoff::default(),
        }
    }
}

impl LoopRules {
    /// Every limit the settings break; `path` is prefixed to the field names.
    pub fn check(&self, path: &str, violations: &mut Violations) {
        for (name, limits, least) in [
            ("repeated_failure", self.repeated_failure, 2),
            ("immediate_repeat", self.immediate_repeat, 2),
            ("error_streak", self.error_streak, 2),
            ("similar_call", self.similar_call, 2),
            ("same_result", self.same_result, 2),
            ("polling", self.polling, 2),
            ("repeated_text", self.repeated_text, 2),
            ("monologue", self.monologue, 1),
        ] {
            limits.check(
                &format!("{path}{name}"),
                least,
                (MAX_NUDGE, MAX_STOP),
                violations,
            );
        }
        let kept = u32::try_from(KEPT / WINDOW_PER_REPETITION).unwrap_or(MAX_STOP);
        let field = format!("{path}repeated_call");
        self.repeated_call
            .check(&field, 2, (kept - 1, kept), violations);
        self.cycle.check(
            &format!("{path}cycle"),
            2,
            (MAX_ROUNDS - 1, MAX_ROUNDS),
            violations,
        );
        if !(0.0..=1.0).contains(&self.similarity) {
            let field = format!("{path}similarity");
            violations.add(field, format!("{} is not within 0 to 1", self.similarity));
        }
        if self.polling_tools.len() > MAX_POLLING_TOOLS {
            violations.add(
                format!("{path}polling_tools"),
                format!(
                    "{} exceed the limit of {MAX_POLLING_TOOLS}",
                    self.polling_tools.len()
                ),
            );
        }
        for (at, pattern) in self
            .polling_tools
            .iter()
            .take(MAX_POLLING_TOOLS)
            .enumerate()
        {
            if let Err(error) = Glob::new(pattern) {
                violations.add(format!("{path}polling_tools[{at}]"), error.to_string());
            }
        }
        self.backoff.check(&format!("{path}backoff_"), violations);
    }

    /// Whether a call asks for something that may simply not be there yet.
    pub(super) fn is_polling(&self, call: &CallRecord) -> bool {
        const VERBS: [&str; 8] = [
            "poll",
            "wait",
            "watch",
            "sleep",
            "tail",
            "heartbeat",
            "ping",
            "status",
        ];
        if call.result == ResultKind::Pending {
            return true;
        }
        if call.result.is_error() {
            return false;
        }
        let name: String = call.name().chars().take(MAX_PATTERN_CHARS).collect();
        let mut words = name.split(|c: char| !c.is_alphanumeric());
        words.any(|word| VERBS.iter().any(|verb| word.eq_ignore_ascii_case(verb)))
            || self
                .polling_tools
                .iter()
                .any(|pattern| Glob::new(pattern).is_ok_and(|glob| glob.matches(call.name())))
    }
}
