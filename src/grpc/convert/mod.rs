//! Between protobuf messages and domain types, both ways. Nothing here decides anything.

mod entry;
mod event;
mod hydrate;
mod journal;
mod knowledge;
mod loops;
mod plan;
mod preferences;
mod route;

pub(super) use entry::{count, entry_from, entry_to, kind_filter_from, reference_to, summary_to};
pub(super) use event::{event_from, new_event_from, time_from, time_to, types_from};
pub(super) use hydrate::{hydrate_reference_to, hydrated_to};
pub(super) use journal::{duration_to, journal_entry_to, large};
pub(super) use knowledge::{
    convention_to, fact_to, recall_from, recalled_to, resolve_from, resolved_to,
};
pub(super) use loops::{
    attempt_to, created_to, custom_patterns_from, filtered_to, hydration_from, loop_to,
    new_loop_from, profile_from, reason_from, step_from, tool_from, verdict_to,
};
pub(super) use plan::plan_to;
pub(super) use preferences::{named_to, owner_from, preferences_from, preferences_to};
pub(super) use route::{degradation_to, request_from, result_to, stage_to, wants_full};
