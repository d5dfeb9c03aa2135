//! From text to tokens: NFKC, separators, case changes, lower case, bigrams where a script
//! is written without spaces. Equality is of whole tokens, never substrings.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization;

use super::script::{Segment, segment};

/// Tokens of a text in its order, repetitions kept.
///
/// Separators are every character that is neither alphanumeric nor a combining mark, and
/// changes from lower to upper case (`camelCase`; `HTTPServer` is `http`, `server`). Runs of
/// Han, kana and Thai become overlapping bigrams; a lone character is its own token.
pub fn tokenize(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut run: Vec<char> = Vec::new();
    let mut kind = Segment::Separator;
    for c in text.nfkc() {
        let next = segment(c);
        if next != kind {
            flush(&mut run, kind, &mut tokens);
            kind = next;
        }
        if next != Segment::Separator {
            run.push(c);
        }
    }
    flush(&mut run, kind, &mut tokens);
    tokens
}

/// Each token once, in order of first appearance.
pub fn distinct(tokens: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::with_capacity(tokens.len());
    tokens
        .into_iter()
        .filter(|token| seen.insert(token.clone()))
        .collect()
}

fn flush(run: &mut Vec<char>, kind: Segment, tokens: &mut Vec<String>) {
    match kind {
        _ if run.is_empty() => {}
        Segment::Separator => {}
        Segment::Word => split_cases(run, tokens),
        Segment::Cjk | Segment::Thai => match run.as_slice() {
            [lone] => tokens.push(lower(&[*lone])),
            many => tokens.extend(many.windows(2).map(lower)),
        },
    }
    run.clear();
}

/// Cuts before an upper-case letter that follows a lower-case one, and before the last of a
/// run of upper-case letters that a lower-case one follows.
fn split_cases(word: &[char], tokens: &mut Vec<String>) {
    let mut start = 0;
    for at in 1..word.len() {
        let upper = word[at].is_uppercase();
        let after_lower = word[at - 1].is_lowercase();
        let starts_word =
            word[at - 1].is_uppercase() && word.get(at + 1).is_some_and(|next| next.is_lowercase());
        if upper && (after_lower || starts_word) {
            tokens.push(lower(&word[start..at]));
            start = at;
        }
    }
    tokens.push(lower(&word[start..]));
}

fn lower(chars: &[char]) -> String {
    chars.iter().collect::<String>().to_lowercase()
}
