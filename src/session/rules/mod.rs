//! The loop rules: what an agent that makes no progress looks like.
//!
//! A rule sees the calls of one step in their order, as fingerprints, and counts. At its
//! `nudge` limit it asks for a nudge, at its `stop` limit for a stop; what a changed result
//! does is written at each rule, and that is always to begin anew. Calls that were vetoed or
//! met an outage are passed over: they neither count nor reset.

mod polling;
mod repeat;
mod settings;
mod streak;
mod sweep;
mod words;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::report::{CallRecord, ResultKind, StepRecord};

pub use settings::{Limits, LoopRules, MAX_NUDGE, MAX_STOP};

use polling::Polling;
use repeat::Repeats;
use streak::{Kind, Streak};
use words::Words;

/// Sequences kept of each end of a long streak. The first ones reach past the largest nudge
/// limit, so the step that was nudged stays among them.
const EVIDENCE_END: usize = settings::MAX_NUDGE as usize;

/// What ended or warned a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The same call with the same result.
    RepeatedCall,
    /// Nearly the same call failing in the same lasting way, twice running.
    RepeatedFailure,
    /// The same call with the same result, twice running.
    ImmediateRepeat,
    /// The same error in a row, whatever the arguments.
    ErrorStreak,
    /// Similar calls with one result in a row.
    SimilarCall,
    /// One result in a row, whatever the calls.
    SameResult,
    /// Calls and results that come round again.
    Cycle,
    /// Asking again and again for something that is not there yet.
    Polling,
    /// The agent says the same.
    RepeatedText,
    /// The agent talks and calls nothing.
    Monologue,
    /// The other side refuses for now.
    Outage,
    /// Progress tracker: too many attempts, or the same error again.
    StepLimit,
    /// Budget of iterations.
    MaxIterations,
    /// Budget of tokens.
    MaxTokens,
    /// Budget of time.
    Timeout,
    /// Agents called by agents, too deep.
    DelegationDepth,
    /// Too many tools at the same time.
    ConcurrentTools,
}

impl Rule {
    /// Name as it stands in verdicts and in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Rule::RepeatedCall => "repeated_call",
            Rule::RepeatedFailure => "repeated_failure",
            Rule::ImmediateRepeat => "immediate_repeat",
            Rule::ErrorStreak => "error_streak",
            Rule::SimilarCall => "similar_call",
            Rule::SameResult => "same_result",
            Rule::Cycle => "cycle",
            Rule::Polling => "polling",
            Rule::RepeatedText => "repeated_text",
            Rule::Monologue => "monologue",
            Rule::Outage => "outage",
            Rule::StepLimit => "step_limit",
            Rule::MaxIterations => "max_iterations",
            Rule::MaxTokens => "max_tokens",
            Rule::Timeout => "timeout",
            Rule::DelegationDepth => "delegation_depth",
            Rule::ConcurrentTools => "concurrent_tools",
        }
    }
}

/// What a rule asks for; the larger, the stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Nudge,
    Stop,
}

/// A rule that reached a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub rule: Rule,
    pub level: Level,
    /// Times, or rounds of a cycle.
    pub count: u32,
    /// Sequences it rests on, ascending.
    pub evidence: Vec<u64>,
    /// Tool or action.
    pub name: String,
    /// First error among them; empty without one.
    pub error: String,
}

/// Sequences of a streak: the first and the last ones, ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Evidence {
    first: Vec<u64>,
    last: VecDeque<u64>,
}

impl Evidence {
    /// Adds one; two calls of one report are one piece of evidence.
    fn push(&mut self, sequence: u64) {
        if self.last.back().or(self.first.last()) == Some(&sequence) {
            return;
        }
        if self.first.len() < EVIDENCE_END {
            self.first.push(sequence);
            return;
        }
        if self.last.len() == EVIDENCE_END {
            self.last.pop_front();
        }
        self.last.push_back(sequence);
    }

    fn to_vec(&self) -> Vec<u64> {
        self.first.iter().chain(&self.last).copied().collect()
    }
}

/// The counters of one step.
#[derive(Debug, Clone)]
pub(super) struct StepRules {
    repeats: Repeats,
    failures: Streak,
    again: Streak,
    errors: Streak,
    similar: Streak,
    same: Streak,
    polling: Polling,
    words: Words,
    /// The last call that counted.
    last: Option<CallRecord>,
}

impl Default for StepRules {
    fn default() -> Self {
        Self {
            repeats: Repeats::default(),
            failures: Streak::new(Kind::Failure),
            again: Streak::new(Kind::Again),
            errors: Streak::new(Kind::Error),
            similar: Streak::new(Kind::Similar),
            same: Streak::new(Kind::Same),
            polling: Polling::default(),
            words: Words::default(),
            last: None,
        }
    }
}

impl StepRules {
    /// Counts one report; answers with every rule that is at a limit.
    pub fn observe(
        &mut self,
        sequence: u64,
        record: &StepRecord,
        settings: &LoopRules,
    ) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut progress = false;
        for call in &record.calls {
            match call.result {
                ResultKind::Outage => {}
                // A refused call has no result of its own. The same call again is the same
                // streak; anything else says nothing yet.
                ResultKind::Vetoed => {
                    let again = self.last.clone().filter(|last| last.call == call.call);
                    if let Some(last) = again {
                        self.count(sequence, last, settings, &mut findings);
                    }
                }
                _ => progress |= self.count(sequence, call.clone(), settings, &mut findings),
            }
        }
        self.words
            .observe(sequence, record, progress, settings, &mut findings);
        findings
    }

    /// Counts one call; whether it brought something new.
    fn count(
        &mut self,
        sequence: u64,
        call: CallRecord,
        settings: &LoopRules,
        findings: &mut Vec<Finding>,
    ) -> bool {
        let last = self.last.as_ref();
        findings.extend(self.errors.observe(sequence, &call, last, settings));
        findings.extend(self.failures.observe(sequence, &call, last, settings));
        let mut new = false;
        if settings.is_polling(&call) {
            findings.extend(self.polling.observe(sequence, &call, settings));
            self.again.clear();
            self.similar.clear();
            self.same.clear();
        } else {
            new = self.repeats.observe(sequence, &call, settings, findings);
            findings.extend(self.again.observe(sequence, &call, last, settings));
            findings.extend(self.similar.observe(sequence, &call, last, settings));
            findings.extend(self.same.observe(sequence, &call, last, settings));
            self.polling.pass(new);
        }
        self.last = Some(call);
        new
    }
}

#[cfg(test)]
mod tests;
