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
mod fitted;
pub(crate) mod lexical;
mod planning;
pub mod profile;
mod request;
mod result;
mod router;
mod select;
pub(crate) mod semantic;

pub use confidence::Calibration;
pub(crate) use evidence::group_of;
pub use fitted::{Fit, Fitted, Key, MAX_FILE_BYTES, MAX_GAPS};
pub use lexical::FieldWeights;
pub use request::{Conversation, DEFAULT_LIMIT, KindFilter, MAX_LIMIT, Mode, Request};
pub use result::{
    Adjustment, Band, Cause, Decision, Degradation, DegradedReason, DropReason, Dropped,
    InputTruncation, MatchedToken, Outcome, PredictionSet, Ranked, RouteResult, ScoreParts, Stage,
    Unwanted, Warning,
};
pub(crate) use router::reads;
pub use router::{Router, Settings, degradation_of};

#[cfg(test)]
mod tests;
