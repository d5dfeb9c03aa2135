//! References in a text: URLs, files, issues, pull requests, and what custom patterns find.
//!
//! Every reader proposes candidates with their byte spans; then the longest takes its span,
//! and of equally long ones the more specific. So `PR #55` is one pull request, and `#42`
//! inside a URL is nothing. All work is linear in the text, whatever it holds: the patterns
//! run on an engine without backtracking, and the hand-written parts look at each character a
//! fixed number of times.

mod fence;
mod file;
mod pattern;
mod ticket;
mod url;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::Range;

pub use pattern::{CustomPattern, PatternError};

/// Type of a URL.
pub const URL: &str = "url";
/// Type of a file.
pub const FILE: &str = "file";
/// Type of an issue.
pub const ISSUE: &str = "issue";
/// Type of a pull request.
pub const PR: &str = "pr";

/// Something that a text refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Its type: a built-in one, or that of a custom pattern.
    pub ref_type: String,
    /// What is referred to: the URL, the path without its line, the number, `owner/repo#9`.
    pub value: String,
    /// Line of a file, from 1.
    pub line: Option<u32>,
    /// Bytes of the text where it stands first.
    pub span: Range<usize>,
}

impl Reference {
    /// The reference as it stands in the text it was found in.
    pub fn text<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.span.clone()).unwrap_or_default()
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ref_type, self.value)?;
        match self.line {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}

/// What is read besides the built-in types.
#[derive(Debug, Clone, Default)]
pub struct Extraction {
    /// Custom patterns, in their order.
    pub patterns: Vec<CustomPattern>,
    /// Whether fenced code is read, too.
    pub fenced_code: bool,
}

/// How well a candidate fits its span; the later wins among equally long ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// No reference, but it keeps its span from others: an e-mail address, a foreign scheme.
    Blocker,
    File,
    Ticket,
    Url,
    Custom,
}

/// A possible reference.
#[derive(Debug, Clone)]
struct Candidate {
    rank: Rank,
    ref_type: String,
    value: String,
    line: Option<u32>,
    span: Range<usize>,
}

impl Candidate {
    fn new(rank: Rank, ref_type: &str, value: impl Into<String>, span: Range<usize>) -> Self {
        Self {
            rank,
            ref_type: ref_type.to_owned(),
            value: value.into(),
            line: None,
            span,
        }
    }

    fn blocker(span: Range<usize>) -> Self {
        Self::new(Rank::Blocker, "", "", span)
    }
}

impl Extraction {
    /// Every reference of a text, in the order of appearance; what is there twice is named
    /// once, where it stands first.
    pub fn references(&self, text: &str) -> Vec<Reference> {
        let mut candidates = Vec::new();
        url::find(text, &mut candidates);
        ticket::find(text, &mut candidates);
        file::find(text, &mut candidates);
        for pattern in &self.patterns {
            pattern.find(text, &mut candidates);
        }
        if !self.fenced_code {
            let fences = fence::spans(text);
            candidates.retain(|candidate| !fence::touches(&fences, &candidate.span));
        }
        let mut seen = HashSet::new();
        settle(candidates)
            .into_iter()
            .filter(|found| found.rank != Rank::Blocker)
            .filter(|found| seen.insert((found.ref_type.clone(), found.value.clone(), found.line)))
            .map(|found| Reference {
                ref_type: found.ref_type,
                value: found.value,
                line: found.line,
                span: found.span,
            })
            .collect()
    }
}

/// Gives each span to its longest candidate; ordered by place.
fn settle(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.sort_by(|a, b| {
        (b.span.len(), b.rank)
            .cmp(&(a.span.len(), a.rank))
            .then(a.span.start.cmp(&b.span.start))
    });
    // By start; accepted spans do not overlap, so their neighbours decide.
    let mut accepted: BTreeMap<usize, Candidate> = BTreeMap::new();
    for candidate in candidates {
        let Range { start, end } = candidate.span;
        let before = accepted.range(..=start).next_back();
        let overlaps = before.is_some_and(|(_, kept)| kept.span.end > start)
            || accepted.range(start..end).next().is_some();
        if !overlaps && start < end {
            accepted.insert(start, candidate);
        }
    }
    accepted.into_values().collect()
}

/// Whether a character belongs to a script that is written without spaces, or to Hangul,
/// whose particles follow a name without one: prose in it may touch a reference.
fn is_unspaced(c: char) -> bool {
    use unicode_script::{Script, UnicodeScript};
    !c.is_ascii()
        && (matches!(
            c.script(),
            Script::Han
                | Script::Hiragana
                | Script::Katakana
                | Script::Hangul
                | Script::Bopomofo
                | Script::Thai
                | Script::Lao
                | Script::Khmer
                | Script::Myanmar
        ) || c == '\u{30fc}')
}

/// The character before a byte.
fn before(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}

/// The character at a byte.
fn after(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

/// Whether a character goes on with a word of a spaced script.
fn is_word(c: char) -> bool {
    c == '_' || (c.is_alphanumeric() && !is_unspaced(c))
}
