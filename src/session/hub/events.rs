//! Between the guard and the journal: what is written for a record, and how an orchestrator's
//! event is read as a report.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::fingerprint::Fingerprint;
use super::super::report::{AskedReport, CallReport, Outcome, StepReport};
use super::super::rules::Rule;
use super::super::state::LoopRecord;
use super::super::verdict::{Decision, Ending, Verdict};
use crate::journal::event::{
    Custom, LoopWarning, ObservationsCollected, ReasoningComplete, StepLimitReached,
    TerminationReason, Usage,
};
use crate::journal::{LoopEvent, NewEvent};

/// Name of the guard's own events.
const RECORD_NAME: &str = "signalbox.guard";
/// Bytes of an output that the journal keeps; the guard has looked at all of it.
const MAX_KEPT_BYTES: usize = 16 << 10;

/// One record in the journal: enough to fold it again, and to answer its request again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Written {
    /// Sequence that the record has for the rules.
    pub at: u64,
    /// Microseconds since the loop began.
    pub elapsed_us: u64,
    /// Tokens of the report.
    #[serde(default)]
    pub usage: Usage,
    /// What is folded.
    pub record: LoopRecord,
    /// What was answered.
    pub verdict: Verdict,
    /// Request id, and a digest of the request; none where the request had no id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<(String, Fingerprint)>,
}

impl Written {
    /// Time since the loop began.
    pub fn elapsed(&self) -> Duration {
        Duration::from_micros(self.elapsed_us)
    }

    /// The same as an event; `None` where it has no JSON, which no record lacks.
    pub fn to_event(&self) -> Option<LoopEvent> {
        let data = serde_json::to_string(self).ok()?;
        Some(LoopEvent::Custom(Custom {
            name: RECORD_NAME.into(),
            data,
        }))
    }

    /// Reads an event back; `None` where it is another's.
    pub fn from_event(event: &LoopEvent) -> Option<Self> {
        match event {
            LoopEvent::Custom(custom) if custom.name == RECORD_NAME => {
                serde_json::from_str(&custom.data).ok()
            }
            _ => None,
        }
    }
}

/// Whether an event pretends to be one of the guard's.
pub(super) fn is_reserved(event: &LoopEvent) -> bool {
    match event {
        LoopEvent::Custom(custom) => custom.name == RECORD_NAME,
        LoopEvent::Started(_)
        | LoopEvent::Terminated(_)
        | LoopEvent::LoopWarning(_)
        | LoopEvent::StepLimitReached(_) => true,
        _ => false,
    }
}

/// What the guard says, for the journal: a nudge or an outage as a warning, a stop as a
/// reached limit.
pub(super) fn said(verdict: &Verdict, step_id: &str) -> Option<LoopEvent> {
    let rule = verdict.rule?;
    Some(match verdict.decision {
        Decision::Continue => return None,
        Decision::Nudge | Decision::RetryableOutage => LoopEvent::LoopWarning(LoopWarning {
            rule: rule.as_str().into(),
            text: verdict.text.clone(),
            evidence: verdict.evidence.clone(),
            step_id: step_id.into(),
        }),
        Decision::Stop => LoopEvent::StepLimitReached(StepLimitReached {
            // The journal wants a name; a loop without steps is one step.
            step_id: if step_id.is_empty() {
                "loop".into()
            } else {
                step_id.into()
            },
            attempts: verdict.count,
            reason: format!("{}: {}", rule.as_str(), verdict.text),
        }),
    })
}

/// What ends a loop at once: budgets that cannot be refilled. Of any other stop the
/// orchestrator may skip the step and go on.
pub(super) fn ends_at_once(verdict: &Verdict) -> Option<TerminationReason> {
    let whole = matches!(
        verdict.rule,
        Some(Rule::MaxIterations | Rule::MaxTokens | Rule::Timeout)
    );
    let ending = verdict
        .ending
        .filter(|_| verdict.decision == Decision::Stop && whole)?;
    Some(reason_of(ending))
}

/// The reason that a heeded stop ends a loop with.
pub(super) fn reason_of(ending: Ending) -> TerminationReason {
    match ending {
        Ending::MaxIterations => TerminationReason::MaxIterations,
        Ending::MaxTokens => TerminationReason::MaxTokens,
        Ending::Timeout => TerminationReason::Timeout,
        Ending::PolicyDenial => TerminationReason::PolicyDenial,
        Ending::StepLimit => TerminationReason::StepLimit,
        Ending::Stuck => TerminationReason::Stuck,
    }
}

/// Reads an event as a report, and the tokens it names.
pub(super) fn report_of(step_id: &str, event: &LoopEvent) -> (StepReport, Usage) {
    let mut report = StepReport {
        step_id: step_id.to_owned(),
        iteration: event.iteration().unwrap_or(0),
        ..StepReport::default()
    };
    let mut usage = Usage::default();
    match event {
        LoopEvent::ReasoningComplete(ReasoningComplete {
            actions,
            usage: used,
            text,
            ..
        }) => {
            usage = *used;
            report.tokens = used.total();
            report.message.clone_from(text);
            report.asked = actions
                .iter()
                .map(|action| AskedReport {
                    call_id: action.call_id.clone(),
                    tool: action.tool_name.clone(),
                    arguments: action.arguments.clone(),
                })
                .collect();
        }
        LoopEvent::ObservationsCollected(ObservationsCollected { observations, .. }) => {
            report.calls = observations
                .iter()
                .map(|seen| CallReport {
                    call_id: seen.call_id.clone(),
                    tool: seen.tool_name.clone(),
                    output: seen.output.clone(),
                    outcome: if seen.is_error {
                        Outcome::Failed
                    } else {
                        Outcome::Succeeded
                    },
                    ..CallReport::default()
                })
                .collect();
        }
        _ => {}
    }
    (report, usage)
}

/// Cuts what the journal need not keep whole, after the guard has looked at it.
pub(super) fn cut(mut event: LoopEvent, record: &LoopRecord) -> NewEvent {
    match &mut event {
        LoopEvent::ObservationsCollected(collected) => {
            let prints: Vec<Fingerprint> = match record {
                LoopRecord::Step(step) => step.calls.iter().map(|call| call.output).collect(),
                _ => Vec::new(),
            };
            for (at, seen) in collected.observations.iter_mut().enumerate() {
                seen.output_bytes = seen.output_bytes.max(seen.output.len() as u64);
                if let Some(print) = prints.get(at) {
                    seen.fingerprint = print.to_string();
                }
                cut_text(&mut seen.output);
            }
        }
        LoopEvent::ReasoningComplete(complete) => {
            cut_text(&mut complete.text);
            complete
                .actions
                .iter_mut()
                .for_each(|action| cut_text(&mut action.arguments));
        }
        _ => {}
    }
    NewEvent::from(event)
}

fn cut_text(text: &mut String) {
    text.truncate(text.floor_char_boundary(MAX_KEPT_BYTES));
}
