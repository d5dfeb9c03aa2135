//! What happened in a loop: [`LoopEvent`], and the [`Entry`] it becomes in the journal.
//!
//! The JSON forms are what the store holds and what `signalbox journal export` writes: an
//! event is an object with one key, the name of its variant. A field may be added with a
//! default; none is renamed or removed, because old journals hold it.

mod variants;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::time::Timestamp;

pub use variants::{
    Action, Custom, FeedbackRecorded, LoopWarning, Observation, ObservationsCollected,
    PolicyEvaluated, PreHydrationComplete, ReasoningComplete, RecoveryStrategy, RecoveryTriggered,
    RouteDecided, RouteMatch, RouteRequest, Started, StepLimitReached, Terminated,
    TerminationReason, ToolsDispatched, Usage,
};

/// One event with its place in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Number within the loop, from 1, without gaps.
    pub sequence: u64,
    /// Number within the whole journal, from 1; later events have larger ones.
    pub position: u64,
    /// When the journal took the event. Never runs backwards along positions.
    pub timestamp: Timestamp,
    /// The loop.
    pub loop_id: String,
    /// Who reported the event; may be empty.
    pub agent_id: String,
    /// Iteration of the loop, from 1; 0 where the event belongs to none.
    pub iteration: u32,
    /// What happened.
    pub event: LoopEvent,
}

/// An event on its way into the journal, which gives it sequence, position and time.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    /// Iteration of the loop, from 1; 0 means that of the event, if it names one.
    pub iteration: u32,
    /// What happened.
    pub event: LoopEvent,
}

impl From<LoopEvent> for NewEvent {
    fn from(event: LoopEvent) -> Self {
        let iteration = event.iteration().unwrap_or(0);
        Self { iteration, event }
    }
}

/// Something that happened in a loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopEvent {
    /// The loop began.
    Started(Started),
    /// References of the input were resolved before the first turn.
    PreHydrationComplete(PreHydrationComplete),
    /// The model answered.
    ReasoningComplete(ReasoningComplete),
    /// A policy looked at the actions of an iteration.
    PolicyEvaluated(PolicyEvaluated),
    /// Tools were called.
    ToolsDispatched(ToolsDispatched),
    /// Their results came back.
    ObservationsCollected(ObservationsCollected),
    /// A failed call was dealt with.
    RecoveryTriggered(RecoveryTriggered),
    /// A step failed too often or in the same way again.
    StepLimitReached(StepLimitReached),
    /// The loop was nudged.
    LoopWarning(LoopWarning),
    /// A prompt was routed.
    RouteDecided(Box<RouteDecided>),
    /// Somebody said how good a route was.
    FeedbackRecorded(FeedbackRecorded),
    /// Anything else that an orchestrator wants to keep.
    Custom(Custom),
    /// The loop ended. Nothing but feedback follows.
    Terminated(Terminated),
}

/// Names a variant of [`LoopEvent`].
///
/// The numbers are those of the `oneof` in `loop_event.proto`, and stand in the store: they
/// are never given to another variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // The variants are those of `LoopEvent`.
pub enum EventType {
    Started = 1,
    PreHydrationComplete = 2,
    ReasoningComplete = 3,
    PolicyEvaluated = 4,
    ToolsDispatched = 5,
    ObservationsCollected = 6,
    RecoveryTriggered = 7,
    StepLimitReached = 8,
    LoopWarning = 9,
    RouteDecided = 10,
    FeedbackRecorded = 11,
    Custom = 12,
    Terminated = 13,
}

impl EventType {
    /// All types, in the order of their numbers.
    pub const ALL: [EventType; 13] = [
        EventType::Started,
        EventType::PreHydrationComplete,
        EventType::ReasoningComplete,
        EventType::PolicyEvaluated,
        EventType::ToolsDispatched,
        EventType::ObservationsCollected,
        EventType::RecoveryTriggered,
        EventType::StepLimitReached,
        EventType::LoopWarning,
        EventType::RouteDecided,
        EventType::FeedbackRecorded,
        EventType::Custom,
        EventType::Terminated,
    ];

    /// Its number.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Lower-case name, the key of the event in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            EventType::Started => "started",
            EventType::PreHydrationComplete => "pre_hydration_complete",
            EventType::ReasoningComplete => "reasoning_complete",
            EventType::PolicyEvaluated => "policy_evaluated",
            EventType::ToolsDispatched => "tools_dispatched",
            EventType::ObservationsCollected => "observations_collected",
            EventType::RecoveryTriggered => "recovery_triggered",
            EventType::StepLimitReached => "step_limit_reached",
            EventType::LoopWarning => "loop_warning",
            EventType::RouteDecided => "route_decided",
            EventType::FeedbackRecorded => "feedback_recorded",
            EventType::Custom => "custom",
            EventType::Terminated => "terminated",
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for EventType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        EventType::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| {
                let names: Vec<_> = EventType::ALL.iter().map(|kind| kind.as_str()).collect();
                format!("unknown event type {text:?}: one of {}", names.join(", "))
            })
    }
}

impl LoopEvent {
    /// Its variant.
    pub fn event_type(&self) -> EventType {
        match self {
            LoopEvent::Started(_) => EventType::Started,
            LoopEvent::PreHydrationComplete(_) => EventType::PreHydrationComplete,
            LoopEvent::ReasoningComplete(_) => EventType::ReasoningComplete,
            LoopEvent::PolicyEvaluated(_) => EventType::PolicyEvaluated,
            LoopEvent::ToolsDispatched(_) => EventType::ToolsDispatched,
            LoopEvent::ObservationsCollected(_) => EventType::ObservationsCollected,
            LoopEvent::RecoveryTriggered(_) => EventType::RecoveryTriggered,
            LoopEvent::StepLimitReached(_) => EventType::StepLimitReached,
            LoopEvent::LoopWarning(_) => EventType::LoopWarning,
            LoopEvent::RouteDecided(_) => EventType::RouteDecided,
            LoopEvent::FeedbackRecorded(_) => EventType::FeedbackRecorded,
            LoopEvent::Custom(_) => EventType::Custom,
            LoopEvent::Terminated(_) => EventType::Terminated,
        }
    }

    /// The iteration that the event itself names.
    pub fn iteration(&self) -> Option<u32> {
        match self {
            LoopEvent::ReasoningComplete(event) => Some(event.iteration),
            LoopEvent::PolicyEvaluated(event) => Some(event.iteration),
            LoopEvent::ToolsDispatched(event) => Some(event.iteration),
            LoopEvent::ObservationsCollected(event) => Some(event.iteration),
            LoopEvent::RecoveryTriggered(event) => Some(event.iteration),
            _ => None,
        }
    }
}
