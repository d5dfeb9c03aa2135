//! What kind of phrase a segment is, and whether it negates.

use std::ops::RangeInclusive;

use super::latin::any_at;
use super::lexer::{Kind, Token};
use super::lexicon::{ENGLISH, GERMAN, Lexicon};

/// What a segment looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// It opens with a verb, a question word or a frame, or ends with a German infinitive.
    Request,
    /// A verb without an object.
    Bare,
    /// A sentence that tells something.
    Statement,
    /// A request that only details another ("make sure it passes").
    Detail,
    /// Anything else, mostly a noun phrase.
    Fragment {
        /// Whether it opens with "a".
        indefinite: bool,
    },
}

fn is_german(lexicon: &Lexicon) -> bool {
    std::ptr::eq(lexicon, &GERMAN)
}

/// Whether a word may be a verb that opens a request.
pub(super) fn is_verb(lexicon: &Lexicon, word: &str) -> bool {
    if !is_german(lexicon) {
        return lexicon.verbs.contains(&word);
    }
    // The table holds stems; imperatives and infinitives add an ending.
    lexicon.verbs.iter().any(|stem| {
        word.strip_prefix(stem).is_some_and(|ending| {
            matches!(ending, "" | "e" | "en" | "n" | "t" | "et" | "ne" | "le")
        })
    })
}

/// Whether the segment at a place opens with a verb that is used as one.
fn verb_led(tokens: &[Token], kept: &[usize], lexicon: &Lexicon) -> bool {
    let Some(first) = kept.first().map(|at| &tokens[*at]) else {
        return false;
    };
    if !first.is_word() || !is_verb(lexicon, &first.lower) {
        return false;
    }
    if is_german(lexicon) {
        // Within a sentence a capital makes a noun ("Test", "Plan").
        return true;
    }
    if !lexicon.nouns_too.contains(&first.lower.as_str()) {
        return true;
    }
    match kept.get(1).map(|at| &tokens[*at]) {
        None => true,
        Some(next) if !next.is_word() => true,
        Some(next) => {
            let opens = |table: &[&str]| table.contains(&next.lower.as_str());
            let is_name = next.lower.chars().any(|c| !c.is_alphabetic());
            opens(lexicon.indefinite)
                || opens(lexicon.definite)
                || opens(lexicon.anaphora)
                || opens(lexicon.prepositions)
                || [
                    "everything",
                    "me",
                    "up",
                    "out",
                    "down",
                    "off",
                    "back",
                    "us",
                    "how",
                    "what",
                ]
                .contains(&next.lower.as_str())
                || is_name
                || next.lower.ends_with('s')
                || next.upper
        }
    }
}

/// What a segment looks like.
pub(super) fn shape(tokens: &[Token], kept: &[usize], lexicon: &Lexicon, framed: bool) -> Shape {
    let own: Vec<Token> = kept.iter().map(|at| tokens[*at].clone()).collect();
    let first = &own[0];
    if any_at(&own, 0, lexicon.detail) > 0 {
        return Shape::Detail;
    }
    if verb_led(tokens, kept, lexicon) {
        return match own.len() {
            1 => Shape::Bare,
            _ => Shape::Request,
        };
    }
    if framed || any_at(&own, 0, lexicon.questions) > 0 {
        return Shape::Request;
    }
    let negated = any_at(&own, 0, lexicon.dont) > 0;
    if negated {
        return Shape::Request;
    }
    if is_german(lexicon) && own.len() > 1 && ends_with_infinitive(&own) {
        return Shape::Request;
    }
    let word = first.lower.as_str();
    let opens_statement = lexicon.statements.contains(&word) && !is_object(&own, lexicon);
    let tells = own
        .iter()
        .skip(1)
        .any(|token| finite_verbs(lexicon).contains(&token.lower.as_str()));
    if opens_statement || tells {
        return Shape::Statement;
    }
    Shape::Fragment {
        indefinite: lexicon.indefinite.contains(&word),
    }
}

/// "this file", "das Dokument": a pronoun that only points at a noun.
fn is_object(own: &[Token], lexicon: &Lexicon) -> bool {
    ["this", "that", "das", "dies"].contains(&own[0].lower.as_str())
        && own.len() > 1
        && !finite_verbs(lexicon).contains(&own[1].lower.as_str())
}

/// Forms of verbs that only stand in statements.
fn finite_verbs(lexicon: &Lexicon) -> &'static [&'static str] {
    if is_german(lexicon) {
        &[
            "ist",
            "sind",
            "war",
            "waren",
            "hat",
            "haben",
            "geht",
            "wird",
            "werden",
            "kann",
            "muss",
            "funktioniert",
            "läuft",
            "schlägt",
            "scheint",
            "fehlt",
            "braucht",
            "kommt",
            "bin",
            "habe",
            "soll",
            "sollte",
            "wurde",
            "wurden",
            "stürzt",
        ]
    } else if std::ptr::eq(lexicon, &ENGLISH) {
        &[
            "is", "are", "was", "were", "isn't", "aren't", "wasn't", "has", "have", "hasn't",
            "doesn't", "don't", "didn't", "can't", "cannot", "won't", "keeps", "fails", "failed",
            "broke", "seems", "looks", "crashes", "will", "must", "should", "does", "did",
            "stopped",
        ]
    } else {
        &[
            "est", "sont", "es", "está", "son", "è", "sono", "is", "zijn", "a", "ha",
        ]
    }
}

/// "…den Branch mergen", "…auf Staging ausrollen": lower-case last word in -en, -ern, -eln.
fn ends_with_infinitive(own: &[Token]) -> bool {
    let Some(at) = own.iter().rposition(Token::is_word) else {
        return false;
    };
    // "…zu verbessern" completes another verb.
    if at > 0 && own[at - 1].lower == "zu" {
        return false;
    }
    let last = &own[at];
    let word = last.lower.as_str();
    let ending = word.ends_with("en") || word.ends_with("ern") || word.ends_with("eln");
    let plain = word.chars().count() > 4 && !word.contains(|c: char| !c.is_alphabetic());
    ending && plain && !last.upper
}

/// Whether a German frame asks for an infinitive at the end.
pub(super) fn is_modal(word: &str) -> bool {
    [
        "möchte",
        "will",
        "kannst",
        "könntest",
        "können",
        "könnten",
        "würdest",
        "würde",
        "muss",
        "müssen",
        "wollen",
        "sollten",
        "sollst",
    ]
    .contains(&word)
}

/// Whether a German segment ends with the verb that a frame asks for.
pub(super) fn completes(tokens: &[Token], kept: &[usize]) -> bool {
    let own: Vec<Token> = kept.iter().map(|at| tokens[*at].clone()).collect();
    ends_with_infinitive(&own) || is_verb(&GERMAN, &own[0].lower)
}

/// Whether a verb in the form for "without" follows: "without asking", "ohne zu fragen".
pub(super) fn opens_verb(tokens: &[Token], at: usize, lexicon: &Lexicon) -> bool {
    let Some(first) = tokens.get(at).filter(|token| token.is_word()) else {
        return false;
    };
    let word = first.lower.as_str();
    if std::ptr::eq(lexicon, &ENGLISH) {
        return is_gerund(word);
    }
    if is_german(lexicon) {
        let zu = tokens[at..]
            .iter()
            .take(8)
            .take_while(|token| token.kind == Kind::Word || token.kind == Kind::Opaque)
            .any(|token| token.lower == "zu");
        return zu;
    }
    // French, Spanish and Italian use the infinitive; Dutch says "te".
    ["er", "ir", "re", "ar"]
        .iter()
        .any(|ending| word.ends_with(ending))
        && word.len() > 4
        || tokens[at..].iter().take(5).any(|token| token.lower == "te")
}

fn is_gerund(word: &str) -> bool {
    word.len() > 4
        && word.ends_with("ing")
        && ![
            "string",
            "thing",
            "spring",
            "nothing",
            "anything",
            "something",
            "everything",
            "morning",
            "evening",
            "meeting",
            "during",
            "building",
            "king",
            "warning",
            "warnings",
            "staging",
        ]
        .contains(&word)
}

/// Whether a clause of time follows, not a mere noun ("before Friday").
pub(super) fn opens_clause(tokens: &[Token], at: usize, lexicon: &Lexicon) -> bool {
    let Some(first) = tokens.get(at).filter(|token| token.is_word()) else {
        return false;
    };
    if !std::ptr::eq(lexicon, &ENGLISH) {
        return true;
    }
    let word = first.lower.as_str();
    if is_gerund(word) || word.ends_with("ed") && tokens.len() > at + 1 {
        return true;
    }
    if ["first", "having", "you", "we", "i", "they"].contains(&word) {
        return true;
    }
    let finite = |token: &Token| {
        let word = token.lower.as_str();
        finite_verbs(lexicon).contains(&word)
            || [
                "passes",
                "pass",
                "succeeds",
                "succeed",
                "completes",
                "finishes",
                "finished",
                "done",
                "ends",
                "worked",
                "works",
                "passed",
                "arrives",
            ]
            .contains(&word)
    };
    let opens = [
        "it",
        "the",
        "my",
        "all",
        "that",
        "everything",
        "this",
        "your",
        "our",
    ]
    .contains(&word);
    opens
        && tokens[at + 1..]
            .iter()
            .take(6)
            .take_while(|token| token.kind == Kind::Word || token.kind == Kind::Opaque)
            .any(finite)
}

/// Whether what follows can be a part of its own: a verb or a noun phrase, not "well".
pub(super) fn opens_part(tokens: &[Token], at: usize, _lexicon: &Lexicon) -> bool {
    tokens.len() > at + 1 || tokens.get(at).is_some_and(Token::is_word)
}

/// "pushing the branch" as "push the branch".
pub(super) fn imperative(
    tokens: &[Token],
    kept: &[usize],
    lexicon: &Lexicon,
    text: String,
) -> String {
    let Some(first) = kept.first().map(|at| &tokens[*at]) else {
        return text;
    };
    let word = first.lower.as_str();
    let rest = |text: &str| text[(first.end - first.start).min(text.len())..].to_owned();
    if std::ptr::eq(lexicon, &ENGLISH) {
        let stem = word.strip_suffix("ing").or_else(|| word.strip_suffix("ed"));
        if let Some(stem) = stem {
            let mut undoubled = stem.to_owned();
            undoubled.pop();
            let candidates = [stem.to_owned(), format!("{stem}e"), undoubled];
            let base = candidates
                .iter()
                .find(|candidate| lexicon.verbs.contains(&candidate.as_str()));
            if let Some(base) = base {
                return format!("{base}{}", rest(&text));
            }
        }
    }
    // "you merge the branch": the subject says nothing.
    if [
        "you", "we", "i", "they", "du", "ich", "wir", "man", "sie", "ihr",
    ]
    .contains(&word)
        && kept.len() > 1
    {
        return rest(&text).trim_start().to_owned();
    }
    text
}

/// Whether an indefinite noun phrase follows the verb ("create a chart", "I need a plan").
pub(super) fn has_indefinite_object(tokens: &[Token], kept: &[usize], lexicon: &Lexicon) -> bool {
    kept.iter()
        .take(4)
        .any(|at| lexicon.indefinite.contains(&tokens[*at].lower.as_str()))
}

/// Whether the only object is a pronoun: "call it x", "merke es dir".
pub(super) fn is_anaphoric(tokens: &[Token], kept: &[usize], lexicon: &Lexicon) -> bool {
    kept.get(1)
        .is_some_and(|at| lexicon.anaphora.contains(&tokens[*at].lower.as_str()))
}

/// Whether a segment is not wanted, and the tokens of its negation.
pub(super) fn negation(
    tokens: &[Token],
    kept: &[usize],
    lexicon: &Lexicon,
    condition: bool,
) -> (bool, Vec<usize>) {
    let wanted = (false, Vec::new());
    let own: Vec<Token> = kept.iter().map(|at| tokens[*at].clone()).collect();
    // "I don't need it anymore" asks to end it.
    let ends = own
        .iter()
        .any(|token| ["anymore", "longer"].contains(&token.lower.as_str()));
    if condition
        || ends
        || any_at(&own, 0, lexicon.no_negation) > 0
        || any_at(&own, 0, lexicon.double) > 0
    {
        return wanted;
    }
    let dont = any_at(&own, 0, lexicon.dont);
    if dont > 0 && own.len() > dont && directs(&own, dont, lexicon) {
        return (true, kept[..dont].to_vec());
    }
    let not = any_at(&own, 0, lexicon.not);
    if not > 0 && own.len() > not {
        return (true, kept[..not].to_vec());
    }
    if is_german(lexicon) || lexicon.not.contains(&"geen") {
        return negated_imperative(tokens, kept, &own, lexicon);
    }
    wanted
}

/// Whether a negation that is one word in other uses as well directs here: Spanish "no envíes"
/// (but "no funciona"), Italian "non inviare", French "ne lance pas".
fn directs(own: &[Token], dont: usize, lexicon: &Lexicon) -> bool {
    let Some(verb) = own.get(dont).map(|token| token.lower.as_str()) else {
        return false;
    };
    match own[0].lower.as_str() {
        "no" if dont == 1 && lexicon.dont.contains(&"no quiero") => verb.ends_with('s'),
        "non" if dont == 1 => ["are", "ere", "ire"]
            .iter()
            .any(|ending| verb.ends_with(ending)),
        "ne" => own.iter().any(|token| token.lower == "pas"),
        _ => true,
    }
}

/// "Schick keine Mail", "Lösche die Datei nicht": a clause that opens with its verb and has
/// "kein" behind it or "nicht" within.
fn negated_imperative(
    tokens: &[Token],
    kept: &[usize],
    own: &[Token],
    lexicon: &Lexicon,
) -> (bool, Vec<usize>) {
    let wanted = (false, Vec::new());
    if !verb_led(tokens, kept, lexicon) {
        return wanted;
    }
    for (at, token) in own.iter().enumerate().skip(1) {
        let strong = any_at(own, at, lexicon.dont);
        if strong > 0 {
            return (true, kept[at..at + strong].to_vec());
        }
        let is_not = matches!(token.lower.as_str(), "nicht" | "niet");
        let is_no = !is_not && lexicon.not.contains(&token.lower.as_str());
        if !(is_not || is_no) || any_at(own, at, lexicon.no_negation) > 0 {
            continue;
        }
        let before = own[at - 1].lower.as_str();
        if lexicon.prepositions.contains(&before) {
            continue;
        }
        // "ob keine…", "die nicht…": a clause of its own, which is not the one that asks.
        let subordinate = own[1..at].iter().any(|word| {
            [
                "ob", "dass", "die", "welche", "was", "wo", "warum", "weil", "wenn", "falls",
                "damit",
            ]
            .contains(&word.lower.as_str())
                && !(is_not && word.lower == "die")
        });
        if subordinate {
            continue;
        }
        // "nicht gemergte Branches": the participle is negated, not the request.
        let next = own.get(at + 1).map_or("", |token| token.lower.as_str());
        let attributive = ["te", "ten", "ter", "tes", "ene", "enen"]
            .iter()
            .any(|ending| next.ends_with(ending))
            && next != "heute";
        if is_not && attributive {
            continue;
        }
        return (true, vec![kept[at]]);
    }
    wanted
}

/// Whether a segment opens with a negation that is one even where nothing else is asked for.
pub(super) fn is_strong(tokens: &[Token], range: RangeInclusive<usize>, lexicon: &Lexicon) -> bool {
    let own = &tokens[range];
    (0..own.len().min(3)).any(|at| any_at(own, at, lexicon.dont) > 0)
        || (is_german(lexicon)
            && own
                .first()
                .is_some_and(|first| is_verb(lexicon, &first.lower)))
}
