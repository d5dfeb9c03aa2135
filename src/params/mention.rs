//! What a text holds that may be a value.

use std::ops::Range;

use super::dates::{self, Moment};
use super::units::{self, Unit};
use super::{Clock, numerals};

/// A word and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub start: usize,
    pub end: usize,
    pub lower: String,
    pub upper: bool,
}

/// What a mention is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A quotation without its marks.
    Quoted(String),
    Url(String),
    Domain(String),
    Mail(String),
    Path(String),
    Moment(Moment),
    Number {
        value: f64,
        unit: Option<Unit>,
        unit_text: String,
    },
    /// `#42`.
    Issue(u64),
    /// `v2.1.0`, `1.4`.
    Version(String),
    /// A hash or UUID.
    Hash(String),
    /// A word with marks or digits: `feature-x`, `AAPL`, `parseDate`.
    Identifier(String),
}

/// Something that may be a value, and its bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mention {
    pub span: Range<usize>,
    pub kind: Kind,
}

/// Everything that was found in a text.
#[derive(Debug, Clone, Default)]
pub(super) struct Mentions {
    pub words: Vec<Word>,
    pub all: Vec<Mention>,
}

impl Mentions {
    /// Words before a span, nearest first.
    pub fn before(&self, span: &Range<usize>) -> impl Iterator<Item = &Word> {
        self.words
            .iter()
            .rev()
            .filter(|word| word.end <= span.start)
    }

    /// Words after a span, nearest first.
    pub fn after(&self, span: &Range<usize>) -> impl Iterator<Item = &Word> {
        self.words.iter().filter(|word| word.start >= span.end)
    }
}

/// Lower case with the bytes in their places.
pub(super) fn lower(text: &str) -> String {
    text.chars()
        .map(|c| {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(one), None) if one.len_utf8() == c.len_utf8() => one,
                _ => c,
            }
        })
        .collect()
}

pub(super) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Whether a span of a text does not begin or end within a word. Characters of scripts without
/// spaces are words by themselves.
pub(super) fn is_word(text: &str, span: &Range<usize>) -> bool {
    let joins = |inside: Option<char>, outside: Option<char>| match (inside, outside) {
        (Some(inside), Some(outside)) => {
            let word = |c: char| (c.is_alphanumeric() || c == '_') && !is_cjk(c);
            word(inside) && word(outside)
        }
        _ => false,
    };
    let inside = &text[span.clone()];
    !joins(
        inside.chars().next(),
        text[..span.start].chars().next_back(),
    ) && !joins(inside.chars().next_back(), text[span.end..].chars().next())
}

fn words_of(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut start: Option<usize> = None;
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let joins = start.is_some()
            && "'’._-:/@#+&".contains(c)
            && next.is_some_and(|next| next.is_alphanumeric() && !is_cjk(next));
        let opens = start.is_none() && "#@$%€£".contains(c);
        if (c.is_alphanumeric() && !is_cjk(c)) || joins || opens {
            start.get_or_insert(at);
            end = at + c.len_utf8();
        } else if let Some(start) = start.take() {
            words.push(word(text, start, end));
        }
    }
    if let Some(start) = start {
        words.push(word(text, start, end));
    }
    words
}

fn word(text: &str, start: usize, end: usize) -> Word {
    let own = &text[start..end];
    Word {
        start,
        end,
        lower: own.to_lowercase().replace('’', "'"),
        upper: own.chars().next().is_some_and(char::is_uppercase),
    }
}

/// Finds everything.
pub(super) fn scan(text: &str, clock: &Clock) -> Mentions {
    let mut all: Vec<Mention> = Vec::new();
    quotations(text, &mut all);
    urls(text, &mut all);
    let words = words_of(text);
    let taken = |all: &[Mention], span: &Range<usize>| {
        all.iter()
            .any(|mention| mention.span.start < span.end && span.start < mention.span.end)
    };
    for word in &words {
        let span = word.start..word.end;
        if taken(&all, &span) {
            continue;
        }
        let own = &text[span.clone()];
        if let Some(kind) = named(own) {
            all.push(Mention { span, kind });
        }
    }
    paths_with_slash(text, &mut all);
    let spans: Vec<Range<usize>> = all.iter().map(|mention| mention.span.clone()).collect();
    for moment in dates::scan(text, &words, &spans, clock) {
        all.push(Mention {
            span: moment.span.clone(),
            kind: Kind::Moment(moment),
        });
    }
    numbers(text, &words, &mut all);
    for word in &words {
        let span = word.start..word.end;
        if !taken(&all, &span)
            && let Some(kind) = identifier(&text[span.clone()])
        {
            all.push(Mention { span, kind });
        }
    }
    all.sort_by_key(|mention| mention.span.start);
    Mentions { words, all }
}

fn quotations(text: &str, all: &mut Vec<Mention>) {
    const PAIRS: &[(char, &[char])] = &[
        ('"', &['"']),
        ('`', &['`']),
        ('“', &['”']),
        ('„', &['“', '”']),
        ('«', &['»']),
        ('「', &['」']),
        ('『', &['』']),
        ('‘', &['’']),
        ('\'', &['\'']),
        ('‚', &['‘']),
        ('《', &['》']),
    ];
    let mut at = 0;
    let mut before: Option<char> = None;
    while let Some(c) = text[at..].chars().next() {
        let inside = at + c.len_utf8();
        let close = PAIRS
            .iter()
            .find(|(open, _)| *open == c)
            .and_then(|(_, closes)| {
                if matches!(c, '\'' | '‘')
                    && before.is_some_and(|b| b.is_alphanumeric() && !is_cjk(b))
                {
                    return None;
                }
                text[inside..]
                    .char_indices()
                    .take_while(|(offset, _)| *offset < 4_000)
                    .filter(|(_, c)| closes.contains(c))
                    .find(|(offset, close)| {
                        let after = text[inside + offset + close.len_utf8()..].chars().next();
                        !matches!(close, '\'' | '’')
                            || after.is_none_or(|c| !c.is_alphanumeric() || is_cjk(c))
                    })
                    .map(|(offset, close)| (inside + offset, close.len_utf8()))
            });
        match close {
            Some((end, length)) if end > inside => {
                let quoted = text[inside..end].trim().to_owned();
                let kind = match named(&quoted)
                    .filter(|kind| matches!(kind, Kind::Path(_) | Kind::Mail(_)))
                {
                    Some(kind) => kind,
                    None if quoted.contains("://") && !quoted.contains(' ') => Kind::Url(quoted),
                    None => Kind::Quoted(quoted),
                };
                all.push(Mention {
                    span: inside..end,
                    kind,
                });
                at = end + length;
                before = text[..at].chars().next_back();
            }
            _ => {
                before = Some(c);
                at = inside;
            }
        }
    }
}

fn urls(text: &str, all: &mut Vec<Mention>) {
    for (at, _) in text.match_indices("://") {
        let scheme = text[..at]
            .bytes()
            .rev()
            .take_while(u8::is_ascii_alphabetic)
            .count();
        if !(2..=10).contains(&scheme) {
            continue;
        }
        let start = at - scheme;
        let rest = &text[start..];
        let length = rest
            .find(|c: char| {
                c.is_whitespace()
                    || "<>\"`“”「」（）".contains(c)
                    || (is_cjk(c))
                    || "，。；、！？".contains(c)
            })
            .unwrap_or(rest.len());
        let mut url = rest[..length].trim_end_matches([',', ';', ':', '!', '?', '.', '\'']);
        while url.ends_with(')') && url.matches(')').count() > url.matches('(').count() {
            url = &url[..url.len() - 1];
        }
        let span = start..start + url.len();
        if url.len() > scheme + 3
            && !all
                .iter()
                .any(|m| m.span.start < span.end && span.start < m.span.end)
        {
            all.push(Mention {
                span,
                kind: Kind::Url(url.to_owned()),
            });
        }
    }
}

/// Extensions of files, so that `notes.txt` is a file and `example.org` is none.
#[rustfmt::skip]
const EXTENSIONS: &[&str] = &[
    "txt", "md", "rst", "json", "jsonl", "yaml", "yml", "toml", "ini", "cfg", "conf", "env",
    "lock", "xml", "html", "htm", "css", "scss", "js", "mjs", "ts", "tsx", "jsx", "vue", "py",
    "ipynb", "rs", "go", "java", "kt", "c", "h", "cc", "cpp", "hpp", "cs", "rb", "php", "pl",
    "sh", "bash", "zsh", "ps1", "sql", "db", "sqlite", "csv", "tsv", "xls", "xlsx", "ods", "doc",
    "docx", "odt", "pdf", "epub", "ppt", "pptx", "png", "jpg", "jpeg", "gif", "webp", "svg",
    "avif", "bmp", "tiff", "ico", "heic", "mp3", "wav", "flac", "ogg", "m4a", "mp4", "mov", "mkv",
    "avi", "webm", "zip", "tar", "gz", "tgz", "bz2", "xz", "7z", "rar", "log", "patch", "diff",
    "proto", "tf", "swift", "dart", "lua", "dump", "bak", "pem", "crt", "key", "parquet", "wasm",
    "bin", "exe", "iso", "tex", "bib", "eml", "ics",
];

/// Names of files without an extension.
#[rustfmt::skip]
const FILES: &[&str] = &[
    "makefile", "dockerfile", "readme", "license", "changelog", "gemfile", "procfile",
    "jenkinsfile",
];

fn named(own: &str) -> Option<Kind> {
    if own.contains(char::is_whitespace) || own.is_empty() {
        return None;
    }
    if let Some((user, host)) = own.split_once('@')
        && !user.is_empty()
        && host.contains('.')
        && host
            .chars()
            .all(|c| c.is_alphanumeric() || "-.".contains(c))
    {
        return Some(Kind::Mail(own.to_owned()));
    }
    let hex = own.len() >= 7 && own.bytes().all(|b| b.is_ascii_hexdigit());
    if hex
        && own.bytes().any(|b| b.is_ascii_digit())
        && own.bytes().any(|b| b.is_ascii_alphabetic())
    {
        return Some(Kind::Hash(own.to_owned()));
    }
    let uuid = own.len() == 36 && own.bytes().filter(|b| *b == b'-').count() == 4;
    if uuid && own.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') {
        return Some(Kind::Hash(own.to_owned()));
    }
    if let Some(number) = own.strip_prefix('#') {
        return number.parse().ok().map(Kind::Issue);
    }
    if is_version(own) {
        return Some(Kind::Version(own.to_owned()));
    }
    if FILES.contains(&own.to_lowercase().as_str())
        && own.starts_with(char::is_uppercase)
        && own != "License"
        && own != "Changelog"
    {
        return Some(Kind::Path(own.to_owned()));
    }
    let (stem, extension) = own.rsplit_once('.')?;
    if own.contains("://") || stem.is_empty() || own.contains(':') {
        return None;
    }
    let lower = extension.to_lowercase();
    if EXTENSIONS.contains(&lower.as_str()) && !stem.ends_with('.') {
        return Some(Kind::Path(own.to_owned()));
    }
    let is_domain = !own.contains('/')
        && (2..=6).contains(&lower.len())
        && lower.bytes().all(|b| b.is_ascii_lowercase())
        && own.is_ascii()
        && stem
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b))
        && stem.len() > 1
        && own == own.to_lowercase();
    is_domain.then(|| Kind::Domain(own.to_owned()))
}

fn is_version(own: &str) -> bool {
    let (marked, numbers) = match own.strip_prefix(['v', 'V']) {
        Some(numbers) => (true, numbers),
        None => (false, own),
    };
    let (numbers, suffix) = match numbers.find(['-', '+']) {
        Some(at) => numbers.split_at(at),
        None => (numbers, ""),
    };
    let dots = numbers.bytes().filter(|b| *b == b'.').count();
    let plain = numbers
        .split('.')
        .all(|part| !part.is_empty() && part.len() < 6 && part.bytes().all(|b| b.is_ascii_digit()));
    plain
        && (marked && (dots > 0 || suffix.is_empty())
            || dots >= 2
                && numbers
                    .split('.')
                    .next_back()
                    .is_some_and(|last| last.len() < 4))
}

/// Paths: words with a slash that are no URL.
fn paths_with_slash(text: &str, all: &mut Vec<Mention>) {
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let Some(c) = rest.chars().next() else { return };
        if c.is_whitespace() || is_cjk(c) || "，。；、！？（）「」“”<>\"`(".contains(c)
        {
            at += c.len_utf8();
            continue;
        }
        let length = rest
            .find(|c: char| {
                c.is_whitespace() || is_cjk(c) || "，。；、！？（）「」“”<>\"`".contains(c)
            })
            .unwrap_or(rest.len());
        let own = rest[..length].trim_end_matches([',', ';', ':', '!', '?', ')', '\'', '.']);
        let slash = own.contains('/') && own.len() > 1 && !own.contains("://");
        let dated = own
            .bytes()
            .all(|b| b.is_ascii_digit() || b"/.".contains(&b));
        let rooted = own.starts_with(['/', '~', '.']);
        let parts = own.split('/').filter(|part| !part.is_empty()).count();
        // "and/or", "he/she" are no paths; "src/main.rs", "docs/api/" are.
        let has_mark = own.contains('.')
            || own.contains('_')
            || own.ends_with('/')
            || parts > 2
            || own.contains('*');
        if slash && !dated && (rooted && parts > 0 || has_mark) {
            let span = at..at + own.len();
            all.retain(|mention| {
                !(span.start <= mention.span.start && mention.span.end <= span.end)
            });
            if !all
                .iter()
                .any(|m| m.span.start < span.end && span.start < m.span.end)
            {
                all.push(Mention {
                    span,
                    kind: Kind::Path(own.to_owned()),
                });
            }
        }
        at += length.max(1);
    }
}

fn numbers(text: &str, words: &[Word], all: &mut Vec<Mention>) {
    let free = |all: &[Mention], span: &Range<usize>| {
        !all.iter()
            .any(|mention| mention.span.start < span.end && span.start < mention.span.end)
    };
    for (number, word) in words.iter().enumerate() {
        let span = word.start..word.end;
        if !free(all, &span) {
            continue;
        }
        let own = word.lower.trim_start_matches(['$', '€', '£']);
        let digits = own
            .bytes()
            .take_while(|b| b.is_ascii_digit() || b".,".contains(b))
            .count();
        let (figure, tail) = own.split_at(digits);
        let Some(value) = parse(figure) else { continue };
        let mut end = word.end - tail.len();
        let mut unit = None;
        let mut unit_text = String::new();
        if !tail.is_empty() {
            let Some(found) = units::named(tail) else {
                continue;
            };
            (unit, unit_text, end) = (Some(found), tail.to_owned(), word.end);
        } else if let Some((found, length)) = text[end..]
            .strip_prefix('%')
            .map(|_| (units::named("%"), 1))
        {
            (unit, unit_text) = (found, "%".to_owned());
            end += length;
        } else if let Some((found, length)) = units::leading(text[end..].trim_start()) {
            let gap = text[end..].len() - text[end..].trim_start().len();
            unit_text = text[end + gap..end + gap + length].to_owned();
            (unit, end) = (Some(found), end + gap + length);
        } else if let Some(next) = words.get(number + 1)
            && text[word.end..next.start].trim().is_empty()
            && let Some(found) = units::named(&next.lower)
            && !(next.lower.len() == 1 && next.upper)
        {
            (unit, unit_text, end) = (Some(found), text[next.start..next.end].to_owned(), next.end);
        }
        all.push(Mention {
            span: word.start..end,
            kind: Kind::Number {
                value,
                unit,
                unit_text,
            },
        });
    }
    // "三十分钟", "百分之十九", "第40行" is found above.
    for (at, c) in text.char_indices() {
        if !is_cjk(c) {
            continue;
        }
        if let Some(rest) = text[at..].strip_prefix("百分之")
            && let Some((value, length)) = numerals::leading(rest)
        {
            let span = at..at + "百分之".len() + length;
            all.retain(|mention| {
                !(span.start <= mention.span.start && mention.span.end <= span.end)
            });
            all.push(Mention {
                span,
                kind: Kind::Number {
                    value: f64::from(value),
                    unit: units::named("%"),
                    unit_text: "%".to_owned(),
                },
            });
        } else if let Some((value, length)) = numerals::leading(&text[at..])
            && let Some((unit, more)) = units::leading(&text[at + length..])
        {
            let span = at..at + length + more;
            if free(all, &span) {
                let unit_text = text[at + length..span.end].to_owned();
                all.push(Mention {
                    span,
                    kind: Kind::Number {
                        value: f64::from(value),
                        unit: Some(unit),
                        unit_text,
                    },
                });
            }
        }
    }
}

/// "1,500", "1500", "1.5", "2,5"; a figure that languages read in two ways is none.
fn parse(figure: &str) -> Option<f64> {
    let figure = figure.trim_end_matches(['.', ',']);
    if figure.is_empty() || figure.len() > 18 {
        return None;
    }
    let (commas, dots) = (figure.matches(',').count(), figure.matches('.').count());
    let last = figure.rsplit([',', '.']).next().map_or(0, str::len);
    match (commas, dots) {
        (0, 0) => figure.parse().ok(),
        (0, 1) if last != 3 => figure.parse().ok(),
        (1, 0) if last != 3 => figure.replace(',', ".").parse().ok(),
        // Thousands in English; a German decimal fraction of three digits is rare.
        (_, 0) if figure.split(',').skip(1).all(|group| group.len() == 3) => {
            figure.replace(',', "").parse().ok()
        }
        (0, 2..) if figure.split('.').skip(1).all(|group| group.len() == 3) => {
            figure.replace('.', "").parse().ok()
        }
        _ => None,
    }
}

/// A word that can only be a name: it has digits, marks or capitals inside.
fn identifier(own: &str) -> Option<Kind> {
    let trimmed = own.trim_matches(|c: char| !c.is_alphanumeric());
    if trimmed.chars().count() < 2 || !trimmed.is_ascii() {
        return None;
    }
    let letters = trimmed.chars().any(char::is_alphabetic);
    let digits = trimmed.chars().any(|c| c.is_ascii_digit());
    let marks = trimmed.contains(['_', '/', '-', '.']) && !trimmed.contains('\'');
    let camel = trimmed
        .chars()
        .zip(trimmed.chars().skip(1))
        .any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let capitals = trimmed.len() <= 6 && trimmed.chars().all(char::is_uppercase);
    (letters && (digits || marks || camel || capitals))
        .then(|| Kind::Identifier(trimmed.to_owned()))
}
