//! What an agent should know: facts it stored, and conventions of the code it works on.
//!
//! | module | owns |
//! |---|---|
//! | [`item`] | facts and conventions, their limits and ids |
//! | [`directory`] | places below the workspace, compared by component |
//! | [`book`] | all items in memory, by id and by directory |
//! | [`keep`] | the handle: changes on disk first, then in the book and the index |
//! | [`search`] | the best items for a query, on routing's index |
//! | [`recall`] | `recall_knowledge`: a plain search, or the conventions of a directory |
//! | [`workspace`] | conventions in files: `AGENTS.md` and its relatives |
//! | [`rules`] | rule files with globs |
//! | [`resolve`] | all conventions that hold for some paths, root first |
//! | [`context`] | the `[KNOWLEDGE_CONTEXT]` message, within a budget |
//! | [`tools`] | the two tools as a model calls them, with JSON |
//!
//! Nothing here knows of the wire.

pub mod book;
pub mod context;
pub mod directory;
pub mod item;
pub mod keep;
pub mod recall;
pub mod resolve;
pub mod rules;
pub mod search;
pub mod tools;
pub mod workspace;

#[cfg(test)]
mod tests;

pub use book::Listing;
pub use directory::Directory;
pub use item::{Convention, Fact};
pub use keep::{Knowledge, KnowledgeError, Options};
pub use recall::{Cut, Recall, Recalled, RecalledItem, Scope};
pub use resolve::{Resolve, ResolvedConvention, ResolvedConventions};
