//! Failures of the other side: a rate limit or a 5xx is an outage to wait out, not a loop.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::Violations;

/// How a failure is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// A rate limit or a 5xx: worth trying again later.
    Outage,
    /// A timeout or a broken connection: worth trying again once.
    Transient,
    /// Anything else.
    Lasting,
}

/// Bytes of an error that are looked at: what it is stands at the beginning.
const READ_BYTES: usize = 2 << 10;

/// Phrases of rate limits and of failing servers (RFC 9110 reason phrases, and how the large
/// model providers word theirs).
const OUTAGE: [&str; 14] = [
    "too many requests",
    "rate limit",
    "rate-limit",
    "ratelimit",
    "rate_limit",
    "quota exceeded",
    "resource_exhausted",
    "internal server error",
    "bad gateway",
    "service unavailable",
    "gateway timeout",
    "gateway time-out",
    "overloaded",
    "temporarily unavailable",
];

const TRANSIENT: [&str; 10] = [
    "timed out",
    "timeout",
    "time-out",
    "connection refused",
    "connection reset",
    "connection closed",
    "broken pipe",
    "temporary failure",
    "econnrefused",
    "econnreset",
];

/// Words that announce an HTTP status.
const STATUS_WORDS: [&str; 6] = ["http", "status", "code", "statuscode", "https", "http/1"];

/// Takes a failure for what its HTTP status or its text says.
pub fn classify(text: &str, http_status: Option<u16>) -> Failure {
    if let Some(status) = http_status.filter(|status| *status >= 400) {
        return if is_outage(status) {
            Failure::Outage
        } else {
            Failure::Lasting
        };
    }
    let text = beginning(text);
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    if has(&OUTAGE) || named_status(&text).is_some_and(is_outage) {
        Failure::Outage
    } else if has(&TRANSIENT) {
        Failure::Transient
    } else {
        Failure::Lasting
    }
}

fn is_outage(status: u16) -> bool {
    // 501 and 505 say that it will never work.
    matches!(status, 429 | 500 | 502..=504 | 506..=599)
}

fn beginning(text: &str) -> String {
    text[..text.floor_char_boundary(READ_BYTES)].to_lowercase()
}

/// The number behind a word that announces a status: `HTTP 503`, `status code: 429`,
/// `HTTP/1.1 502`. A bare number is a count or a line.
fn named_status(text: &str) -> Option<u16> {
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '/')
        .filter(|w| !w.is_empty())
        .collect();
    words.iter().enumerate().find_map(|(at, word)| {
        let status = word.parse().ok().filter(|_| word.len() == 3)?;
        let before = |back: usize| at.checked_sub(back).map(|at| words[at]);
        let announced = before(1).is_some_and(|w| STATUS_WORDS.contains(&w) || w == "http/2")
            || (before(1) == Some("1") && before(2) == Some("http/1"))
            || (before(1) == Some("error") && before(2).is_some_and(|w| STATUS_WORDS.contains(&w)));
        announced.then_some(status)
    })
}

/// How long the text asks to wait: `Retry-After: 12`, `retry in 3.5s`, `try again in 20 s`.
pub fn retry_after(text: &str) -> Option<Duration> {
    const ANNOUNCED: [&str; 6] = [
        "retry-after",
        "retry after",
        "retry_after",
        "retry in",
        "try again in",
        "please wait",
    ];
    let text = beginning(text);
    ANNOUNCED.iter().find_map(|phrase| {
        let rest = &text[text.find(phrase)? + phrase.len()..];
        let rest = rest.trim_start_matches(|c: char| !c.is_ascii_digit() && !c.is_alphabetic());
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let amount: f64 = rest[..digits].trim_end_matches('.').parse().ok()?;
        let unit = rest[digits..].trim_start();
        let seconds = match unit {
            _ if unit.starts_with("ms") || unit.starts_with("milli") => amount / 1_000.0,
            _ if unit.starts_with('m') => amount * 60.0,
            _ => amount,
        };
        Duration::try_from_secs_f64(seconds).ok()
    })
}

/// How long to wait before the next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Backoff {
    /// Wait after the first failure, in milliseconds; doubles with each further one.
    pub base_ms: u64,
    /// Longest wait, in milliseconds, whatever the other side asks for.
    pub max_ms: u64,
}

impl Default for Backoff {
    /// 1 s to 60 s, the usual limits of clients of model providers.
    fn default() -> Self {
        Self {
            base_ms: 1_000,
            max_ms: 60_000,
        }
    }
}

impl Backoff {
    /// The wait after that many failures in a row, from 1; never shorter than `asked`.
    pub fn wait(&self, failures: u32, asked: Option<Duration>) -> Duration {
        let doubled = self
            .base_ms
            .saturating_mul(1 << failures.saturating_sub(1).min(30));
        let asked = asked.unwrap_or_default();
        Duration::from_millis(doubled)
            .max(asked)
            .min(Duration::from_millis(self.max_ms))
    }

    pub(super) fn check(&self, path: &str, violations: &mut Violations) {
        const MOST: u64 = 3_600_000;
        if self.base_ms == 0 || self.base_ms > MOST {
            violations.add(
                format!("{path}base"),
                format!("{} ms is not within 1 to {MOST}", self.base_ms),
            );
        }
        if self.max_ms < self.base_ms || self.max_ms > MOST {
            violations.add(
                format!("{path}max"),
                format!(
                    "{} ms is not within {} to {MOST}",
                    self.max_ms, self.base_ms
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_limits_and_5xx_are_outages() {
        for text in [
            "Error: 429 Too Many Requests",
            "HTTP 503",
            "request failed with status code: 502",
            "HTTP/1.1 504 Gateway Timeout",
            "http error 500",
            "Rate limit reached for requests",
            "{\"type\":\"overloaded_error\"}",
            "RESOURCE_EXHAUSTED: quota",
        ] {
            assert_eq!(classify(text, None), Failure::Outage, "{text}");
        }
        assert_eq!(classify("", Some(529)), Failure::Outage);
    }

    #[test]
    fn other_failures_and_other_numbers_are_not() {
        for text in [
            "HTTP 404",
            "500 rows expected, 3 found",
            "a.rs:503: error",
            "status 501",
            "Unknown column 'rate' in 'field list'",
            "exit code 1, 429 lines",
        ] {
            assert_eq!(classify(text, None), Failure::Lasting, "{text}");
        }
        assert_eq!(classify("service unavailable", Some(404)), Failure::Lasting);
        assert_eq!(classify("timeout after 30.01 s", None), Failure::Transient);
    }

    #[test]
    fn waits_double_up_to_a_limit_and_respect_what_is_asked() {
        let backoff = Backoff::default();
        let seconds = |n| backoff.wait(n, None).as_secs();
        assert_eq!([1, 2, 3, 6, 7, 1000].map(seconds), [1, 2, 4, 32, 60, 60]);
        let asked = |s| backoff.wait(1, Some(Duration::from_secs(s))).as_secs();
        assert_eq!((asked(20), asked(900)), (20, 60));
    }

    #[test]
    fn what_is_asked_is_read() {
        for (text, seconds) in [
            ("Retry-After: 12", Some(12.0)),
            ("Please try again in 3.5s.", Some(3.5)),
            ("retry in 250ms", Some(0.25)),
            ("try again in 2 minutes", Some(120.0)),
            ("retry after a while", None),
            ("retry-after: 999999999999999999999999999", None),
            ("nothing", None),
        ] {
            assert_eq!(
                retry_after(text).map(|wait| wait.as_secs_f64()),
                seconds,
                "{text}"
            );
        }
    }
}
