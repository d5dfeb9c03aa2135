//! The loop guard: notices a loop that makes no progress, and keeps its budgets.
//!
//! [`LoopState`] is a pure function of what was reported: it folds records one after another,
//! so the same journal always gives the same state, also after a restart. Only [`hub`] knows
//! of clocks and of the journal; nothing here knows of the wire.
//!
//! | module | owns |
//! |---|---|
//! | [`config`] | defaults and limits of a loop |
//! | [`profile`] | which tools a model sees |
//! | [`tracker`] | how often a step may fail |
//! | [`report`] | what is reported of a step, and what is kept of it |
//! | [`fingerprint`] | texts without what changes by itself |
//! | [`outage`] | failures of the other side, and how long to wait |
//! | [`rules`] | what a loop that is stuck looks like |
//! | [`budget`] | iterations, tokens, time, depth, concurrency |
//! | [`state`] | one loop |
//! | [`verdict`] | what the guard says |
//! | [`hub`] | all live loops: their journal, leases, requests |

pub mod budget;
pub mod config;
pub mod fingerprint;
pub mod hub;
pub mod outage;
pub mod profile;
pub mod report;
pub mod rules;
pub mod state;
pub mod tracker;
pub mod verdict;

pub use config::LoopConfig;
pub use hub::LoopHub;
pub use profile::{Tool, ToolProfile, Trust};
pub use report::{CallReport, Outcome, StepRecord, StepReport};
pub use rules::{LoopRules, Rule};
pub use state::{LoopRecord, LoopState};
pub use tracker::{LimitAction, ProgressTracker, StepIteration};
pub use verdict::{Decision, Verdict};
