//! Sections of skill texts: headings in English, German and Chinese, bullets, redirects.
//!
//! Long descriptions carry sections ("Core abilities", "Wann verwenden", "不适用场景"); a body
//! may carry them under Markdown headings. Each known heading stands for one [`Field`], and
//! the bullets under it are its items. Headings are compared whole, never as substrings:
//! "Examples of bad style" is no list of sample prompts.

use super::cut;
use super::headings::{Field, field_of};
use crate::catalog::entry::{MAX_NAME_CHARS, NotWhen};

/// Bullets one field takes from a body at most: a long list there is prose, not a catalogue.
pub(super) const MAX_BODY_ITEMS: usize = 32;
/// Bytes of a body's bullet; longer ones are paragraphs that explain something.
pub(super) const MAX_BODY_ITEM_BYTES: usize = 500;
/// Bytes of a title taken from a body's first heading.
const MAX_TITLE_BYTES: usize = 200;

/// A line that begins a section: its field, and what follows the colon on the same line.
fn section_start(line: &str) -> Option<(Field, &str)> {
    if let Some(field) = field_of(line) {
        return Some((field, ""));
    }
    let (heading, rest) = line.split_once([':', '：'])?;
    Some((field_of(heading)?, rest.trim_start_matches('*').trim()))
}

/// The text of a bullet or numbered item.
fn bullet(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let marks = ["- ", "* ", "+ ", "– ", "— ", "•", "·", "・", "●"];
    if let Some(rest) = marks.iter().find_map(|mark| line.strip_prefix(mark)) {
        return Some(rest.trim());
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() || line.len() - rest.len() > 3 {
        return None;
    }
    let item = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "));
    item.or_else(|| rest.strip_prefix('、')).map(str::trim)
}

/// A description in parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Description {
    /// What stands outside known sections; the whole description where nothing else does.
    pub summary: String,
    /// Items of the sections.
    pub items: Vec<(Field, String)>,
}

/// Takes a description apart: known sections become items, the rest stays as the summary.
pub(super) fn split_description(text: &str) -> Description {
    let mut summary: Vec<&str> = Vec::new();
    let mut items: Vec<(Field, String)> = Vec::new();
    let mut section = None;
    // Whether the section has items yet, and whether a blank line followed them.
    let (mut filled, mut blank) = (false, false);
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            blank = true;
            if section.is_none() {
                summary.push("");
            }
            continue;
        }
        if let (Some(field), Some(item)) = (section, bullet(line)) {
            items.push((field, item.to_owned()));
            (filled, blank) = (true, false);
        } else if let (None, Some((field, rest))) = (bullet(line), section_start(trimmed)) {
            section = Some(field);
            filled = !rest.is_empty();
            blank = false;
            if filled {
                items.push((field, rest.to_owned()));
            }
        } else if let Some(field) = section.filter(|_| !blank && !trimmed.ends_with([':', '：'])) {
            // Prose in a section: the continuation of an item, or an item without a bullet.
            match items.last_mut().filter(|_| filled) {
                Some((_, item)) => {
                    item.push(' ');
                    item.push_str(trimmed);
                }
                None => items.push((field, trimmed.to_owned())),
            }
            filled = true;
        } else {
            if section.take().is_some() && summary.last().is_some_and(|line| !line.is_empty()) {
                summary.push("");
            }
            summary.push(line.trim_end());
        }
    }
    let joined = summary.join("\n").trim().to_owned();
    let summary = if joined.is_empty() {
        text.trim().to_owned()
    } else {
        joined
    };
    Description { summary, items }
}

/// What a body adds to an entry.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Body {
    /// Its first top heading.
    pub title: Option<String>,
    /// Bullets of known sections, with their line in the body, from 1.
    pub items: Vec<(Field, u32, String)>,
    /// Bullets that were left out for their number or length, with the first one's line.
    pub left_out: Vec<(Field, u32)>,
}

/// Reads the sections of a Markdown body. Only bullets at the top level count, not prose and
/// nothing inside code fences.
pub(super) fn read_body(text: &str) -> Body {
    let mut body = Body::default();
    let mut section: Option<(Field, usize)> = None;
    let mut fence: Option<&str> = None;
    for (at, line) in text.lines().enumerate() {
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let trimmed = line.trim();
        if let Some(mark) = ["```", "~~~"]
            .into_iter()
            .find(|mark| trimmed.starts_with(mark))
        {
            fence = match fence {
                Some(open) if open == mark => None,
                None => Some(mark),
                other => other,
            };
            continue;
        }
        if fence.is_some() || trimmed.is_empty() {
            continue;
        }
        let level = trimmed.len() - trimmed.trim_start_matches('#').len();
        if (1..=6).contains(&level) && trimmed[level..].starts_with(' ') {
            let heading = trimmed[level..].trim_matches(['#', ' ']);
            if level == 1 && body.title.is_none() && !heading.is_empty() {
                body.title = Some(cut(heading, MAX_TITLE_BYTES).to_owned());
            }
            section = match (field_of(heading), section) {
                (Some(field), _) => Some((field, level)),
                // A subheading inside a section does not end it.
                (None, Some((field, outer))) if level > outer => Some((field, outer)),
                _ => None,
            };
        } else if let Some(item) = bullet(line).filter(|_| !line.starts_with([' ', '\t'])) {
            if let Some((field, _)) = section {
                body.push(field, number, item);
            }
        } else if !line.starts_with([' ', '\t']) {
            let is_heading = trimmed.ends_with([':', '：']) || trimmed.starts_with("**");
            section = match field_of(trimmed).filter(|_| is_heading) {
                // A line that is a heading without being marked as one ends at the next prose.
                Some(field) => Some((field, usize::MAX)),
                None => section.filter(|(_, level)| *level != usize::MAX),
            };
        } else if let Some((_, _, item)) = body
            .items
            .last_mut()
            .filter(|(_, line, _)| section.is_some() && *line + 1 == number)
            && bullet(line).is_none()
        {
            item.push(' ');
            item.push_str(trimmed);
        }
    }
    body
}

impl Body {
    fn push(&mut self, field: Field, line: u32, item: &str) {
        let count = self.items.iter().filter(|(of, _, _)| *of == field).count();
        if count >= MAX_BODY_ITEMS || item.len() > MAX_BODY_ITEM_BYTES {
            if !self.left_out.iter().any(|(of, _)| *of == field) {
                self.left_out.push((field, line));
            }
        } else if !item.is_empty() {
            self.items.push((field, line, item.to_owned()));
        }
    }
}

/// A bullet's text without Markdown emphasis and without quotation marks around all of it.
pub(super) fn plain_item(text: &str) -> String {
    let text = text.replace("**", "");
    let text = text.trim();
    const QUOTES: [(char, char); 7] = [
        ('"', '"'),
        ('\'', '\''),
        ('`', '`'),
        ('“', '”'),
        ('„', '“'),
        ('「', '」'),
        ('《', '》'),
    ];
    for (open, close) in QUOTES {
        let inner = text
            .strip_prefix(open)
            .and_then(|text| text.strip_suffix(close));
        if let Some(inner) = inner.filter(|inner| !inner.contains([open, close])) {
            return inner.trim().to_owned();
        }
    }
    text.to_owned()
}

/// Words around the name in a redirect that are not part of it.
const REDIRECT_WORDS: &[&str] = &[
    "use",
    "using",
    "see",
    "try",
    "call",
    "prefer",
    "the",
    "a",
    "skill",
    "tool",
    "command",
    "instead",
    "please",
    "verwende",
    "verwenden",
    "nutze",
    "nutzen",
    "benutze",
    "benutzen",
    "nimm",
    "siehe",
    "stattdessen",
    "bitte",
    "den",
    "die",
    "das",
    "dem",
    "befehl",
    "werkzeug",
    "请使用",
    "改用",
    "使用",
    "请用",
    "用",
    "请",
    "转到",
    "技能",
    "工具",
    "命令",
    "代替",
];

/// A situation with its redirect: `… → use other`, `… -> other`, `… → 使用 other`. What
/// follows the arrow is a redirect only if one name is left of it without words such as "use"
/// and "skill"; otherwise it is part of the text.
pub(super) fn parse_not_when(text: &str) -> NotWhen {
    let text = text.trim();
    let arrow = ["→", "->", "=>", "⇒", "➜", "➡"]
        .into_iter()
        .filter_map(|arrow| text.rfind(arrow).map(|at| (at, arrow.len())))
        .max();
    let split = arrow.and_then(|(at, len)| {
        let situation = text[..at].trim_end();
        let name = redirect_name(&text[at + len..])?;
        (!situation.is_empty()).then(|| (situation.to_owned(), name))
    });
    match split {
        Some((text, name)) => NotWhen {
            text,
            redirect: Some(name),
        },
        None => NotWhen {
            text: text.to_owned(),
            redirect: None,
        },
    }
}

fn redirect_name(text: &str) -> Option<String> {
    let is_edge = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '/');
    let mut names = text.split_whitespace().filter_map(|word| {
        let word = word.trim_matches(is_edge);
        let is_filler = |word: &str| REDIRECT_WORDS.contains(&word.to_lowercase().as_str());
        if word.is_empty() || is_filler(word) {
            return None;
        }
        // Chinese needs no spaces around the name: 使用market-data技能.
        let mut name = word;
        for filler in REDIRECT_WORDS.iter().filter(|filler| !filler.is_ascii()) {
            name = name.strip_prefix(filler).unwrap_or(name);
            name = name.strip_suffix(filler).unwrap_or(name);
        }
        let name = name.trim_matches(is_edge);
        (!name.is_empty()).then_some(name)
    });
    let name = names.next()?;
    let is_only = names.next().is_none() && name.chars().count() <= MAX_NAME_CHARS;
    is_only.then(|| name.to_owned())
}
