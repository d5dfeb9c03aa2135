//! What a caller asks for, and its limits.

use std::collections::HashSet;
use std::str::FromStr;
use std::sync::Arc;

use crate::catalog::{Entry, EntryId, Kind};
use crate::error::Violations;
use crate::params::Clock;
use crate::preferences::{Effective, Owner};

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

/// Turns of a conversation that are read; those before are passed over.
pub const READ_TURNS: usize = 6;
/// Turns of a conversation that a request may hold.
pub const MAX_TURNS: usize = 64;
/// Characters of a conversation that are read, its end first.
const READ_CHARS: usize = 1_200;

/// What was said before the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conversation {
    /// Turns, oldest first.
    pub turns: Vec<String>,
    /// What came before them, in short; may be empty.
    pub summary: String,
}

impl Conversation {
    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.turns
            .iter()
            .chain([&self.summary])
            .all(|text| text.trim().is_empty())
    }

    /// The text that stands for it: the last turns, and the summary if there is room. A
    /// conversation of this one turn is worth the same.
    pub fn text(&self) -> String {
        let mut room = READ_CHARS;
        let mut texts: Vec<&str> = Vec::new();
        let last = self.turns.iter().rev().take(READ_TURNS);
        for text in last.chain([&self.summary]) {
            let text = text.trim();
            let count = text.chars().count();
            let skipped = count.saturating_sub(room);
            let from = text
                .char_indices()
                .nth(skipped)
                .map_or(text.len(), |(at, _)| at);
            texts.push(&text[from..]);
            room = room.saturating_sub(count + 1);
        }
        texts.retain(|text| !text.is_empty());
        texts.reverse();
        texts.join("\n").trim().to_owned()
    }

    /// Adds every limit it breaks; `path` is prefixed to the field names.
    pub fn check(&self, path: &str, max_bytes: usize, violations: &mut Violations) {
        if self.turns.len() > MAX_TURNS {
            let text = format!("{} turns exceed the limit of {MAX_TURNS}", self.turns.len());
            violations.add(format!("{path}turns"), text);
        }
        let turns = self.turns.iter().take(MAX_TURNS).enumerate();
        let texts = turns
            .map(|(at, text)| (format!("{path}turns[{at}].text"), text))
            .chain([(format!("{path}summary"), &self.summary)]);
        for (field, text) in texts {
            if text.len() > max_bytes {
                let message = format!("{} bytes exceed the limit of {max_bytes}", text.len());
                violations.add(field, message);
            }
        }
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
    /// What was said before; it may rank entries anew, and admits none.
    pub conversation: Conversation,
    /// Who asks.
    pub owner: Owner,
    /// What whoever asks prefers.
    pub preferences: Arc<Effective>,
    /// Whether a plan is wanted.
    pub plan: bool,
    /// Whether it is to be told what was dropped and why.
    pub explain: bool,
    /// What relative dates are relative to; the system's clock in UTC where absent.
    pub clock: Option<Clock>,
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
            conversation: Conversation::default(),
            owner: Owner::default(),
            preferences: Arc::default(),
            plan: false,
            explain: false,
            clock: None,
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
        let conversation = format!("{path}context.");
        self.conversation
            .check(&conversation, max_prompt_bytes, violations);
        self.owner.check(path, violations);
    }

    /// The same request with every entry taking part.
    pub(super) fn without_filters(&self) -> Self {
        Self {
            kinds: KindFilter::default(),
            only: None,
            preferences: Arc::default(),
            ..self.clone()
        }
    }

    /// Whether an entry takes part.
    pub fn allows(&self, entry: &Entry) -> bool {
        self.kinds.allows(entry.kind)
            && !self.preferences.blocks(&entry.id)
            && self
                .only
                .as_ref()
                .is_none_or(|only| only.contains(&entry.id))
    }
}
