//! Counting tokens, and cutting texts to them.

use crate::embed::{Embedder, ModelState};

/// Name of the estimate that stands in for a model's tokenizer.
pub const ESTIMATE: &str = "estimate";

/// Bytes that are counted at a time while a text is cut.
const STEP_BYTES: usize = 256;

/// Counts tokens: by the tokenizer of the loaded model, else by an estimate.
#[derive(Clone)]
pub struct Counter {
    model: Option<(Embedder, String)>,
}

impl Counter {
    /// The counter that an encoder has now.
    pub fn of(embedder: &Embedder) -> Self {
        let model = match embedder.state() {
            ModelState::Ready(model) => Some((embedder.clone(), model.tokenizer().to_owned())),
            _ => None,
        };
        Self { model }
    }

    /// The estimate.
    pub fn estimate() -> Self {
        Self { model: None }
    }

    /// The model's id, or [`ESTIMATE`].
    pub fn name(&self) -> &str {
        self.model.as_ref().map_or(ESTIMATE, |(_, id)| id)
    }

    /// Tokens of a text. Takes time in proportion to it.
    pub fn count(&self, text: &str) -> usize {
        let counted = self
            .model
            .as_ref()
            .and_then(|(embedder, _)| embedder.count_tokens(text));
        counted.unwrap_or_else(|| estimate(text))
    }

    /// The longest head of a text, up to the end of a word where there are any, that has at
    /// most `limit` tokens: its bytes and its tokens. Costs no more than the head does.
    pub fn head(&self, text: &str, limit: usize) -> (usize, usize) {
        let (mut end, mut used) = (0, 0);
        while end < text.len() {
            let step = step_of(&text[end..]);
            let tokens = self.count(&text[end..end + step]);
            if used + tokens > limit {
                let (more, tokens) = self.within(&text[end..end + step], limit - used);
                return (end + more, used + tokens);
            }
            (end, used) = (end + step, used + tokens);
        }
        (end, used)
    }

    /// The same within one step, by halving.
    fn within(&self, text: &str, limit: usize) -> (usize, usize) {
        let (mut low, mut high) = (0, text.len());
        let mut tokens = 0;
        while low < high {
            let middle = text.ceil_char_boundary(low + (high - low).div_ceil(2));
            let counted = self.count(&text[..middle]);
            if counted <= limit {
                (low, tokens) = (middle, counted);
            } else {
                // Below a character there is nothing to try.
                high = text.floor_char_boundary(middle.saturating_sub(1)).max(low);
            }
        }
        (low, tokens)
    }
}

/// A quarter of the ASCII characters, as is usual for English and code, and every other
/// character whole: rather too many than too few.
fn estimate(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    ascii.div_ceil(4) + text.chars().filter(|c| !c.is_ascii()).count()
}

/// Bytes of the next step: up to white space where there is any, at least a character.
fn step_of(text: &str) -> usize {
    if text.len() <= STEP_BYTES {
        return text.len();
    }
    let most = text.floor_char_boundary(STEP_BYTES);
    let word = text[..most].rfind(char::is_whitespace).filter(|at| *at > 0);
    word.unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_estimate_is_a_quarter_of_ascii_and_all_of_the_rest() {
        let counter = Counter::estimate();
        assert_eq!(counter.name(), "estimate");
        for (text, tokens) in [
            ("", 0),
            ("a", 1),
            ("abcd", 1),
            ("abcde", 2),
            ("日本語", 3),
            ("éa", 2),
        ] {
            assert_eq!(counter.count(text), tokens, "{text}");
        }
    }

    #[test]
    fn heads_end_at_characters_within_the_limit() {
        let counter = Counter::estimate();
        let text = "語".repeat(20_000);
        assert_eq!(counter.head(&text, 100), (300, 100));
        assert_eq!(counter.head(&"é".repeat(999), 7), (14, 7));
        assert_eq!(counter.head("a b c", 0), (0, 0));
        assert_eq!(counter.head("a b c", 9).0, 5);
    }

    proptest! {
        #[test]
        fn any_head_fits_and_no_longer_one_is_far(text in any::<String>(), limit in 0usize..64) {
            let counter = Counter::estimate();
            let text = text.repeat(5);
            let (end, used) = counter.head(&text, limit);
            prop_assert!(text.is_char_boundary(end) && used <= limit);
            prop_assert!(counter.count(&text[..end]) <= used);
            prop_assert!(end == text.len() || used + text.len() / STEP_BYTES + 2 >= limit);
        }
    }
}
