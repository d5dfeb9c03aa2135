//! Words of the languages that are written with spaces. A phrase is words in lower case with
//! one space between; tables are in the order of use, not of the alphabet.

mod english;
mod german;
mod others;

pub(super) use english::ENGLISH;
pub(super) use german::GERMAN;
pub(super) use others::{DUTCH, FRENCH, ITALIAN, SPANISH};

/// The words of one language.
pub(in crate::intent) struct Lexicon {
    /// Frequent words that give the language away.
    pub signs: &'static [&'static str],
    /// "and": joins two intents, or two words of one.
    pub and: &'static [&'static str],
    /// "then", "and also": what follows is another intent. Only between clauses.
    pub then: &'static [&'static str],
    /// "but".
    pub but: &'static [&'static str],
    /// "instead of": what follows is not wanted.
    pub instead: &'static [&'static str],
    /// "without" before a verb: what follows is not wanted.
    pub without: &'static [&'static str],
    /// Opens a clause of time whose matter comes later ("before").
    pub before: &'static [&'static str],
    /// Opens a clause of time whose matter comes first ("after").
    pub after: &'static [&'static str],
    /// Opens a condition.
    pub condition: &'static [&'static str],
    /// "first", at the beginning of a clause.
    pub first: &'static [&'static str],
    /// "beforehand", anywhere in a clause.
    pub beforehand: &'static [&'static str],
    /// "afterwards", anywhere in a clause.
    pub afterwards: &'static [&'static str],
    /// "also", anywhere in a clause.
    pub also: &'static [&'static str],
    /// Courtesies and fillers before what is asked for.
    pub polite: &'static [&'static str],
    /// Phrases that make whatever follows a request.
    pub frames: &'static [&'static str],
    /// Clauses that only detail the one before ("make sure").
    pub detail: &'static [&'static str],
    /// Words that open a question.
    pub questions: &'static [&'static str],
    /// Pronouns and auxiliaries that open or give away a statement.
    pub statements: &'static [&'static str],
    /// "a", "some": the noun that follows is a thing of its own.
    pub indefinite: &'static [&'static str],
    /// Other words that open a noun phrase.
    pub definite: &'static [&'static str],
    /// Pronouns that point back.
    pub anaphora: &'static [&'static str],
    /// Prepositions.
    pub prepositions: &'static [&'static str],
    /// "don't": a clause that opens so is not wanted.
    pub dont: &'static [&'static str],
    /// "not", "no": the phrase that follows is not wanted if something else is.
    pub not: &'static [&'static str],
    /// What looks like a negation and is none; may open with the negation itself.
    pub no_negation: &'static [&'static str],
    /// "don't forget to": what follows is wanted.
    pub double: &'static [&'static str],
    /// Verbs as they open a request.
    pub verbs: &'static [&'static str],
    /// Verbs that are nouns as well: a request only if an object follows.
    pub nouns_too: &'static [&'static str],
}

impl Lexicon {
    pub(super) const NONE: Lexicon = Lexicon {
        signs: &[],
        and: &[],
        then: &[],
        but: &[],
        instead: &[],
        without: &[],
        before: &[],
        after: &[],
        condition: &[],
        first: &[],
        beforehand: &[],
        afterwards: &[],
        also: &[],
        polite: &[],
        frames: &[],
        detail: &[],
        questions: &[],
        statements: &[],
        indefinite: &[],
        definite: &[],
        anaphora: &[],
        prepositions: &[],
        dont: &[],
        not: &[],
        no_negation: &[],
        double: &[],
        verbs: &[],
        nouns_too: &[],
    };
}
