//! Events of a loop, out: what the journal holds.

use std::sync::Arc;
use std::time::Duration;

use super::entry::reference_to;
use super::event::time_to;
use super::preferences::preferences_to;
use crate::catalog::EntryId;
use crate::grpc::pb;
use crate::grpc::pb::loop_event::Event as PbEvent;
use crate::journal::Token;
use crate::journal::event::{
    Action, Entry, LoopEvent, Observation, RecoveryStrategy, RouteDecided, RouteMatch, Terminated,
    TerminationReason, Usage,
};

/// Writes an entry with the token of its place.
pub fn journal_entry_to(entry: Arc<Entry>, position: Token) -> pb::JournalEntry {
    // A replayed entry has no other owner; a live one is shared with other followers.
    let entry = Arc::unwrap_or_clone(entry);
    pb::JournalEntry {
        sequence: large(entry.sequence),
        position: position.to_string(),
        timestamp: Some(time_to(entry.timestamp)),
        loop_id: entry.loop_id,
        agent_id: entry.agent_id,
        iteration: small(entry.iteration),
        event: Some(event_to(entry.event)),
    }
}

/// Writes an event.
pub fn event_to(event: LoopEvent) -> pb::LoopEvent {
    let event = match event {
        LoopEvent::Started(event) => PbEvent::Started(pb::Started {
            input: event.input,
            tools: event.tools,
            config: event.config,
            parent_loop_id: event.parent_loop_id,
            delegation_depth: small(event.delegation_depth),
        }),
        LoopEvent::PreHydrationComplete(event) => {
            PbEvent::PreHydrationComplete(pb::PreHydrationComplete {
                reference_count: small(event.reference_count),
                resolved_count: small(event.resolved_count),
                token_count: large(event.token_count),
                duration: duration_to(event.duration),
                failed_count: small(event.failed_count),
            })
        }
        LoopEvent::ReasoningComplete(event) => PbEvent::ReasoningComplete(pb::ReasoningComplete {
            iteration: small(event.iteration),
            actions: event.actions.into_iter().map(action_to).collect(),
            usage: usage_to(event.usage),
            text: event.text,
        }),
        LoopEvent::PolicyEvaluated(event) => PbEvent::PolicyEvaluated(pb::PolicyEvaluated {
            iteration: small(event.iteration),
            action_count: small(event.action_count),
            denied_count: small(event.denied_count),
        }),
        LoopEvent::ToolsDispatched(event) => PbEvent::ToolsDispatched(pb::ToolsDispatched {
            iteration: small(event.iteration),
            tool_count: small(event.tool_count),
            duration: duration_to(event.duration),
        }),
        LoopEvent::ObservationsCollected(event) => {
            PbEvent::ObservationsCollected(pb::ObservationsCollected {
                iteration: small(event.iteration),
                observation_count: small(event.observation_count),
                observations: event.observations.into_iter().map(observation_to).collect(),
            })
        }
        LoopEvent::RecoveryTriggered(event) => PbEvent::RecoveryTriggered(pb::RecoveryTriggered {
            iteration: small(event.iteration),
            tool_name: event.tool_name,
            strategy: strategy_to(event.strategy).into(),
            error: event.error,
        }),
        LoopEvent::StepLimitReached(event) => PbEvent::StepLimitReached(pb::StepLimitReached {
            step_id: event.step_id,
            attempts: small(event.attempts),
            reason: event.reason,
        }),
        LoopEvent::LoopWarning(event) => PbEvent::LoopWarning(pb::LoopWarning {
            rule: event.rule,
            text: event.text,
            evidence: event.evidence.into_iter().map(large).collect(),
            step_id: event.step_id,
        }),
        LoopEvent::RouteDecided(event) => PbEvent::RouteDecided(route_to(*event)),
        LoopEvent::FeedbackRecorded(event) => PbEvent::FeedbackRecorded(pb::FeedbackRecorded {
            feedback_id: event.feedback_id,
            route_id: event.route_id,
            entry: Some(pb::EntryRef {
                kind: 0,
                source: event.source,
                name: event.name,
            }),
            verdict: event.verdict,
            comment: event.comment,
        }),
        LoopEvent::Custom(event) => PbEvent::Custom(pb::Custom {
            name: event.name,
            data: event.data,
        }),
        LoopEvent::Terminated(event) => PbEvent::Terminated(terminated_to(event)),
    };
    pb::LoopEvent { event: Some(event) }
}

/// Writes how a loop ended.
pub fn terminated_to(event: Terminated) -> pb::Terminated {
    pb::Terminated {
        reason: termination_reason_to(event.reason).into(),
        iterations: small(event.iterations),
        total_usage: usage_to(event.total_usage),
        duration: duration_to(event.duration),
        detail: event.detail,
    }
}

fn action_to(action: Action) -> pb::Action {
    pb::Action {
        call_id: action.call_id,
        tool_name: action.tool_name,
        arguments: action.arguments,
    }
}

fn observation_to(observation: Observation) -> pb::Observation {
    pb::Observation {
        call_id: observation.call_id,
        tool_name: observation.tool_name,
        output: observation.output,
        output_bytes: large(observation.output_bytes),
        is_error: observation.is_error,
        fingerprint: observation.fingerprint,
    }
}

fn route_to(event: RouteDecided) -> pb::RouteDecided {
    let preferences = preferences_to(&event.request.preferences, &|_| None);
    pb::RouteDecided {
        route_id: event.route_id,
        request: Some(pb::RoutedRequest {
            prompt: event.request.prompt,
            limit: small(event.request.limit),
            min_score: event.request.min_score,
            mode: event.request.mode,
            no_commands: event.request.no_commands,
            no_tools: event.request.no_tools,
            no_skills: event.request.no_skills,
            context: event.request.context,
            tenant: event.request.tenant,
            user: event.request.user,
            pinned: preferences.pinned,
            blocked: preferences.blocked,
            preferred: preferences.preferred,
        }),
        catalog_revision: event.catalog_revision,
        model_id: event.model_id,
        model_digest: event.model_digest,
        mode: event.mode,
        outcome: event.outcome,
        confidence: event.confidence,
        floor: event.floor,
        accept_threshold: event.accept_threshold,
        matches: event.matches.into_iter().map(match_to).collect(),
        degraded: event.degraded,
        agent_id: event.agent_id,
    }
}

fn match_to(found: RouteMatch) -> pb::RoutedMatch {
    let id = EntryId {
        source: found.source,
        name: found.name,
    };
    pb::RoutedMatch {
        entry: Some(reference_to(found.kind, &id)),
        score: found.score,
        lexical_score: found.lexical_score,
    }
}

fn strategy_to(strategy: RecoveryStrategy) -> pb::RecoveryStrategy {
    match strategy {
        RecoveryStrategy::Retry => pb::RecoveryStrategy::Retry,
        RecoveryStrategy::Fallback => pb::RecoveryStrategy::Fallback,
        RecoveryStrategy::CachedResult => pb::RecoveryStrategy::CachedResult,
        RecoveryStrategy::LlmRecovery => pb::RecoveryStrategy::LlmRecovery,
        RecoveryStrategy::Escalate => pb::RecoveryStrategy::Escalate,
        RecoveryStrategy::DeadLetter => pb::RecoveryStrategy::DeadLetter,
    }
}

/// Writes why a loop ended.
pub fn termination_reason_to(reason: TerminationReason) -> pb::TerminationReason {
    match reason {
        TerminationReason::Completed => pb::TerminationReason::Completed,
        TerminationReason::MaxIterations => pb::TerminationReason::MaxIterations,
        TerminationReason::MaxTokens => pb::TerminationReason::MaxTokens,
        TerminationReason::Timeout => pb::TerminationReason::Timeout,
        TerminationReason::PolicyDenial => pb::TerminationReason::PolicyDenial,
        TerminationReason::StepLimit => pb::TerminationReason::StepLimit,
        TerminationReason::Stuck => pb::TerminationReason::Stuck,
        TerminationReason::Error => pb::TerminationReason::Error,
        TerminationReason::Abandoned => pb::TerminationReason::Abandoned,
    }
}

/// Writes tokens.
pub fn usage_to(usage: Usage) -> Option<pb::Usage> {
    Some(pb::Usage {
        input_tokens: large(usage.input_tokens),
        output_tokens: large(usage.output_tokens),
    })
}

/// Writes a duration.
pub fn duration_to(duration: Duration) -> Option<prost_types::Duration> {
    // Only one of more than 292 billion years has no form, and none is longer than that.
    prost_types::Duration::try_from(duration).ok()
}

/// Writes a small number.
pub fn small(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Writes a number that is never near its limit.
pub fn large(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Violations;
    use crate::grpc::convert::event::event_from;
    use crate::journal::event_samples;

    #[test]
    fn every_event_comes_back_as_it_went() {
        for event in event_samples() {
            let mut violations = Violations::default();
            let back = event_from(event_to(event.clone()), "", &mut violations);
            assert_eq!(violations.into_result(), Ok(()));
            assert_eq!(back, Some(event));
        }
    }

    #[test]
    fn numbers_that_are_none_are_named() {
        let terminated = pb::Terminated {
            reason: 77,
            iterations: -1,
            total_usage: Some(pb::Usage {
                input_tokens: -5,
                output_tokens: 0,
            }),
            duration: Some(prost_types::Duration {
                seconds: -1,
                nanos: 0,
            }),
            detail: String::new(),
        };
        let message = pb::LoopEvent {
            event: Some(PbEvent::Terminated(terminated)),
        };
        let mut violations = Violations::default();
        event_from(message, "events[0].", &mut violations);
        event_from(pb::LoopEvent::default(), "events[1].", &mut violations);
        let fields: Vec<_> = violations
            .as_slice()
            .iter()
            .map(|v| v.field.as_str())
            .collect();
        assert_eq!(
            fields,
            [
                "events[0].terminated.reason",
                "events[0].terminated.iterations",
                "events[0].terminated.total_usage.input_tokens",
                "events[0].terminated.duration",
                "events[1].event",
            ]
        );
    }
}
