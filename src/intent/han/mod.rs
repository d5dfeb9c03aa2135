//! Parts of a prompt that is written without spaces: Chinese, and Japanese in outline.
//!
//! Works like `latin`, on characters instead of words: cut at punctuation and connectives,
//! take courtesies off, tell what is not wanted, join what is no part of its own.

mod words;

use super::form::Shape;
use super::latin::Lead;
use super::lexer::{address_end, quotation_end};
use words::{
    ALSO, AND, BUT, DONT, DOUBLE, FILLERS, FIRST, FRAMES, INSTEAD, NO_NEGATION, NOT_BEFORE,
    PREPOSITIONS, QUESTIONS, THEN, VERBS,
};

use super::{Form, Link, MAX_PARTS, Manner, Part, Place, Polarity};

/// Whether the text is mostly written so.
pub(super) fn is_written(text: &str) -> bool {
    let (mut own, mut latin) = (0usize, 0usize);
    for c in text.chars() {
        if is_ideograph(c) || is_kana(c) {
            own += 3;
        } else if c.is_alphabetic() {
            latin += 1;
        }
    }
    own > 0 && own >= latin / 2
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

fn is_kana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}')
}

#[derive(Debug, Clone)]
struct Segment {
    start: usize,
    end: usize,
    lead: Lead,
    sentence: usize,
    /// A clause of time whose matter comes after the rest of the sentence ("…之前").
    comes_last: bool,
    /// What stands before is not wanted (Japanese).
    unwanted: bool,
}

/// Reads the parts of a text.
pub(super) fn parts(text: &str) -> Vec<Part> {
    let segments = cut(text);
    assemble(text, &segments)
}

fn longest<'a>(text: &str, table: &[&'a str]) -> Option<&'a str> {
    table
        .iter()
        .copied()
        .filter(|phrase| text.starts_with(phrase))
        .max_by_key(|phrase| phrase.len())
}

/// What follows the verb that a Chinese clause opens with.
pub(super) fn object_of(text: &str) -> Option<&str> {
    longest(text, VERBS).map(|verb| &text[verb.len()..])
}

fn opens_verb(text: &str) -> bool {
    longest(text, VERBS).is_some()
}

/// Bytes that are never looked into: a quotation, an address, a word in Latin letters.
fn opaque_end(text: &str, at: usize, before: Option<char>) -> Option<usize> {
    let c = text[at..].chars().next()?;
    if let Some(end) = quotation_end(text, at, before) {
        return Some(end);
    }
    if let Some(end) = address_end(text, at) {
        return Some(end);
    }
    if !c.is_ascii_alphanumeric() {
        return None;
    }
    let rest = &text[at..];
    let mut end = 0;
    let mut chars = rest.char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let inner = "._-/@".contains(c) && next.is_some_and(|n| n.is_ascii_alphanumeric());
        if !(c.is_ascii_alphanumeric() || inner) {
            break;
        }
        end = offset + c.len_utf8();
    }
    Some(at + end)
}

fn cut(text: &str) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut lead = Lead {
        sentence: true,
        ..Lead::default()
    };
    let (mut start, mut at, mut sentence) = (0, 0, 0);
    let mut before: Option<char> = None;
    let mut line_start = true;
    let mut sees_first = false;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        // Marks of a list at the beginning of a line.
        if line_start && let Some(length) = item_mark(rest) {
            lead.item = true;
            at += length;
            start = at;
            line_start = false;
            continue;
        }
        if !c.is_whitespace() {
            line_start = false;
        }
        let mut close: Option<(usize, Lead, bool, bool)> = None;
        if matches!(c, '。' | '！' | '？' | '；' | '!' | '?' | ';' | '\n')
            || (c == '.' && rest[1..].chars().next().is_none_or(char::is_whitespace))
        {
            let next = Lead {
                sentence: true,
                ..Lead::default()
            };
            close = Some((c.len_utf8(), next, false, false));
            line_start = c == '\n';
        } else if matches!(c, '，' | ',' | '、') {
            close = Some((c.len_utf8(), Lead::default(), false, false));
        } else if let Some(end) = opaque_end(text, at, before) {
            before = text[..end].chars().next_back();
            at = end;
            continue;
        } else if at > start {
            close = connective(text, start, at, before, sees_first);
        }
        let opens = text[start..at].trim().is_empty();
        if longest(rest, FIRST).is_some() && opens {
            sees_first = true;
        }
        let Some((length, next, comes_last, unwanted)) = close else {
            before = Some(c);
            at += c.len_utf8();
            continue;
        };
        if !text[start..at].trim().is_empty() {
            segments.push(Segment {
                start,
                end: at,
                lead,
                sentence,
                comes_last,
                unwanted,
            });
            lead = Lead::default();
        } else if let Some(last) = segments.last_mut().filter(|_| comes_last) {
            last.comes_last = true;
        }
        if next.sentence {
            sentence += 1;
            sees_first = false;
        }
        lead = merged(lead, next);
        before = text[at..at + length].chars().next_back();
        at += length;
        start = at;
    }
    if !text[start..].trim().is_empty() {
        segments.push(Segment {
            start,
            end: text.len(),
            lead,
            sentence,
            comes_last: false,
            unwanted: false,
        });
    }
    segments
}

fn merged(one: Lead, other: Lead) -> Lead {
    Lead {
        sentence: one.sentence || other.sentence,
        then: one.then || other.then,
        but: one.but || other.but,
        instead: one.instead || other.instead,
        item: one.item || other.item,
        ..Lead::default()
    }
}

/// Bytes of "1.", "2、", "- " and such.
fn item_mark(rest: &str) -> Option<usize> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=2).contains(&digits) {
        let mark = rest[digits..].chars().next()?;
        let after = rest[digits + mark.len_utf8()..].chars().next()?;
        let is_mark = matches!(mark, '.' | '、' | ')' | '）') && !after.is_ascii_digit();
        return is_mark.then(|| digits + mark.len_utf8());
    }
    let mark = rest.chars().next()?;
    (matches!(mark, '-' | '•' | '*') && rest[mark.len_utf8()..].starts_with(' '))
        .then(|| mark.len_utf8())
}

/// The connective that stands within a clause: its bytes, what it says of what follows, and
/// whether what stands before comes last, or is not wanted.
fn connective(
    text: &str,
    start: usize,
    at: usize,
    before: Option<char>,
    sees_first: bool,
) -> Option<(usize, Lead, bool, bool)> {
    let rest = &text[at..];
    let then = Lead {
        then: true,
        ..Lead::default()
    };
    if let Some(word) = longest(rest, INSTEAD) {
        let next = Lead {
            instead: true,
            ..Lead::default()
        };
        return Some((word.len(), next, false, false));
    }
    if let Some(word) = longest(rest, NOT_BEFORE) {
        return Some((word.len(), Lead::default(), false, true));
    }
    if rest.starts_with("而是") {
        let next = Lead {
            but: true,
            ..Lead::default()
        };
        return Some(("而是".len(), next, false, false));
    }
    // "X之前先Y", "X前先Y": Y comes first.
    for word in ["之前", "以前", "前に", "前"] {
        let Some(after) = rest.strip_prefix(word) else {
            continue;
        };
        let after = after.trim_start_matches(['，', ',', ' ']);
        let matters = word != "前"
            || longest(after, FIRST).is_some()
            || rest[word.len()..].starts_with(['，', ',']);
        let is_clause = opens_request(text[start..at].trim());
        if matters
            && is_clause
            && !after.is_empty()
            && !"一年天周月几".contains(before.unwrap_or(' '))
        {
            return Some((word.len(), Lead::default(), true, false));
        }
    }
    for word in [
        "之后",
        "以后",
        "完后",
        "完成后",
        "後に",
        "てから",
        "后再",
        "后，",
        "后,",
    ] {
        if rest.starts_with(word)
            && rest.len() > word.len()
            && !"最今然背前随其".contains(before.unwrap_or(' '))
            && opens_request(text[start..at].trim())
        {
            return Some((word.len(), then, false, false));
        }
    }
    if let Some(word) = longest(rest, THEN) {
        return Some((word.len(), then, false, false));
    }
    if sees_first && rest.starts_with('再') && !"次见".contains(rest.chars().nth(1).unwrap_or('次'))
    {
        return Some(("再".len(), then, false, false));
    }
    let word = longest(rest, AND)?;
    let after = rest[word.len()..].trim_start();
    let verb = longest(after, VERBS)?;
    let next = rest.chars().nth(1).unwrap_or(' ');
    let guarded = match word {
        "并" => {
            before.is_some_and(|c| "合一兼归吞".contains(c))
                || "发行购列非不没网集联".contains(next)
        }
        "及" => before.is_some_and(|c| "以涉来普危".contains(c)),
        "同" => true,
        "跟" => "踪随进".contains(next),
        "和" => before.is_some_and(|c| "共总柔温暖饱缓".contains(c)),
        _ => false,
    };
    // One character may be the beginning of a noun ("查" in "查理").
    let sure = word == "并" || word == "以及" || verb.chars().count() > 1;
    let own = text[start..at].trim();
    let clause = opens_request(own);
    // "在文件里查找并替换": two verbs with one object.
    let (offset, _, _) = strip(own);
    let place = own[offset..].starts_with(['在', '从', '到']);
    let ends_with_verb = VERBS
        .iter()
        .any(|verb| verb.chars().count() > 1 && own.ends_with(verb));
    let guarded = guarded || place && ends_with_verb;
    (!guarded && sure && clause).then(|| (word.len(), Lead::default(), false, false))
}

/// Whether a stretch opens like a request, courtesies aside.
fn opens_request(text: &str) -> bool {
    let (offset, _, _) = strip(text);
    let own = &text[offset..];
    opens_verb(own) || longest(own, PREPOSITIONS).is_some()
}

/// Bytes of the courtesies and adverbs that a clause opens with, what they say, and whether
/// they make it a request.
fn strip(text: &str) -> (usize, Lead, bool) {
    let mut at = text.len() - text.trim_start().len();
    let mut lead = Lead::default();
    let mut framed = false;
    loop {
        let rest = &text[at..];
        let room = |word: &str| rest.trim_end().len() > word.len();
        if longest(rest, NO_NEGATION).is_none() && longest(rest, DONT).is_some() {
            let double = longest(rest, DOUBLE);
            match double.filter(|word| room(word)) {
                Some(word) => at += word.len(),
                None => break,
            }
            framed = true;
        } else if let Some(word) = longest(rest, DOUBLE).filter(|word| room(word)) {
            at += word.len();
            framed = true;
        } else if let Some(word) = longest(rest, BUT).filter(|word| room(word)) {
            lead.but = true;
            at += word.len();
        } else if let Some(word) = longest(rest, FRAMES)
            .filter(|word| room(word) && (*word != "给我" || opens_verb(&rest[word.len()..])))
        {
            framed = true;
            at += word.len();
        } else if let Some(word) = longest(rest, FIRST).filter(|word| room(word)) {
            lead.first = true;
            at += word.len();
        } else if let Some(word) = longest(rest, ALSO).filter(|word| room(word)) {
            if opens_verb(rest) && longest(rest, VERBS).is_some_and(|verb| verb.len() > word.len())
            {
                break;
            }
            lead.then = true;
            at += word.len();
        } else if let Some(word) = longest(rest, FILLERS).filter(|word| {
            room(word) && (opens_verb(&rest[word.len()..]) || strips_more(&rest[word.len()..]))
        }) {
            if longest(rest, VERBS).is_some_and(|verb| verb.len() > word.len()) {
                break;
            }
            at += word.len();
        } else {
            break;
        }
        at += text[at..].len() - text[at..].trim_start().len();
    }
    (at, lead, framed)
}

fn strips_more(rest: &str) -> bool {
    [FRAMES, FIRST, PREPOSITIONS, DONT]
        .iter()
        .any(|table| longest(rest, table).is_some())
}

fn shape(own: &str, framed: bool) -> Shape {
    let verb = longest(own, VERBS);
    if verb.is_some_and(|verb| verb == own) && own.chars().count() < 4 {
        return Shape::Bare;
    }
    if verb.is_some() || framed {
        return Shape::Request;
    }
    if QUESTIONS.iter().any(|word| own.contains(word)) {
        return Shape::Request;
    }
    let tells = own.ends_with('了') && !own.starts_with(['把', '将'])
        || own.ends_with("坏")
        || own.ends_with("不错")
        || own.ends_with("失败");
    if longest(own, PREPOSITIONS).is_some() && !tells && own.chars().count() > 3 {
        return Shape::Request;
    }
    if own.chars().any(is_kana) && !tells {
        return Shape::Request;
    }
    if tells {
        return Shape::Statement;
    }
    let indefinite = [
        "一个", "一份", "一篇", "一张", "一段", "一封", "一次", "一套", "一条", "个", "份",
    ]
    .iter()
    .any(|word| own.starts_with(word));
    Shape::Fragment { indefinite }
}

fn manner_of(raw: &str, own: &str) -> Manner {
    let raw = raw.trim_start();
    if raw.starts_with('我') && !raw.starts_with("我的") {
        return Manner::Wished;
    }
    let asks = ["能", "可"].iter().any(|word| raw.starts_with(word));
    let questions = !opens_verb(own) && QUESTIONS.iter().any(|word| own.contains(word));
    match asks || questions {
        true => Manner::Asked,
        false => Manner::Told,
    }
}

fn assemble(text: &str, segments: &[Segment]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut head: Option<&str> = None;
    for (number, segment) in segments.iter().enumerate() {
        let raw = &text[segment.start..segment.end];
        let (offset, adverbs, framed) = strip(raw);
        let mut lead = merged(segment.lead, adverbs);
        lead.first = adverbs.first;
        let mut own = raw[offset..].trim_end();
        let mut start = segment.start + offset;
        let mut unwanted = segment.unwanted || segment.lead.instead;
        if !unwanted && longest(own, NO_NEGATION).is_none() {
            let contrasts = segments.get(number + 1).is_some_and(|next| {
                let next_text = text[next.start..next.end].trim_start();
                next_text.starts_with("而是") || next_text.starts_with("是") || next.lead.but
            });
            let marker = longest(own, DONT)
                .or_else(|| longest(own, &["不是要", "不是"]).filter(|_| contrasts));
            if let Some(marker) = marker.filter(|marker| own.len() > marker.len()) {
                unwanted = true;
                start += marker.len();
                own = &own[marker.len()..];
            }
        }
        let own_trimmed = match segment.comes_last {
            true => own.trim_end_matches(['的', '时', ' ']),
            false => own,
        };
        let shape = shape(own_trimmed, framed);
        let link = lead.link();
        let manner = manner_of(raw, own);
        let polarity = match unwanted {
            true => Polarity::Unwanted,
            false => Polarity::Wanted,
        };
        let previous = parts.last();
        let own_sentence = lead.sentence || lead.item;
        let after_unwanted = previous.is_some_and(|last| last.polarity == Polarity::Unwanted);
        let form = match shape {
            _ if segment.comes_last => Form::Temporal,
            Shape::Request => Form::Request,
            Shape::Bare => Form::Bare,
            Shape::Statement => Form::Statement,
            Shape::Detail | Shape::Fragment { .. } => Form::Fragment,
        };
        let indefinite = matches!(shape, Shape::Fragment { indefinite: true })
            || ["一个", "一份", "一篇", "一张"]
                .iter()
                .any(|word| own.contains(word));
        let condition = ["如果", "要是", "假如"]
            .iter()
            .any(|word| own.starts_with(word));
        let form = if condition { Form::Statement } else { form };
        let same = previous.is_some_and(|last| last.sentence == segment.sentence);
        let joins = !unwanted
            && match form {
                _ if parts.is_empty() => false,
                Form::Statement => same && !after_unwanted && !condition,
                Form::Fragment if own_sentence || after_unwanted => false,
                Form::Fragment => {
                    link == Link::Weak && !(indefinite && previous.is_some_and(|p| p.indefinite))
                }
                Form::Request | Form::Bare | Form::Temporal => false,
            };
        let end = start + own.len();
        if (joins || parts.len() >= MAX_PARTS)
            && let Some(last) = parts.last_mut()
        {
            last.text.push_str(&text[last.span.end..end]);
            last.span.end = end;
            continue;
        }
        let mut routed = own_trimmed.to_owned();
        if form == Form::Fragment
            && !own_sentence
            && !framed
            && let Some(head) = head
        {
            routed = format!("{head}{routed}");
        }
        if form == Form::Request {
            head = longest(own, VERBS);
        }
        let place = match lead {
            _ if segment.comes_last => Place::EndOfSentence,
            Lead { first: true, .. }
                if number > 0
                    && !segments[number - 1].comes_last
                    && (lead.but || !lead.sentence && !lead.item) =>
            {
                Place::BeforeSentence
            }
            _ => Place::Next,
        };
        parts.push(Part {
            span: start..end,
            text: routed,
            polarity,
            form: match form {
                Form::Fragment if own_sentence || after_unwanted => Form::Request,
                form => form,
            },
            link: if parts.is_empty() { Link::Strong } else { link },
            manner,
            indefinite,
            anaphoric: own.contains('它') && own.chars().count() < 8,
            sentence: segment.sentence,
            place,
        });
    }
    parts
}
