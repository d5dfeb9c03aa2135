//! References and what became of them.

use super::count;
use super::journal::{duration_to, small};
use crate::grpc::pb;
use crate::hydrate::{Failure, Hydrated, Outcome, Reference, Status};

/// Writes a reference.
pub fn hydrate_reference_to(reference: &Reference) -> pb::Reference {
    pb::Reference {
        ref_type: reference.ref_type.clone(),
        value: reference.value.clone(),
        line: small(reference.line.unwrap_or(0)),
        start: count(reference.span.start),
        end: count(reference.span.end),
    }
}

/// Writes what came of a hydration; `sequence` is that of its event, 0 for none.
pub fn hydrated_to(hydrated: Hydrated, sequence: i64) -> pb::HydratedContext {
    pb::HydratedContext {
        token_count: count(hydrated.tokens),
        reference_count: count(hydrated.found),
        resolved_count: count(hydrated.resolved()),
        failed_count: count(hydrated.failed()),
        outcomes: hydrated.outcomes.iter().map(outcome_to).collect(),
        duration: duration_to(hydrated.took),
        message: hydrated.message,
        token_counter: hydrated.counter,
        sequence,
    }
}

fn outcome_to(outcome: &Outcome) -> pb::ReferenceOutcome {
    let (status, failure) = match outcome.status {
        Status::Resolved => (pb::ReferenceStatus::Resolved, None),
        Status::Failed(failure) => (pb::ReferenceStatus::Failed, Some(failure)),
        Status::NoResolver => (pb::ReferenceStatus::NoResolver, None),
        Status::OverBudget => (pb::ReferenceStatus::OverBudget, None),
    };
    let failure = failure.map_or(pb::ReferenceFailure::Unspecified, failure_to);
    pb::ReferenceOutcome {
        reference: Some(hydrate_reference_to(&outcome.reference)),
        status: status.into(),
        failure: failure.into(),
        detail: outcome.detail.clone(),
        tool: outcome.tool.clone(),
        origin: outcome.origin.clone(),
        token_count: count(outcome.tokens),
        cut: outcome.cut,
        duration: duration_to(outcome.took),
    }
}

fn failure_to(failure: Failure) -> pb::ReferenceFailure {
    match failure {
        Failure::Timeout => pb::ReferenceFailure::Timeout,
        Failure::ToolExcluded => pb::ReferenceFailure::ToolExcluded,
        Failure::PolicyDenied => pb::ReferenceFailure::PolicyDenied,
        Failure::ToolFailed => pb::ReferenceFailure::ToolFailed,
        Failure::Unsupported => pb::ReferenceFailure::Unsupported,
        Failure::SchemeRefused => pb::ReferenceFailure::SchemeRefused,
        Failure::AddressRefused => pb::ReferenceFailure::AddressRefused,
        Failure::TooManyRedirects => pb::ReferenceFailure::TooManyRedirects,
        Failure::Network => pb::ReferenceFailure::Network,
        Failure::HttpStatus => pb::ReferenceFailure::HttpStatus,
        Failure::TooLarge => pb::ReferenceFailure::TooLarge,
        Failure::NotText => pb::ReferenceFailure::NotText,
        Failure::OutsideRoots => pb::ReferenceFailure::OutsideRoots,
        Failure::NotFound => pb::ReferenceFailure::NotFound,
    }
}
