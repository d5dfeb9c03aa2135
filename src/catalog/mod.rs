//! What prompts are routed to.

pub mod entry;
pub mod import;

pub use entry::{Entry, EntryId, Kind, NotWhen};
