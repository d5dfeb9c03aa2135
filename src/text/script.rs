//! Which writing systems a text uses.

use unicode_script::{Script, UnicodeScript};

/// How a character is cut into tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment {
    /// Written without spaces in East Asia: overlapping bigrams.
    Cjk,
    /// Thai, also written without spaces: overlapping bigrams.
    Thai,
    /// Part of a word.
    Word,
    /// Between words.
    Separator,
}

/// Class of one character.
pub fn segment(c: char) -> Segment {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() {
            Segment::Word
        } else {
            Segment::Separator
        };
    }
    match c.script() {
        Script::Han | Script::Hiragana | Script::Katakana if c.is_alphanumeric() => Segment::Cjk,
        Script::Thai if !c.is_numeric() => Segment::Thai,
        // The prolonged sound mark belongs to the kana around it although it is "common".
        _ if c == '\u{30fc}' => Segment::Cjk,
        _ if c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c) => {
            Segment::Word
        }
        _ => Segment::Separator,
    }
}

/// Groups of writing systems whose prompts score alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScriptGroup {
    /// Han, kana and Hangul.
    Cjk,
    /// Latin.
    Latin,
    /// Everything else.
    Other,
}

/// The group that most letters of a text belong to; a text without letters is Latin, and a
/// tie goes to the group named first.
pub fn script_group(text: &str) -> ScriptGroup {
    let (mut cjk, mut latin, mut other) = (0usize, 0usize, 0usize);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        match c.script() {
            // One Han character says about as much as half an English word.
            Script::Han | Script::Hiragana | Script::Katakana | Script::Hangul => cjk += 3,
            Script::Latin => latin += 1,
            Script::Common | Script::Inherited => {}
            _ => other += 1,
        }
    }
    if cjk + latin + other == 0 {
        ScriptGroup::Latin
    } else if cjk >= latin && cjk >= other {
        ScriptGroup::Cjk
    } else if latin >= other {
        ScriptGroup::Latin
    } else {
        ScriptGroup::Other
    }
}
