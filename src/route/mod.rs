//! From a prompt to a decision.
//!
//! One call reads one snapshot: exact command, lexical score from the postings, similarity
//! from the packed matrix, fusion, confidence, selection. A call never fails for want of a
//! model: without a vector it answers from tokens alone and says why. Equal snapshot, model
//! and request give equal results.

mod confidence;
mod evidence;
mod exact;
mod fitted;
pub(crate) mod lexical;
pub mod profile;
mod request;
mod result;
mod router;
mod select;
pub(crate) mod semantic;

pub use confidence::Calibration;
pub use fitted::{Fit, Fitted, Key, MAX_FILE_BYTES, MAX_GAPS};
pub use lexical::FieldWeights;
pub use request::{DEFAULT_LIMIT, KindFilter, MAX_LIMIT, Mode, Request};
pub use result::{
    Band, Decision, Degradation, DegradedReason, InputTruncation, MatchedToken, Outcome,
    PredictionSet, Ranked, RouteResult, ScoreParts, Stage, Warning,
};
pub(crate) use evidence::group_of;
pub(crate) use router::reads;
pub use router::{Router, Settings, degradation_of};

#[cfg(test)]
mod tests;
