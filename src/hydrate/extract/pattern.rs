//! Custom patterns.

use regex::{Regex, RegexBuilder};

use super::{Candidate, Rank};

/// Bytes that a compiled pattern may take: `\w{1000}{1000}` must not.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// Characters of a refused pattern's explanation.
const MAX_WHY_CHARS: usize = 200;

/// Why a pattern is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError(String);

impl std::fmt::Display for PatternError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PatternError {}

/// A type of reference and what it looks like.
#[derive(Debug, Clone)]
pub struct CustomPattern {
    ref_type: String,
    regex: Regex,
}

impl CustomPattern {
    /// Compiles a pattern. If it has exactly one group, the group is the value of what it
    /// finds, else all of it.
    ///
    /// # Errors
    ///
    /// It is no regular expression, or too large a one; the message names it.
    pub fn new(ref_type: &str, pattern: &str) -> Result<Self, PatternError> {
        let regex = RegexBuilder::new(pattern)
            .size_limit(MAX_COMPILED_BYTES)
            .dfa_size_limit(MAX_COMPILED_BYTES)
            .build()
            .map_err(|error| {
                let why = match error {
                    regex::Error::CompiledTooBig(limit) => {
                        format!("it takes more than {limit} bytes when compiled")
                    }
                    // The last line says what is wrong, those before show where.
                    error => error
                        .to_string()
                        .lines()
                        .last()
                        .unwrap_or_default()
                        .to_owned(),
                };
                let why: String = why.chars().take(MAX_WHY_CHARS).collect();
                PatternError(format!("{pattern:?} is no usable pattern: {why}"))
            })?;
        Ok(Self {
            ref_type: ref_type.to_owned(),
            regex,
        })
    }

    pub(super) fn find(&self, text: &str, candidates: &mut Vec<Candidate>) {
        if self.regex.captures_len() != 2 {
            let found = self.regex.find_iter(text);
            candidates.extend(found.filter(|found| !found.is_empty()).map(|found| {
                Candidate::new(Rank::Custom, &self.ref_type, found.as_str(), found.range())
            }));
            return;
        }
        for found in self.regex.captures_iter(text) {
            let Some(whole) = found.get(0).filter(|whole| !whole.is_empty()) else {
                continue;
            };
            let value = found.get(1).filter(|value| !value.is_empty());
            let value = value.unwrap_or(whole).as_str();
            let candidate = Candidate::new(Rank::Custom, &self.ref_type, value, whole.range());
            candidates.push(candidate);
        }
    }
}
