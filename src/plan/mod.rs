//! From a compound prompt to ordered steps.
//!
//! `intent` proposes parts, the router ranks each of them and the prompt as a whole, and this
//! module decides which parts are steps: parts that one entry serves are one step, a detail
//! belongs to the step before, and a part that asks for something no entry does stays as a
//! step that is missing its entry. The steps come in the order meant, unless an entry depends
//! on another.

mod decide;
mod dependencies;

use std::ops::Range;
use std::sync::Arc;

use crate::catalog::EntryId;
use crate::params::Extraction;
use crate::route::Ranked;

pub use decide::{Candidate, Draft, Limits, Ranking, decide};
pub use dependencies::{Ordered, arrange};

/// How well a step is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// Its entry is sure enough to act on.
    Accepted,
    /// Its entry is the best candidate, to be confirmed.
    Uncertain,
    /// No entry fits.
    Missing,
}

impl Fit {
    /// Lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Fit::Accepted => "accepted",
            Fit::Uncertain => "uncertain",
            Fit::Missing => "missing",
        }
    }
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What it was ranked by.
    pub text: String,
    /// Its bytes in the prompt.
    pub span: Range<usize>,
    /// How well it is served.
    pub fit: Fit,
    /// Probability that the entry is right; of a missing one, of the nearest entry.
    pub confidence: f64,
    /// The entry that serves it; absent where it is missing.
    pub entry: Option<Ranked>,
    /// Numbers, from 0, of the steps that have to come first because its entry depends on
    /// theirs.
    pub after: Vec<usize>,
    /// Names that its entry depends on and that no step serves.
    pub unmet: Vec<String>,
    /// Its parameters.
    pub parameters: Extraction,
}

/// The steps of a prompt, in the order meant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// The steps; none where the prompt only says what is not wanted.
    pub steps: Vec<Step>,
    /// Entries that depend on each other in a circle, which is closed by the first; the order
    /// is that of the text then.
    pub cycle: Vec<Arc<EntryId>>,
}

#[cfg(test)]
mod tests;
