//! The last calls with their results: repetitions anywhere among them, and cycles.

use std::collections::VecDeque;

use super::super::fingerprint::Fingerprint;
use super::super::report::CallRecord;
use super::settings::{LoopRules, MAX_PERIOD, MAX_ROUNDS};
use super::{Finding, Level, Rule};

/// Calls among which repetitions count, for each repetition that is asked for. What an agent
/// looks at again less often than that (`ls`, `git status`) it looks at for a reason.
pub(super) const WINDOW_PER_REPETITION: usize = 3;

/// Share of the calls from the first repetition to the last that must be repetitions
/// themselves; where most calls are new, the agent is getting somewhere.
const NUDGE_DENSITY: f64 = 0.5;
/// The same for a stop, so that trying three different mends of one failing test is no
/// reason to end a loop.
const STOP_DENSITY: f64 = 0.6;

/// Calls that are kept: what the longest cycle needs.
pub(super) const KEPT: usize = (MAX_PERIOD * MAX_ROUNDS) as usize;

/// The last calls with their results.
#[derive(Debug, Clone, Default)]
pub(super) struct Repeats {
    calls: VecDeque<(Fingerprint, u64)>,
}

impl Repeats {
    /// Counts a call; whether it is new among the kept ones.
    pub fn observe(
        &mut self,
        sequence: u64,
        call: &CallRecord,
        settings: &LoopRules,
        findings: &mut Vec<Finding>,
    ) -> bool {
        let key = call.key();
        let new = !self.calls.iter().any(|(known, _)| *known == key);
        if self.calls.len() == KEPT {
            self.calls.pop_front();
        }
        self.calls.push_back((key, sequence));
        let mut add = |rule, (level, count, evidence)| {
            let (name, error) = (call.name().to_owned(), call.error.clone());
            findings.push(Finding {
                rule,
                level,
                count,
                evidence,
                name,
                error,
            });
        };
        if let Some(found) = self.repetition(settings) {
            add(Rule::RepeatedCall, found);
        }
        if let Some(found) = self.cycle(settings) {
            add(Rule::Cycle, found);
        }
        new
    }

    fn repetition(&self, settings: &LoopRules) -> Option<(Level, u32, Vec<u64>)> {
        let wanted = settings.repeated_call;
        let width = WINDOW_PER_REPETITION * wanted.nudge.max(wanted.stop) as usize;
        let window: Vec<(Fingerprint, u64)> = self
            .calls
            .iter()
            .skip(self.calls.len().saturating_sub(width))
            .copied()
            .collect();
        let (key, _) = *window.last()?;
        let places: Vec<usize> = (0..window.len())
            .filter(|at| window[*at].0 == key)
            .collect();
        let level = wanted.level(u32::try_from(places.len()).unwrap_or(u32::MAX))?;
        let density = |count: u32| {
            // From the last `count` repetitions on: earlier ones do not thin them out.
            let from = places[places.len().saturating_sub(count as usize)];
            let span = &window[from..];
            let repeated = span
                .iter()
                .filter(|(key, _)| window.iter().filter(|(other, _)| other == key).count() > 1);
            repeated.count() as f64 / span.len() as f64
        };
        let level = match level {
            Level::Stop if density(wanted.stop) >= STOP_DENSITY => Level::Stop,
            _ if density(wanted.nudge) >= NUDGE_DENSITY => Level::Nudge,
            _ => return None,
        };
        let mut evidence: Vec<u64> = places.iter().map(|at| window[*at].1).collect();
        evidence.dedup();
        Some((
            level,
            u32::try_from(places.len()).unwrap_or(u32::MAX),
            evidence,
        ))
    }

    fn cycle(&self, settings: &LoopRules) -> Option<(Level, u32, Vec<u64>)> {
        let count = self.calls.len();
        let key = |back: usize| self.calls[count - 1 - back].0;
        (2..=MAX_PERIOD as usize)
            .filter(|period| *period < count)
            .find_map(|period| {
                let matching = (0..count - period)
                    .take_while(|back| key(*back) == key(back + period))
                    .count();
                let rounds = u32::try_from(matching / period + 1).unwrap_or(u32::MAX);
                // The same call over and over is a repetition, not a cycle.
                let alternates = (1..period).any(|back| key(back) != key(0));
                let level = settings.cycle.level(rounds).filter(|_| alternates)?;
                let from = count - period * rounds as usize;
                let mut evidence: Vec<u64> =
                    self.calls.iter().skip(from).map(|(_, s)| *s).collect();
                evidence.dedup();
                Some((level, rounds, evidence))
            })
    }
}
