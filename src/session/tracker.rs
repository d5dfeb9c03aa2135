//! The progress tracker: how often a step may fail, and when it fails in the same way again.
//!
//! First a new error is compared with the one before: at least `similarity_threshold` alike
//! stops the step as stuck. Then the attempts are counted: as many as
//! `max_reattempts_per_step` stop it (2 means two failures in all). Errors are compared as
//! they stand; what masks times and ids are the loop rules, beside this.

use serde::{Deserialize, Serialize};

use super::report::check_step_id;
use crate::error::Violations;
use crate::text::similarity::{Excerpt, Similarity};

/// Steps of one loop that are remembered; of more, those used last.
pub const MAX_STEPS: usize = 64;
/// Largest `max_reattempts_per_step`.
pub const MAX_REATTEMPTS: u32 = 1_000;

/// What the orchestrator should do where a step reached its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitAction {
    /// Go on with the next step.
    #[default]
    SkipStep,
    /// End the task.
    AbortTask,
    /// Ask a person or the caller.
    Escalate,
}

/// Settings of the tracker.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StepIteration {
    /// Failures that end a step, from 1.
    pub max_reattempts_per_step: u32,
    /// From where two errors in a row count as the same, 0 to 1.
    pub similarity_threshold: f64,
    /// What to do then.
    pub on_limit_reached: LimitAction,
}

impl Default for StepIteration {
    /// 2 attempts, 0.85, skip the step: the specification's defaults.
    fn default() -> Self {
        Self {
            max_reattempts_per_step: 2,
            similarity_threshold: 0.85,
            on_limit_reached: LimitAction::SkipStep,
        }
    }
}

impl StepIteration {
    /// Every limit the settings break; `path` is prefixed to the field names.
    pub fn check(&self, path: &str, violations: &mut Violations) {
        let most = self.max_reattempts_per_step;
        if most == 0 || most > MAX_REATTEMPTS {
            violations.add(
                format!("{path}max_reattempts_per_step"),
                format!("{most} is not within 1 to {MAX_REATTEMPTS}"),
            );
        }
        let threshold = self.similarity_threshold;
        if !(0.0..=1.0).contains(&threshold) {
            violations.add(
                format!("{path}similarity_threshold"),
                format!("{threshold} is not within 0 to 1"),
            );
        }
    }
}

/// Why a step is to be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It failed in the same way again.
    Stuck(Similarity),
    /// It failed as often as it may.
    Attempts,
}

/// What the tracker says to a failure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Failures of the step, this one included.
    pub attempts: u32,
    /// How alike this error is to the one before; `None` for the first.
    pub similarity: Option<Similarity>,
    /// Whether the step had not been begun, and now was.
    pub begun_implicitly: bool,
    /// Why to stop; `None` to go on.
    pub stop: Option<StopReason>,
}

impl Attempt {
    /// The reason in words, with the numbers it rests on.
    pub fn reason(&self, settings: &StepIteration) -> Option<String> {
        Some(match self.stop? {
            StopReason::Stuck(Similarity { value, cut }) => format!(
                "stuck: the error is {:.0} % like the one before (limit {:.0} %){}",
                value * 100.0,
                settings.similarity_threshold * 100.0,
                if cut {
                    ", compared by head and tail"
                } else {
                    ""
                },
            ),
            StopReason::Attempts => format!(
                "{} attempts failed (limit {})",
                self.attempts, settings.max_reattempts_per_step,
            ),
        })
    }
}

/// The failures of each step of a loop.
#[derive(Debug, Clone)]
pub struct ProgressTracker {
    settings: StepIteration,
    /// The step used last stands last.
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
struct Step {
    id: String,
    attempts: u32,
    error: Option<Excerpt>,
}

impl ProgressTracker {
    /// A tracker without steps. The settings are taken to be checked.
    pub fn new(settings: StepIteration) -> Self {
        Self {
            settings,
            steps: Vec::new(),
        }
    }

    /// The settings.
    pub fn settings(&self) -> &StepIteration {
        &self.settings
    }

    /// Begins a step, or begins it anew.
    pub fn begin(&mut self, step_id: &str) {
        self.take(step_id);
        self.put(Step {
            id: step_id.to_owned(),
            attempts: 0,
            error: None,
        });
    }

    /// Records a failure and says whether to go on.
    ///
    /// # Errors
    ///
    /// The step's id is too long.
    pub fn record(&mut self, step_id: &str, error: &str) -> Result<Attempt, Violations> {
        let mut violations = Violations::default();
        check_step_id(step_id, &mut violations);
        violations.into_result()?;
        let error = Excerpt::of(error);
        let similarity = self.compare(step_id, &error);
        Ok(self.fold(step_id, error, similarity))
    }

    /// How alike an error is to the step's last one; `None` where there is none.
    pub(super) fn compare(&self, step_id: &str, error: &Excerpt) -> Option<Similarity> {
        let step = self.steps.iter().find(|step| step.id == step_id)?;
        step.error.as_ref().map(|before| before.similarity(error))
    }

    /// Counts a failure that was compared before; a journal holds the comparison, so that
    /// nothing is compared again when a loop is rebuilt.
    pub(super) fn fold(
        &mut self,
        step_id: &str,
        error: Excerpt,
        similarity: Option<Similarity>,
    ) -> Attempt {
        let known = self.take(step_id);
        let begun_implicitly = known.is_none();
        let mut step = known.unwrap_or_else(|| Step {
            id: step_id.to_owned(),
            attempts: 0,
            error: None,
        });
        step.attempts = step.attempts.saturating_add(1);
        let stuck = similarity.filter(|s| s.value >= self.settings.similarity_threshold);
        let stop = match stuck {
            Some(similarity) => Some(StopReason::Stuck(similarity)),
            None if step.attempts >= self.settings.max_reattempts_per_step => {
                Some(StopReason::Attempts)
            }
            None => None,
        };
        let attempts = step.attempts;
        step.error = Some(error);
        self.put(step);
        Attempt {
            attempts,
            similarity,
            begun_implicitly,
            stop,
        }
    }

    fn take(&mut self, step_id: &str) -> Option<Step> {
        let at = self.steps.iter().position(|step| step.id == step_id)?;
        Some(self.steps.remove(at))
    }

    fn put(&mut self, step: Step) {
        if self.steps.len() == MAX_STEPS {
            self.steps.remove(0);
        }
        self.steps.push(step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tracker(most: u32, threshold: f64) -> ProgressTracker {
        ProgressTracker::new(StepIteration {
            max_reattempts_per_step: most,
            similarity_threshold: threshold,
            on_limit_reached: LimitAction::Escalate,
        })
    }

    fn record(tracker: &mut ProgressTracker, step: &str, error: &str) -> Attempt {
        tracker.record(step, error).expect("recorded")
    }

    #[test]
    fn similarity_is_looked_at_before_the_attempts() {
        let mut tracker = tracker(2, 0.85);
        tracker.begin("s");
        let first = record(&mut tracker, "s", "error A");
        assert_eq!(
            (first.attempts, first.similarity, first.stop),
            (1, None, None)
        );
        let second = record(&mut tracker, "s", "error B");
        assert!(
            matches!(second.stop, Some(StopReason::Stuck(s)) if (s.value - 6.0 / 7.0).abs() < 1e-9)
        );
        let reason = second.reason(tracker.settings()).expect("a reason");
        assert_eq!(
            reason,
            "stuck: the error is 86 % like the one before (limit 85 %)"
        );
    }

    #[test]
    fn two_means_two_failures_in_all() {
        let mut tracker = tracker(2, 0.85);
        tracker.begin("s");
        assert_eq!(record(&mut tracker, "s", "abc").stop, None);
        let second = record(&mut tracker, "s", "xyz");
        assert_eq!(
            (second.attempts, second.stop),
            (2, Some(StopReason::Attempts))
        );
        assert_eq!(
            record(&mut tracker, "s", "123").stop,
            Some(StopReason::Attempts)
        );
    }

    #[test]
    fn one_means_the_first_failure() {
        assert_eq!(
            record(&mut tracker(1, 0.85), "s", "a").stop,
            Some(StopReason::Attempts)
        );
    }

    #[test]
    fn a_step_is_begun_implicitly_and_says_so() {
        let mut tracker = tracker(5, 0.85);
        assert!(record(&mut tracker, "unknown", "a").begun_implicitly);
        assert!(!record(&mut tracker, "unknown", "b").begun_implicitly);
        tracker.begin("known");
        assert!(!record(&mut tracker, "known", "a").begun_implicitly);
    }

    #[test]
    fn begin_resets() {
        let mut tracker = tracker(2, 0.85);
        record(&mut tracker, "s", "abc");
        tracker.begin("s");
        let after = record(&mut tracker, "s", "abc");
        assert_eq!(
            (after.attempts, after.similarity, after.stop),
            (1, None, None)
        );
    }

    #[test]
    fn steps_do_not_share_counters() {
        let mut tracker = tracker(2, 0.85);
        assert_eq!(record(&mut tracker, "a", "same").stop, None);
        assert_eq!(record(&mut tracker, "b", "same").stop, None);
    }

    #[test]
    fn the_threshold_itself_is_stuck() {
        for (threshold, stuck) in [(0.0, true), (6.0 / 7.0, true), (0.86, false), (1.0, false)] {
            let mut tracker = tracker(9, threshold);
            record(&mut tracker, "s", "error A");
            assert_eq!(
                record(&mut tracker, "s", "error B").stop.is_some(),
                stuck,
                "{threshold}"
            );
        }
    }

    #[test]
    fn limits_are_violations() {
        for threshold in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            let settings = StepIteration {
                max_reattempts_per_step: 0,
                similarity_threshold: threshold,
                ..StepIteration::default()
            };
            let mut violations = Violations::default();
            settings.check("step_iteration.", &mut violations);
            let fields: Vec<_> = violations.as_slice().iter().map(|v| &v.field[..]).collect();
            assert_eq!(
                fields,
                [
                    "step_iteration.max_reattempts_per_step",
                    "step_iteration.similarity_threshold"
                ],
            );
        }
        assert!(tracker(2, 0.5).record(&"s".repeat(129), "").is_err());
    }

    #[test]
    fn no_more_steps_are_kept_than_the_limit() {
        let mut tracker = tracker(2, 0.85);
        for step in 0..10 * MAX_STEPS {
            record(&mut tracker, &step.to_string(), "error");
        }
        assert_eq!(tracker.steps.len(), MAX_STEPS);
        assert!(record(&mut tracker, "0", "error").begun_implicitly);
    }
}
