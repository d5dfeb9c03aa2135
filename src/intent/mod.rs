//! What a prompt really asks: its parts, which of them are wanted, and in which order.
//!
//! Everything here goes by words and punctuation alone, is a pure function of the text, and
//! knows nothing of the catalogue. It proposes; whether two parts are two intents is decided
//! where the entries are known (`plan`). A prompt in which nothing is found stays one part,
//! byte for byte.
//!
//! | module | owns |
//! |---|---|
//! | `lexer` | words, and what must not be cut |
//! | `lexicon` | the words of each language |
//! | `latin`, `han` | cutting a text into parts, with and without spaces |
//! | `form` | what kind of phrase a part is, and whether it negates |
//! | `order` | the order meant |
//!
//! English, German and Chinese are read in full; French, Spanish, Italian, Dutch and Japanese
//! by their connectives, their negations and a few verbs.

mod form;
mod han;
mod latin;
mod lexer;
mod lexicon;
mod order;

use std::ops::Range;

/// Bytes of a prompt that are read for parts; what follows belongs to the last one. Longer
/// prompts quote documents, whose sentences are no intents.
const READ_BYTES: usize = 4 << 10;

/// Parts of one prompt at most; what follows belongs to the last one.
pub const MAX_PARTS: usize = 12;

/// Whether a part is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polarity {
    /// It is asked for.
    Wanted,
    /// It is said not to be wanted.
    Unwanted,
}

/// What kind of phrase a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// It asks for something.
    Request,
    /// A noun phrase that shares the verb of the part before.
    Fragment,
    /// A lone verb that shares the object of the part after.
    Bare,
    /// A clause of time ("after the build has passed"): an intent if an entry fits.
    Temporal,
    /// It tells something.
    Statement,
}

/// How a part is joined to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    /// "and", a comma: perhaps one intent.
    Weak,
    /// A new sentence: two intents, unless one only explains the other.
    Sentence,
    /// "then", "and also", an item of a list: two intents.
    Strong,
}

/// How a request is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// "Open the file", "the file".
    Told,
    /// "Can you open the file?", "Where is it?".
    Asked,
    /// "I need to open the file".
    Wished,
}

/// Where a part stands in the order meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// After the parts before it.
    Next,
    /// Before the part before it.
    BeforePrevious,
    /// Before all parts of its sentence so far.
    BeforeSentence,
    /// After all parts of its sentence.
    EndOfSentence,
}

/// One part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its bytes in the prompt, connectives left out.
    pub span: Range<usize>,
    /// What of it is ranked: without connectives and courtesies, and with the verb it shares.
    pub text: String,
    /// Whether it is asked for.
    pub polarity: Polarity,
    /// What kind of phrase it is.
    pub form: Form,
    /// How it is joined to the part before in the text.
    pub link: Link,
    /// How it asks.
    pub manner: Manner,
    /// Whether it opens with "a", "ein", "一个": something of its own.
    pub indefinite: bool,
    /// Whether its object is only a pronoun ("call it so").
    pub anaphoric: bool,
    sentence: usize,
    place: Place,
}

/// A prompt as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// Its parts in the order of the text; none where it is one part as a whole.
    pub parts: Vec<Part>,
}

impl Reading {
    /// Reads a prompt.
    pub fn of(prompt: &str) -> Self {
        let read = &prompt[..prompt.floor_char_boundary(READ_BYTES)];
        let mut parts = if han::is_written(read) {
            han::parts(read)
        } else {
            latin::parts(read)
        };
        share_objects(&mut parts);
        let whole = parts.len() < 2 && parts.iter().all(|part| part.polarity == Polarity::Wanted);
        if whole {
            parts.clear();
        } else if read.len() < prompt.len()
            && let Some(last) = parts.last_mut()
        {
            last.text.push_str(&prompt[last.span.end..]);
            last.span.end = prompt.len();
        }
        Self { parts }
    }

    /// Whether something is said not to be wanted.
    pub fn negates(&self) -> bool {
        self.unwanted().next().is_some()
    }

    /// Parts that are said not to be wanted.
    pub fn unwanted(&self) -> impl Iterator<Item = &Part> {
        self.parts
            .iter()
            .filter(|part| part.polarity == Polarity::Unwanted)
    }

    /// Parts that are asked for, in the order of the text.
    pub fn wanted(&self) -> impl Iterator<Item = &Part> {
        self.parts
            .iter()
            .filter(|part| part.polarity == Polarity::Wanted)
    }

    /// The text that is left when what is not wanted is taken out; empty where nothing is.
    pub fn positive(&self) -> String {
        let texts: Vec<&str> = self.wanted().map(|part| part.text.as_str()).collect();
        texts.join(", ")
    }

    /// Numbers of the parts in the order meant.
    pub fn order(&self) -> Vec<usize> {
        order::order(&self.parts)
    }
}

/// Gives a lone verb the object of the part after it: "lint and format the code" asks to lint
/// the code.
fn share_objects(parts: &mut [Part]) {
    for at in 1..parts.len() {
        let (before, after) = parts.split_at_mut(at);
        let (Some(bare), Some(next)) = (before.last_mut(), after.first()) else {
            continue;
        };
        let shares = bare.form == Form::Bare
            && next.link == Link::Weak
            && next.form == Form::Request
            && bare.polarity == next.polarity;
        if !shares {
            continue;
        }
        let object = match han::object_of(&next.text) {
            Some(object) => object.to_owned(),
            None => match next.text.split_once(' ') {
                Some((_, object)) => format!(" {object}"),
                None => continue,
            },
        };
        bare.text.push_str(&object);
    }
}

#[cfg(test)]
mod tests;
