//! How alike two texts are, at a bounded cost.
//!
//! Similarity is 1 − distance / longer length, in characters, where the distance is
//! Levenshtein's with unit costs. Two empty texts are alike (1.0); an empty one is like no
//! other (0.0).
//!
//! A text longer than [`HEAD_CHARS`] + [`TAIL_CHARS`] characters is compared by that many of
//! its first and last ones: what sets two long outputs apart mostly stands where they begin
//! (the command, the first error) or end (the summary). The share of the shorter length in
//! the longer one, which no edit can make up for, bounds the result as well, so that a long
//! text is never alike to a short one because both begin and end the same.

use std::borrow::Cow;

use rapidfuzz::distance::levenshtein;

/// Characters kept of the beginning of a long text.
pub const HEAD_CHARS: usize = 1_024;
/// Characters kept of its end. With the head, two texts cost at most 2,048² / 64 steps of the
/// bit-parallel algorithm, which is a quarter of a millisecond.
pub const TAIL_CHARS: usize = 1_024;

/// A similarity and what it was taken on.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Similarity {
    /// From 0.0, nothing in common, to 1.0, equal.
    pub value: f64,
    /// Whether a text was compared by its head and tail only.
    pub cut: bool,
}

/// A text as it is compared: whole, or its head and tail.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Excerpt {
    text: String,
    /// Characters of the whole text.
    chars: usize,
}

impl Excerpt {
    /// Keeps what comparing needs of a text: at most 2,048 characters.
    pub fn of(text: &str) -> Self {
        let chars = text.chars().count();
        Self {
            text: cut(text, chars).into_owned(),
            chars,
        }
    }

    /// What is kept.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether that is less than the whole.
    pub fn is_cut(&self) -> bool {
        self.chars > HEAD_CHARS + TAIL_CHARS
    }

    /// How alike two texts are.
    pub fn similarity(&self, other: &Excerpt) -> Similarity {
        self.compare(other, 0.0)
    }

    /// The same, where anything below `least` may be answered as 0.0; that is cheaper, since
    /// the comparison stops as soon as too much differs.
    pub fn similarity_from(&self, other: &Excerpt, least: f64) -> Similarity {
        self.compare(other, least)
    }

    fn compare(&self, other: &Excerpt, least: f64) -> Similarity {
        let value = bounded(&self.text, &other.text, least);
        let (shorter, longer) = (self.chars.min(other.chars), self.chars.max(other.chars));
        let bound = if longer == 0 {
            1.0
        } else {
            shorter as f64 / longer as f64
        };
        let value = value.min(bound);
        Similarity {
            value: if value < least { 0.0 } else { value },
            cut: self.is_cut() || other.is_cut(),
        }
    }
}

/// How alike two texts are.
pub fn similarity(a: &str, b: &str) -> Similarity {
    if a == b {
        // Also where most of the time goes when an agent is stuck.
        return Similarity {
            value: 1.0,
            cut: false,
        };
    }
    Excerpt::of(a).similarity(&Excerpt::of(b))
}

fn cut(text: &str, chars: usize) -> Cow<'_, str> {
    if chars <= HEAD_CHARS + TAIL_CHARS {
        return Cow::Borrowed(text);
    }
    let head = text
        .char_indices()
        .nth(HEAD_CHARS)
        .map_or(text.len(), |(at, _)| at);
    let tail = text
        .char_indices()
        .nth_back(TAIL_CHARS - 1)
        .map_or(0, |(at, _)| at);
    Cow::Owned(format!("{}{}", &text[..head], &text[tail..]))
}

fn bounded(a: &str, b: &str, least: f64) -> f64 {
    let longer = a.chars().count().max(b.chars().count());
    if longer == 0 || a == b {
        return 1.0;
    }
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    // One more than `least` allows, so that rounding never cuts off what lies on it.
    let most = ((1.0 - least.clamp(0.0, 1.0)) * longer as f64).floor() as usize + 1;
    let args = levenshtein::Args::default().score_cutoff(most);
    match levenshtein::distance_with_args(a.chars(), b.chars(), &args) {
        Some(distance) => 1.0 - distance as f64 / longer as f64,
        None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(a: &str, b: &str) -> f64 {
        similarity(a, b).value
    }

    #[test]
    fn known_values() {
        for (a, b, expected) in [
            ("kitten", "sitting", 0.5714),
            ("abc", "xyz", 0.0),
            ("error A", "error B", 0.8571),
            ("", "", 1.0),
            ("a", "", 0.0),
            ("", "abc", 0.0),
            ("größe", "grösse", 0.6667),
            ("查询财报", "查询财务", 0.75),
        ] {
            assert!(
                (value(a, b) - expected).abs() < 5e-5,
                "{a} {b} {}",
                value(a, b)
            );
        }
    }

    #[test]
    fn long_texts_are_compared_by_head_and_tail_and_say_so() {
        let text = "x".repeat(10_000);
        let middle = format!("{}{}{}", "x".repeat(5_000), "y", "x".repeat(4_999));
        let compared = similarity(&text, &middle);
        assert_eq!((compared.value, compared.cut), (1.0, true));
        let end = format!("{}y", "x".repeat(9_999));
        assert!(value(&text, &end) < 1.0);
        assert!(!similarity("a", "b").cut);
    }

    #[test]
    fn a_long_text_is_not_like_a_short_one_that_begins_and_ends_the_same() {
        let short = "x".repeat(5_000);
        let long = "x".repeat(50_000);
        assert!(value(&short, &long) <= 0.1);
    }

    #[test]
    fn cutting_never_splits_a_character() {
        let text = "财".repeat(5_000);
        let excerpt = Excerpt::of(&text);
        assert_eq!(excerpt.text().chars().count(), HEAD_CHARS + TAIL_CHARS);
        assert_eq!(excerpt.similarity(&excerpt).value, 1.0);
    }

    proptest! {
        #[test]
        fn equals_the_reference(a in "[abcé ]{0,40}", b in "[abcé ]{0,40}") {
            let longer = a.chars().count().max(b.chars().count());
            let expected = match longer {
                0 => 1.0,
                n => 1.0 - strsim::levenshtein(&a, &b) as f64 / n as f64,
            };
            prop_assert!((value(&a, &b) - expected).abs() < 1e-12);
        }

        #[test]
        fn is_symmetric_within_bounds_and_one_only_for_equals(a in ".{0,30}", b in ".{0,30}") {
            let (ab, ba) = (value(&a, &b), value(&b, &a));
            prop_assert!((ab - ba).abs() < 1e-12 && (0.0..=1.0).contains(&ab));
            prop_assert_eq!(ab == 1.0, a == b);
        }

        #[test]
        fn a_cutoff_changes_nothing_at_or_above_it(
            a in "[ab]{0,20}", b in "[ab]{0,20}", least in 0.0..=1.0f64,
        ) {
            let (a, b) = (Excerpt::of(&a), Excerpt::of(&b));
            let whole = a.similarity(&b).value;
            let from = a.similarity_from(&b, least).value;
            prop_assert_eq!(from, if whole >= least { whole } else { 0.0 });
        }
    }
}
