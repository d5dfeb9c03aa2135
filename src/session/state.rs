//! One loop: what was reported of it, folded.
//!
//! A nudge comes once for each streak, and a stop only after a nudge: a rule that is at its
//! limit without the agent having been warned of any of its steps warns first. Whether a
//! streak was warned of is seen from its evidence, so two rules that see the same steps warn
//! once between them, and a veto (or anything else that is no progress) resets nothing.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::budget::{Budget, Exhausted, Used};
use super::config::LoopConfig;
use super::report::{
    AskedRecord, CallReport, Outcome, ResultKind, StepRecord, StepReport, check_step_id,
};
use super::rules::{Finding, Level, Rule, StepRules};
use super::tracker::{LimitAction, MAX_STEPS, ProgressTracker};
use super::verdict::{Decision, Ending, Verdict};
use crate::error::Violations;
use crate::text::similarity::{Excerpt, Similarity};

/// Warned sequences that are remembered.
const MAX_WARNED: usize = 64;
/// Calls that were asked for and not answered yet; of more, the newest.
const MAX_ASKED: usize = 256;
/// Outages in a row that are listed as evidence.
const MAX_OUTAGES: usize = 32;

/// A failed attempt at a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// The step.
    pub step_id: String,
    /// The error, as far as it is compared; `None` where nothing compares it.
    pub error: Option<Excerpt>,
    /// How alike it is to the step's error before; `None` for the first.
    pub similarity: Option<Similarity>,
    /// The same for the loop rules.
    pub step: StepRecord,
}

/// Everything a loop is made of; a journal of these is the loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopRecord {
    /// A step was begun, or begun anew.
    Begin {
        /// The step.
        step_id: String,
    },
    /// A report.
    Step(StepRecord),
    /// A failed attempt.
    Attempt(AttemptRecord),
}

/// The state of one loop.
#[derive(Debug, Clone)]
pub struct LoopState {
    config: LoopConfig,
    budget: Budget,
    tracker: Option<ProgressTracker>,
    /// Counters of each step; the one used last stands last.
    steps: Vec<(String, StepRules)>,
    /// Sequences at which the agent was warned, ascending.
    warned: VecDeque<u64>,
    /// Budgets it was warned of.
    warned_budgets: Vec<Rule>,
    /// Calls whose results are still to come, oldest first.
    asked: VecDeque<AskedRecord>,
    /// Outages in a row: how many, and the last of their sequences.
    outages: (u32, VecDeque<u64>),
}

impl LoopState {
    /// A loop of which nothing was reported yet. The configuration is taken to be checked.
    pub fn new(config: LoopConfig) -> Self {
        Self {
            budget: Budget::default(),
            tracker: config.step_iteration.map(ProgressTracker::new),
            config,
            steps: Vec::new(),
            warned: VecDeque::new(),
            warned_budgets: Vec::new(),
            asked: VecDeque::new(),
            outages: (0, VecDeque::new()),
        }
    }

    /// Its configuration.
    pub fn config(&self) -> &LoopConfig {
        &self.config
    }

    /// What it used.
    pub fn used(&self) -> Used {
        self.budget.used()
    }

    /// What is kept of a failed attempt: the step's id, the tool or action (may be empty) and
    /// the error. It is compared here and not when it is folded, so it must be the next
    /// record of its step.
    ///
    /// # Errors
    ///
    /// The step's id is too long.
    pub fn record_attempt(
        &self,
        step_id: &str,
        action: &str,
        error: &str,
    ) -> Result<LoopRecord, Violations> {
        let mut violations = Violations::default();
        check_step_id(step_id, &mut violations);
        violations.into_result()?;
        let call = CallReport {
            arguments: action.to_owned(),
            output: error.to_owned(),
            outcome: Outcome::Failed,
            ..CallReport::default()
        };
        let report = StepReport {
            step_id: step_id.to_owned(),
            calls: vec![call],
            ..StepReport::default()
        };
        let excerpt = self.tracker.as_ref().map(|_| Excerpt::of(error));
        let compare = |(tracker, error): (&ProgressTracker, _)| tracker.compare(step_id, error);
        Ok(LoopRecord::Attempt(AttemptRecord {
            step_id: step_id.to_owned(),
            similarity: self
                .tracker
                .as_ref()
                .zip(excerpt.as_ref())
                .and_then(compare),
            error: excerpt,
            step: report.record(),
        }))
    }

    /// Folds one record; `sequence` is its place in the loop, `elapsed` the time since the
    /// loop began.
    pub fn apply(&mut self, sequence: u64, elapsed: Duration, record: &LoopRecord) -> Verdict {
        match record {
            LoopRecord::Begin { step_id } => {
                if let Some(tracker) = &mut self.tracker {
                    tracker.begin(step_id);
                }
                self.steps.retain(|(id, _)| id != step_id);
                self.budget.pass(elapsed);
                self.spent_or_go_on(sequence)
            }
            LoopRecord::Step(step) => {
                let budgets = self.budget.observe(step, elapsed, &self.config);
                let joined = self.join(step);
                self.judge(sequence, joined.as_ref().unwrap_or(step), &budgets)
            }
            LoopRecord::Attempt(attempt) => self.attempt(sequence, elapsed, attempt),
        }
    }

    /// Says whether the loop may go on at this time, without a report.
    pub fn tick(&mut self, sequence: u64, elapsed: Duration) -> Verdict {
        self.budget.pass(elapsed);
        self.spent_or_go_on(sequence)
    }

    fn attempt(&mut self, sequence: u64, elapsed: Duration, record: &AttemptRecord) -> Verdict {
        // A failed attempt is part of a turn that is reported by itself.
        self.budget.pass(elapsed);
        let budgets = self.budget.check(&self.config);
        let mut verdict = self.judge(sequence, &record.step, &budgets);
        let Some(tracker) = &mut self.tracker else {
            return verdict;
        };
        let error = record.error.clone().unwrap_or_else(|| Excerpt::of(""));
        let attempt = tracker.fold(&record.step_id, error, record.similarity);
        if let Some(reason) = attempt.reason(tracker.settings())
            && verdict.decision < Decision::Stop
        {
            verdict = Verdict {
                decision: Decision::Stop,
                rule: Some(Rule::StepLimit),
                count: attempt.attempts,
                evidence: vec![sequence],
                text: format!("Stopped: {reason}."),
                action: Some(tracker.settings().on_limit_reached),
                ending: Some(Ending::StepLimit),
                ..Verdict::go_on()
            };
        }
        Verdict {
            attempt: Some(attempt),
            ..verdict
        }
    }

    /// Remembers what is asked for, and gives results the calls that asked for them. `None`
    /// where nothing has to be joined.
    fn join(&mut self, step: &StepRecord) -> Option<StepRecord> {
        for asked in &step.asked {
            if self.asked.len() == MAX_ASKED {
                self.asked.pop_front();
            }
            self.asked.push_back(asked.clone());
        }
        if step.calls.iter().all(|call| call.call_id.is_empty()) {
            return None;
        }
        let mut joined = step.clone();
        for call in joined
            .calls
            .iter_mut()
            .filter(|call| !call.call_id.is_empty())
        {
            let found = self
                .asked
                .iter()
                .position(|asked| asked.call_id == call.call_id);
            if let Some(asked) = found.and_then(|at| self.asked.remove(at)) {
                (call.tool, call.call, call.excerpt) = (asked.tool, asked.call, asked.excerpt);
            }
        }
        Some(joined)
    }

    /// The strongest of what budgets, outages and rules say.
    fn judge(&mut self, sequence: u64, step: &StepRecord, budgets: &[Exhausted]) -> Verdict {
        // Everything counts, also where something stronger is answered.
        let findings = self.rules_of(&step.step_id, sequence, step);
        let outage = self.outage(sequence, step);
        let exhausted = self.exhausted(sequence, budgets);
        if let Some(verdict) = exhausted.as_ref().filter(|v| v.decision == Decision::Stop) {
            return verdict.clone();
        }
        let found = self.found(sequence, findings);
        [found, outage, exhausted]
            .into_iter()
            .flatten()
            .reduce(|best, next| {
                if next.decision > best.decision {
                    next
                } else {
                    best
                }
            })
            .unwrap_or_else(Verdict::go_on)
    }

    fn rules_of(&mut self, step_id: &str, sequence: u64, step: &StepRecord) -> Vec<Finding> {
        let known = self.steps.iter().position(|(id, _)| id == step_id);
        let (id, mut rules) = match known {
            Some(at) => self.steps.remove(at),
            None => (step_id.to_owned(), StepRules::default()),
        };
        let findings = rules.observe(sequence, step, &self.config.rules);
        if self.steps.len() == MAX_STEPS {
            self.steps.remove(0);
        }
        self.steps.push((id, rules));
        findings
    }

    /// Turns findings into one verdict: a stop where the agent was warned, else a warning,
    /// and nothing where it was warned and the limit to stop is not reached.
    fn found(&mut self, sequence: u64, mut findings: Vec<Finding>) -> Option<Verdict> {
        // Stable: among equals the rule that is looked at first speaks.
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
        let warned = |finding: &Finding| {
            finding
                .evidence
                .iter()
                .any(|seen| self.warned.contains(seen))
        };
        let stop = findings
            .iter()
            .position(|f| f.level == Level::Stop && warned(f));
        if let Some(at) = stop {
            let action = self.action();
            return Some(Verdict::stop(findings.swap_remove(at), action));
        }
        if findings.iter().any(warned) {
            return None;
        }
        let finding = findings.into_iter().next()?;
        self.warn(sequence);
        Some(Verdict::nudge(finding))
    }

    fn warn(&mut self, sequence: u64) {
        if self.warned.len() == MAX_WARNED {
            self.warned.pop_front();
        }
        self.warned.push_back(sequence);
    }

    fn action(&self) -> LimitAction {
        self.config
            .step_iteration
            .map(|steps| steps.on_limit_reached)
            .unwrap_or_default()
    }

    fn outage(&mut self, sequence: u64, step: &StepRecord) -> Option<Verdict> {
        let mut refused = step
            .calls
            .iter()
            .filter(|c| c.result == ResultKind::Outage)
            .peekable();
        let Some(first) = refused.peek().map(|call| call.name().to_owned()) else {
            if step
                .calls
                .iter()
                .any(|call| call.result != ResultKind::Vetoed)
            {
                self.outages = (0, VecDeque::new());
            }
            return None;
        };
        let asked = refused.filter_map(|call| call.retry_after_ms).max();
        let (count, evidence) = &mut self.outages;
        *count = count.saturating_add(1);
        if evidence.len() == MAX_OUTAGES {
            evidence.pop_front();
        }
        evidence.push_back(sequence);
        let wait = self
            .config
            .rules
            .backoff
            .wait(*count, asked.map(Duration::from_millis));
        let evidence = evidence.iter().copied().collect();
        Some(Verdict {
            count: *count,
            ..Verdict::outage(evidence, &first, wait)
        })
    }

    fn exhausted(&mut self, sequence: u64, budgets: &[Exhausted]) -> Option<Verdict> {
        for exhausted in budgets {
            let warned = self.warned_budgets.contains(&exhausted.rule);
            // A second time of what is no sum is a stop as well.
            let again = warned && exhausted.rule == Rule::ConcurrentTools;
            if exhausted.spent || again {
                return Some(Verdict::budget(exhausted, sequence, true));
            }
            if !warned {
                self.warned_budgets.push(exhausted.rule);
                return Some(Verdict::budget(exhausted, sequence, false));
            }
        }
        None
    }

    fn spent_or_go_on(&mut self, sequence: u64) -> Verdict {
        let budgets = self.budget.check(&self.config);
        budgets
            .iter()
            .find(|exhausted| exhausted.spent)
            .map_or_else(Verdict::go_on, |spent| {
                Verdict::budget(spent, sequence, true)
            })
    }
}

#[cfg(test)]
mod tests;
