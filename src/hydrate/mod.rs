//! Context before the first turn: what a task refers to, fetched before the loop begins.
//!
//! References are extracted from the task's text, resolved at the same time, cut to a budget
//! of tokens and rendered as one message. A reference that cannot be resolved never fails the
//! whole: it ends with a status of its own.
//!
//! | module | owns |
//! |---|---|
//! | [`extract`] | which references a text holds |
//! | [`job`] | one hydration: its settings, their limits, its result |
//! | [`resolve`] | all references at once, each by its resolver and within its time |
//! | [`http`] | `builtin:http`: one page, checked at every redirect |
//! | [`address`] | which addresses may be connected to |
//! | [`page`] | the text of an answer: types, character sets, HTML |
//! | [`file`] | `builtin:file`: files below the roots |
//! | [`budget`] | counting tokens, and cutting to them |
//! | [`render`] | the message |
//!
//! Nothing here knows of the wire, of loops or of the journal.

pub mod address;
pub mod budget;
pub mod extract;
pub mod file;
pub mod http;
pub mod job;
pub mod page;
pub mod render;
pub mod resolve;

#[cfg(test)]
mod tests;

pub use budget::Counter;
pub use extract::{CustomPattern, Extraction, Reference};
pub use job::{
    BUILTIN_FILE, BUILTIN_HTTP, Failure, Hydrated, Job, Outcome, Status, ToolAnswer, ToolCall,
};
pub use resolve::{Hydrator, Options};
