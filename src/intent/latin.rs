//! Parts of a prompt that is written with spaces.
//!
//! The text is cut at sentence ends, commas and connectives into segments; each loses its
//! courtesies and adverbs of order, is told a request from a fragment or a statement, and a
//! wanted from an unwanted one; and those that are no part of their own go back to their
//! neighbours.

use super::form::{self, Shape};
use super::lexer::{Kind, Token, lex};
use super::lexicon::{DUTCH, ENGLISH, FRENCH, GERMAN, ITALIAN, Lexicon, SPANISH};
use super::{Form, Link, MAX_PARTS, Manner, Part, Place, Polarity};

/// What stands between two segments, or is said by adverbs within one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Lead {
    pub sentence: bool,
    pub then: bool,
    pub but: bool,
    pub instead: bool,
    pub before: bool,
    pub after: bool,
    pub condition: bool,
    pub first: bool,
    pub beforehand: bool,
    /// Opened by a mark of a list ("1.", "-").
    pub item: bool,
}

impl Lead {
    fn merge(&mut self, other: Lead) {
        self.sentence |= other.sentence;
        self.then |= other.then;
        self.but |= other.but;
        self.instead |= other.instead;
        self.before |= other.before;
        self.after |= other.after;
        self.condition |= other.condition;
        self.first |= other.first;
        self.beforehand |= other.beforehand;
        self.item |= other.item;
    }

    pub fn link(&self) -> Link {
        if self.then || self.item {
            Link::Strong
        } else if self.sentence {
            Link::Sentence
        } else {
            Link::Weak
        }
    }
}

/// A stretch of the prompt between two separators.
#[derive(Debug, Clone)]
struct Segment {
    /// All its tokens.
    first: usize,
    last: usize,
    /// Tokens that are left when courtesies and adverbs are gone.
    kept: Vec<usize>,
    lead: Lead,
    sentence: usize,
    shape: Shape,
    unwanted: bool,
    /// Whether a frame ("I want to") makes it a request.
    framed: bool,
    manner: Manner,
    /// A German frame whose verb is yet to come ("ich möchte …").
    open: bool,
}

/// Reads the parts of a text.
pub(super) fn parts(text: &str) -> Vec<Part> {
    let tokens = lex(text);
    let lexicon = language_of(&tokens);
    let mut segments = Vec::new();
    let mut carried = Lead::default();
    for (range, mut lead, sentence) in cut(&tokens, lexicon) {
        lead.merge(carried);
        carried = Lead::default();
        match refine(&tokens, lexicon, range, lead, sentence) {
            Ok(segment) => segments.push(segment),
            // Adverbs alone ("..., vorher aber ...") say something of what follows.
            Err(adverbs) => carried = adverbs,
        }
    }
    settle_polarity(&tokens, lexicon, &mut segments);
    assemble(text, &tokens, lexicon, segments)
}

/// The language whose frequent words the text has most of; English where none has any.
fn language_of(tokens: &[Token]) -> &'static Lexicon {
    let languages = [&ENGLISH, &GERMAN, &FRENCH, &SPANISH, &ITALIAN, &DUTCH];
    let score = |lexicon: &Lexicon| {
        let words = tokens.iter().filter(|token| token.is_word());
        let signs = words
            .clone()
            .filter(|t| lexicon.signs.contains(&t.lower.as_str()));
        let verbs = words.filter(|t| form::is_verb(lexicon, &t.lower)).count();
        2 * signs.count() + verbs
    };
    let mut best = (languages[0], score(languages[0]));
    for lexicon in &languages[1..] {
        let score = score(lexicon);
        if score > best.1 {
            best = (lexicon, score);
        }
    }
    best.0
}

/// Number of tokens of a phrase that stands at a place; 0 where it does not.
pub(super) fn phrase_at(tokens: &[Token], at: usize, phrase: &str) -> usize {
    let mut length = 0;
    for word in phrase.split(' ') {
        let matches = match tokens.get(at + length) {
            Some(token) if token.is_word() => token.lower == word,
            Some(Token {
                kind: Kind::Punct(c),
                ..
            }) => word.len() == c.len_utf8() && word.starts_with(*c),
            _ => false,
        };
        if !matches {
            return 0;
        }
        length += 1;
    }
    length
}

/// Tokens of the longest of several phrases that stands at a place.
pub(super) fn any_at(tokens: &[Token], at: usize, phrases: &[&str]) -> usize {
    phrases
        .iter()
        .map(|phrase| phrase_at(tokens, at, phrase))
        .max()
        .unwrap_or(0)
}

/// Ranges of tokens between separators, with what stands before each and its sentence.
fn cut(tokens: &[Token], lexicon: &Lexicon) -> Vec<(std::ops::Range<usize>, Lead, usize)> {
    let mut found = Vec::new();
    let mut sentence = 0;
    let mut lead = Lead {
        sentence: true,
        ..Lead::default()
    };
    let mut start = 0;
    let mut at = 0;
    while at < tokens.len() {
        let (length, next) = separator_at(tokens, lexicon, start, at, lead);
        if length == 0 {
            at += 1;
            continue;
        }
        if start < at {
            found.push((start..at, lead, sentence));
            lead = Lead::default();
        }
        if next.sentence {
            sentence += 1;
        }
        lead.merge(next);
        at += length;
        start = at;
    }
    if start < tokens.len() {
        found.push((start..tokens.len(), lead, sentence));
    }
    found
}

/// Tokens of the separator that stands at a place (0 for none) and what it says.
fn separator_at(
    tokens: &[Token],
    lexicon: &Lexicon,
    start: usize,
    at: usize,
    lead: Lead,
) -> (usize, Lead) {
    let none = (0, Lead::default());
    let sentence = Lead {
        sentence: true,
        ..Lead::default()
    };
    let token = &tokens[at];
    match token.kind {
        Kind::Break => return (1, sentence),
        Kind::Punct('.' | '!' | '?' | ';' | '…') => {
            // A dot behind a number or a single letter ends no sentence ("1. lint", "z. B.").
            let short = at
                .checked_sub(1)
                .filter(|before| *before >= start)
                .is_some_and(|before| {
                    let word = &tokens[before];
                    word.end == token.start
                        && word.is_word()
                        && (word.lower.chars().count() == 1 && !word.lower.starts_with('i')
                            || [
                                "nr", "no", "dr", "mr", "mrs", "ca", "bzw", "etc", "vs", "usw",
                            ]
                            .contains(&word.lower.as_str()))
                });
            let marks_item = short && at == start + 1 && is_number(&tokens[start]);
            if marks_item {
                return none;
            }
            return if short { none } else { (1, sentence) };
        }
        Kind::Punct(',' | '—' | '–') => {
            // "Hilf mir, den Fehler zu finden": the comma only ends the frame.
            let own = &tokens[start..at];
            let frame = any_at(own, 0, lexicon.frames) == own.len() && !own.is_empty();
            return if frame { none } else { (1, Lead::default()) };
        }
        Kind::Punct('-' | '•' | '*') if start == at && lead.sentence => {
            let item = Lead {
                item: true,
                ..Lead::default()
            };
            return (1, item);
        }
        Kind::Punct('-') if token.start > 0 && tokens.get(at + 1).is_some() => {
            let spaced = tokens[at - 1].end < token.start && tokens[at + 1].start > token.end;
            return if spaced { (1, Lead::default()) } else { none };
        }
        _ => {}
    }
    // "1." or "2)" at the beginning of a line.
    let mark = tokens
        .get(at + 1)
        .filter(|mark| matches!(mark.kind, Kind::Punct('.' | ')')) && mark.start == token.end);
    let numbered = start == at && is_number(token) && lead.sentence;
    if numbered && mark.is_some() && at + 2 < tokens.len() {
        let item = Lead {
            item: true,
            ..Lead::default()
        };
        return (2, item);
    }
    let opens = start == at;
    let length = any_at(tokens, at, lexicon.instead);
    if length > 0 {
        let instead = Lead {
            instead: true,
            ..Lead::default()
        };
        return (length, instead);
    }
    let length = any_at(tokens, at, lexicon.without);
    if length > 0 && form::opens_verb(tokens, at + length, lexicon) {
        let instead = Lead {
            instead: true,
            ..Lead::default()
        };
        return (length, instead);
    }
    let length = any_at(tokens, at, lexicon.but);
    if length > 0 && at + length < tokens.len() {
        let but = Lead {
            but: true,
            ..Lead::default()
        };
        // "..., but not X": what follows is not wanted.
        return (length, but);
    }
    let length = any_at(tokens, at, lexicon.before);
    if length > 0 && form::opens_clause(tokens, at + length, lexicon) {
        let before = Lead {
            before: true,
            ..Lead::default()
        };
        return (length, before);
    }
    let length = any_at(tokens, at, lexicon.after);
    if length > 0 && form::opens_clause(tokens, at + length, lexicon) {
        let after = Lead {
            after: true,
            ..Lead::default()
        };
        return (length, after);
    }
    let length = any_at(tokens, at, lexicon.condition);
    if length > 0 && opens && !lead.before && !lead.after {
        let condition = Lead {
            condition: true,
            ..Lead::default()
        };
        return (length, condition);
    }
    let length = any_at(tokens, at, lexicon.then);
    // German says "dann" within the clause, behind the verb: that is no separator.
    let within = std::ptr::eq(lexicon, &GERMAN) && length == 1 && !opens;
    if length > 0 && !within && at + length < tokens.len() {
        let then = Lead {
            then: true,
            ..Lead::default()
        };
        return (length, then);
    }
    let length = any_at(tokens, at, lexicon.and);
    if length > 0 && at + length < tokens.len() {
        let strong = length > 1 || tokens[at].lower == "plus" || tokens[at].lower == "sowie";
        let and = Lead {
            then: strong && form::opens_part(tokens, at + length, lexicon),
            ..Lead::default()
        };
        return (length, and);
    }
    none
}

fn is_number(token: &Token) -> bool {
    token.is_word() && token.lower.len() <= 2 && token.lower.bytes().all(|b| b.is_ascii_digit())
}

/// Takes courtesies and adverbs off a segment and says what it is.
fn refine(
    tokens: &[Token],
    lexicon: &Lexicon,
    range: std::ops::Range<usize>,
    mut lead: Lead,
    sentence: usize,
) -> Result<Segment, Lead> {
    let slice = &tokens[range.clone()];
    let mut removed = vec![false; slice.len()];
    // Adverbs of order, wherever they stand.
    let mut at = 0;
    while at < slice.len() {
        let beforehand = any_at(slice, at, lexicon.beforehand);
        let afterwards = any_at(slice, at, lexicon.afterwards);
        let also = any_at(slice, at, lexicon.also);
        let length = beforehand.max(afterwards).max(also);
        // English says them first or last; elsewhere "next" and "too" are plain words.
        let edge = at == 0
            || at + length == slice.len()
            || removed[..at].iter().all(|gone| *gone)
            || std::ptr::eq(lexicon, &GERMAN);
        let negated = at > 0 && lexicon.not.contains(&slice[at - 1].lower.as_str());
        if length > 0 && edge && !negated {
            if beforehand == length {
                lead.beforehand = true;
            } else {
                lead.then = true;
            }
            removed[at..at + length].fill(true);
            at += length;
        } else {
            at += 1;
        }
    }
    // Courtesies and "first", at the beginning.
    let mut framed = false;
    let mut manner = Manner::Told;
    let mut open = false;
    let mut begin = 0;
    loop {
        while begin < slice.len() && removed[begin] {
            begin += 1;
        }
        let double = any_at(slice, begin, lexicon.double);
        let negation = any_at(slice, begin, lexicon.dont).max(any_at(slice, begin, lexicon.not));
        let first = any_at(slice, begin, lexicon.first);
        let frame = any_at(slice, begin, lexicon.frames);
        let polite = any_at(slice, begin, lexicon.polite);
        let mut length = first.max(frame).max(polite).max(double);
        // "..., to see what it does": a purpose, not a request.
        let after_comma = range.start > 0 && tokens[range.start - 1].kind == Kind::Punct(',');
        if begin == 0 && after_comma && slice.first().is_some_and(|word| word.lower == "to") {
            length = 0;
        }
        if begin + length >= slice.len() || length == 0 || (negation >= length && double == 0) {
            break;
        }
        framed |= frame == length || double == length;
        if frame == length {
            manner = match slice[begin].lower.chars().next() {
                _ if wishes(&slice[begin].lower) => Manner::Wished,
                _ if manner == Manner::Wished => Manner::Wished,
                _ => Manner::Asked,
            };
            let words = &slice[begin..begin + length];
            open = words.iter().any(|word| form::is_modal(&word.lower));
        }
        lead.first |= first == length && frame < length;
        removed[begin..begin + length].fill(true);
        begin += length;
    }
    let kept: Vec<usize> = (range.start..range.end)
        .filter(|at| !removed[at - range.start])
        .collect();
    if kept.is_empty() {
        return Err(lead);
    }
    let shape = form::shape(tokens, &kept, lexicon, framed);
    if manner == Manner::Told && any_at(tokens, kept[0], lexicon.questions) > 0 {
        manner = Manner::Asked;
    }
    let open = open && std::ptr::eq(lexicon, &GERMAN) && !form::completes(tokens, &kept);
    Ok(Segment {
        first: range.start,
        last: range.end - 1,
        kept,
        lead,
        sentence,
        shape,
        unwanted: false,
        framed,
        manner,
        open,
    })
}

/// Whether a frame opens in the first person.
fn wishes(word: &str) -> bool {
    const FIRST_PERSON: &[&str] = &[
        "i",
        "i'd",
        "i'm",
        "we",
        "want",
        "need",
        "would",
        "ich",
        "wir",
        "je",
        "j'aimerais",
        "j'ai",
        "quiero",
        "quisiera",
        "necesito",
        "me",
        "voglio",
        "vorrei",
        "ho",
        "devo",
        "ik",
        "tengo",
    ];
    FIRST_PERSON.contains(&word)
}

/// Tells which segments are not wanted, and takes their negations off.
fn settle_polarity(tokens: &[Token], lexicon: &Lexicon, segments: &mut [Segment]) {
    for at in 0..segments.len() {
        let segment = &segments[at];
        let is_fragment = !matches!(segment.shape, Shape::Request | Shape::Bare);
        let joined = at > 0
            && segments[at - 1].unwanted
            && segments[at - 1].sentence == segment.sentence
            && segment.lead == Lead::default()
            && is_fragment
            && !follows_comma(tokens, segment);
        let (unwanted, without) = if segment.lead.instead {
            (true, Vec::new())
        } else if joined {
            // "don't run the tests and benchmarks"
            (true, Vec::new())
        } else {
            form::negation(tokens, &segment.kept, lexicon, segment.lead.condition)
        };
        if !unwanted {
            continue;
        }
        let segment = &mut segments[at];
        segment.unwanted = true;
        segment.kept.retain(|kept| !without.contains(kept));
        if segment.kept.is_empty() {
            segment.kept = vec![segment.first];
        }
    }
    // "no X", "not X" and "nicht X" alone describe a state; beside a request they exclude.
    let asks = segments.iter().any(|segment| {
        let requests = matches!(segment.shape, Shape::Request | Shape::Bare);
        !segment.unwanted && (requests || segment.lead.but)
    });
    if !asks {
        for segment in segments.iter_mut() {
            let strong = form::is_strong(tokens, segment.first..=segment.last, lexicon);
            if segment.unwanted && !strong && !segment.lead.instead {
                segment.unwanted = false;
                segment.kept = (segment.first..=segment.last).collect();
            }
        }
    }
}

fn follows_comma(tokens: &[Token], segment: &Segment) -> bool {
    segment
        .first
        .checked_sub(1)
        .is_some_and(|before| tokens[before].kind == Kind::Punct(','))
}

/// Joins what is no part of its own to its neighbours.
fn assemble(text: &str, tokens: &[Token], lexicon: &Lexicon, segments: Vec<Segment>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    // The verb of the request before, for fragments that share it.
    let mut head: Option<usize> = None;
    let mut open = false;
    let asks = segments
        .iter()
        .any(|segment| !segment.unwanted && matches!(segment.shape, Shape::Request | Shape::Bare));
    for (number, segment) in segments.iter().enumerate() {
        let polarity = match segment.unwanted {
            true => Polarity::Unwanted,
            false => Polarity::Wanted,
        };
        let link = segment.lead.link();
        let same = parts
            .last()
            .is_some_and(|last| last.sentence == segment.sentence && last.polarity == polarity);
        let after_unwanted = parts
            .last()
            .is_some_and(|last| last.polarity == Polarity::Unwanted);
        let clause_of_time = segment.lead.before || segment.lead.after;
        let form = match segment.shape {
            _ if segment.lead.condition && segment.shape != Shape::Bare => Form::Statement,
            _ if clause_of_time => Form::Temporal,
            Shape::Request => Form::Request,
            Shape::Bare => Form::Bare,
            Shape::Statement => Form::Statement,
            Shape::Detail | Shape::Fragment { .. } => Form::Fragment,
        };
        let indefinite = matches!(segment.shape, Shape::Fragment { indefinite: true })
            || form::has_indefinite_object(tokens, &segment.kept, lexicon);
        let own_sentence = segment.lead.sentence || segment.lead.item;
        // Beside a request, a sentence without a verb ("Hello!") asks for nothing.
        let form = match form {
            Form::Fragment if asks && segment.lead.link() == Link::Sentence && !after_unwanted => {
                Form::Statement
            }
            form => form,
        };
        let continues = std::mem::replace(&mut open, segment.open);
        let joins = match form {
            _ if parts.is_empty() => false,
            _ if continues && link == Link::Weak => true,
            _ if polarity == Polarity::Unwanted => false,
            Form::Statement => same && link == Link::Weak && !segment.lead.condition,
            Form::Fragment if segment.shape == Shape::Detail => true,
            Form::Fragment if own_sentence => false,
            Form::Fragment if after_unwanted => false,
            Form::Fragment => {
                let both = indefinite && parts.last().is_some_and(|last| last.indefinite);
                !(link == Link::Strong || both)
            }
            Form::Request | Form::Bare | Form::Temporal => false,
        };
        let start = tokens[segment.kept[0]].start;
        let end = segment.kept.last().map_or(start, |last| tokens[*last].end);
        if (joins || parts.len() >= MAX_PARTS)
            && let Some(last) = parts.last_mut()
        {
            let between = tokens[segment.last].end.max(end);
            last.text.push_str(&text[last.span.end..between]);
            last.span.end = between;
            continue;
        }
        let mut own = words(text, tokens, &segment.kept);
        let shares = form == Form::Fragment && !own_sentence && !segment.framed;
        if let (true, Some(head), Polarity::Wanted) = (shares, head, polarity) {
            own = format!("{} {own}", &text[tokens[head].start..tokens[head].end]);
        }
        if form == Form::Temporal {
            own = form::imperative(tokens, &segment.kept, lexicon, own);
        }
        if form == Form::Request || form == Form::Temporal {
            head =
                Some(segment.kept[0]).filter(|first| form::is_verb(lexicon, &tokens[*first].lower));
        }
        let place = place_of(&segment.lead, number, &parts, segment.sentence);
        parts.push(Part {
            span: start..end,
            text: own,
            polarity,
            form: match form {
                // A noun phrase of its own asks for what it names.
                Form::Fragment if own_sentence || after_unwanted => Form::Request,
                form => form,
            },
            link: if parts.is_empty() { Link::Strong } else { link },
            manner: segment.manner,
            indefinite,
            anaphoric: form::is_anaphoric(tokens, &segment.kept, lexicon),
            sentence: segment.sentence,
            place,
        });
    }
    parts
}

fn place_of(lead: &Lead, number: usize, parts: &[Part], sentence: usize) -> Place {
    let opens_sentence = parts.last().is_none_or(|last| last.sentence != sentence);
    match lead {
        Lead { before: true, .. } if opens_sentence => Place::EndOfSentence,
        Lead { after: true, .. } if !opens_sentence => Place::BeforePrevious,
        Lead {
            beforehand: true, ..
        } if number > 0 => Place::BeforeSentence,
        Lead { first: true, .. } if number > 0 && (lead.but || !lead.sentence && !lead.item) => {
            Place::BeforeSentence
        }
        _ => Place::Next,
    }
}

/// The kept tokens as text, with the white space that stood between them.
fn words(text: &str, tokens: &[Token], kept: &[usize]) -> String {
    let mut out = String::new();
    for pair in kept.windows(2) {
        let (one, next) = (&tokens[pair[0]], &tokens[pair[1]]);
        out.push_str(&text[one.start..one.end]);
        match pair[1] == pair[0] + 1 {
            true => out.push_str(&text[one.end..next.start]),
            false => out.push(' '),
        }
    }
    if let Some(last) = kept.last() {
        out.push_str(&text[tokens[*last].start..tokens[*last].end]);
    }
    out
}
