//! Errors that name what is wrong: shared by every domain module, turned into a gRPC status
//! in one place (`grpc/error.rs`) and into text by the command line.

use std::fmt;

/// One field that is out of its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldViolation {
    /// Path of the field as the caller wrote it (`entries[3].name`).
    pub field: String,
    /// What is wrong, with the limit.
    pub message: String,
}

impl FieldViolation {
    /// A violation from its parts.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
        }
    }
}

/// All violations of one request, in the order of its fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Violations(Vec<FieldViolation>);

/// Violations listed at most; a hostile request must not buy a huge answer.
const MAX_LISTED: usize = 50;

impl Violations {
    /// Adds one; past 50 they are counted no further.
    pub fn push(&mut self, violation: FieldViolation) {
        if self.0.len() < MAX_LISTED {
            self.0.push(violation);
        }
    }

    /// Adds one from its parts.
    pub fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.push(FieldViolation::new(field, message));
    }

    /// The violations.
    pub fn as_slice(&self) -> &[FieldViolation] {
        &self.0
    }

    /// `Ok` where there are none.
    pub fn into_result(self) -> Result<(), Violations> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, violation) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{}: {}", violation.field, violation.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Violations {}
