//! From domain errors to statuses. Every status carries `google.rpc.ErrorInfo`.

use std::collections::HashMap;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt};

use crate::error::Violations;
use crate::registry::{RegistryError, WatchError};
use crate::store::StoreError;

pub use super::pb::ErrorReason as Reason;

/// Domain of every `ErrorInfo`.
pub const DOMAIN: &str = "signalbox";

/// When a refused caller may try again: calls take milliseconds, so soon.
const RETRY_AFTER: Duration = Duration::from_millis(100);

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
        self.metadata.insert(key.to_owned(), cut(&value.to_string()));
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
            | Reason::TooManyLoops => Code::ResourceExhausted,
            Reason::DeadlineExceeded => Code::DeadlineExceeded,
            Reason::EntryNotFound | Reason::LoopNotFound => Code::NotFound,
            Reason::LoopExists | Reason::RequestIdReused => Code::AlreadyExists,
            Reason::LoopEnded | Reason::DelegationTooDeep => Code::FailedPrecondition,
            Reason::ResumeTokenExpired => Code::OutOfRange,
            Reason::Draining | Reason::StorageFailed => Code::Unavailable,
            Reason::SlowConsumer => Code::Aborted,
            Reason::UnknownMethod => Code::Unimplemented,
            Reason::Internal | Reason::Transport | Reason::Unspecified => Code::Internal,
        }
    }

    fn into_status_with(self, code: Code) -> Status {
        let reason = self.reason.as_str_name().trim_start_matches("ERROR_REASON_");
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
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        let reason = match error {
            StoreError::Overloaded => Reason::Overloaded,
            _ => Reason::StorageFailed,
        };
        Fault::new(reason, &message).with("error", message)
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
        Code::Unimplemented if message.is_empty() => {
            Fault::new(Reason::UnknownMethod, "no such service or method").into()
        }
        Code::Unimplemented => fault(Reason::UnknownMethod).into(),
        code => fault(Reason::Transport).into_status_with(code),
    }
}
