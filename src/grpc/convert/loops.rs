//! Loops and what the guard says of them.

use std::time::Duration;

use super::count;
use super::journal::{duration_to, large, small, terminated_to, termination_reason_to, usage_to};
use crate::error::Violations;
use crate::grpc::pb;
use crate::journal::event::{TerminationReason, Usage};
use crate::session::config::{PreHydration, Recovery, ReferencePattern};
use crate::session::hub::{Answer, CreatedLoop, LoopView, NewLoop, Reported};
use crate::session::outage::Backoff;
use crate::session::profile::{Filtered, Hints, Stage};
use crate::session::rules::Limits;
use crate::session::verdict::Ending;
use crate::session::{
    CallReport, Decision, LimitAction, LoopConfig, LoopRules, Outcome, StepIteration, StepReport,
    Tool, ToolProfile, Trust, Verdict,
};

/// Reads numbers and durations, and names what is out of range.
struct Reader<'a> {
    violations: &'a mut Violations,
}

impl Reader<'_> {
    /// A number that is not negative.
    fn number(&mut self, path: &str, field: &str, value: i64) -> u64 {
        u64::try_from(value).unwrap_or_else(|_| {
            self.violations
                .add(format!("{path}{field}"), format!("{value} is negative"));
            0
        })
    }

    fn small(&mut self, path: &str, field: &str, value: i32) -> u32 {
        u32::try_from(self.number(path, field, value.into())).unwrap_or(u32::MAX)
    }

    fn small_or(&mut self, path: &str, field: &str, value: Option<i32>, default: u32) -> u32 {
        value.map_or(default, |value| self.small(path, field, value))
    }

    fn time(
        &mut self,
        path: &str,
        field: &str,
        value: Option<prost_types::Duration>,
    ) -> Option<Duration> {
        let read = Duration::try_from(value?);
        if read.is_err() {
            self.violations
                .add(format!("{path}{field}"), "is negative or no duration");
        }
        read.ok()
    }

    fn limits(
        &mut self,
        path: &str,
        field: &str,
        value: Option<pb::RuleLimits>,
        default: Limits,
    ) -> Limits {
        let Some(pb::RuleLimits { nudge, stop }) = value else {
            return default;
        };
        Limits {
            nudge: self.small(path, &format!("{field}.nudge"), nudge),
            stop: self.small(path, &format!("{field}.stop"), stop),
        }
    }
}

/// Reads a request to create a loop.
pub fn new_loop_from(request: pb::CreateLoopRequest, violations: &mut Violations) -> NewLoop {
    let config = request.config.map_or_else(LoopConfig::default, |config| {
        config_from(config, "config.", violations)
    });
    let mut reader = Reader { violations };
    NewLoop {
        loop_id: request.loop_id,
        agent_id: request.agent_id,
        request_id: request.request_id,
        config,
        tools: request.tools.into_iter().map(tool_from).collect(),
        input: request.input,
        lease: reader.time("", "lease", request.lease),
        parent_loop_id: request.parent_loop_id,
        delegation_depth: reader.small("", "delegation_depth", request.delegation_depth),
    }
}

fn config_from(config: pb::LoopConfig, path: &str, violations: &mut Violations) -> LoopConfig {
    let default = LoopConfig::default();
    let profile_path = format!("{path}tool_profile.");
    let tool_profile = config
        .tool_profile
        .map(|profile| profile_from(profile, &profile_path, violations));
    let step_iteration = config
        .step_iteration
        .map(|steps| steps_from(steps, &format!("{path}step_iteration."), violations));
    let hydration_path = format!("{path}pre_hydration.");
    let pre_hydration = config
        .pre_hydration
        .map(|hydration| hydration_from(hydration, &hydration_path, violations));
    let mut reader = Reader { violations };
    LoopConfig {
        max_iterations: reader.small_or(
            path,
            "max_iterations",
            config.max_iterations,
            default.max_iterations,
        ),
        max_total_tokens: config
            .max_total_tokens
            .map_or(default.max_total_tokens, |tokens| {
                reader.number(path, "max_total_tokens", tokens)
            }),
        timeout: reader
            .time(path, "timeout", config.timeout)
            .unwrap_or(default.timeout),
        tool_timeout: reader
            .time(path, "tool_timeout", config.tool_timeout)
            .unwrap_or(default.tool_timeout),
        max_concurrent_tools: reader.small_or(
            path,
            "max_concurrent_tools",
            config.max_concurrent_tools,
            default.max_concurrent_tools,
        ),
        context_token_budget: reader.small_or(
            path,
            "context_token_budget",
            config.context_token_budget,
            default.context_token_budget,
        ),
        max_delegation_depth: reader.small_or(
            path,
            "max_delegation_depth",
            config.max_delegation_depth,
            default.max_delegation_depth,
        ),
        budget_warning: config.budget_warning.unwrap_or(default.budget_warning),
        recovery: config.recovery.map_or(default.recovery, |recovery| {
            recovery_from(recovery, &format!("{path}recovery."), &mut reader)
        }),
        rules: config.rules.map_or(default.rules, |rules| {
            rules_from(rules, &format!("{path}rules."), &mut reader)
        }),
        tool_profile,
        step_iteration,
        pre_hydration,
    }
}

fn recovery_from(recovery: pb::Recovery, path: &str, reader: &mut Reader<'_>) -> Recovery {
    let default = Recovery::default();
    Recovery {
        retry_attempts: reader.small_or(
            path,
            "retry_attempts",
            recovery.retry_attempts,
            default.retry_attempts,
        ),
        retry_base: reader
            .time(path, "retry_base", recovery.retry_base)
            .unwrap_or(default.retry_base),
        fallback_tool: recovery.fallback_tool,
        cached_result: recovery.cached_result,
        llm_recovery: recovery.llm_recovery,
        escalate: recovery.escalate,
        dead_letter: recovery.dead_letter,
    }
}

fn rules_from(rules: pb::LoopRules, path: &str, reader: &mut Reader<'_>) -> LoopRules {
    let default = LoopRules::default();
    let mut limits = |field, value, default| reader.limits(path, field, value, default);
    let read = LoopRules {
        repeated_call: limits("repeated_call", rules.repeated_call, default.repeated_call),
        repeated_failure: limits(
            "repeated_failure",
            rules.repeated_failure,
            default.repeated_failure,
        ),
        immediate_repeat: limits(
            "immediate_repeat",
            rules.immediate_repeat,
            default.immediate_repeat,
        ),
        error_streak: limits("error_streak", rules.error_streak, default.error_streak),
        similar_call: limits("similar_call", rules.similar_call, default.similar_call),
        same_result: limits("same_result", rules.same_result, default.same_result),
        cycle: limits("cycle", rules.cycle, default.cycle),
        polling: limits("polling", rules.polling, default.polling),
        repeated_text: limits("repeated_text", rules.repeated_text, default.repeated_text),
        monologue: limits("monologue", rules.monologue, default.monologue),
        similarity: rules.similarity.unwrap_or(default.similarity),
        polling_tools: rules.polling_tools,
        backoff: default.backoff,
    };
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let mut wait = |field, value, default| reader.time(path, field, value).map_or(default, millis);
    let backoff = Backoff {
        base_ms: wait("backoff_base", rules.backoff_base, default.backoff.base_ms),
        max_ms: wait("backoff_max", rules.backoff_max, default.backoff.max_ms),
    };
    LoopRules { backoff, ..read }
}

/// Reads a profile.
pub fn profile_from(
    profile: pb::ToolProfile,
    path: &str,
    violations: &mut Violations,
) -> ToolProfile {
    let mut reader = Reader { violations };
    ToolProfile {
        include: profile.include,
        exclude: profile.exclude,
        max_tools: profile
            .max_tools
            .map(|max| reader.small(path, "max_tools", max)),
        require_verified: profile.require_verified,
        read_only: profile.read_only,
        trust_annotations: profile.trust_annotations,
    }
}

fn steps_from(steps: pb::StepIteration, path: &str, violations: &mut Violations) -> StepIteration {
    let default = StepIteration::default();
    let on_limit_reached = match steps.on_limit_reached() {
        pb::LimitAction::Unspecified => default.on_limit_reached,
        pb::LimitAction::SkipStep => LimitAction::SkipStep,
        pb::LimitAction::AbortTask => LimitAction::AbortTask,
        pb::LimitAction::Escalate => LimitAction::Escalate,
    };
    if pb::LimitAction::try_from(steps.on_limit_reached).is_err() {
        let text = format!("{} is no action", steps.on_limit_reached);
        violations.add(format!("{path}on_limit_reached"), text);
    }
    let mut reader = Reader { violations };
    StepIteration {
        max_reattempts_per_step: reader.small_or(
            path,
            "max_reattempts_per_step",
            steps.max_reattempts_per_step,
            default.max_reattempts_per_step,
        ),
        similarity_threshold: steps
            .similarity_threshold
            .unwrap_or(default.similarity_threshold),
        on_limit_reached,
    }
}

/// Reads custom patterns.
pub fn custom_patterns_from(patterns: Vec<pb::ReferencePattern>) -> Vec<ReferencePattern> {
    patterns
        .into_iter()
        .map(|pb::ReferencePattern { ref_type, pattern }| ReferencePattern { ref_type, pattern })
        .collect()
}

/// Reads what is fetched before the first turn.
pub fn hydration_from(
    hydration: pb::PreHydration,
    path: &str,
    violations: &mut Violations,
) -> PreHydration {
    let mut reader = Reader { violations };
    let default = PreHydration::default();
    PreHydration {
        custom_patterns: custom_patterns_from(hydration.custom_patterns),
        resolution_tools: hydration.resolution_tools.into_iter().collect(),
        timeout: reader
            .time(path, "timeout", hydration.timeout)
            .unwrap_or(default.timeout),
        max_references: reader.small_or(
            path,
            "max_references",
            hydration.max_references,
            default.max_references,
        ),
        max_context_tokens: reader.small_or(
            path,
            "max_context_tokens",
            hydration.max_context_tokens,
            default.max_context_tokens,
        ),
    }
}

/// Reads a tool.
pub fn tool_from(tool: pb::LoopTool) -> Tool {
    let hints = tool.hints.unwrap_or_default();
    Tool {
        name: tool.name,
        source: tool.source,
        description: tool.description,
        input_schema: tool.input_schema,
        hints: Hints {
            read_only: hints.read_only,
            destructive: hints.destructive,
            idempotent: hints.idempotent,
            open_world: hints.open_world,
        },
    }
}

/// Writes what came of a profile.
pub fn filtered_to(filtered: &Filtered, tools: &[Tool], trust: &Trust) -> pb::FilteredTools {
    let kept = filtered.kept.iter().map(|index| {
        let tool = &tools[*index];
        pb::KeptTool {
            index: count(*index),
            name: tool.name.clone(),
            source: tool.source.clone(),
            digest: tool.digest(),
            verified_by: trust
                .verification(tool)
                .map(|found| found.verified_by.clone())
                .unwrap_or_default(),
        }
    });
    let dropped = filtered.dropped.iter().map(|dropped| {
        let tool = &tools[dropped.index];
        let stage = match dropped.stage {
            Stage::Include => pb::FilterStage::Include,
            Stage::Exclude => pb::FilterStage::Exclude,
            Stage::Verified => pb::FilterStage::Verified,
            Stage::ReadOnly => pb::FilterStage::ReadOnly,
            Stage::Cap => pb::FilterStage::Cap,
        };
        pb::DroppedTool {
            index: count(dropped.index),
            name: tool.name.clone(),
            source: tool.source.clone(),
            stage: stage.into(),
            reason: dropped.reason.clone(),
        }
    });
    let unmatched = filtered
        .unmatched
        .iter()
        .map(|unmatched| pb::UnmatchedPattern {
            field: unmatched.field.clone(),
            pattern: unmatched.pattern.clone(),
        });
    pb::FilteredTools {
        kept: kept.collect(),
        dropped: dropped.collect(),
        unmatched_patterns: unmatched.collect(),
    }
}

/// Reads what happened in a step.
pub fn step_from(step: pb::ReportedStep, violations: &mut Violations) -> Reported {
    let mut reader = Reader { violations };
    let usage = step.usage.unwrap_or_default();
    let usage = Usage {
        input_tokens: reader.number("step.usage.", "input_tokens", usage.input_tokens),
        output_tokens: reader.number("step.usage.", "output_tokens", usage.output_tokens),
    };
    let calls = step
        .calls
        .into_iter()
        .enumerate()
        .map(|(at, call)| call_from(call, &format!("step.calls[{at}]."), &mut reader))
        .collect();
    let report = StepReport {
        iteration: reader.small("step.", "iteration", step.iteration),
        message: step.message,
        calls,
        delegation_depth: reader.small("step.", "delegation_depth", step.delegation_depth),
        concurrent_tools: reader.small("step.", "concurrent_tools", step.concurrent_tools),
        ..StepReport::default()
    };
    Reported::Step(report, usage)
}

fn call_from(call: pb::ReportedCall, path: &str, reader: &mut Reader<'_>) -> CallReport {
    let outcome = match pb::CallOutcome::try_from(call.outcome) {
        Ok(pb::CallOutcome::Unspecified | pb::CallOutcome::Succeeded) => Outcome::Succeeded,
        Ok(pb::CallOutcome::Failed) => Outcome::Failed,
        Ok(pb::CallOutcome::Vetoed) => Outcome::Vetoed,
        Err(_) => {
            let text = format!("{} is no outcome", call.outcome);
            reader.violations.add(format!("{path}outcome"), text);
            Outcome::Succeeded
        }
    };
    let http_status = match u16::try_from(call.http_status) {
        Ok(0) => None,
        Ok(status) if (100..600).contains(&status) => Some(status),
        _ => {
            let text = format!("{} is no HTTP status", call.http_status);
            reader.violations.add(format!("{path}http_status"), text);
            None
        }
    };
    CallReport {
        call_id: String::new(),
        tool: call.tool,
        arguments: call.arguments,
        output: call.output,
        outcome,
        http_status,
        retry_after: reader.time(path, "retry_after", call.retry_after),
    }
}

/// Writes what the guard said.
pub fn verdict_to(answer: &Answer) -> pb::Verdict {
    let Verdict {
        decision,
        rule,
        count,
        evidence,
        text,
        retry_after,
        action,
        ending,
        ..
    } = &answer.verdict;
    let decision = match decision {
        Decision::Continue => pb::GuardDecision::Continue,
        Decision::Nudge => pb::GuardDecision::Nudge,
        Decision::Stop => pb::GuardDecision::Stop,
        Decision::RetryableOutage => pb::GuardDecision::RetryableOutage,
    };
    let action = action.map_or(pb::LimitAction::Unspecified, |action| match action {
        LimitAction::SkipStep => pb::LimitAction::SkipStep,
        LimitAction::AbortTask => pb::LimitAction::AbortTask,
        LimitAction::Escalate => pb::LimitAction::Escalate,
    });
    let termination = ending.map_or(pb::TerminationReason::Unspecified, |ending| {
        termination_reason_to(match ending {
            Ending::MaxIterations => TerminationReason::MaxIterations,
            Ending::MaxTokens => TerminationReason::MaxTokens,
            Ending::Timeout => TerminationReason::Timeout,
            Ending::PolicyDenial => TerminationReason::PolicyDenial,
            Ending::StepLimit => TerminationReason::StepLimit,
            Ending::Stuck => TerminationReason::Stuck,
        })
    });
    pb::Verdict {
        decision: decision.into(),
        rule: rule
            .map(|rule| rule.as_str().to_owned())
            .unwrap_or_default(),
        count: small(*count),
        evidence: evidence.iter().map(|sequence| large(*sequence)).collect(),
        text: text.clone(),
        retry_after: retry_after.and_then(duration_to),
        action: action.into(),
        termination: termination.into(),
        sequence: large(answer.sequence),
    }
}

/// Writes the answer to an attempt.
pub fn attempt_to(answer: &Answer) -> pb::RecordAttemptResponse {
    let attempt = answer.verdict.attempt;
    let similarity = attempt.and_then(|attempt| attempt.similarity);
    pb::RecordAttemptResponse {
        verdict: Some(verdict_to(answer)),
        attempts: attempt.map_or(0, |attempt| small(attempt.attempts)),
        similarity: similarity.map(|similarity| similarity.value),
        similarity_cut: similarity.is_some_and(|similarity| similarity.cut),
        begun_implicitly: attempt.is_some_and(|attempt| attempt.begun_implicitly),
    }
}

/// Writes where a loop stands.
pub fn loop_to(view: LoopView) -> pb::Loop {
    pb::Loop {
        loop_id: view.loop_id,
        agent_id: view.agent_id,
        iterations: small(view.iterations),
        usage: usage_to(view.usage),
        elapsed: duration_to(view.elapsed),
        lease_left: duration_to(view.lease_left),
        last_sequence: large(view.last_sequence),
        terminated: view.terminated.map(terminated_to),
    }
}

/// Writes a loop that was created.
pub fn created_to(created: CreatedLoop, tools: &[Tool], trust: &Trust) -> pb::CreateLoopResponse {
    pb::CreateLoopResponse {
        tools: Some(filtered_to(&created.tools, tools, trust)),
        r#loop: Some(loop_to(created.view)),
    }
}

/// Reads why a loop is closed; none where the request does not say.
pub fn reason_from(number: i32, violations: &mut Violations) -> Option<TerminationReason> {
    Some(match pb::TerminationReason::try_from(number) {
        Ok(pb::TerminationReason::Unspecified) => return None,
        Ok(pb::TerminationReason::Completed) => TerminationReason::Completed,
        Ok(pb::TerminationReason::MaxIterations) => TerminationReason::MaxIterations,
        Ok(pb::TerminationReason::MaxTokens) => TerminationReason::MaxTokens,
        Ok(pb::TerminationReason::Timeout) => TerminationReason::Timeout,
        Ok(pb::TerminationReason::PolicyDenial) => TerminationReason::PolicyDenial,
        Ok(pb::TerminationReason::StepLimit) => TerminationReason::StepLimit,
        Ok(pb::TerminationReason::Stuck) => TerminationReason::Stuck,
        Ok(pb::TerminationReason::Error) => TerminationReason::Error,
        Ok(pb::TerminationReason::Abandoned) => TerminationReason::Abandoned,
        Err(_) => {
            violations.add("reason", format!("{number} is no reason"));
            return None;
        }
    })
}
