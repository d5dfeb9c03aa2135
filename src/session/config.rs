//! The configuration of one loop: defaults and limits.
//!
//! `tool_profile`, `step_iteration` and `pre_hydration` are optional: absent means off, and a
//! loop without them behaves as if they did not exist.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::profile::ToolProfile;
use super::rules::LoopRules;
use super::tracker::StepIteration;
use crate::error::Violations;
use crate::hydrate::extract::CustomPattern;
use crate::hydrate::job::{BUILTIN_FILE, BUILTIN_HTTP, is_unknown_builtin};

/// Longest time any setting may ask for.
pub const MAX_TIME: Duration = Duration::from_secs(7 * 24 * 3_600);
/// Patterns or tools of the pre-hydration.
const MAX_HYDRATION_ITEMS: usize = 64;
/// Bytes of one of them.
const MAX_ITEM_BYTES: usize = 1_024;

/// What a loop may use, and how it is watched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LoopConfig {
    /// Iterations, from 1.
    pub max_iterations: u32,
    /// Tokens in all, from 1.
    pub max_total_tokens: u64,
    /// Time in all.
    pub timeout: Duration,
    /// Time of one call of a tool; the orchestrator keeps it.
    pub tool_timeout: Duration,
    /// Tools at the same time, from 1.
    pub max_concurrent_tools: u32,
    /// Tokens of context in one turn; the orchestrator keeps it.
    pub context_token_budget: u32,
    /// Agents above one, at most.
    pub max_delegation_depth: u32,
    /// Share of a budget from which the agent is warned once, 0 to 1; 1 for no warning.
    pub budget_warning: f64,
    /// What the orchestrator does about failed calls.
    pub recovery: Recovery,
    /// The loop rules.
    pub rules: LoopRules,
    /// Which tools the model sees.
    pub tool_profile: Option<ToolProfile>,
    /// How often a step may fail.
    pub step_iteration: Option<StepIteration>,
    /// What is fetched before the first turn.
    pub pre_hydration: Option<PreHydration>,
}

impl Default for LoopConfig {
    /// The specification's defaults; the warning comes at four fifths, early enough to wrap
    /// up.
    fn default() -> Self {
        Self {
            max_iterations: 25,
            max_total_tokens: 100_000,
            timeout: Duration::from_secs(300),
            tool_timeout: Duration::from_secs(30),
            max_concurrent_tools: 5,
            context_token_budget: 32_000,
            max_delegation_depth: 3,
            budget_warning: 0.8,
            recovery: Recovery::default(),
            rules: LoopRules::default(),
            tool_profile: None,
            step_iteration: None,
            pre_hydration: None,
        }
    }
}

impl LoopConfig {
    /// Every limit the configuration breaks; `path` is prefixed to the field names.
    pub fn check(&self, path: &str, violations: &mut Violations) {
        count(
            violations,
            path,
            "max_iterations",
            self.max_iterations.into(),
            (1, 1_000_000),
        );
        count(
            violations,
            path,
            "max_total_tokens",
            self.max_total_tokens,
            (1, 1 << 40),
        );
        time(violations, path, "timeout", self.timeout);
        time(violations, path, "tool_timeout", self.tool_timeout);
        count(
            violations,
            path,
            "max_concurrent_tools",
            self.max_concurrent_tools.into(),
            (1, 1_000),
        );
        count(
            violations,
            path,
            "context_token_budget",
            self.context_token_budget.into(),
            (1, 1 << 24),
        );
        count(
            violations,
            path,
            "max_delegation_depth",
            self.max_delegation_depth.into(),
            (0, 100),
        );
        share(violations, path, "budget_warning", self.budget_warning);
        self.recovery.check(&format!("{path}recovery."), violations);
        self.rules.check(&format!("{path}rules."), violations);
        if let Some(profile) = &self.tool_profile {
            profile.check(&format!("{path}tool_profile."), violations);
        }
        if let Some(steps) = &self.step_iteration {
            steps.check(&format!("{path}step_iteration."), violations);
        }
        if let Some(hydration) = &self.pre_hydration {
            hydration.check(&format!("{path}pre_hydration."), violations);
        }
    }
}

/// What is done about a failed call, in this order: retry, fall back, use an earlier result,
/// ask the model, escalate, put aside. The orchestrator does it; here it is kept and checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recovery {
    /// Attempts of one call, from 0.
    pub retry_attempts: u32,
    /// Wait before the first retry; doubles.
    pub retry_base: Duration,
    /// Tool to call instead; empty for none.
    pub fallback_tool: String,
    /// Whether an earlier result may be used.
    pub cached_result: bool,
    /// Whether the model is asked.
    pub llm_recovery: bool,
    /// Whether it is escalated.
    pub escalate: bool,
    /// Whether it is put aside.
    pub dead_letter: bool,
}

impl Default for Recovery {
    /// Two attempts from 500 ms on, and nothing else unless asked for.
    fn default() -> Self {
        Self {
            retry_attempts: 2,
            retry_base: Duration::from_millis(500),
            fallback_tool: String::new(),
            cached_result: false,
            llm_recovery: false,
            escalate: false,
            dead_letter: false,
        }
    }
}

impl Recovery {
    fn check(&self, path: &str, violations: &mut Violations) {
        count(
            violations,
            path,
            "retry_attempts",
            self.retry_attempts.into(),
            (0, 100),
        );
        time(violations, path, "retry_base", self.retry_base);
        item(
            violations,
            format!("{path}fallback_tool"),
            &self.fallback_tool,
        );
    }
}

/// A custom type of reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferencePattern {
    /// Type of what it finds.
    pub ref_type: String,
    /// Regular expression.
    pub pattern: String,
}

/// What is fetched before the first turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PreHydration {
    /// Patterns beside the built-in ones.
    pub custom_patterns: Vec<ReferencePattern>,
    /// Tool that resolves each type.
    pub resolution_tools: BTreeMap<String, String>,
    /// Time in all.
    pub timeout: Duration,
    /// References resolved at most.
    pub max_references: u32,
    /// Tokens of context they may fill.
    pub max_context_tokens: u32,
}

impl Default for PreHydration {
    fn default() -> Self {
        Self {
            custom_patterns: Vec::new(),
            resolution_tools: BTreeMap::new(),
            timeout: Duration::from_secs(15),
            max_references: 10,
            max_context_tokens: 4_000,
        }
    }
}

impl PreHydration {
    /// Every limit it breaks; `path` is prefixed to the field names. Compiles the patterns.
    pub fn check(&self, path: &str, violations: &mut Violations) {
        time(violations, path, "timeout", self.timeout);
        count(
            violations,
            path,
            "max_references",
            self.max_references.into(),
            (1, 1_000),
        );
        let tokens = self.max_context_tokens.into();
        count(violations, path, "max_context_tokens", tokens, (1, 1 << 24));
        for (name, size) in [
            ("custom_patterns", self.custom_patterns.len()),
            ("resolution_tools", self.resolution_tools.len()),
        ] {
            count(
                violations,
                path,
                name,
                size as u64,
                (0, MAX_HYDRATION_ITEMS as u64),
            );
        }
        let patterns = self
            .custom_patterns
            .iter()
            .take(MAX_HYDRATION_ITEMS)
            .enumerate();
        for (at, ReferencePattern { ref_type, pattern }) in patterns {
            for (name, text) in [("ref_type", ref_type), ("pattern", pattern)] {
                let field = format!("{path}custom_patterns[{at}].{name}");
                match text.is_empty() {
                    true => violations.add(field, "must not be empty"),
                    false => item(violations, field, text),
                }
            }
            if pattern.len() <= MAX_ITEM_BYTES
                && let Err(error) = CustomPattern::new(ref_type, pattern)
            {
                let field = format!("{path}custom_patterns[{at}].pattern");
                violations.add(field, error.to_string());
            }
        }
        for (ref_type, tool) in self.resolution_tools.iter().take(MAX_HYDRATION_ITEMS) {
            if ref_type.is_empty() || tool.is_empty() {
                violations.add(
                    format!("{path}resolution_tools"),
                    "type and tool must not be empty",
                );
            }
            item(violations, format!("{path}resolution_tools"), ref_type);
            item(violations, format!("{path}resolution_tools"), tool);
            if is_unknown_builtin(tool) {
                let known = [BUILTIN_HTTP, BUILTIN_FILE].join(", ");
                violations.add(
                    format!("{path}resolution_tools"),
                    format!("{tool:?} is none of {known}"),
                );
            }
        }
    }
}

fn count(violations: &mut Violations, path: &str, field: &str, value: u64, limits: (u64, u64)) {
    let (least, most) = limits;
    if value < least || value > most {
        violations.add(
            format!("{path}{field}"),
            format!("{value} is not within {least} to {most}"),
        );
    }
}

fn time(violations: &mut Violations, path: &str, field: &str, value: Duration) {
    if value.is_zero() || value > MAX_TIME {
        let (value, most) = (value.as_secs_f64(), MAX_TIME.as_secs());
        violations.add(
            format!("{path}{field}"),
            format!("{value} s is not above 0 and at most {most} s"),
        );
    }
}

fn share(violations: &mut Violations, path: &str, field: &str, value: f64) {
    if !(0.0..=1.0).contains(&value) {
        violations.add(
            format!("{path}{field}"),
            format!("{value} is not within 0 to 1"),
        );
    }
}

fn item(violations: &mut Violations, field: String, text: &str) {
    if text.len() > MAX_ITEM_BYTES {
        let size = text.len();
        violations.add(
            field,
            format!("{size} bytes exceed the limit of {MAX_ITEM_BYTES}"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(config: &LoopConfig) -> Vec<String> {
        let mut violations = Violations::default();
        config.check("config.", &mut violations);
        violations
            .as_slice()
            .iter()
            .map(|violation| violation.field.clone())
            .collect()
    }

    #[test]
    fn the_defaults_are_the_specification_and_valid() {
        let config = LoopConfig::default();
        assert!(fields(&config).is_empty());
        assert_eq!(
            (config.max_iterations, config.max_total_tokens),
            (25, 100_000)
        );
        assert_eq!(
            (config.timeout.as_secs(), config.tool_timeout.as_secs()),
            (300, 30)
        );
        assert_eq!(
            (config.max_concurrent_tools, config.context_token_budget),
            (5, 32_000)
        );
        assert_eq!(config.max_delegation_depth, 3);
        assert_eq!(
            (
                config.recovery.retry_attempts,
                config.recovery.retry_base.as_millis()
            ),
            (2, 500)
        );
        assert!(config.tool_profile.is_none() && config.pre_hydration.is_none());
        assert!(config.step_iteration.is_none());
    }

    #[test]
    fn every_value_out_of_its_limits_is_named() {
        let config = LoopConfig {
            max_iterations: 0,
            max_total_tokens: 0,
            timeout: Duration::ZERO,
            tool_timeout: Duration::MAX,
            max_concurrent_tools: 0,
            context_token_budget: 0,
            max_delegation_depth: 101,
            budget_warning: f64::NAN,
            recovery: Recovery {
                retry_attempts: 101,
                ..Recovery::default()
            },
            rules: LoopRules {
                similarity: 1.5,
                ..LoopRules::default()
            },
            tool_profile: Some(ToolProfile {
                include: vec![String::new()],
                ..ToolProfile::default()
            }),
            step_iteration: Some(StepIteration {
                similarity_threshold: 2.0,
                ..StepIteration::default()
            }),
            pre_hydration: Some(PreHydration {
                custom_patterns: vec![ReferencePattern {
                    ref_type: String::new(),
                    pattern: "a".into(),
                }],
                max_references: 0,
                ..PreHydration::default()
            }),
        };
        assert_eq!(
            fields(&config),
            [
                "config.max_iterations",
                "config.max_total_tokens",
                "config.timeout",
                "config.tool_timeout",
                "config.max_concurrent_tools",
                "config.context_token_budget",
                "config.max_delegation_depth",
                "config.budget_warning",
                "config.recovery.retry_attempts",
                "config.rules.similarity",
                "config.tool_profile.include[0]",
                "config.step_iteration.similarity_threshold",
                "config.pre_hydration.max_references",
                "config.pre_hydration.custom_patterns[0].ref_type",
            ],
        );
    }

    #[test]
    fn limits_of_rules_are_checked() {
        use crate::session::rules::Limits;
        let rules = |edit: fn(&mut LoopRules)| {
            let mut config = LoopConfig::default();
            edit(&mut config.rules);
            fields(&config)
        };
        assert_eq!(
            rules(|r| r.cycle = Limits::new(3, 3)),
            ["config.rules.cycle.stop"]
        );
        assert_eq!(
            rules(|r| r.polling = Limits::new(33, 0)),
            ["config.rules.polling.nudge"]
        );
        assert_eq!(
            rules(|r| r.polling = Limits::new(0, 9)),
            ["config.rules.polling.nudge"]
        );
        assert_eq!(
            rules(|r| r.repeated_call = Limits::new(3, 21)),
            ["config.rules.repeated_call.stop"]
        );
        assert_eq!(
            rules(|r| r.polling_tools = vec!["".into()]),
            ["config.rules.polling_tools[0]"]
        );
        assert_eq!(
            rules(|r| r.backoff.base_ms = 0),
            ["config.rules.backoff_base"]
        );
        assert!(rules(|r| r.polling = Limits::new(0, 0)).is_empty(), "off");
        assert!(
            rules(|r| r.polling = Limits::new(5, 0)).is_empty(),
            "never stops"
        );
    }

    #[test]
    fn a_configuration_is_written_and_read_back() {
        let config = LoopConfig {
            tool_profile: Some(ToolProfile::default()),
            pre_hydration: Some(PreHydration::default()),
            ..LoopConfig::default()
        };
        let json = serde_json::to_string(&config).expect("JSON");
        assert_eq!(
            serde_json::from_str::<LoopConfig>(&json).expect("reads"),
            config
        );
    }
}
