//! Which tools a model sees.
//!
//! A [`ToolProfile`] lets tools through in stages: include (empty means all), exclude,
//! verified, read-only, cap. The order of the input is kept, and every tool that is dropped is
//! reported with its stage.
//!
//! Whether a tool is verified is state of the registry, not something it says of itself: a
//! [`Verification`] names the source and the digest of the very definition that somebody looked
//! at, so it ends when the definition changes. The text `[verified]` in a description counts
//! only for sources that the operator trusts; so do the hints of a tool on what it does, unless
//! the profile trusts them.

use std::collections::HashMap;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::Violations;
use crate::text::glob::Glob;

/// Patterns of one list.
pub const MAX_PATTERNS: usize = 256;
/// Tools of one call.
pub const MAX_TOOLS: usize = 10_000;
/// Bytes of a tool's name or source.
const MAX_NAME_BYTES: usize = 512;
/// What a tool's description says where its source calls it verified.
const VERIFIED_MARK: &str = "[verified]";

/// Which tools a model sees.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolProfile {
    /// Globs of tools that may pass; empty for all.
    pub include: Vec<String>,
    /// Globs of tools that may not.
    pub exclude: Vec<String>,
    /// Tools that pass at most; 0 for none, absent for all.
    pub max_tools: Option<u32>,
    /// Whether only verified tools pass.
    pub require_verified: bool,
    /// Whether only tools that change nothing pass.
    pub read_only: bool,
    /// Whether hints of tools from sources that are not trusted count.
    pub trust_annotations: bool,
}

impl ToolProfile {
    /// Every limit the profile breaks; `path` is prefixed to the field names.
    pub fn check(&self, path: &str, violations: &mut Violations) {
        for (field, patterns) in [("include", &self.include), ("exclude", &self.exclude)] {
            let count = patterns.len();
            if count > MAX_PATTERNS {
                violations.add(
                    format!("{path}{field}"),
                    format!("{count} patterns exceed the limit of {MAX_PATTERNS}"),
                );
            }
            for (at, pattern) in patterns.iter().take(MAX_PATTERNS).enumerate() {
                if let Err(error) = Glob::new(pattern) {
                    violations.add(format!("{path}{field}[{at}]"), error.to_string());
                }
            }
        }
    }
}

/// What a tool says about itself (the hints of MCP). A missing hint is taken for the worst:
/// the tool writes, destroys, and reaches out into the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// What it changes is lost.
    pub destructive: Option<bool>,
    /// Doing it twice is doing it once.
    pub idempotent: Option<bool>,
    /// It reaches beyond what is known here.
    pub open_world: Option<bool>,
}

impl Hints {
    /// Whether it changes nothing.
    pub fn is_read_only(self) -> bool {
        self.read_only.unwrap_or(false)
    }

    /// Whether what it changes may be lost.
    pub fn is_destructive(self) -> bool {
        !self.is_read_only() && self.destructive.unwrap_or(true)
    }

    /// Whether it reaches out.
    pub fn is_open_world(self) -> bool {
        self.open_world.unwrap_or(true)
    }
}

/// A tool as the orchestrator offers it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tool {
    /// Name.
    pub name: String,
    /// Who it comes from; two sources may both own a `search`.
    pub source: String,
    /// What it says it does.
    pub description: String,
    /// JSON Schema of its parameters, as text.
    pub input_schema: String,
    /// What it says about itself.
    pub hints: Hints,
}

impl Tool {
    /// SHA-256 of the definition, in hex: changes with every part a model sees.
    pub fn digest(&self) -> String {
        let mut sha = Sha256::new();
        for part in [
            &self.source,
            &self.name,
            &self.description,
            &self.input_schema,
        ] {
            sha.update((part.len() as u64).to_be_bytes());
            sha.update(part.as_bytes());
        }
        for hint in [
            self.hints.read_only,
            self.hints.destructive,
            self.hints.idempotent,
            self.hints.open_world,
        ] {
            sha.update([hint.map_or(2, u8::from)]);
        }
        sha.finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// Every limit the tools break; `path` names the list.
pub fn check_tools(path: &str, tools: &[Tool], violations: &mut Violations) {
    if tools.len() > MAX_TOOLS {
        let count = tools.len();
        violations.add(
            path,
            format!("{count} tools exceed the limit of {MAX_TOOLS}"),
        );
    }
    for (at, tool) in tools.iter().take(MAX_TOOLS).enumerate() {
        if tool.name.is_empty() {
            violations.add(format!("{path}[{at}].name"), "must not be empty");
        }
        for (field, text) in [("name", &tool.name), ("source", &tool.source)] {
            if text.len() > MAX_NAME_BYTES {
                violations.add(
                    format!("{path}[{at}].{field}"),
                    format!("{} bytes exceed the limit of {MAX_NAME_BYTES}", text.len()),
                );
            }
        }
    }
}

/// That somebody looked at a tool's definition and vouches for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Source of the tool.
    pub source: String,
    /// Digest of the definition that was looked at.
    pub digest: String,
    /// Who.
    pub verified_by: String,
    /// When.
    pub verified_at: SystemTime,
}

/// What the operator knows of sources and tools.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// Sources whose own word counts.
    trusted_sources: Vec<String>,
    /// By digest.
    verifications: HashMap<String, Verification>,
}

impl Trust {
    /// Trust in these sources and in what was verified.
    pub fn new(
        trusted_sources: Vec<String>,
        verifications: impl IntoIterator<Item = Verification>,
    ) -> Self {
        let verifications = verifications
            .into_iter()
            .map(|found| (found.digest.clone(), found))
            .collect();
        Self {
            trusted_sources,
            verifications,
        }
    }

    /// Whether the source's own word counts.
    pub fn trusts(&self, source: &str) -> bool {
        self.trusted_sources.iter().any(|trusted| trusted == source)
    }

    /// Who vouches for the tool as it is now; `None` where nobody does.
    pub fn verification(&self, tool: &Tool) -> Option<&Verification> {
        self.verifications
            .get(&tool.digest())
            .filter(|found| found.source == tool.source)
    }

    /// Whether the tool counts as verified.
    pub fn is_verified(&self, tool: &Tool) -> bool {
        let says_so = self.trusts(&tool.source) && tool.description.contains(VERIFIED_MARK);
        says_so || self.verification(tool).is_some()
    }
}

/// Where a tool was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// No pattern of `include` takes it.
    Include,
    /// A pattern of `exclude` takes it.
    Exclude,
    /// Nobody vouches for it.
    Verified,
    /// It may change something.
    ReadOnly,
    /// There are more tools than `max_tools`.
    Cap,
}

/// A tool that does not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// Its place in the input.
    pub index: usize,
    /// Where it was dropped.
    pub stage: Stage,
    /// Why, for people.
    pub reason: String,
}

/// A pattern that takes none of the tools, most likely misspelt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmatchedPattern {
    /// `include[2]` or `exclude[0]`.
    pub field: String,
    /// The pattern.
    pub pattern: String,
}

/// What came of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filtered {
    /// Places of the tools that pass, ascending.
    pub kept: Vec<usize>,
    /// Tools that do not, by place.
    pub dropped: Vec<Dropped>,
    /// Patterns that take none of the tools.
    pub unmatched: Vec<UnmatchedPattern>,
}

/// Ranks tools for the cap: a score for each, the larger the better. Equal scores keep the
/// order of the input.
pub type Ranking<'a> = &'a dyn Fn(&Tool) -> f64;

impl ToolProfile {
    /// Filters tools. With a `ranking` the cap keeps the best, else the first.
    ///
    /// # Errors
    ///
    /// The violations of [`ToolProfile::check`] and [`check_tools`].
    pub fn filter(
        &self,
        tools: &[Tool],
        trust: &Trust,
        ranking: Option<Ranking<'_>>,
    ) -> Result<Filtered, Violations> {
        let mut violations = Violations::default();
        self.check("tool_profile.", &mut violations);
        check_tools("tools", tools, &mut violations);
        violations.into_result()?;
        let include = Patterns::compile("include", &self.include);
        let exclude = Patterns::compile("exclude", &self.exclude);
        let mut result = Filtered {
            unmatched: [include.unmatched(tools), exclude.unmatched(tools)].concat(),
            ..Filtered::default()
        };
        for (index, tool) in tools.iter().enumerate() {
            match self.refuses(tool, &include, &exclude, trust) {
                Some((stage, reason)) => {
                    result.dropped.push(Dropped {
                        index,
                        stage,
                        reason,
                    });
                }
                None => result.kept.push(index),
            }
        }
        self.cap(tools, ranking, &mut result);
        Ok(result)
    }

    /// The first stage before the cap that drops a tool, with the reason.
    fn refuses(
        &self,
        tool: &Tool,
        include: &Patterns<'_>,
        exclude: &Patterns<'_>,
        trust: &Trust,
    ) -> Option<(Stage, String)> {
        if !self.include.is_empty() && include.find(&tool.name).is_none() {
            return Some((Stage::Include, "no pattern of include matches".into()));
        }
        if let Some(pattern) = exclude.find(&tool.name) {
            return Some((Stage::Exclude, format!("{pattern:?} of exclude matches")));
        }
        if self.require_verified && !trust.is_verified(tool) {
            let marked = tool.description.contains(VERIFIED_MARK);
            return Some((
                Stage::Verified,
                match marked {
                    true => "says it is verified, but its source is not trusted".into(),
                    false => "is not verified".into(),
                },
            ));
        }
        if self.read_only {
            let believed = self.trust_annotations || trust.trusts(&tool.source);
            if !tool.hints.is_read_only() {
                return Some((Stage::ReadOnly, "does not say that it is read-only".into()));
            }
            if !believed {
                let reason = "says it is read-only, but its source is not trusted";
                return Some((Stage::ReadOnly, reason.into()));
            }
        }
        None
    }

    fn cap(&self, tools: &[Tool], ranking: Option<Ranking<'_>>, result: &mut Filtered) {
        let Some(max) = self.max_tools.map(|max| max as usize) else {
            return;
        };
        if result.kept.len() <= max {
            return;
        }
        let mut order = result.kept.clone();
        if let Some(score) = ranking {
            let scores: HashMap<usize, f64> = order
                .iter()
                .map(|index| (*index, score(&tools[*index])))
                .collect();
            // Stable, so equal scores keep their order.
            order.sort_by(|a, b| scores[b].total_cmp(&scores[a]));
        }
        let how = if ranking.is_some() {
            "ranks below"
        } else {
            "stands behind"
        };
        for index in order.split_off(max) {
            let reason = format!("{how} the first {max}");
            result.dropped.push(Dropped {
                index,
                stage: Stage::Cap,
                reason,
            });
        }
        order.sort_unstable();
        result.kept = order;
        result.dropped.sort_by_key(|dropped| dropped.index);
    }
}

struct Patterns<'a> {
    field: &'static str,
    globs: Vec<(&'a str, Glob)>,
}

impl<'a> Patterns<'a> {
    /// Compiles patterns that were checked.
    fn compile(field: &'static str, patterns: &'a [String]) -> Self {
        let globs = patterns
            .iter()
            .filter_map(|pattern| Some((pattern.as_str(), Glob::new(pattern).ok()?)))
            .collect();
        Self { field, globs }
    }

    fn find(&self, name: &str) -> Option<&'a str> {
        self.globs
            .iter()
            .find(|(_, glob)| glob.matches(name))
            .map(|(pattern, _)| *pattern)
    }

    fn unmatched(&self, tools: &[Tool]) -> Vec<UnmatchedPattern> {
        self.globs
            .iter()
            .enumerate()
            .filter(|(_, (_, glob))| !tools.iter().any(|tool| glob.matches(&tool.name)))
            .map(|(at, (pattern, _))| UnmatchedPattern {
                field: format!("{}[{at}]", self.field),
                pattern: (*pattern).to_owned(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
