//! Limits of what is appended. Every value out of them is named, before anything is written.

use super::event::{EventType, LoopEvent, NewEvent};
use crate::error::Violations;

/// Bytes of a name or an id.
pub const MAX_NAME_BYTES: usize = 256;
/// Bytes of a text: an error, an output, a comment.
pub const MAX_TEXT_BYTES: usize = 64 << 10;
/// Bytes of a prompt or of JSON text.
pub const MAX_LARGE_BYTES: usize = 1 << 20;
/// Items of a list.
pub const MAX_ITEMS: usize = 1_000;
/// Names of tools in [`super::event::Started`].
pub const MAX_TOOLS: usize = 10_000;
/// Bytes of one event as JSON, all of it together.
pub const MAX_EVENT_BYTES: usize = 2 << 20;
/// Events of one append.
pub const MAX_BATCH: usize = 1_000;
/// Largest number in an event: what JSON readers and protobuf's signed numbers can hold.
pub const MAX_NUMBER: u64 = (1 << 53) - 1;

/// Beginning of the loop ids that the server itself writes under.
pub const RESERVED_PREFIX: &str = "signalbox.";

/// Adds what is wrong with a loop id.
pub fn check_loop_id(field: &str, loop_id: &str, violations: &mut Violations) {
    Check { violations }.required_name(field, loop_id);
}

/// Adds what is wrong with an id that may be empty.
pub fn check_optional_id(field: &str, id: &str, violations: &mut Violations) {
    Check { violations }.name(field, id);
}

impl NewEvent {
    /// Adds every limit the event breaks; `path` is prefixed to the field names.
    pub fn check(&self, path: &str, violations: &mut Violations) {
        let named = self
            .event
            .iteration()
            .filter(|iteration| *iteration != self.iteration);
        if let Some(named) = named
            && self.iteration != 0
        {
            let text = format!("{} differs from the event's own, {named}", self.iteration);
            violations.add(format!("{path}iteration"), text);
        }
        self.event.check(path, violations);
    }

    /// The iteration that the entry gets.
    pub(super) fn entry_iteration(&self) -> u32 {
        self.event.iteration().unwrap_or(self.iteration)
    }
}

impl LoopEvent {
    /// Adds every limit the event breaks; `path` is prefixed to the field names, which follow
    /// those of the protobuf message (`events[2].custom.name`).
    pub fn check(&self, path: &str, violations: &mut Violations) {
        let at = |field: &str| format!("{path}{}.{field}", self.event_type());
        let mut check = Check { violations };
        match self {
            LoopEvent::Started(event) => {
                check.large(&at("input"), &event.input);
                check.json(&at("config"), &event.config);
                check.name(&at("parent_loop_id"), &event.parent_loop_id);
                check.items(&at("tools"), event.tools.len(), MAX_TOOLS);
                for (number, tool) in event.tools.iter().enumerate() {
                    check.required_name(&at(&format!("tools[{number}]")), tool);
                }
            }
            LoopEvent::PreHydrationComplete(event) => {
                check.number(&at("token_count"), event.token_count);
                if event.resolved_count > event.reference_count {
                    check.add(&at("resolved_count"), "exceeds reference_count".into());
                }
                if event.failed_count > event.reference_count {
                    check.add(&at("failed_count"), "exceeds reference_count".into());
                }
            }
            LoopEvent::ReasoningComplete(event) => {
                check.iteration(&at("iteration"), event.iteration);
                check.text(&at("text"), &event.text);
                check.number(&at("usage.input_tokens"), event.usage.input_tokens);
                check.number(&at("usage.output_tokens"), event.usage.output_tokens);
                check.items(&at("actions"), event.actions.len(), MAX_ITEMS);
                for (number, action) in event.actions.iter().enumerate() {
                    let at = |field: &str| at(&format!("actions[{number}].{field}"));
                    check.name(&at("call_id"), &action.call_id);
                    check.required_name(&at("tool_name"), &action.tool_name);
                    check.text(&at("arguments"), &action.arguments);
                }
            }
            LoopEvent::PolicyEvaluated(event) => {
                check.iteration(&at("iteration"), event.iteration);
                if event.denied_count > event.action_count {
                    check.add(&at("denied_count"), "exceeds action_count".into());
                }
            }
            LoopEvent::ToolsDispatched(event) => {
                check.iteration(&at("iteration"), event.iteration);
            }
            LoopEvent::ObservationsCollected(event) => {
                check.iteration(&at("iteration"), event.iteration);
                check.items(&at("observations"), event.observations.len(), MAX_ITEMS);
                for (number, observation) in event.observations.iter().enumerate() {
                    let at = |field: &str| at(&format!("observations[{number}].{field}"));
                    check.name(&at("call_id"), &observation.call_id);
                    check.required_name(&at("tool_name"), &observation.tool_name);
                    check.text(&at("output"), &observation.output);
                    check.number(&at("output_bytes"), observation.output_bytes);
                    check.name(&at("fingerprint"), &observation.fingerprint);
                }
            }
            LoopEvent::RecoveryTriggered(event) => {
                check.iteration(&at("iteration"), event.iteration);
                check.required_name(&at("tool_name"), &event.tool_name);
                check.text(&at("error"), &event.error);
            }
            LoopEvent::StepLimitReached(event) => {
                check.required_name(&at("step_id"), &event.step_id);
                check.text(&at("reason"), &event.reason);
            }
            LoopEvent::LoopWarning(event) => {
                check.required_name(&at("rule"), &event.rule);
                check.text(&at("text"), &event.text);
                check.name(&at("step_id"), &event.step_id);
                check.items(&at("evidence"), event.evidence.len(), MAX_ITEMS);
                for (number, sequence) in event.evidence.iter().enumerate() {
                    check.number(&at(&format!("evidence[{number}]")), *sequence);
                }
            }
            LoopEvent::RouteDecided(event) => {
                check.required_name(&at("route_id"), &event.route_id);
                check.large(&at("request.prompt"), &event.request.prompt);
                check.name(&at("request.mode"), &event.request.mode);
                check.finite(&at("request.min_score"), event.request.min_score);
                check.name(&at("catalog_revision"), &event.catalog_revision);
                check.name(&at("model_id"), &event.model_id);
                check.name(&at("model_digest"), &event.model_digest);
                check.name(&at("mode"), &event.mode);
                check.name(&at("outcome"), &event.outcome);
                check.name(&at("agent_id"), &event.agent_id);
                check.finite(&at("confidence"), event.confidence);
                check.finite(&at("floor"), event.floor);
                check.finite(&at("accept_threshold"), event.accept_threshold);
                check.items(&at("matches"), event.matches.len(), MAX_ITEMS);
                for (number, found) in event.matches.iter().enumerate() {
                    let at = |field: &str| at(&format!("matches[{number}].{field}"));
                    // An entry's names are limited in characters, so up to four times as
                    // many bytes.
                    check.at_most(&at("entry.source"), found.source.len(), 4 * MAX_NAME_BYTES);
                    check.at_most(&at("entry.name"), found.name.len(), 4 * MAX_NAME_BYTES);
                    check.finite(&at("score"), found.score);
                    check.finite(&at("lexical_score"), found.lexical_score);
                }
                check.items(&at("degraded"), event.degraded.len(), MAX_ITEMS);
                for (number, reason) in event.degraded.iter().enumerate() {
                    check.required_name(&at(&format!("degraded[{number}]")), reason);
                }
            }
            LoopEvent::FeedbackRecorded(event) => {
                check.required_name(&at("feedback_id"), &event.feedback_id);
                check.name(&at("route_id"), &event.route_id);
                check.at_most(&at("entry.source"), event.source.len(), 4 * MAX_NAME_BYTES);
                check.at_most(&at("entry.name"), event.name.len(), 4 * MAX_NAME_BYTES);
                check.required_name(&at("verdict"), &event.verdict);
                check.text(&at("comment"), &event.comment);
            }
            LoopEvent::Custom(event) => {
                check.required_name(&at("name"), &event.name);
                check.json(&at("data"), &event.data);
            }
            LoopEvent::Terminated(event) => {
                let usage = event.total_usage;
                check.number(&at("total_usage.input_tokens"), usage.input_tokens);
                check.number(&at("total_usage.output_tokens"), usage.output_tokens);
                check.text(&at("detail"), &event.detail);
            }
        }
    }
}

/// Whether a loop takes an event after its `Terminated`.
pub(super) fn may_follow_the_end(event_type: EventType) -> bool {
    event_type == EventType::FeedbackRecorded
}

struct Check<'a> {
    violations: &'a mut Violations,
}

impl Check<'_> {
    fn add(&mut self, field: &str, message: String) {
        self.violations.add(field, message);
    }

    fn at_most(&mut self, field: &str, bytes: usize, limit: usize) {
        if bytes > limit {
            self.add(field, format!("{bytes} bytes exceed the limit of {limit}"));
        }
    }

    fn name(&mut self, field: &str, name: &str) {
        self.at_most(field, name.len(), MAX_NAME_BYTES);
        if name.chars().any(char::is_control) {
            self.add(field, "must not hold control characters".into());
        }
    }

    fn required_name(&mut self, field: &str, name: &str) {
        if name.is_empty() {
            self.add(field, "must not be empty".into());
        }
        self.name(field, name);
    }

    fn text(&mut self, field: &str, text: &str) {
        self.at_most(field, text.len(), MAX_TEXT_BYTES);
    }

    fn large(&mut self, field: &str, text: &str) {
        self.at_most(field, text.len(), MAX_LARGE_BYTES);
    }

    /// JSON text, or nothing.
    fn json(&mut self, field: &str, text: &str) {
        self.large(field, text);
        if text.is_empty() || text.len() > MAX_LARGE_BYTES {
            return;
        }
        if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
            self.add(field, format!("is no JSON: {error}"));
        }
    }

    fn items(&mut self, field: &str, count: usize, limit: usize) {
        if count > limit {
            self.add(field, format!("{count} items exceed the limit of {limit}"));
        }
    }

    fn number(&mut self, field: &str, number: u64) {
        if number > MAX_NUMBER {
            self.add(field, format!("{number} exceeds the limit of {MAX_NUMBER}"));
        }
    }

    fn iteration(&mut self, field: &str, iteration: u32) {
        if iteration == 0 {
            self.add(field, "must be at least 1".into());
        }
    }

    fn finite(&mut self, field: &str, number: f64) {
        if !number.is_finite() {
            self.add(field, format!("{number} is no finite number"));
        }
    }
}
