//! Issues and pull requests.
//!
//! All of them but `GH-12` have a `#`, so that is where they are looked for: digits behind it,
//! and before it what says whose number it is. No more than a few dozen bytes are looked at
//! for each.

use std::sync::LazyLock;

use regex::Regex;

use super::{Candidate, ISSUE, PR, Rank, after, before, is_word};

/// Digits of a number.
const MAX_DIGITS: usize = 9;
/// Characters of an owner's and of a repository's name.
const MAX_OWNER: usize = 39;
const MAX_REPOSITORY: usize = 100;
/// Bytes before a number that are looked at for a word.
const LOOK_BACK: usize = 24;

static GH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)(?-u:\b)GH-[0-9]{1,9}").expect("a valid pattern"));

/// Words before a number that make it a pull request.
static NAMES_PULL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(?:^|[^\p{L}\p{N}_])((?:PRs?|pull[ -]requests?|merge[ -]requests?)[ \t]{0,3})$",
    )
    .expect("a valid pattern")
});

/// Words before a number that make it an issue, whatever its length.
static NAMES_ISSUE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:issues?|bugs?|tickets?|fix(?:e[sd])?|close[sd]?|resolve[sd]?)[\s:]{0,3}$")
        .expect("a valid pattern")
});

/// Words before a number that make it a colour.
static NAMES_COLOUR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:colou?rs?|background|fill|stroke|hex|farbe)[\s:=]{0,3}$")
        .expect("a valid pattern")
});

pub(super) fn find(text: &str, candidates: &mut Vec<Candidate>) {
    for (at, _) in text.match_indices('#') {
        candidates.extend(number_at(text, at));
    }
    for found in GH.find_iter(text) {
        if ends_at(text, found.end()) {
            let value = found.as_str().to_ascii_uppercase();
            candidates.push(Candidate::new(Rank::Ticket, ISSUE, value, found.range()));
        }
    }
}

/// The issue or pull request whose `#` stands at `at`.
fn number_at(text: &str, at: usize) -> Option<Candidate> {
    let digits = text[at + 1..]
        .bytes()
        .take(MAX_DIGITS + 1)
        .take_while(u8::is_ascii_digit)
        .count();
    let end = at + 1 + digits;
    if !(1..=MAX_DIGITS).contains(&digits) || !ends_at(text, end) {
        return None;
    }
    let start = repository_before(text, at).unwrap_or(at);
    let value = match start < at {
        true => &text[start..end],
        false => &text[at + 1..end],
    };
    if let Some(word) = Some(head_of(text, start))
        .filter(|head| may_name_pull(head))
        .and_then(|head| NAMES_PULL.captures(head))
        .and_then(|found| found.get(1))
    {
        return Some(Candidate::new(
            Rank::Ticket,
            PR,
            value,
            start - word.len()..end,
        ));
    }
    let begins = !before(text, start)
        .is_some_and(|c| is_word(c) || matches!(c, '#' | '&' | '/' | '-' | '.' | '\\'));
    let is_issue = begins && (start < at || !is_colour(text, at, digits));
    is_issue.then(|| Candidate::new(Rank::Ticket, ISSUE, value, start..end))
}

/// Where the `owner/repository` begins that ends at `at`.
fn repository_before(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let run = |end: usize, most: usize, of: fn(&u8) -> bool| {
        let run = bytes[..end]
            .iter()
            .rev()
            .take(most + 1)
            .take_while(|byte| of(byte));
        Some(run.count()).filter(|length| (1..=most).contains(length))
    };
    let of_repository =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let of_owner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let slash = at.checked_sub(run(at, MAX_REPOSITORY, of_repository)? + 1)?;
    let start = slash.checked_sub(run(slash, MAX_OWNER, of_owner)?)?;
    let begins = !before(text, start)
        .is_some_and(|c| is_word(c) || matches!(c, '/' | '.' | '@' | '~' | ':' | '\\'));
    (bytes[slash] == b'/' && bytes[start].is_ascii_alphanumeric() && begins).then_some(start)
}

/// Whether a head ends like the words of [`NAMES_PULL`]; most do not, and a look at the last
/// letters is cheaper than the pattern.
fn may_name_pull(head: &str) -> bool {
    let word = head.trim_end_matches([' ', '\t']).as_bytes();
    let ends = |end: &[u8]| {
        let from = word.len().checked_sub(end.len());
        from.is_some_and(|from| word[from..].eq_ignore_ascii_case(end))
    };
    [&b"pr"[..], b"prs", b"request", b"requests"]
        .into_iter()
        .any(ends)
}

fn ends_at(text: &str, end: usize) -> bool {
    !after(text, end).is_some_and(|c| is_word(c) || c == '#')
}

/// The few bytes before a place.
fn head_of(text: &str, at: usize) -> &str {
    &text[text.ceil_char_boundary(at.saturating_sub(LOOK_BACK))..at]
}

/// Whether `#` and digits are a colour: six or eight digits, unless a word says otherwise, or
/// three or four behind a word that says so.
fn is_colour(text: &str, at: usize, digits: usize) -> bool {
    let head = head_of(text, at);
    match digits {
        6 | 8 => !NAMES_ISSUE.is_match(head),
        3 | 4 => NAMES_COLOUR.is_match(head),
        _ => false,
    }
}
