//! From a prompt to a decision.
//!
//! One call reads one snapshot: exact command, lexical score from the postings, similarity
//! from the packed matrix, fusion, confidence, selection. A call never fails for want of a
//! model: without a vector it answers from tokens alone and says why. Equal snapshot, model
//! and request give equal results.

mod adjust;
mod asked;
mod confidence;
mod evidence;
mod exact;
mod explain;
mod lexical;
mod planning;
pub mod profile;
mod request;
mod result;
mod router;
mod select;
mod semantic;

pub use lexical::FieldWeights;
pub use request::{Conversation, DEFAULT_LIMIT, KindFilter, MAX_LIMIT, Mode, Request};
pub use result::{
    Adjustment, Band, Cause, Decision, Degradation, DegradedReason, DropReason, Dropped,
    InputTruncation, MatchedToken, Outcome, Ranked, RouteResult, ScoreParts, Stage, Unwanted,
    Warning,
};
pub use router::{Router, Settings, degradation_of};

#[cfg(test)]
mod tests;
