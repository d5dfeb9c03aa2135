//! What a caller asks for, and its limits.

use std::collections::HashSet;
use std::str::FromStr;

use crate::catalog::{Entry, EntryId, Kind};
use crate::error::Violations;

/// Matches returned where the caller says nothing.
pub const DEFAULT_LIMIT: usize = 10;
/// Entries shown as nearest where the caller says nothing.
pub const DEFAULT_NEAREST: usize = 5;
/// Largest `limit`.
pub const MAX_LIMIT: usize = 1_000;

/// What ranks the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Token overlap only.
    Lexical,
    /// Similarity only.
    Semantic,
    /// Both.
    #[default]
    Hybrid,
}

impl Mode {
    /// Lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Lexical => "lexical",
            Mode::Semantic => "semantic",
            Mode::Hybrid => "hybrid",
        }
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Mode::Lexical, Mode::Semantic, Mode::Hybrid]
            .into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or_else(|| format!("unknown mode {text:?}: one of lexical, semantic, hybrid"))
    }
}

/// Kinds that take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KindFilter {
    /// Leaves commands out.
    pub no_commands: bool,
    /// Leaves tools out.
    pub no_tools: bool,
    /// Leaves skills out.
    pub no_skills: bool,
}

impl KindFilter {
    /// Whether entries of a kind take part.
    pub fn allows(self, kind: Kind) -> bool {
        !match kind {
            Kind::Command => self.no_commands,
            Kind::Tool => self.no_tools,
            Kind::Skill => self.no_skills,
        }
    }

    /// Number of kinds that take part.
    pub fn count(self) -> usize {
        Kind::ALL
            .into_iter()
            .filter(|kind| self.allows(*kind))
            .count()
    }
}

/// One prompt to route.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The prompt, not blank.
    pub prompt: String,
    /// Most matches wanted, at most [`MAX_LIMIT`].
    pub limit: usize,
    /// Matches with a lower score are left out; 0 to 1, inclusive.
    pub min_score: f64,
    /// What ranks.
    pub mode: Mode,
    /// Kinds that take part.
    pub kinds: KindFilter,
    /// Only these entries take part, where given.
    pub only: Option<HashSet<EntryId>>,
    /// How many of the best entries to show whatever is decided.
    pub nearest: usize,
    /// Asks for the smallest set that holds the right entry with this probability.
    pub coverage: Option<f64>,
}

impl Request {
    /// A request with the defaults.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            limit: DEFAULT_LIMIT,
            min_score: 0.0,
            mode: Mode::default(),
            kinds: KindFilter::default(),
            only: None,
            nearest: DEFAULT_NEAREST,
            coverage: None,
        }
    }

    /// Adds every limit the request breaks; `path` is prefixed to the field names.
    pub fn check(&self, path: &str, max_prompt_bytes: usize, violations: &mut Violations) {
        let size = self.prompt.len();
        if size > max_prompt_bytes {
            let message = format!("{size} bytes exceed the limit of {max_prompt_bytes}");
            violations.add(format!("{path}prompt"), message);
        } else if self
            .prompt
            .chars()
            .all(|c| c.is_whitespace() || c.is_control())
        {
            violations.add(format!("{path}prompt"), "must not be blank");
        }
        if self.limit > MAX_LIMIT {
            let message = format!("{} exceeds the limit of {MAX_LIMIT}", self.limit);
            violations.add(format!("{path}limit"), message);
        }
        if let Some(coverage) = self.coverage
            && !(coverage > 0.0 && coverage < 1.0)
        {
            let message = format!("{coverage} is not between 0 and 1");
            violations.add(format!("{path}coverage"), message);
        }
        if !(0.0..=1.0).contains(&self.min_score) {
            let message = format!("{} is not within 0 to 1", self.min_score);
            violations.add(format!("{path}min_score"), message);
        }
    }

    /// Whether an entry takes part.
    pub fn allows(&self, entry: &Entry) -> bool {
        self.kinds.allows(entry.kind)
            && self
                .only
                .as_ref()
                .is_none_or(|only| only.contains(&entry.id))
    }
}
