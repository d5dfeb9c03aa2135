//! Events of a loop, in: what a caller reports.

use std::time::Duration;

use super::entry::kind_filter_from;
use super::preferences::preferences_from;
use crate::catalog::{EntryId, Kind};
use crate::error::Violations;
use crate::grpc::pb;
use crate::grpc::pb::loop_event::Event as PbEvent;
use crate::journal::event::{
    Action, Custom, FeedbackRecorded, LoopEvent, LoopWarning, NewEvent, Observation,
    ObservationsCollected, PolicyEvaluated, PreHydrationComplete, ReasoningComplete,
    RecoveryStrategy, RecoveryTriggered, RouteDecided, RouteMatch, RouteRequest, Started,
    StepLimitReached, Terminated, TerminationReason, ToolsDispatched, Usage,
};
use crate::journal::{EventType, Timestamp, TypeSet};

/// Reads a message's numbers, and notes those that are out of range. What is beyond the
/// limits of the domain is the domain's to refuse.
struct Reader<'a> {
    path: String,
    violations: &'a mut Violations,
}

impl Reader<'_> {
    fn refuse(&mut self, field: &str, message: &str) {
        self.violations
            .add(format!("{}{field}", self.path), message);
    }

    fn count(&mut self, field: &str, number: i32) -> u32 {
        u32::try_from(number).unwrap_or_else(|_| {
            self.refuse(field, "must not be negative");
            0
        })
    }

    fn large(&mut self, field: &str, number: i64) -> u64 {
        u64::try_from(number).unwrap_or_else(|_| {
            self.refuse(field, "must not be negative");
            0
        })
    }

    fn duration(&mut self, field: &str, duration: Option<prost_types::Duration>) -> Duration {
        match duration.map(Duration::try_from) {
            None => Duration::ZERO,
            Some(Ok(duration)) => duration,
            Some(Err(_)) => {
                self.refuse(field, "must be a duration that is not negative");
                Duration::ZERO
            }
        }
    }

    fn usage(&mut self, field: &str, usage: Option<pb::Usage>) -> Usage {
        let usage = usage.unwrap_or_default();
        Usage {
            input_tokens: self.large(&format!("{field}.input_tokens"), usage.input_tokens),
            output_tokens: self.large(&format!("{field}.output_tokens"), usage.output_tokens),
        }
    }
}

/// Reads an event with its iteration; `path` is prefixed to the fields of its violations.
pub fn new_event_from(
    message: pb::NewLoopEvent,
    path: &str,
    violations: &mut Violations,
) -> Option<NewEvent> {
    let mut reader = Reader {
        path: path.to_owned(),
        violations,
    };
    let iteration = reader.count("iteration", message.iteration);
    let event = event_from(message.event.unwrap_or_default(), path, violations)?;
    Some(NewEvent { iteration, event })
}

/// Reads an event; `path` is prefixed to the fields of its violations.
pub fn event_from(
    message: pb::LoopEvent,
    path: &str,
    violations: &mut Violations,
) -> Option<LoopEvent> {
    let Some(event) = message.event else {
        violations.add(format!("{path}event"), "must be one of the events");
        return None;
    };
    let name = match &event {
        PbEvent::Started(_) => EventType::Started,
        PbEvent::PreHydrationComplete(_) => EventType::PreHydrationComplete,
        PbEvent::ReasoningComplete(_) => EventType::ReasoningComplete,
        PbEvent::PolicyEvaluated(_) => EventType::PolicyEvaluated,
        PbEvent::ToolsDispatched(_) => EventType::ToolsDispatched,
        PbEvent::ObservationsCollected(_) => EventType::ObservationsCollected,
        PbEvent::RecoveryTriggered(_) => EventType::RecoveryTriggered,
        PbEvent::StepLimitReached(_) => EventType::StepLimitReached,
        PbEvent::LoopWarning(_) => EventType::LoopWarning,
        PbEvent::RouteDecided(_) => EventType::RouteDecided,
        PbEvent::FeedbackRecorded(_) => EventType::FeedbackRecorded,
        PbEvent::Custom(_) => EventType::Custom,
        PbEvent::Terminated(_) => EventType::Terminated,
    };
    let mut reader = Reader {
        path: format!("{path}{name}."),
        violations,
    };
    Some(reader.event(event))
}

impl Reader<'_> {
    fn event(&mut self, event: PbEvent) -> LoopEvent {
        match event {
            PbEvent::Started(event) => LoopEvent::Started(Started {
                delegation_depth: self.count("delegation_depth", event.delegation_depth),
                input: event.input,
                tools: event.tools,
                config: event.config,
                parent_loop_id: event.parent_loop_id,
            }),
            PbEvent::PreHydrationComplete(event) => {
                LoopEvent::PreHydrationComplete(PreHydrationComplete {
                    reference_count: self.count("reference_count", event.reference_count),
                    resolved_count: self.count("resolved_count", event.resolved_count),
                    failed_count: self.count("failed_count", event.failed_count),
                    token_count: self.large("token_count", event.token_count),
                    duration: self.duration("duration", event.duration),
                })
            }
            PbEvent::ReasoningComplete(event) => LoopEvent::ReasoningComplete(ReasoningComplete {
                iteration: self.count("iteration", event.iteration),
                actions: event.actions.into_iter().map(action_from).collect(),
                usage: self.usage("usage", event.usage),
                text: event.text,
            }),
            PbEvent::PolicyEvaluated(event) => LoopEvent::PolicyEvaluated(PolicyEvaluated {
                iteration: self.count("iteration", event.iteration),
                action_count: self.count("action_count", event.action_count),
                denied_count: self.count("denied_count", event.denied_count),
            }),
            PbEvent::ToolsDispatched(event) => LoopEvent::ToolsDispatched(ToolsDispatched {
                iteration: self.count("iteration", event.iteration),
                tool_count: self.count("tool_count", event.tool_count),
                duration: self.duration("duration", event.duration),
            }),
            PbEvent::ObservationsCollected(event) => self.observations(event),
            PbEvent::RecoveryTriggered(event) => self.recovery(event),
            PbEvent::StepLimitReached(event) => LoopEvent::StepLimitReached(StepLimitReached {
                attempts: self.count("attempts", event.attempts),
                step_id: event.step_id,
                reason: event.reason,
            }),
            PbEvent::LoopWarning(event) => LoopEvent::LoopWarning(LoopWarning {
                evidence: event
                    .evidence
                    .into_iter()
                    .map(|sequence| self.large("evidence", sequence))
                    .collect(),
                rule: event.rule,
                text: event.text,
                step_id: event.step_id,
            }),
            PbEvent::RouteDecided(event) => self.route(event),
            PbEvent::FeedbackRecorded(event) => {
                let about = event.entry.unwrap_or_default();
                LoopEvent::FeedbackRecorded(FeedbackRecorded {
                    feedback_id: event.feedback_id,
                    route_id: event.route_id,
                    source: about.source,
                    name: about.name,
                    verdict: event.verdict,
                    comment: event.comment,
                })
            }
            PbEvent::Custom(event) => LoopEvent::Custom(Custom {
                name: event.name,
                data: event.data,
            }),
            PbEvent::Terminated(event) => LoopEvent::Terminated(Terminated {
                reason: self.termination_reason(event.reason),
                iterations: self.count("iterations", event.iterations),
                total_usage: self.usage("total_usage", event.total_usage),
                duration: self.duration("duration", event.duration),
                detail: event.detail,
            }),
        }
    }

    fn observations(&mut self, event: pb::ObservationsCollected) -> LoopEvent {
        let observations = event
            .observations
            .into_iter()
            .enumerate()
            .map(|(at, observation)| {
                let field = format!("observations[{at}].output_bytes");
                Observation {
                    output_bytes: self.large(&field, observation.output_bytes),
                    call_id: observation.call_id,
                    tool_name: observation.tool_name,
                    output: observation.output,
                    is_error: observation.is_error,
                    fingerprint: observation.fingerprint,
                }
            });
        let observations = observations.collect();
        LoopEvent::ObservationsCollected(ObservationsCollected {
            iteration: self.count("iteration", event.iteration),
            observation_count: self.count("observation_count", event.observation_count),
            observations,
        })
    }

    fn recovery(&mut self, event: pb::RecoveryTriggered) -> LoopEvent {
        let strategy = match event.strategy() {
            pb::RecoveryStrategy::Retry => RecoveryStrategy::Retry,
            pb::RecoveryStrategy::Fallback => RecoveryStrategy::Fallback,
            pb::RecoveryStrategy::CachedResult => RecoveryStrategy::CachedResult,
            pb::RecoveryStrategy::LlmRecovery => RecoveryStrategy::LlmRecovery,
            pb::RecoveryStrategy::Escalate => RecoveryStrategy::Escalate,
            pb::RecoveryStrategy::DeadLetter => RecoveryStrategy::DeadLetter,
            pb::RecoveryStrategy::Unspecified => {
                self.refuse("strategy", "must be one of the strategies");
                RecoveryStrategy::Retry
            }
        };
        LoopEvent::RecoveryTriggered(RecoveryTriggered {
            iteration: self.count("iteration", event.iteration),
            tool_name: event.tool_name,
            strategy,
            error: event.error,
        })
    }

    fn route(&mut self, event: pb::RouteDecided) -> LoopEvent {
        let request = event.request.unwrap_or_default();
        let matches = event.matches.into_iter().enumerate().map(|(at, found)| {
            let entry = found.entry.unwrap_or_default();
            let field = format!("{}matches[{at}].entry.kind", self.path);
            let kind = kind_filter_from(entry.kind, &field, self.violations);
            if kind.is_none() && entry.kind == 0 {
                self.violations.add(field, "must be COMMAND, TOOL or SKILL");
            }
            let EntryId { source, name } = EntryId::new(&entry.source, &entry.name);
            RouteMatch {
                kind: kind.unwrap_or(Kind::Command),
                source,
                name,
                score: found.score,
                lexical_score: found.lexical_score,
            }
        });
        let matches = matches.collect();
        LoopEvent::RouteDecided(Box::new(RouteDecided {
            route_id: event.route_id,
            request: RouteRequest {
                limit: self.count("request.limit", request.limit),
                prompt: request.prompt,
                min_score: request.min_score,
                mode: request.mode,
                no_commands: request.no_commands,
                no_tools: request.no_tools,
                no_skills: request.no_skills,
                context: request.context,
                tenant: request.tenant,
                user: request.user,
                preferences: preferences_from(pb::Preferences {
                    pinned: request.pinned,
                    blocked: request.blocked,
                    preferred: request.preferred,
                }),
            },
            catalog_revision: event.catalog_revision,
            model_id: event.model_id,
            model_digest: event.model_digest,
            mode: event.mode,
            outcome: event.outcome,
            confidence: event.confidence,
            floor: event.floor,
            accept_threshold: event.accept_threshold,
            matches,
            degraded: event.degraded,
            agent_id: event.agent_id,
        }))
    }

    fn termination_reason(&mut self, number: i32) -> TerminationReason {
        match pb::TerminationReason::try_from(number) {
            Ok(pb::TerminationReason::Completed) => TerminationReason::Completed,
            Ok(pb::TerminationReason::MaxIterations) => TerminationReason::MaxIterations,
            Ok(pb::TerminationReason::MaxTokens) => TerminationReason::MaxTokens,
            Ok(pb::TerminationReason::Timeout) => TerminationReason::Timeout,
            Ok(pb::TerminationReason::PolicyDenial) => TerminationReason::PolicyDenial,
            Ok(pb::TerminationReason::StepLimit) => TerminationReason::StepLimit,
            Ok(pb::TerminationReason::Stuck) => TerminationReason::Stuck,
            Ok(pb::TerminationReason::Error) => TerminationReason::Error,
            Ok(pb::TerminationReason::Abandoned) => TerminationReason::Abandoned,
            Ok(pb::TerminationReason::Unspecified) | Err(_) => {
                self.refuse("reason", "must be one of the reasons");
                TerminationReason::Error
            }
        }
    }
}

fn action_from(action: pb::Action) -> Action {
    Action {
        call_id: action.call_id,
        tool_name: action.tool_name,
        arguments: action.arguments,
    }
}

/// Reads a set of event types; empty means all.
pub fn types_from(numbers: &[i32], violations: &mut Violations) -> TypeSet {
    let types = numbers.iter().enumerate().filter_map(|(at, number)| {
        let known = EventType::ALL
            .into_iter()
            .find(|kind| i32::from(kind.number()) == *number);
        if known.is_none() {
            violations.add(
                format!("types[{at}]"),
                format!("{number} is no type of an event"),
            );
        }
        known
    });
    types.collect()
}

/// Reads an optional time.
pub fn time_from(
    field: &str,
    time: Option<prost_types::Timestamp>,
    violations: &mut Violations,
) -> Option<Timestamp> {
    let time = time?;
    let read = Timestamp::from_parts(time.seconds, time.nanos);
    if read.is_none() {
        violations.add(field, "is no time between the years 1 and 9999");
    }
    read
}

/// Writes a time.
pub fn time_to(time: Timestamp) -> prost_types::Timestamp {
    let (seconds, nanos) = time.to_parts();
    prost_types::Timestamp { seconds, nanos }
}
