//! URLs by the rules of GFM's autolinks.
//!
//! A URL ends before white space, `<`, quotes and the punctuation of scripts that have their
//! own; then trailing punctuation goes, and a closing bracket that nothing opened. Between
//! `<` and `>`, and as the target of a Markdown link, it stands as it is. Prose in a script
//! written without spaces is cut off where it follows a letter or digit; directly after a `/`
//! or another mark it is part of the address (`/wiki/中文`).

use std::ops::Range;

use super::{Candidate, Rank, URL, after, before, is_unspaced};

/// Longest URL: what browsers and servers take.
pub(super) const MAX_URL_BYTES: usize = 8 << 10;
/// Longest scheme.
const MAX_SCHEME_BYTES: usize = 32;
/// Longest name before the `@` of an address of e-mail.
const MAX_MAILBOX_BYTES: usize = 64;
/// What stands behind a scheme.
const BEHIND_SCHEME: &str = "://";
/// What a URL without a scheme begins with.
const BARE: &str = "www.";

/// Schemes that are read; others only keep their span from being read as something else.
const SCHEMES: [&str; 4] = ["http", "https", "ftp", "file"];

pub(super) fn find(text: &str, candidates: &mut Vec<Candidate>) {
    let mut from = 0;
    for (at, _) in text.match_indices(BEHIND_SCHEME) {
        if at >= from
            && let Some(start) = scheme_before(text, from, at)
        {
            from = read(text, start, at + BEHIND_SCHEME.len(), candidates).unwrap_or(from);
        }
    }
    from = 0;
    for (start, _) in text.match_indices(BARE) {
        if start >= from && !before(text, start).is_some_and(goes_on) {
            from = read(text, start, start + BARE.len(), candidates).unwrap_or(from);
        }
    }
    for (at, _) in text.match_indices('@') {
        candidates.extend(mail_around(text, at).map(Candidate::blocker));
    }
}

/// Where the scheme begins that ends at `at`, and not before `from`.
fn scheme_before(text: &str, from: usize, at: usize) -> Option<usize> {
    let head = &text.as_bytes()[from..at];
    let length = head
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'))
        .take(MAX_SCHEME_BYTES + 1)
        .count();
    let start = at - length;
    let known =
        (1..=MAX_SCHEME_BYTES).contains(&length) && head[head.len() - length].is_ascii_alphabetic();
    (known && !before(text, start).is_some_and(goes_on)).then_some(start)
}

/// Reads the URL that begins at `start`, and whose host begins at `host`; gives its end.
fn read(text: &str, start: usize, host: usize, candidates: &mut Vec<Candidate>) -> Option<usize> {
    let end = end_of(text, start, host);
    if end <= host {
        return None;
    }
    let (url, scheme) = (
        &text[start..end],
        text[start..host].trim_end_matches(BEHIND_SCHEME),
    );
    let is_bare = scheme == BARE;
    let has_host = has_host(url, scheme, is_bare);
    if is_bare && !has_host {
        return None;
    }
    let known = is_bare
        || SCHEMES
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known));
    candidates.push(if !known || !has_host || url.len() > MAX_URL_BYTES {
        Candidate::blocker(start..end)
    } else if is_bare {
        Candidate::new(Rank::Url, URL, format!("https://{url}"), start..end)
    } else {
        Candidate::new(Rank::Url, URL, url, start..end)
    });
    Some(end)
}

/// The address of e-mail around an `@`: no URL and no file.
fn mail_around(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let of_name = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-')
    };
    let name = bytes[..at]
        .iter()
        .rev()
        .take(MAX_MAILBOX_BYTES)
        .take_while(|byte| of_name(byte))
        .count();
    let domain = bytes[at + 1..]
        .iter()
        .take(255)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
        .count();
    let host = text[at + 1..at + 1 + domain].trim_end_matches(['.', '-']);
    let valid = name > 0 && host.contains('.') && !host.starts_with(['.', '-']);
    valid.then(|| at - name..at + 1 + host.len())
}

/// A character before which no URL begins: the scheme would be a longer one.
fn goes_on(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-' | '@' | '/')
}

/// Whether something stands where a host is due: a letter, a digit, or an IPv6 address. A
/// file's URL has none, and a name without scheme needs a dot behind `www.`.
fn has_host(url: &str, scheme: &str, is_bare: bool) -> bool {
    if is_bare {
        let host = url[scheme.len()..].split(['/', '?', '#', ':']).next();
        return host.is_some_and(|host| {
            let name = host.trim_end_matches('.');
            name.contains('.') && name.starts_with(char::is_alphanumeric)
        });
    }
    let rest = &url[scheme.len() + "://".len()..];
    let first = rest.chars().next();
    match scheme.eq_ignore_ascii_case("file") {
        true => first.is_some_and(|c| c == '/' || c.is_alphanumeric()),
        false => first.is_some_and(|c| c == '[' || c.is_alphanumeric()),
    }
}

/// End of the URL that begins at `start` and whose scheme ends at `rest`.
fn end_of(text: &str, start: usize, rest: usize) -> usize {
    if before(text, start) == Some('<')
        && let Some(end) = text[rest..].find(|c: char| c == '<' || c == '>' || ends(c))
        && after(text, rest + end) == Some('>')
    {
        return rest + end;
    }
    let is_target = text[..start].ends_with("](");
    let mut round = 0usize;
    let mut square = 0usize;
    let mut last = text[..rest].chars().next_back();
    let mut end = text.len();
    let mut closed = false;
    for (at, c) in text[rest..].char_indices() {
        match c {
            '(' => round += 1,
            ')' if is_target && round == 0 => closed = true,
            ')' => round = round.saturating_sub(1),
            '[' => square += 1,
            // The end of a link's text, or of a list in brackets.
            ']' if square == 0 => closed = true,
            ']' => square -= 1,
            _ => {}
        }
        let prose = is_unspaced(c) && last.is_some_and(|last| last.is_ascii_alphanumeric());
        if closed || c == '<' || c == '>' || ends(c) || prose {
            end = rest + at;
            break;
        }
        last = Some(c);
    }
    if is_target && after(text, end) == Some(')') {
        return end;
    }
    rest + trimmed(&text[rest..end])
}

/// Whether a character can stand in no URL.
fn ends(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '"' | '`' | '|' | '\u{ad}' | '\u{feff}')
        // General and CJK punctuation, full-width forms of ASCII punctuation.
        || matches!(c, '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{3020}')
        || matches!(c, '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff40}')
        || matches!(c, '\u{ff5b}'..='\u{ff65}' | '«' | '»' | '\u{fe10}'..='\u{fe19}' | '\u{fe30}'..='\u{fe6f}')
}

/// Bytes that are left without trailing punctuation, unbalanced brackets and entities.
fn trimmed(url: &str) -> usize {
    let count = |wanted: u8| url.bytes().filter(|byte| *byte == wanted).count();
    let mut surplus = [
        ('(', ')', count(b')').saturating_sub(count(b'('))),
        ('{', '}', count(b'}').saturating_sub(count(b'{'))),
    ];
    let mut end = url.len();
    while let Some(last) = url[..end].chars().next_back() {
        let goes = match last {
            '?' | '!' | '.' | ',' | ':' | '*' | '_' | '~' | '\'' => true,
            ';' => {
                // An entity goes whole. Its name is short, so looking back costs little.
                let name = &url[..end - 1];
                let from = name.rfind(|c: char| !c.is_ascii_alphanumeric());
                if let Some(from) = from.filter(|from| name.as_bytes()[*from] == b'&')
                    && from + 1 < name.len()
                {
                    end = from;
                    continue;
                }
                true
            }
            c => surplus.iter_mut().any(|(_, closing, more)| {
                let goes = c == *closing && *more > 0;
                *more -= usize::from(goes);
                goes
            }),
        };
        if !goes {
            break;
        }
        end -= last.len_utf8();
    }
    end
}
