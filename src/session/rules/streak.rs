//! Rules that look from one call to the next: the streak goes on or begins anew.

use super::super::report::{CallRecord, ResultKind};
use super::settings::LoopRules;
use super::sweep::Sweep;
use super::{Evidence, Finding, Level, Limits, Rule};
use crate::text::similarity::Excerpt;

/// From where a call counts as made again: what is left to differ is a word or a number.
const NEARLY_EQUAL: f64 = 0.9;

/// What keeps a streak going.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The same lasting error of nearly the same call.
    Failure,
    /// The same call with the same result that holds something.
    Again,
    /// The same error.
    Error,
    /// The same result of a similar call.
    Similar,
    /// The same result that holds something.
    Same,
}

impl Kind {
    fn rule(self) -> Rule {
        match self {
            Kind::Failure => Rule::RepeatedFailure,
            Kind::Again => Rule::ImmediateRepeat,
            Kind::Error => Rule::ErrorStreak,
            Kind::Similar => Rule::SimilarCall,
            Kind::Same => Rule::SameResult,
        }
    }

    fn limits(self, settings: &LoopRules) -> Limits {
        match self {
            Kind::Failure => settings.repeated_failure,
            Kind::Again => settings.immediate_repeat,
            Kind::Error => settings.error_streak,
            Kind::Similar => settings.similar_call,
            Kind::Same => settings.same_result,
        }
    }

    /// Whether a call can stand in such a streak at all.
    fn takes(self, call: &CallRecord) -> bool {
        match self {
            Kind::Failure => call.result == ResultKind::Error,
            Kind::Again => matches!(call.result, ResultKind::Data | ResultKind::Empty),
            Kind::Error => call.result.is_error(),
            Kind::Similar => call.result != ResultKind::Pending,
            Kind::Same => call.result == ResultKind::Data,
        }
    }

    fn goes_on(self, call: &CallRecord, last: &CallRecord, settings: &LoopRules) -> bool {
        let alike = |least: f64| {
            let similar = || {
                let (now, before) = (Excerpt::of(&call.excerpt), Excerpt::of(&last.excerpt));
                now.similarity_from(&before, least).value >= least
            };
            call.tool == last.tool && (call.call == last.call || similar())
        };
        // The kinds of two equal outputs may differ (a pipe that ends in `grep` fails where it
        // finds nothing): only the errors' own rules insist on errors.
        call.output == last.output
            && match self {
                Kind::Failure => last.result == call.result && alike(NEARLY_EQUAL),
                Kind::Again => last.call == call.call,
                Kind::Error => last.result.is_error(),
                Kind::Similar => alike(settings.similarity),
                Kind::Same => last.result == call.result,
            }
    }
}

/// Calls in a row.
#[derive(Debug, Clone)]
pub(super) struct Streak {
    kind: Kind,
    count: u32,
    evidence: Evidence,
    sweep: Sweep,
    /// First error of the streak.
    error: String,
}

impl Streak {
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            count: 0,
            evidence: Evidence::default(),
            sweep: Sweep::default(),
            error: String::new(),
        }
    }

    /// Forgets the streak.
    pub fn clear(&mut self) {
        *self = Self::new(self.kind);
    }

    pub fn observe(
        &mut self,
        sequence: u64,
        call: &CallRecord,
        last: Option<&CallRecord>,
        settings: &LoopRules,
    ) -> Option<Finding> {
        let limits = self.kind.limits(settings);
        if limits.nudge == 0 || !self.kind.takes(call) {
            self.clear();
            return None;
        }
        let goes_on = last.is_some_and(|last| self.kind.goes_on(call, last, settings));
        if self.count == 0 || !goes_on {
            self.clear();
            self.error.clone_from(&call.error);
        }
        self.count = self.count.saturating_add(1);
        self.evidence.push(sequence);
        self.sweep.add(&call.excerpt);
        Some(Finding {
            rule: self.kind.rule(),
            level: self.level(call, limits)?,
            count: self.count,
            evidence: self.evidence.to_vec(),
            name: call.name().to_owned(),
            error: self.error.clone(),
        })
    }

    fn level(&self, call: &CallRecord, limits: Limits) -> Option<Level> {
        let weighs_results = matches!(self.kind, Kind::Similar | Kind::Same);
        if weighs_results && !call.result.is_error() && self.sweep.is_one() {
            return None;
        }
        // Equal acknowledgements of calls that differ may be work well done: they need one
        // more, and never stop a loop alone.
        if self.kind == Kind::Similar && call.result == ResultKind::Quiet {
            return limits.level(self.count - 1).map(|_| Level::Nudge);
        }
        limits.level(self.count)
    }
}
