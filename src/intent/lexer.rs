//! Words, punctuation and what must not be cut: quotations, addresses, code, parentheses.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word.
    Word,
    /// A quotation, an address, a path, a parenthesis: never looked into.
    Opaque,
    /// One character of punctuation.
    Punct(char),
    /// The end of a line.
    Break,
}

/// One token and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub start: usize,
    pub end: usize,
    pub kind: Kind,
    /// In lower case; empty unless it is a word.
    pub lower: String,
    /// Whether it opens with a capital.
    pub upper: bool,
}

impl Token {
    pub fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }
}

/// Bytes that a quotation may have; a mark without a partner within them is punctuation.
const MAX_QUOTED: usize = 2_000;

/// Where a quotation ends (behind its closing mark) that opens at `at`.
pub(super) fn quotation_end(text: &str, at: usize, before: Option<char>) -> Option<usize> {
    let open = text[at..].chars().next()?;
    let closes: &[char] = match open {
        '"' => &['"'],
        '`' => &['`'],
        '“' => &['”', '"'],
        '„' => &['“', '”', '"'],
        '‘' => &['’'],
        '‚' => &['‘', '’'],
        '«' => &['»'],
        '»' => &['«'],
        '「' => &['」'],
        '『' => &['』'],
        '《' => &['》'],
        '(' => &[')'],
        '（' => &['）'],
        '[' => &[']'],
        '\'' if before.is_none_or(|c| c.is_whitespace() || c == '(') => &['\''],
        _ => return None,
    };
    let inside = at + open.len_utf8();
    let room = &text[inside..];
    let room = &room[..room.floor_char_boundary(MAX_QUOTED)];
    let mut found = room.char_indices().filter(|(_, c)| closes.contains(c));
    let end = |(offset, c): (usize, char)| inside + offset + c.len_utf8();
    if open == '\'' {
        // An apostrophe within a word closes nothing.
        return found.map(end).find(|end| {
            text[*end..]
                .chars()
                .next()
                .is_none_or(|c| !c.is_alphanumeric())
        });
    }
    found.next().map(end)
}

/// Where an address, a path or a file name ends that begins at `at`; `None` for a plain word.
pub(super) fn address_end(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let length = rest
        .find(|c: char| c.is_whitespace() || "，。；、！？（）「」“”<>\"`".contains(c))
        .unwrap_or(rest.len());
    let word = rest[..length].trim_end_matches([',', ';', ':', '!', '?', ')', '\'', '.']);
    let is_address = word.contains("://")
        || word.starts_with("./")
        || word.starts_with("~/")
        || word.starts_with("../")
        || (word.starts_with('/') && word.len() > 1)
        || (word.contains('/') && word.chars().all(|c| c.is_ascii_graphic()));
    (is_address && word.is_ascii()).then_some(at + word.len())
}

/// Tokens of a text that is written with spaces.
pub(super) fn lex(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    let mut before: Option<char> = None;
    while let Some(c) = text[at..].chars().next() {
        let (kind, end) = if c == '\n' {
            (Kind::Break, at + 1)
        } else if c.is_whitespace() {
            before = Some(c);
            at += c.len_utf8();
            continue;
        } else if let Some(end) = quotation_end(text, at, before) {
            (Kind::Opaque, end)
        } else if let Some(end) = address_end(text, at) {
            (Kind::Opaque, end)
        } else if c.is_alphanumeric() || starts_word(text, at) {
            (Kind::Word, word_end(text, at))
        } else {
            (Kind::Punct(c), at + c.len_utf8())
        };
        let lower = match kind {
            Kind::Word => text[at..end].to_lowercase().replace('’', "'"),
            _ => String::new(),
        };
        tokens.push(Token {
            start: at,
            end,
            kind,
            lower,
            upper: c.is_uppercase(),
        });
        before = text[..end].chars().next_back();
        at = end;
    }
    tokens
}

/// `#12`, `@name`, `$HOME`, `--flag`: one word with what follows.
fn starts_word(text: &str, at: usize) -> bool {
    let mut chars = text[at..].chars();
    matches!(chars.next(), Some('#' | '@' | '$')) && chars.next().is_some_and(char::is_alphanumeric)
}

/// A word goes on over marks that stand between two of its characters (`v2.1`, `e-mail`).
fn word_end(text: &str, at: usize) -> usize {
    let mut end = at;
    let mut chars = text[at..].char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        let inner = "'’-_.@#+$".contains(c)
            && (offset == 0 || chars.peek().is_some_and(|(_, next)| next.is_alphanumeric()));
        let is_mark = unicode_mark(c);
        if !(c.is_alphanumeric() || inner || is_mark) {
            break;
        }
        end = at + offset + c.len_utf8();
    }
    end.max(at + text[at..].chars().next().map_or(0, char::len_utf8))
}

/// Combining marks of Latin letters.
fn unicode_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}
