//! What prompts are routed to.

pub mod entry;

pub use entry::{Entry, EntryId, Kind, NotWhen};
