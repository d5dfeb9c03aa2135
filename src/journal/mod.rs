//! The journal: every decision and every step of a loop, durable before it is acknowledged.
//!
//! | module | owns |
//! |---|---|
//! | `event` | what is written: [`LoopEvent`] and [`Entry`] |
//! | `check` | its limits |
//! | `time` | points in time |

mod check;
pub mod event;
mod time;

pub use check::{
    MAX_BATCH, MAX_EVENT_BYTES, RESERVED_PREFIX, check_loop_id, check_optional_id,
};
pub use event::{Entry, EventType, LoopEvent, NewEvent};
pub use time::Timestamp;
