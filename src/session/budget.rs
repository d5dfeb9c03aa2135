//! Budgets: iterations, tokens, time, depth of delegation, tools at the same time.
//!
//! The time is measured by whoever holds the loop (on tokio's clock) and handed in, so the
//! budget itself stays a pure function of what was reported.

use std::time::Duration;

use super::config::LoopConfig;
use super::report::StepRecord;
use super::rules::Rule;

/// What was used so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// Iterations: the largest number reported, or the reports that held a turn.
    pub iterations: u32,
    /// Tokens.
    pub tokens: u64,
    /// Since the loop began.
    pub elapsed: Duration,
}

/// A budget that is used up, nearly used up, or overdrawn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Exhausted {
    pub rule: Rule,
    /// Whether it is spent; otherwise it is only close.
    pub spent: bool,
    pub used: String,
    pub limit: String,
}

/// Counts what is used.
#[derive(Debug, Clone, Default)]
pub(super) struct Budget {
    used: Used,
}

impl Budget {
    pub fn used(&self) -> Used {
        self.used
    }

    /// Counts the time alone.
    pub fn pass(&mut self, elapsed: Duration) {
        self.used.elapsed = self.used.elapsed.max(elapsed);
    }

    /// Counts a report; answers with every budget that has something to say, spent ones first.
    pub fn observe(
        &mut self,
        record: &StepRecord,
        elapsed: Duration,
        config: &LoopConfig,
    ) -> Vec<Exhausted> {
        self.pass(elapsed);
        self.used.tokens = self.used.tokens.saturating_add(record.tokens);
        // Results of calls that were asked for belong to the turn that asked.
        let joined = record.calls.iter().any(|call| !call.call_id.is_empty());
        let turn = record.said.is_some()
            || !record.asked.is_empty()
            || (!record.calls.is_empty() && !joined);
        self.used.iterations = match record.iteration {
            0 => self.used.iterations.saturating_add(u32::from(turn)),
            iteration => self.used.iterations.max(iteration),
        };
        let mut list = self.check(config);
        if record.delegation_depth > config.max_delegation_depth {
            list.push(Exhausted {
                rule: Rule::DelegationDepth,
                spent: true,
                used: record.delegation_depth.to_string(),
                limit: config.max_delegation_depth.to_string(),
            });
        }
        if record.concurrent_tools > config.max_concurrent_tools {
            // They have run already: the next time they should be fewer.
            list.push(Exhausted {
                rule: Rule::ConcurrentTools,
                spent: false,
                used: record.concurrent_tools.to_string(),
                limit: config.max_concurrent_tools.to_string(),
            });
        }
        list.sort_by_key(|exhausted| !exhausted.spent);
        list
    }

    /// Budgets of the whole loop.
    pub fn check(&self, config: &LoopConfig) -> Vec<Exhausted> {
        let Used {
            iterations,
            tokens,
            elapsed,
        } = self.used;
        let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
        [
            (
                Rule::MaxIterations,
                f64::from(iterations) / f64::from(config.max_iterations),
                iterations.to_string(),
                config.max_iterations.to_string(),
            ),
            (
                Rule::MaxTokens,
                tokens as f64 / config.max_total_tokens as f64,
                tokens.to_string(),
                config.max_total_tokens.to_string(),
            ),
            (
                Rule::Timeout,
                elapsed.as_secs_f64() / config.timeout.as_secs_f64(),
                seconds(elapsed),
                seconds(config.timeout),
            ),
        ]
        .into_iter()
        .filter(|(_, share, ..)| *share >= config.budget_warning.min(1.0))
        .map(|(rule, share, used, limit)| Exhausted {
            rule,
            spent: share >= 1.0,
            used,
            limit,
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::report::StepReport;

    fn turn(tokens: u64) -> StepRecord {
        StepReport {
            message: "m".into(),
            tokens,
            ..StepReport::default()
        }
        .record()
    }

    fn rules(list: &[Exhausted]) -> Vec<(Rule, bool)> {
        list.iter()
            .map(|exhausted| (exhausted.rule, exhausted.spent))
            .collect()
    }

    #[test]
    fn iterations_are_counted_or_taken_as_reported() {
        let config = LoopConfig {
            max_iterations: 10,
            ..LoopConfig::default()
        };
        let mut budget = Budget::default();
        for _ in 0..7 {
            assert!(budget.observe(&turn(0), Duration::ZERO, &config).is_empty());
        }
        assert_eq!(
            rules(&budget.observe(&turn(0), Duration::ZERO, &config)),
            [(Rule::MaxIterations, false)],
        );
        let record = StepRecord {
            iteration: 10,
            ..turn(0)
        };
        let list = budget.observe(&record, Duration::ZERO, &config);
        assert_eq!(rules(&list), [(Rule::MaxIterations, true)]);
        assert_eq!(
            (list[0].used.as_str(), list[0].limit.as_str()),
            ("10", "10")
        );
        // Several events of one iteration are one iteration.
        budget.observe(&record, Duration::ZERO, &config);
        assert_eq!(budget.used().iterations, 10);
    }

    #[test]
    fn tokens_and_time_are_limited() {
        let config = LoopConfig::default();
        let mut budget = Budget::default();
        assert!(
            budget
                .observe(&turn(79_999), Duration::from_secs(239), &config)
                .is_empty()
        );
        let list = budget.observe(&turn(1), Duration::from_secs(300), &config);
        assert_eq!(
            rules(&list),
            [(Rule::Timeout, true), (Rule::MaxTokens, false)]
        );
        budget.observe(&turn(u64::MAX), Duration::ZERO, &config);
        assert_eq!(budget.used().tokens, u64::MAX);
        assert_eq!(
            budget.used().elapsed,
            Duration::from_secs(300),
            "time never runs back"
        );
    }

    #[test]
    fn depth_and_concurrency_are_limited() {
        let config = LoopConfig::default();
        let record = StepRecord {
            delegation_depth: 4,
            concurrent_tools: 6,
            ..turn(0)
        };
        assert_eq!(
            rules(&Budget::default().observe(&record, Duration::ZERO, &config)),
            [
                (Rule::DelegationDepth, true),
                (Rule::ConcurrentTools, false)
            ],
        );
        let record = StepRecord {
            delegation_depth: 3,
            concurrent_tools: 5,
            ..turn(0)
        };
        assert!(
            Budget::default()
                .observe(&record, Duration::ZERO, &config)
                .is_empty()
        );
    }

    #[test]
    fn a_warning_share_of_one_gives_no_warning() {
        let config = LoopConfig {
            budget_warning: 1.0,
            max_iterations: 2,
            ..LoopConfig::default()
        };
        let mut budget = Budget::default();
        assert!(budget.observe(&turn(0), Duration::ZERO, &config).is_empty());
        assert!(budget.observe(&turn(0), Duration::ZERO, &config)[0].spent);
    }
}
