//! From start to end: what readiness waits for, and how a signal ends the process.

mod readiness;
mod signals;

pub use readiness::{Blocker, Phase, Readiness, State};
pub use signals::{Signals, exit_on_second};
