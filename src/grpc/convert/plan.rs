//! What an answer says beside its matches: plan, parameters, what is not wanted, what was
//! dropped and why.

use std::ops::Range;

use super::entry::{count, reference_to};
use super::route::match_to;
use crate::catalog::Kind;
use crate::grpc::pb;
use crate::params::{Extraction, Parameter, Rule};
use crate::plan::{Fit, Plan, Step};
use crate::route::{Adjustment, Cause, DropReason, Dropped, Unwanted};

/// Writes a plan; `full` is the view.
pub fn plan_to(plan: Plan, full: bool) -> pb::Plan {
    let kind = |id: &crate::catalog::EntryId| {
        let step = plan.steps.iter().find_map(|step| step.entry.as_ref());
        step.filter(|found| found.entry.id == *id)
            .map_or(Kind::Command, |found| found.entry.kind)
    };
    let cycle = plan
        .cycle
        .iter()
        .map(|id| reference_to(kind(id), id))
        .collect();
    let steps = plan.steps.into_iter().enumerate();
    pb::Plan {
        steps: steps
            .map(|(at, step)| step_to(at + 1, step, full))
            .collect(),
        cycle,
    }
}

fn step_to(number: usize, step: Step, full: bool) -> pb::PlanStep {
    let fit = match step.fit {
        Fit::Accepted => pb::StepFit::Accepted,
        Fit::Uncertain => pb::StepFit::Uncertain,
        Fit::Missing => pb::StepFit::Missing,
    };
    let (parameters, missing_parameters) = parameters_to(step.parameters);
    pb::PlanStep {
        number: count(number),
        text: step.text,
        span: Some(span_to(&step.span)),
        fit: fit.into(),
        confidence: step.confidence,
        r#match: step.entry.map(|entry| match_to(entry, full)),
        after: step.after.into_iter().map(|at| count(at + 1)).collect(),
        unmet_dependencies: step.unmet,
        parameters,
        missing_parameters,
    }
}

/// Writes parameters, and the names of those that are missing.
pub fn parameters_to(extraction: Extraction) -> (Vec<pb::Parameter>, Vec<String>) {
    let found = extraction.found.into_iter().map(parameter_to).collect();
    (found, extraction.missing)
}

fn parameter_to(parameter: Parameter) -> pb::Parameter {
    let rule = match parameter.rule {
        Rule::Choice => pb::ParameterRule::Choice,
        Rule::Number => pb::ParameterRule::Number,
        Rule::Unit => pb::ParameterRule::Unit,
        Rule::Time => pb::ParameterRule::Time,
        Rule::Address => pb::ParameterRule::Address,
        Rule::Mail => pb::ParameterRule::Mail,
        Rule::Path => pb::ParameterRule::Path,
        Rule::Quotation => pb::ParameterRule::Quotation,
        Rule::Identifier => pb::ParameterRule::Identifier,
        Rule::Flag => pb::ParameterRule::Flag,
    };
    pb::Parameter {
        name: parameter.name,
        value: Some(value_to(parameter.value)),
        span: Some(span_to(&parameter.span)),
        rule: rule.into(),
    }
}

fn value_to(value: serde_json::Value) -> prost_types::Value {
    use prost_types::value::Kind;
    let kind = match value {
        serde_json::Value::Null => Kind::NullValue(0),
        serde_json::Value::Bool(flag) => Kind::BoolValue(flag),
        serde_json::Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        serde_json::Value::String(text) => Kind::StringValue(text),
        serde_json::Value::Array(values) => Kind::ListValue(prost_types::ListValue {
            values: values.into_iter().map(value_to).collect(),
        }),
        serde_json::Value::Object(fields) => Kind::StructValue(prost_types::Struct {
            fields: fields
                .into_iter()
                .map(|(name, value)| (name, value_to(value)))
                .collect(),
        }),
    };
    prost_types::Value { kind: Some(kind) }
}

/// Writes what is not wanted.
pub fn unwanted_to(unwanted: Unwanted) -> pb::UnwantedText {
    let entries = unwanted.entries.iter();
    pb::UnwantedText {
        text: unwanted.text,
        span: Some(span_to(&unwanted.span)),
        entries: entries
            .map(|entry| reference_to(entry.kind, &entry.id))
            .collect(),
    }
}

/// Writes a dropped candidate.
pub fn dropped_to(dropped: Dropped) -> pb::DroppedCandidate {
    let reason = match dropped.reason {
        DropReason::Negated => pb::DropReason::Negated,
        DropReason::KindExcluded => pb::DropReason::KindExcluded,
        DropReason::NotAskedFor => pb::DropReason::NotAskedFor,
        DropReason::Blocked => pb::DropReason::Blocked,
        DropReason::BelowFloor => pb::DropReason::BelowFloor,
        DropReason::BelowMinScore => pb::DropReason::BelowMinScore,
        DropReason::NoMatch => pb::DropReason::NoMatch,
        DropReason::OverLimit => pb::DropReason::OverLimit,
    };
    pb::DroppedCandidate {
        entry: Some(reference_to(dropped.entry.kind, &dropped.entry.id)),
        score: dropped.score,
        rank: count(dropped.rank),
        reason: reason.into(),
    }
}

/// Writes a change of a sum.
pub fn adjustment_to(adjustment: Adjustment) -> pb::ScoreAdjustment {
    let (cause, detail) = match adjustment.cause {
        Cause::NotWhen(text) => (pb::AdjustmentCause::NotWhen, text),
        Cause::Redirect(name) => (pb::AdjustmentCause::Redirect, name),
        Cause::Context => (pb::AdjustmentCause::Context, String::new()),
        Cause::Preferred => (pb::AdjustmentCause::Preferred, String::new()),
        Cause::Negated(text) => (pb::AdjustmentCause::Negated, text),
    };
    pb::ScoreAdjustment {
        cause: cause.into(),
        amount: adjustment.amount,
        detail,
    }
}

fn span_to(span: &Range<usize>) -> pb::ByteSpan {
    pb::ByteSpan {
        start: count(span.start),
        end: count(span.end),
    }
}
