//! What the guard says to a report.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::budget::Exhausted;
use super::rules::{Finding, Rule};
use super::tracker::{Attempt, LimitAction};

/// What to do, the later the stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Go on.
    Continue,
    /// Go on, and give the model the text.
    Nudge,
    /// Wait, then try the same again.
    RetryableOutage,
    /// Do not go on.
    Stop,
}

impl Decision {
    /// Lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Continue => "continue",
            Decision::Nudge => "nudge",
            Decision::RetryableOutage => "retryable_outage",
            Decision::Stop => "stop",
        }
    }
}

/// What a loop that is stopped ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Its iterations are used up.
    MaxIterations,
    /// Its tokens are.
    MaxTokens,
    /// Its time is.
    Timeout,
    /// It delegated too deep, or ran too many tools at once.
    PolicyDenial,
    /// A step failed too often.
    StepLimit,
    /// It made no progress.
    Stuck,
}

/// What the guard says to a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// What to do.
    pub decision: Decision,
    /// Why; `None` to go on.
    pub rule: Option<Rule>,
    /// Times it was seen, rounds of a cycle, or failures; 0 to go on.
    pub count: u32,
    /// Sequences of the records it rests on, ascending; of a long streak the first and last.
    pub evidence: Vec<u64>,
    /// Ready text: for the model in a nudge, for people in a stop. Empty to go on.
    pub text: String,
    /// How long to wait; only of an outage.
    pub retry_after: Option<Duration>,
    /// What to do about the step; only of a stop.
    pub action: Option<LimitAction>,
    /// How the loop ends if it heeds the stop.
    pub ending: Option<Ending>,
    /// What the progress tracker said; only of an attempt, and where it is on.
    pub attempt: Option<Attempt>,
}

impl Verdict {
    /// Go on.
    pub(super) fn go_on() -> Self {
        Self {
            decision: Decision::Continue,
            rule: None,
            count: 0,
            evidence: Vec::new(),
            text: String::new(),
            retry_after: None,
            action: None,
            ending: None,
            attempt: None,
        }
    }

    pub(super) fn nudge(finding: Finding) -> Self {
        let advice = match finding.rule {
            Rule::Polling => {
                "Nothing has changed. Wait longer before asking again, do something else \
                 meanwhile, or report that it does not arrive."
            }
            Rule::RepeatedText | Rule::Monologue => {
                "Talking does not move the task. Call a tool that does, or say that the task is \
                 finished or what blocks it."
            }
            _ => {
                "Doing the same again will not change it. Look at what the result says, try a \
                 different way, or report what blocks you."
            }
        };
        let text = format!("{} {advice}", described(&finding));
        Self {
            decision: Decision::Nudge,
            text,
            ..Self::of(finding)
        }
    }

    pub(super) fn stop(finding: Finding, action: LimitAction) -> Self {
        let text = format!("Stopped: {}", described(&finding));
        Self {
            decision: Decision::Stop,
            text,
            action: Some(action),
            ending: Some(Ending::Stuck),
            ..Self::of(finding)
        }
    }

    fn of(finding: Finding) -> Self {
        let Finding {
            rule,
            count,
            evidence,
            ..
        } = finding;
        Self {
            rule: Some(rule),
            count,
            evidence,
            ..Self::go_on()
        }
    }

    pub(super) fn outage(evidence: Vec<u64>, name: &str, wait: Duration) -> Self {
        let count = u32::try_from(evidence.len()).unwrap_or(u32::MAX);
        Self {
            decision: Decision::RetryableOutage,
            rule: Some(Rule::Outage),
            count,
            evidence,
            text: format!(
                "{} is refused by the other side for now ({}). Wait {:.1} s, then try again.",
                quoted(name),
                times(count),
                wait.as_secs_f64(),
            ),
            retry_after: Some(wait),
            ..Self::go_on()
        }
    }

    pub(super) fn budget(exhausted: &Exhausted, sequence: u64, stop: bool) -> Self {
        let Exhausted {
            rule, used, limit, ..
        } = exhausted;
        let (what, ending) = match rule {
            Rule::MaxTokens => ("tokens", Ending::MaxTokens),
            Rule::Timeout => ("time", Ending::Timeout),
            Rule::DelegationDepth => ("levels of delegation", Ending::PolicyDenial),
            Rule::ConcurrentTools => ("tools at the same time", Ending::PolicyDenial),
            _ => ("iterations", Ending::MaxIterations),
        };
        let base = Self {
            rule: Some(*rule),
            evidence: vec![sequence],
            count: 1,
            ..Self::go_on()
        };
        if stop {
            return Self {
                decision: Decision::Stop,
                text: format!("Stopped: {used} of {limit} {what} used."),
                ending: Some(ending),
                ..base
            };
        }
        let advice = match rule {
            Rule::ConcurrentTools => "Call fewer tools at once.",
            _ => "Finish what matters most and report.",
        };
        Self {
            decision: Decision::Nudge,
            text: format!("{used} of {limit} {what} used. {advice}"),
            ..base
        }
    }
}

/// A finding in words: tool, count, first error.
fn described(finding: &Finding) -> String {
    let name = quoted(&finding.name);
    let times = times(finding.count);
    let what = match finding.rule {
        Rule::RepeatedCall | Rule::ImmediateRepeat => {
            format!("{name} was called {times} with the same result.")
        }
        Rule::RepeatedFailure => format!("{name} failed {times} in the same way."),
        Rule::ErrorStreak => {
            format!("{name} met the same error {times} in a row, whatever the arguments.")
        }
        Rule::SimilarCall => {
            format!("{name} was called {times} in nearly the same way, with the same result.")
        }
        Rule::SameResult => format!("{name} gave the same result {times} in a row."),
        Rule::Cycle => {
            format!(
                "The same calls came round {times}, the last of them {name}, with the same results."
            )
        }
        Rule::Polling => format!("{name} was asked {times} and answered the same."),
        Rule::RepeatedText => format!("The same was said {times}."),
        Rule::Monologue => format!("No tool was called in {} turns.", finding.count),
        _ => format!("{} ({times}).", finding.rule.as_str()),
    };
    match finding.error.as_str() {
        "" => what,
        error => format!("{what} First error: {error:?}."),
    }
}

fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

/// A name of the caller's, short and on one line.
fn quoted(name: &str) -> String {
    const MOST: usize = 64;
    let shown: String = name
        .chars()
        .filter(|c| !c.is_control())
        .take(MOST)
        .collect();
    if shown.is_empty() {
        "The same action".to_owned()
    } else {
        format!("`{shown}`")
    }
}
