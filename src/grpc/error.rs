//! From domain errors to statuses. Every status carries `google.rpc.ErrorInfo`.

use std::collections::HashMap;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt};

use crate::error::Violations;
use crate::journal::JournalError;
use crate::knowledge::KnowledgeError;
use crate::preferences::{MAX_OWNERS, PreferenceError};
use crate::registry::{RegistryError, WatchError};
use crate::session::hub::LoopError;
use crate::store::StoreError;

pub use super::pb::ErrorReason as Reason;

/// Domain of every `ErrorInfo`.
pub const DOMAIN: &str = "signalbox";

/// When a refused caller may try again: calls take milliseconds, so soon.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// Message of a call that failed by a fault of our own.
pub const CALL_FAILED: &str = "the call failed; see the server's log";

/// Bytes of field violations in one status. A status travels in headers, of which some
/// clients take no more than 8 KiB.
const MAX_VIOLATION_BYTES: usize = 3 << 10;

/// Characters of a caller's text that a message says back.
const MAX_SHOWN_CHARS: usize = 300;

/// An error on its way to the wire.
#[derive(Debug, Clone)]
pub struct Fault {
    reason: Reason,
    message: String,
    metadata: HashMap<String, String>,
    violations: Vec<FieldViolation>,
}

impl Fault {
    /// A fault with a message for people.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: cut(&message.into()),
            metadata: HashMap::new(),
            violations: Vec::new(),
        }
    }

    /// Adds a value that the message holds.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl ToString) -> Self {
        self.metadata
            .insert(key.to_owned(), cut(&value.to_string()));
        self
    }

    /// What it says.
    pub fn message(&self) -> &str {
        &self.message
    }

    fn code(&self) -> Code {
        match self.reason {
            Reason::InvalidField | Reason::MalformedMessage | Reason::ImportRejected => {
                Code::InvalidArgument
            }
            Reason::MessageTooLarge
            | Reason::Overloaded
            | Reason::CatalogFull
            | Reason::KnowledgeFull
            | Reason::TooManyLoops
            | Reason::PreferencesFull => Code::ResourceExhausted,
            Reason::DeadlineExceeded => Code::DeadlineExceeded,
            Reason::EntryNotFound | Reason::LoopNotFound | Reason::ConventionNotFound => {
                Code::NotFound
            }
            Reason::ResumeTokenExpired | Reason::PositionOutOfRange => Code::OutOfRange,
            Reason::Draining | Reason::StorageFailed => Code::Unavailable,
            Reason::SlowConsumer | Reason::SequenceMismatch => Code::Aborted,
            Reason::RequestIdReused | Reason::LoopExists => Code::AlreadyExists,
            Reason::LoopEnded | Reason::DelegationTooDeep | Reason::DependencyCycle => {
                Code::FailedPrecondition
            }
            Reason::ForeignPosition => Code::PermissionDenied,
            Reason::DataLoss => Code::DataLoss,
            Reason::UnknownMethod => Code::Unimplemented,
            Reason::Internal | Reason::Transport | Reason::Unspecified => Code::Internal,
        }
    }

    fn into_status_with(self, code: Code) -> Status {
        let reason = self
            .reason
            .as_str_name()
            .trim_start_matches("ERROR_REASON_");
        let mut details = ErrorDetails::new();
        details.set_error_info(reason, DOMAIN, self.metadata);
        if !self.violations.is_empty() {
            details.set_bad_request(self.violations);
        }
        if self.reason == Reason::Overloaded {
            details.set_retry_info(Some(RETRY_AFTER));
        }
        Status::with_error_details(code, self.message, details)
    }
}

impl From<Fault> for Status {
    fn from(fault: Fault) -> Self {
        let code = fault.code();
        fault.into_status_with(code)
    }
}

impl From<Violations> for Fault {
    /// The message names the first; `BadRequest` lists as many as fit.
    fn from(violations: Violations) -> Self {
        let list = violations.as_slice();
        let Some(first) = list.first() else {
            return Fault::new(Reason::InvalidField, "a field is out of its limits");
        };
        let shown = format!("{}: {}", cut(&first.field), cut(&first.message));
        let message = match list.len() {
            1 => shown,
            count => format!("{count} fields are out of their limits, first {shown}"),
        };
        let mut fault = Fault::new(Reason::InvalidField, message)
            .with("field", cut(&first.field))
            .with("violations", list.len());
        let mut room = MAX_VIOLATION_BYTES;
        for violation in list {
            let listed = FieldViolation::new(cut(&violation.field), cut(&violation.message));
            let size = listed.field.len() + listed.description.len();
            if size > room {
                break;
            }
            room -= size;
            fault.violations.push(listed);
        }
        fault
    }
}

/// Text of a caller's, short enough to be said back.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl From<RegistryError> for Fault {
    fn from(error: RegistryError) -> Self {
        let message = error.to_string();
        match error {
            RegistryError::Invalid(violations) => violations.into(),
            RegistryError::NotFound(id) => Fault::new(Reason::EntryNotFound, message)
                .with("source", id.source)
                .with("name", id.name),
            RegistryError::Full { wanted, limit } => Fault::new(Reason::CatalogFull, message)
                .with("wanted", wanted)
                .with("limit", limit),
            RegistryError::Storage(error) => error.into(),
            RegistryError::Closed => Fault::new(Reason::Draining, message),
            RegistryError::Failed => Fault::new(Reason::Internal, message),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        let reason = match error {
            StoreError::Overloaded => Reason::Overloaded,
            StoreError::Corrupt { .. } => Reason::DataLoss,
            _ => Reason::StorageFailed,
        };
        Fault::new(reason, &message).with("error", message)
    }
}

impl From<JournalError> for Fault {
    fn from(error: JournalError) -> Self {
        let message = error.to_string();
        match error {
            JournalError::Invalid(violations) => violations.into(),
            JournalError::SequenceMismatch {
                loop_id,
                expected,
                actual,
            } => Fault::new(Reason::SequenceMismatch, message)
                .with("loop_id", loop_id)
                .with("expected", expected)
                .with("actual", actual),
            JournalError::RequestReused { request_id } => {
                Fault::new(Reason::RequestIdReused, message).with("request_id", request_id)
            }
            JournalError::LoopEnded { loop_id } => {
                Fault::new(Reason::LoopEnded, message).with("loop_id", loop_id)
            }
            JournalError::OutOfRange { why, earliest } => {
                Fault::new(Reason::PositionOutOfRange, message)
                    .with("why", why)
                    .with("earliest_position", earliest)
            }
            JournalError::ForeignToken => Fault::new(Reason::ForeignPosition, message),
            JournalError::Overloaded => Fault::new(Reason::Overloaded, message),
            JournalError::Closed => Fault::new(Reason::Draining, message),
            JournalError::Storage(error) => error.into(),
        }
    }
}

impl From<LoopError> for Fault {
    fn from(error: LoopError) -> Self {
        let message = error.to_string();
        match error {
            LoopError::Invalid(violations) => violations.into(),
            LoopError::NotFound(loop_id) => {
                Fault::new(Reason::LoopNotFound, message).with("loop_id", loop_id)
            }
            LoopError::Exists(loop_id) => {
                Fault::new(Reason::LoopExists, message).with("loop_id", loop_id)
            }
            LoopError::Ended { loop_id, reason } => Fault::new(Reason::LoopEnded, message)
                .with("loop_id", loop_id)
                .with("reason", reason.as_str()),
            LoopError::TooMany(limit) => {
                Fault::new(Reason::TooManyLoops, message).with("limit", limit)
            }
            LoopError::RequestReused(request_id) => {
                Fault::new(Reason::RequestIdReused, message).with("request_id", request_id)
            }
            LoopError::TooDeep { depth, limit } => Fault::new(Reason::DelegationTooDeep, message)
                .with("depth", depth)
                .with("limit", limit),
            LoopError::Journal(error) => error.into(),
            LoopError::CutOff => Fault::new(Reason::Internal, CALL_FAILED),
        }
    }
}

impl From<KnowledgeError> for Fault {
    fn from(error: KnowledgeError) -> Self {
        let message = error.to_string();
        match error {
            KnowledgeError::Invalid(violations) => violations.into(),
            KnowledgeError::NotFound(id) => {
                Fault::new(Reason::ConventionNotFound, message).with("id", id)
            }
            KnowledgeError::Full(limit) => {
                Fault::new(Reason::KnowledgeFull, message).with("limit", limit)
            }
            KnowledgeError::Storage(error) => error.into(),
            KnowledgeError::CutOff => Fault::new(Reason::Internal, CALL_FAILED),
        }
    }
}

impl From<PreferenceError> for Fault {
    fn from(error: PreferenceError) -> Self {
        let message = error.to_string();
        match error {
            PreferenceError::Invalid(violations) => violations.into(),
            PreferenceError::Full => {
                Fault::new(Reason::PreferencesFull, message).with("limit", MAX_OWNERS)
            }
            PreferenceError::Storage(error) => error.into(),
            PreferenceError::Closed => Fault::new(Reason::Draining, message),
        }
    }
}

impl From<WatchError> for Fault {
    fn from(error: WatchError) -> Self {
        Fault::new(Reason::ResumeTokenExpired, error.to_string())
    }
}

/// Status of a domain error.
pub fn status(error: impl Into<Fault>) -> Status {
    error.into().into()
}

/// Status of one violated field.
pub fn invalid(field: &str, message: impl Into<String>) -> Status {
    let mut violations = Violations::default();
    violations.add(field, message);
    status(violations)
}

/// Gives a status that tonic made the `ErrorInfo` it lacks, and the code that gRPC defines
/// where tonic's differs: a message over the limit is RESOURCE_EXHAUSTED, not OUT_OF_RANGE.
pub fn complete(status: Status) -> Status {
    if status.code() == Code::Ok || !status.details().is_empty() {
        return status;
    }
    let message = status.message().to_owned();
    let fault = |reason| Fault::new(reason, message.clone()).with("message", &message);
    match status.code() {
        Code::OutOfRange => fault(Reason::MessageTooLarge).into(),
        // tonic says nothing of a method it does not know, and names everything else.
        Code::Unimplemented if message.is_empty() => {
            Fault::new(Reason::UnknownMethod, "no such service or method").into()
        }
        code => fault(Reason::Transport).into_status_with(code),
    }
}
