//! Globs over whole names.
//!
//! `*` stands for any run of characters, also none, and also across `/ . _ :`; `?` stands for
//! exactly one character. Everything else is literal: there are no classes, braces or
//! escapes. Matching is case-sensitive and works on characters, not bytes.

/// Characters of one pattern; names are far shorter, so no one needs more.
pub const MAX_PATTERN_CHARS: usize = 256;

/// Why a pattern is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// It matches nothing, so it can only be a mistake.
    #[error("must not be empty")]
    Empty,
    /// It is longer than [`MAX_PATTERN_CHARS`].
    #[error("{0} characters exceed the limit of {MAX_PATTERN_CHARS}")]
    TooLong(usize),
}

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Run,
    One,
    Literal(char),
}

impl Glob {
    /// Compiles a pattern.
    pub fn new(pattern: &str) -> Result<Self, GlobError> {
        let count = pattern.chars().count();
        match count {
            0 => return Err(GlobError::Empty),
            1..=MAX_PATTERN_CHARS => {}
            _ => return Err(GlobError::TooLong(count)),
        }
        let mut parts: Vec<Part> = pattern
            .chars()
            .map(|c| match c {
                '*' => Part::Run,
                '?' => Part::One,
                c => Part::Literal(c),
            })
            .collect();
        parts.dedup_by(|a, b| *a == Part::Run && *b == Part::Run);
        Ok(Self { parts })
    }

    /// Whether the whole name matches.
    ///
    /// On a mismatch only the last `*` takes one character more: an earlier one cannot do
    /// better, since the last can begin nowhere sooner. So the cost is at most the pattern's
    /// length times the name's, and for the usual pattern the name's length.
    pub fn matches(&self, name: &str) -> bool {
        let mut rest = name.chars();
        let mut at = 0;
        // Where to go on after a mismatch: the part behind the last `*`, and the name it
        // was tried on.
        let mut retry: Option<(usize, std::str::Chars<'_>)> = None;
        loop {
            let before = rest.clone();
            match (self.parts.get(at), rest.next()) {
                (Some(Part::Run), _) => {
                    at += 1;
                    if at == self.parts.len() {
                        return true;
                    }
                    retry = Some((at, before.clone()));
                    rest = before;
                    continue;
                }
                (Some(Part::One), Some(_)) => at += 1,
                (Some(Part::Literal(wanted)), Some(c)) if *wanted == c => at += 1,
                (None, None) => return true,
                // The name is used up and the pattern is not: a longer run does not help.
                (Some(_), None) => return false,
                (_, Some(_)) => {
                    let Some((part, name)) = &mut retry else {
                        return false;
                    };
                    name.next();
                    at = *part;
                    rest = name.clone();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        Glob::new(pattern).expect("a pattern").matches(name)
    }

    #[test]
    fn stars_cross_separators_and_take_nothing_too() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "admin/delete"),
            ("admin*", "admin/delete"),
            ("admin*", "admin.delete"),
            ("admin*", "admin"),
            ("a*c*e", "abcde"),
            ("*_read", "file::x/y_read"),
            ("a**b", "ab"),
            ("*ab", "aab"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("admin*", "Admin/delete"),
            ("a*c", "acd"),
            ("a", ""),
            ("a*a", "a"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn a_question_mark_is_one_character_not_one_byte() {
        assert!(matches("?", "é") && matches("a?c", "a查c") && matches("??", "a/"));
        assert!(!matches("?", "") && !matches("?", "ab") && !matches("a?", "a"));
    }

    #[test]
    fn everything_else_is_literal() {
        assert!(matches("a[b]", "a[b]") && !matches("a[b]", "ab"));
        assert!(matches("{a,b}", "{a,b}") && !matches("{a,b}", "a"));
        assert!(matches("a\\*", "a\\x") && matches("a.c", "a.c") && !matches("a.c", "abc"));
    }

    #[test]
    fn an_empty_pattern_is_refused_and_so_is_a_huge_one() {
        assert_eq!(Glob::new(""), Err(GlobError::Empty));
        assert_eq!(Glob::new(&"a".repeat(257)), Err(GlobError::TooLong(257)));
        assert!(Glob::new(" ").is_ok());
    }

    #[test]
    fn many_stars_cost_no_more_than_the_product() {
        let pattern = format!("{}b", "*a".repeat(127));
        let name = "a".repeat(20_000);
        let started = std::time::Instant::now();
        assert!(!matches(&pattern, &name));
        assert!(started.elapsed() < std::time::Duration::from_secs(2));
    }

    /// The definition itself, exponential as it stands.
    fn defined(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some(('*', rest)) => (0..=name.len()).any(|skip| defined(rest, &name[skip..])),
            Some((c, rest)) => name
                .split_first()
                .is_some_and(|(first, name)| (*c == '?' || c == first) && defined(rest, name)),
        }
    }

    proptest! {
        #[test]
        fn matching_is_what_the_definition_says(
            pattern in "[ab*?é]{1,8}", name in "[abé]{0,10}",
        ) {
            let (p, n): (Vec<_>, Vec<_>) = (pattern.chars().collect(), name.chars().collect());
            prop_assert_eq!(matches(&pattern, &name), defined(&p, &n));
        }

        #[test]
        fn a_literal_matches_itself_only(name in "[^*?]{1,20}", other in "[^*?]{1,20}") {
            prop_assert!(matches(&name, &name));
            prop_assert_eq!(matches(&name, &other), name == other);
        }
    }
}
