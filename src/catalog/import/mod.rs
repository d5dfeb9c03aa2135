//! Catalogue files: from YAML, JSON, JSON Lines and `SKILL.md` to checked entries.
//!
//! [`import`] reads one document, [`load_paths`] files and folders. Two attitudes:
//!
//! - A catalogue document is written for this program, so it is read strictly: one unknown
//!   key, one broken limit or one name twice refuses the whole document, with its line.
//! - A `SKILL.md` is written for many programs, so it is read leniently: what can be kept is
//!   kept, what was repaired, cut or ignored is a [`Diagnostic`], and a file that cannot be
//!   used is a diagnostic of [`Severity::Error`] while the others load.
//!
//! What always holds: nothing here panics on any input, every entry that is returned passes
//! [`Entry::check`], and no identity is returned twice.
//!
//! | module | owns |
//! |---|---|
//! | `node` | documents as trees in which each node knows its line; YAML and its budget |
//! | `json` | JSON as such a tree |
//! | `document` | the strict reader of catalogue documents |
//! | `skill_md` | the lenient reader of skills |
//! | `findings` | its diagnostics, and what is cut to fit an entry |
//! | `front_matter` | cutting, parsing and repairing the block between `---` lines |
//! | `headings` | headings in English, German and Chinese, and the field each stands for |
//! | `sections` | the sections under them, and redirects |
//! | `injection` | phrases that try to override a model's instructions |
//! | `load` | files and folders |

use std::collections::HashMap;
use std::fmt;

use crate::catalog::entry::{Entry, EntryId, Kind};

mod document;
mod findings;
mod front_matter;
mod headings;
mod injection;
mod json;
mod load;
mod node;
mod sections;
mod skill_md;
#[cfg(test)]
mod tests;

pub use load::load_paths;

/// Bytes of one document (16 MiB): several times the largest catalogue that makes sense, and
/// small enough that a tree of it fits in memory.
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// Items of one document.
pub const MAX_ITEMS: usize = 100_000;
/// Bytes of a message: enough for every field of an item that can be wrong at once.
const MAX_MESSAGE_BYTES: usize = 2_000;
/// Source of skills that [`load_paths`] reads.
pub const SKILL_SOURCE: &str = "skills";

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// A YAML list of items, or a mapping with `entries`.
    Yaml,
    /// The same in JSON.
    Json,
    /// One JSON item a line; blank lines are skipped.
    Jsonl,
    /// Front matter between `---` lines, then Markdown.
    SkillMd,
}

/// What holds for items that do not say it themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Defaults {
    /// Kind where neither item nor document names one; `None` is [`Kind::Command`].
    pub kind: Option<Kind>,
    /// Source where neither item nor document names one.
    pub source: String,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; nothing was changed or lost.
    Info,
    /// Something was repaired, cut or looks wrong; the entry is there.
    Warning,
    /// The file was rejected.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// One finding about a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// Stable name of the finding, such as `RECOVERED_YAML`.
    pub code: &'static str,
    /// The finding in words, with field and limit.
    pub message: String,
    /// Where the document came from.
    pub origin: String,
    /// Line in it, from 1.
    pub line: Option<u32>,
    /// Name of the item it is about.
    pub item: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        place(f, &self.origin, self.line, self.item.as_deref())?;
        write!(f, "{} {}: {}", self.severity, self.code, self.message)
    }
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// The entries, in the order of the documents; each passes [`Entry::check`], and no
    /// identity stands here twice.
    pub entries: Vec<Entry>,
    /// Findings, in the order of the documents.
    pub diagnostics: Vec<Diagnostic>,
}

/// Why nothing was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportError {
    /// Where the document came from.
    pub origin: String,
    /// Line in it, from 1.
    pub line: Option<u32>,
    /// Name of the item, or its place such as `entries[3]` where it has none.
    pub item: Option<String>,
    /// What is wrong, with field and limit.
    pub message: String,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        place(f, &self.origin, self.line, self.item.as_deref())?;
        f.write_str(&self.message)
    }
}

impl std::error::Error for ImportError {}

impl ImportError {
    fn new(origin: &str, line: Option<u32>, item: Option<&str>, message: &str) -> Self {
        Self {
            origin: origin.to_owned(),
            line,
            item: item.map(str::to_owned),
            message: bounded(message),
        }
    }
}

/// Writes `ORIGIN:LINE: item: `, without the parts that are not known.
fn place(
    f: &mut fmt::Formatter<'_>,
    origin: &str,
    line: Option<u32>,
    item: Option<&str>,
) -> fmt::Result {
    f.write_str(origin)?;
    if let Some(line) = line {
        write!(f, ":{line}")?;
    }
    f.write_str(": ")?;
    if let Some(item) = item {
        write!(f, "{item}: ")?;
    }
    Ok(())
}

/// Reads one document. `origin` is what errors call it: a path, or a name such as `request`;
/// for [`Format::SkillMd`] its parent folder is what the skill's name is compared with.
///
/// # Errors
///
/// A document that is too large, no UTF-8, unreadable, or holds an item that breaks a limit,
/// has an unknown key or repeats a name. A [`Format::SkillMd`] document is never an error: its
/// rejection is a diagnostic of [`Severity::Error`], and there are no entries.
pub fn import(
    text: &[u8],
    origin: &str,
    format: Format,
    defaults: &Defaults,
) -> Result<Imported, ImportError> {
    let mut batch = Batch::default();
    batch.read(text, origin, format, defaults)?;
    Ok(batch.imported)
}

/// Fields of a text's front matter, in lower case, with their items (one for what is no list),
/// and what follows it. A text without front matter, or whose front matter cannot be read even
/// after repair, is all text.
pub fn front_matter_of(text: &str) -> (Vec<(String, Vec<String>)>, &str) {
    let text = text.trim_start_matches('\u{feff}');
    let Ok(Some(parts)) = front_matter::split(text) else {
        return (Vec::new(), text);
    };
    let Ok(front) = front_matter::parse(parts.front) else {
        return (Vec::new(), parts.body);
    };
    let items = |value: &node::Node| match value.data {
        node::Data::List(_) => front.texts_of(value),
        _ => vec![front.text_of(value)],
    };
    let fields = front.pairs.iter();
    let fields = fields.map(|pair| (pair.key.to_lowercase(), items(&pair.value)));
    (fields.collect(), parts.body)
}

/// An entry, and the line it begins at.
struct Found {
    entry: Entry,
    line: Option<u32>,
}

/// What was read so far, over any number of documents.
#[derive(Default)]
struct Batch {
    imported: Imported,
    /// Where each identity was read: number of the document in `origins`, and line.
    seen: HashMap<EntryId, (usize, Option<u32>)>,
    origins: Vec<String>,
}

impl Batch {
    /// Adds one document.
    fn read(
        &mut self,
        text: &[u8],
        origin: &str,
        format: Format,
        defaults: &Defaults,
    ) -> Result<(), ImportError> {
        let diagnostics = &mut self.imported.diagnostics;
        let found = match format {
            Format::SkillMd => skill_md::read(text, origin, defaults, diagnostics)
                .into_iter()
                .collect(),
            _ => {
                let text = decode(text)
                    .map_err(|(line, message)| ImportError::new(origin, line, None, &message))?;
                document::read(text, origin, format, defaults, diagnostics)?
            }
        };
        self.origins.push(origin.to_owned());
        found.into_iter().try_for_each(|found| self.add(found))
    }

    /// Adds one entry, unless its identity is taken.
    fn add(&mut self, Found { entry, line }: Found) -> Result<(), ImportError> {
        let here = self.origins.len().saturating_sub(1);
        if let Some((document, first)) = self.seen.insert(entry.id.clone(), (here, line)) {
            let place = match first {
                Some(first) => format!("{}:{first}", self.origins[document]),
                None => self.origins[document].clone(),
            };
            let message = format!(
                "name: stands twice in source {:?}, first at {place}",
                entry.id.source
            );
            let name = Some(entry.id.name.as_str());
            return Err(ImportError::new(&self.origins[here], line, name, &message));
        }
        self.imported.entries.push(entry);
        Ok(())
    }
}

/// Text of a document: within [`MAX_DOCUMENT_BYTES`], UTF-8, without its byte order mark.
/// The error is a line, where one is known, and a message.
fn decode(bytes: &[u8]) -> Result<&str, (Option<u32>, String)> {
    if bytes.len() > MAX_DOCUMENT_BYTES {
        let size = bytes.len();
        return Err((
            None,
            format!("{size} bytes exceed the limit of {MAX_DOCUMENT_BYTES}"),
        ));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        let hint = match bytes {
            [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => " (it begins like UTF-16; save it as UTF-8)",
            _ => "",
        };
        let message = format!("is no UTF-8: invalid byte at offset {at}{hint}");
        (u32::try_from(line).ok(), message)
    })?;
    Ok(text.strip_prefix('\u{FEFF}').unwrap_or(text))
}

/// A message fit for a terminal and a log line, whatever a document's keys and values put into
/// it: at most [`MAX_MESSAGE_BYTES`], without control characters.
fn bounded(message: &str) -> String {
    let mut shown = String::new();
    for c in cut(message, MAX_MESSAGE_BYTES).chars() {
        if c.is_control() {
            shown.extend(c.escape_debug());
        } else {
            shown.push(c);
        }
    }
    if message.len() > MAX_MESSAGE_BYTES {
        shown.push('…');
    }
    shown
}

/// The longest prefix of at most `limit` bytes that ends between characters.
fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}
