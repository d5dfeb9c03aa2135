//! One hydration: what is asked for, what comes back, and the limits of both.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::oneshot;

use super::extract::{CustomPattern, Extraction, Reference};
use crate::error::Violations;
use crate::session::config::PreHydration;

/// Fetches URLs itself.
pub const BUILTIN_HTTP: &str = "builtin:http";
/// Reads files itself.
pub const BUILTIN_FILE: &str = "builtin:file";
/// What the names of built-in resolvers begin with.
const BUILTIN: &str = "builtin:";

/// Bytes of a text that references are looked for in.
pub const MAX_TEXT_BYTES: usize = 1 << 20;
/// References that one answer names; those behind are counted.
pub const MAX_NAMED: usize = 1_000;

/// What is to be hydrated.
#[derive(Debug, Clone, Default)]
pub struct Job {
    /// The task, in words.
    pub text: String,
    /// Patterns, resolvers, time and budget.
    pub config: PreHydration,
    /// Whether fenced code is read, too.
    pub fenced_code: bool,
    /// Time for one reference, where the caller has a limit of its own.
    pub tool_timeout: Option<Duration>,
    /// Resolvers that may not be used, with the reason.
    pub denied: BTreeMap<String, String>,
}

impl Job {
    /// Every limit the job breaks; `path` is prefixed to the fields of its configuration.
    pub fn check(&self, path: &str) -> Violations {
        let mut violations = Violations::default();
        check_text("text", &self.text, &mut violations);
        self.config.check(path, &mut violations);
        violations
    }

    /// What is read of the text.
    ///
    /// # Errors
    ///
    /// Patterns that are none.
    pub fn extraction(&self, path: &str) -> Result<Extraction, Violations> {
        let mut violations = Violations::default();
        let patterns = self
            .config
            .custom_patterns
            .iter()
            .enumerate()
            .filter_map(|(at, custom)| {
                CustomPattern::new(&custom.ref_type, &custom.pattern)
                    .map_err(|error| {
                        let field = format!("{path}custom_patterns[{at}].pattern");
                        violations.add(field, error.to_string());
                    })
                    .ok()
            })
            .collect();
        violations.into_result()?;
        Ok(Extraction {
            patterns,
            fenced_code: self.fenced_code,
        })
    }
}

/// The limit of a text.
pub fn check_text(field: &str, text: &str, violations: &mut Violations) {
    let size = text.len();
    if size > MAX_TEXT_BYTES {
        let message = format!("{size} bytes exceed the limit of {MAX_TEXT_BYTES}");
        violations.add(field, message);
    }
}

/// Whether a resolver is a name of ours that does not exist.
pub fn is_unknown_builtin(tool: &str) -> bool {
    tool.starts_with(BUILTIN) && tool != BUILTIN_HTTP && tool != BUILTIN_FILE
}

/// Whether a resolver is one of ours.
pub fn is_builtin(tool: &str) -> bool {
    tool.starts_with(BUILTIN)
}

/// A reference that the orchestrator's own tool has to resolve.
#[derive(Debug)]
pub struct ToolCall {
    /// Number of the reference, from 0.
    pub number: usize,
    /// The reference.
    pub reference: Reference,
    /// The tool.
    pub tool: String,
    /// How long the answer is waited for.
    pub timeout: Duration,
    /// Takes the answer; dropped, the reference fails.
    pub reply: oneshot::Sender<ToolAnswer>,
}

/// What the orchestrator says of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolAnswer {
    /// What the tool gave.
    Content(String),
    /// The tool failed.
    Failed(String),
    /// A policy or a person does not allow the call.
    Denied(String),
}

/// Why a reference could not be resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// Its time was up.
    Timeout,
    /// Its resolver is excluded by the tool profile, or by the operator.
    ToolExcluded,
    /// A policy of the orchestrator's denied the call.
    PolicyDenied,
    /// The orchestrator's tool failed, or never answered.
    ToolFailed,
    /// It is nothing that its resolver can resolve.
    Unsupported,
    /// The scheme of the URL, or of a redirect, is not allowed.
    SchemeRefused,
    /// The address behind the name may not be connected to.
    AddressRefused,
    /// More redirects than are followed.
    TooManyRedirects,
    /// The other side cannot be reached, or broke off.
    Network,
    /// It answered with another status than 200.
    HttpStatus,
    /// More bytes than are read.
    TooLarge,
    /// No text.
    NotText,
    /// The path leads out of the roots.
    OutsideRoots,
    /// There is no such file.
    NotFound,
}

/// How a reference ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Its content is in the message.
    Resolved,
    /// It could not be resolved.
    Failed(Failure),
    /// Nothing resolves its type.
    NoResolver,
    /// There was no room for it: too many references, or too few tokens.
    OverBudget,
}

/// One reference and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The reference.
    pub reference: Reference,
    /// What resolved it, or was to.
    pub tool: String,
    /// How it ended.
    pub status: Status,
    /// The same in words; empty where it is resolved whole.
    pub detail: String,
    /// Where the content came from: the last URL, the path below its root.
    pub origin: String,
    /// Tokens of its section in the message.
    pub tokens: usize,
    /// Whether its content was cut to the budget.
    pub cut: bool,
    /// How long it took.
    pub took: Duration,
}

/// What came of a hydration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hydrated {
    /// The message; empty where nothing was resolved and nothing failed.
    pub message: String,
    /// Its tokens.
    pub tokens: usize,
    /// What counted them.
    pub counter: String,
    /// References found.
    pub found: usize,
    /// Each of them, in the order of appearance; at most [`MAX_NAMED`].
    pub outcomes: Vec<Outcome>,
    /// How long it took.
    pub took: Duration,
}

impl Hydrated {
    /// References whose content is in the message.
    pub fn resolved(&self) -> usize {
        self.count(|status| status == Status::Resolved)
    }

    /// References that could not be resolved.
    pub fn failed(&self) -> usize {
        self.count(|status| matches!(status, Status::Failed(_)))
    }

    fn count(&self, is: impl Fn(Status) -> bool) -> usize {
        let outcomes = self.outcomes.iter();
        outcomes.filter(|outcome| is(outcome.status)).count()
    }
}
