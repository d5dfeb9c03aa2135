//! What each variant of an event holds.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::catalog::Kind;
use crate::preferences::Preferences;

/// The loop began.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Started {
    /// What the loop was asked to do; may be empty.
    pub input: String,
    /// Names of the tools the model sees.
    pub tools: Vec<String>,
    /// The loop's configuration as JSON text; empty where the journal is all that is used.
    pub config: String,
    /// Loop that delegated to this one; empty for none.
    pub parent_loop_id: String,
    /// 0 for a loop that nobody delegated to.
    pub delegation_depth: u32,
}

/// References of the input were resolved before the first turn.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PreHydrationComplete {
    /// References found.
    pub reference_count: u32,
    /// Of those, resolved.
    pub resolved_count: u32,
    /// Of those found, the ones that could not be resolved.
    pub failed_count: u32,
    /// Tokens of context that they came to.
    pub token_count: u64,
    /// How long it took.
    #[serde(rename = "duration_us", with = "crate::journal::time::micros")]
    pub duration: Duration,
}

/// The model answered.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReasoningComplete {
    /// Iteration, from 1.
    pub iteration: u32,
    /// Calls that the model asks for.
    pub actions: Vec<Action>,
    /// Tokens of this answer.
    pub usage: Usage,
    /// What the model said beside its calls; may be cut.
    pub text: String,
}

/// A call that the model asks for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Action {
    /// Id of the call; may be empty.
    pub call_id: String,
    /// The tool.
    pub tool_name: String,
    /// Its arguments as the model wrote them, usually JSON; may be cut.
    pub arguments: String,
}

/// Tokens that were used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

impl Usage {
    /// Both together.
    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// A policy looked at the actions of an iteration.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicyEvaluated {
    /// Iteration, from 1.
    pub iteration: u32,
    /// Actions looked at.
    pub action_count: u32,
    /// Of those, denied.
    pub denied_count: u32,
}

/// Tools were called.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolsDispatched {
    /// Iteration, from 1.
    pub iteration: u32,
    /// Calls made.
    pub tool_count: u32,
    /// Until the last one came back.
    #[serde(rename = "duration_us", with = "crate::journal::time::micros")]
    pub duration: Duration,
}

/// Results came back.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ObservationsCollected {
    /// Iteration, from 1.
    pub iteration: u32,
    /// Results collected; may be more than `observations` tells of.
    pub observation_count: u32,
    /// The results, as far as they were reported.
    pub observations: Vec<Observation>,
}

/// The result of one call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Observation {
    /// Id of the call; may be empty.
    pub call_id: String,
    /// The tool.
    pub tool_name: String,
    /// What it returned; may be cut.
    pub output: String,
    /// Bytes of the whole output.
    pub output_bytes: u64,
    /// Whether the call failed.
    pub is_error: bool,
    /// What the loop guard compares instead of the whole output; empty where it did not look.
    pub fingerprint: String,
}

/// A failed call was dealt with.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RecoveryTriggered {
    /// Iteration, from 1.
    pub iteration: u32,
    /// The tool that failed.
    pub tool_name: String,
    /// What was done about it.
    pub strategy: RecoveryStrategy,
    /// The error.
    pub error: String,
}

/// What is done about a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryStrategy {
    /// It is made again.
    #[default]
    Retry,
    /// Another tool is called.
    Fallback,
    /// An earlier result is used.
    CachedResult,
    /// The model is asked what to do.
    LlmRecovery,
    /// A person or the caller is asked.
    Escalate,
    /// It is put aside.
    DeadLetter,
}

/// A step failed too often or in the same way again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StepLimitReached {
    /// The step.
    pub step_id: String,
    /// Failures so far.
    pub attempts: u32,
    /// Why it counts as stuck.
    pub reason: String,
}

/// The loop was nudged.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopWarning {
    /// Rule that saw it.
    pub rule: String,
    /// Text for the model.
    pub text: String,
    /// Sequences of the events that it rests on.
    pub evidence: Vec<u64>,
    /// The step; empty where the whole loop is meant.
    pub step_id: String,
}

/// A prompt was routed: enough to compute the decision again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RouteDecided {
    /// Stands for request, catalogue, model and settings: equal calls have equal ids.
    pub route_id: String,
    /// What was asked.
    pub request: RouteRequest,
    /// Revision of the catalogue.
    pub catalog_revision: String,
    /// Model whose similarity took part; empty where none did.
    pub model_id: String,
    /// Digest of its files; empty where none took part.
    pub model_digest: String,
    /// What ranked: "lexical", "semantic" or "hybrid".
    pub mode: String,
    /// "accepted", "uncertain", "abstained" or "unknown_command".
    pub outcome: String,
    /// Probability that the first match is right.
    pub confidence: f64,
    /// Confidence below which the router abstained.
    pub floor: f64,
    /// Confidence above which a match was accepted.
    pub accept_threshold: f64,
    /// The matches, best first.
    pub matches: Vec<RouteMatch>,
    /// Why less took part than was asked for: names of the reasons.
    pub degraded: Vec<String>,
    /// Agent or conversation that asked; empty where it did not say.
    pub agent_id: String,
}

/// What a route was asked for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RouteRequest {
    /// The prompt.
    pub prompt: String,
    /// Most matches wanted.
    pub limit: u32,
    /// Matches with a lower score were left out.
    pub min_score: f64,
    /// What should rank: "lexical", "semantic" or "hybrid".
    pub mode: String,
    /// Whether commands were left out.
    pub no_commands: bool,
    /// Whether tools were left out.
    pub no_tools: bool,
    /// Whether skills were left out.
    pub no_skills: bool,
    /// What was said before, as far as it was read.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// Whose preferences counted.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// The same.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// The preferences that counted.
    #[serde(skip_serializing_if = "Preferences::is_empty")]
    pub preferences: Preferences,
}

/// One match of a route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RouteMatch {
    /// What the entry is.
    pub kind: Kind,
    /// Who it comes from.
    pub source: String,
    /// Its name.
    pub name: String,
    /// What the list is sorted by, 0 to 1.
    pub score: f64,
    /// Share of the prompt's tokens found in it, 0 to 1.
    pub lexical_score: f64,
}

/// Somebody said how good a route was.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FeedbackRecorded {
    /// Id of the feedback.
    pub feedback_id: String,
    /// The route it is about; empty where none is named.
    pub route_id: String,
    /// Source of the entry it is about.
    pub source: String,
    /// Name of the entry it is about.
    pub name: String,
    /// What was said, for example "accepted", "rejected" or "corrected".
    pub verdict: String,
    /// In words; may be empty.
    pub comment: String,
}

/// Anything else that an orchestrator wants to keep.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Custom {
    /// What it is.
    pub name: String,
    /// Its content as JSON text; empty for none.
    pub data: String,
}

/// The loop ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Terminated {
    /// Why.
    pub reason: TerminationReason,
    /// Iterations in all.
    #[serde(default)]
    pub iterations: u32,
    /// Tokens in all.
    #[serde(default)]
    pub total_usage: Usage,
    /// From the first event to the last.
    #[serde(default, rename = "duration_us", with = "crate::journal::time::micros")]
    pub duration: Duration,
    /// In words; may be empty.
    #[serde(default)]
    pub detail: String,
}

/// Why a loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminationReason {
    /// The work is done.
    Completed,
    /// `max_iterations` was reached.
    MaxIterations,
    /// `max_total_tokens` was reached.
    MaxTokens,
    /// `timeout` passed.
    Timeout,
    /// A policy forbade to go on.
    PolicyDenial,
    /// A step reached its limit.
    StepLimit,
    /// A loop rule saw no progress.
    Stuck,
    /// Something failed.
    Error,
    /// The client vanished and its lease ran out.
    Abandoned,
}

impl TerminationReason {
    /// Lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            TerminationReason::Completed => "completed",
            TerminationReason::MaxIterations => "max_iterations",
            TerminationReason::MaxTokens => "max_tokens",
            TerminationReason::Timeout => "timeout",
            TerminationReason::PolicyDenial => "policy_denial",
            TerminationReason::StepLimit => "step_limit",
            TerminationReason::Stuck => "stuck",
            TerminationReason::Error => "error",
            TerminationReason::Abandoned => "abandoned",
        }
    }
}
