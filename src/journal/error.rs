//! What can go wrong in the journal.

use super::token::Token;
use crate::error::Violations;
use crate::store::StoreError;

/// Why the journal refused or failed. Nothing was written in any of the cases, except where a
/// storage error says otherwise.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// Values are out of their limits.
    #[error("{0}")]
    Invalid(Violations),
    /// The loop does not stand where the caller thought.
    #[error("the next sequence of loop {loop_id:?} is {actual}, not {expected}")]
    SequenceMismatch {
        /// The loop.
        loop_id: String,
        /// What the caller expected its first event to get.
        expected: u64,
        /// What it would get.
        actual: u64,
    },
    /// The request id was used before, with other events.
    #[error("request id {request_id:?} was used with other events")]
    RequestReused {
        /// The id.
        request_id: String,
    },
    /// The loop has its `Terminated` already.
    #[error("loop {loop_id:?} has ended")]
    LoopEnded {
        /// The loop.
        loop_id: String,
    },
    /// What follows the token is not all there any more, or never was.
    #[error("the position is not within what is kept: {why}")]
    OutOfRange {
        /// What is the matter with it.
        why: &'static str,
        /// Where what is kept begins.
        earliest: Token,
    },
    /// The token was given out for one loop and used for another, or for all of them.
    #[error("the position belongs to another loop")]
    ForeignToken,
    /// Too many appends wait; nothing was done, and it may succeed soon.
    #[error("the journal has too many appends waiting")]
    Overloaded,
    /// The journal is closed.
    #[error("the journal is closed")]
    Closed,
    /// The store failed.
    #[error(transparent)]
    Storage(StoreError),
}

impl From<StoreError> for JournalError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Closed => JournalError::Closed,
            StoreError::Overloaded => JournalError::Overloaded,
            other => JournalError::Storage(other),
        }
    }
}

impl From<Violations> for JournalError {
    fn from(violations: Violations) -> Self {
        JournalError::Invalid(violations)
    }
}
