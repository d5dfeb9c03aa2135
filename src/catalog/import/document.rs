//! Catalogue documents in YAML, JSON and JSON Lines, read strictly: a key that is not known
//! may be a typo that silently loses someone's examples, so it is an error with its line.
//!
//! A document is a list of items, or a mapping `{kind?, source?, entries: [...]}`. An item has
//! the fields of an [`Entry`]; `description` is another name for `responsibility`, and `id`
//! stands in where `name` is missing, else it is kept as the annotation `id`. The Claw
//! snapshot's `{name, source_hint, responsibility}` and the evaluation sets'
//! `{id, kind, name, source_hint, description, examples}` are such items.

use super::json::{Lines, read_json};
use super::node::{self, Data, Node, Pair};
use super::sections::parse_not_when;
use super::{Defaults, Diagnostic, Format, Found, ImportError, MAX_ITEMS, Severity};
use crate::catalog::entry::{Entry, Kind, MAX_NAME_CHARS, NotWhen};
use crate::error::Violations;

/// Keys of an item, as an error lists them.
const ITEM_KEYS: &str = "name, id, kind, source, title, source_hint, responsibility (or \
    description), aliases, capabilities, use_when, not_when, examples, triggers, input_schema, \
    depends_on, tags, annotations";

/// Reads a document.
pub(super) fn read(
    text: &str,
    origin: &str,
    format: Format,
    defaults: &Defaults,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<Found>, ImportError> {
    let mut reader = Reader {
        text,
        origin,
        is_json: format != Format::Yaml,
        kind: defaults.kind.unwrap_or(Kind::Command),
        source: defaults.source.clone(),
    };
    let items = match format {
        Format::Jsonl => reader.lines()?,
        Format::Json => {
            let root = read_json(text, (0, text.len()), &Lines::new(text));
            reader.root(root.map_err(|(line, message)| reader.error(line, None, message))?)?
        }
        Format::Yaml | Format::SkillMd => {
            let root = node::read_yaml(text).map_err(|error| error.unreadable);
            reader.root(root.map_err(|(line, message)| reader.error(line, None, message))?)?
        }
    };
    if items.is_empty() {
        diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            code: "EMPTY_DOCUMENT",
            message: "holds no entries".into(),
            origin: origin.into(),
            line: None,
            item: None,
        });
    }
    items
        .iter()
        .enumerate()
        .map(|(at, item)| reader.item(item, at))
        .collect()
}

struct Reader<'a> {
    text: &'a str,
    origin: &'a str,
    is_json: bool,
    /// Kind and source of items that name none.
    kind: Kind,
    source: String,
}

impl Reader<'_> {
    fn error(&self, line: Option<u32>, item: Option<&str>, message: String) -> ImportError {
        ImportError::new(self.origin, line, item, &message)
    }

    /// One item a line.
    fn lines(&self) -> Result<Vec<Node>, ImportError> {
        let lines = Lines::new(self.text);
        let mut items = Vec::new();
        let mut from = 0;
        for line in self.text.split_inclusive('\n') {
            let to = from + line.len();
            if !line.trim().is_empty() {
                if items.len() == MAX_ITEMS {
                    let message = format!("more items than the limit of {MAX_ITEMS}");
                    return Err(self.error(Some(lines.of(from)), None, message));
                }
                let item = read_json(self.text, (from, to), &lines)
                    .map_err(|(line, message)| self.error(line, None, message))?;
                items.push(item);
            }
            from = to;
        }
        Ok(items)
    }

    /// The items of a list, or of a mapping with `entries`.
    fn root(&mut self, root: Node) -> Result<Vec<Node>, ImportError> {
        let fail = |reader: &Self, line, message| Err(reader.error(Some(line), None, message));
        let pairs = match root.data {
            Data::Null => return Ok(Vec::new()),
            Data::List(items) => return Ok(items),
            Data::Map(pairs) => pairs,
            Data::Text(_) | Data::Bare(_) => {
                let what = root.describe();
                let message = format!("must be a list or a mapping with `entries`, not {what}");
                return fail(self, root.line, message);
            }
        };
        let mut entries = None;
        for Pair { key, line, value } in pairs {
            match key.as_str() {
                "kind" => match self.parse_kind(&value) {
                    Ok(kind) => self.kind = kind.unwrap_or(self.kind),
                    Err(message) => return fail(self, line, format!("kind: {message}")),
                },
                "source" => match self.parse_text(&value) {
                    Ok(source) if source.is_empty() => {}
                    Ok(source) => self.source = source,
                    Err(message) => return fail(self, line, format!("source: {message}")),
                },
                "entries" => match value.data {
                    Data::List(items) => entries = Some(items),
                    Data::Null => entries = Some(Vec::new()),
                    _ => {
                        let what = value.describe();
                        let message = format!("entries: must be a list, not {what}");
                        return fail(self, line, message);
                    }
                },
                _ => {
                    let message =
                        format!("unknown key {key:?} of the document: kind, source or entries");
                    return fail(self, line, message);
                }
            }
        }
        match entries {
            Some(items) => Ok(items),
            None => fail(self, root.line, "entries: is missing".into()),
        }
    }

    fn item(&self, node: &Node, at: usize) -> Result<Found, ImportError> {
        let name = ["name", "id"]
            .into_iter()
            .find_map(|key| node.get(key).and_then(|name| name.scalar(self.text)))
            .map(|name| name.chars().take(MAX_NAME_CHARS).collect::<String>());
        let label = match &name {
            Some(name) if !name.trim().is_empty() => name.escape_debug().to_string(),
            _ => format!("entries[{at}]"),
        };
        let fail = |line, message| Err(self.error(Some(line), Some(&label), message));
        let Data::Map(pairs) = &node.data else {
            let message = format!("must be a mapping of fields, not {}", node.describe());
            return fail(node.line, message);
        };
        let mut entry = Entry::new(self.kind, &self.source, "");
        let mut id = String::new();
        for pair in pairs {
            if let Err(message) = self.field(&mut entry, &mut id, pair) {
                return fail(pair.line, message);
            }
        }
        if node.get("responsibility").is_some() && node.get("description").is_some() {
            let message = "responsibility: stands beside description; give one of them";
            return fail(node.line, message.into());
        }
        if entry.id.name.is_empty() {
            if id.is_empty() {
                return fail(node.line, "name: is missing".into());
            }
            entry.id.name = id;
        } else if !id.is_empty() && id != entry.id.name {
            entry.annotations.entry("id".into()).or_insert(id);
        }
        let mut violations = Violations::default();
        entry.check("", &mut violations);
        if let Some(first) = violations.as_slice().first() {
            let line = line_of_field(node, &first.field);
            return fail(line, violations.to_string());
        }
        Ok(Found {
            entry,
            line: Some(node.line),
        })
    }

    /// Puts one field in its place. The error is a message that names the field.
    fn field(&self, entry: &mut Entry, id: &mut String, pair: &Pair) -> Result<(), String> {
        let Pair { key, value, .. } = pair;
        let named = |message: String| format!("{key}: {message}");
        let text = || self.parse_text(value).map_err(named);
        let list = || {
            self.parse_list(value)
                .map_err(|(at, message)| format!("{key}{at}: {message}"))
        };
        match key.as_str() {
            "name" => entry.id.name = text()?,
            "id" => *id = text()?,
            "kind" => entry.kind = self.parse_kind(value).map_err(named)?.unwrap_or(self.kind),
            "source" => {
                let source = text()?;
                if !source.is_empty() {
                    entry.id.source = source;
                }
            }
            "title" => entry.title = text()?,
            "source_hint" => entry.source_hint = text()?,
            "responsibility" | "description" => entry.responsibility = text()?,
            "aliases" => entry.aliases = list()?,
            "capabilities" => entry.capabilities = list()?,
            "use_when" => entry.use_when = list()?,
            "examples" => entry.examples = list()?,
            "triggers" => entry.triggers = list()?,
            "depends_on" => entry.depends_on = list()?,
            "tags" => entry.tags = list()?,
            "not_when" => entry.not_when = self.parse_not_whens(value).map_err(named)?,
            "input_schema" => entry.input_schema = self.parse_schema(value).map_err(named)?,
            "annotations" => {
                let pairs = match &value.data {
                    Data::Null => return Ok(()),
                    Data::Map(pairs) => pairs,
                    _ => {
                        return Err(named(format!(
                            "must be a mapping, not {}",
                            value.describe()
                        )));
                    }
                };
                for Pair { key, value, .. } in pairs {
                    let text = self.parse_text(value);
                    let text = text.map_err(|message| format!("annotations.{key}: {message}"))?;
                    entry.annotations.insert(key.clone(), text);
                }
            }
            _ => {
                let key: String = key.chars().take(MAX_NAME_CHARS).collect();
                return Err(format!("unknown key {key:?}: an item has {ITEM_KEYS}"));
            }
        }
        Ok(())
    }

    /// Text; nothing is empty text. YAML's bare `404` or `yes` is taken as it is written; in
    /// JSON, where quotes are never optional, a number is a mistake.
    fn parse_text(&self, node: &Node) -> Result<String, String> {
        match (&node.data, node.scalar(self.text)) {
            (Data::Null, _) => Ok(String::new()),
            (Data::Text(_), Some(text)) if self.is_json => Ok(text),
            // The line break that ends a block scalar belongs to the notation.
            (Data::Text(_), Some(text)) => Ok(text.trim_end_matches('\n').to_owned()),
            (Data::Bare(_), Some(text)) if !self.is_json => Ok(text),
            _ => Err(format!("must be text, not {}", node.describe())),
        }
    }

    fn parse_kind(&self, node: &Node) -> Result<Option<Kind>, String> {
        let text = self.parse_text(node)?;
        if text.is_empty() {
            Ok(None)
        } else {
            text.parse().map(Some)
        }
    }

    /// Items of a list of texts. The error is the place in the list, and a message.
    fn parse_list(&self, node: &Node) -> Result<Vec<String>, (String, String)> {
        match &node.data {
            Data::Null => Ok(Vec::new()),
            Data::List(items) => items
                .iter()
                .enumerate()
                .map(|(at, item)| self.parse_text(item).map_err(|m| (format!("[{at}]"), m)))
                .collect(),
            _ => {
                let message = format!("must be a list of texts, not {}", node.describe());
                Err((String::new(), message))
            }
        }
    }

    /// Situations: texts, of which `… → use other` names a redirect, or `{text, redirect?}`.
    fn parse_not_whens(&self, node: &Node) -> Result<Vec<NotWhen>, String> {
        let items = match &node.data {
            Data::Null => return Ok(Vec::new()),
            Data::List(items) => items,
            _ => return Err(format!("must be a list, not {}", node.describe())),
        };
        let parse = |(at, item): (usize, &Node)| match &item.data {
            Data::Map(pairs) => {
                let mut found = NotWhen {
                    text: String::new(),
                    redirect: None,
                };
                for Pair { key, value, .. } in pairs {
                    let text = self
                        .parse_text(value)
                        .map_err(|m| format!("[{at}].{key} {m}"))?;
                    match key.as_str() {
                        "text" => found.text = text,
                        "redirect" => found.redirect = Some(text).filter(|t| !t.is_empty()),
                        _ => return Err(format!("[{at}]: unknown key {key:?}: text or redirect")),
                    }
                }
                let count = found
                    .redirect
                    .as_ref()
                    .map_or(0, |name| name.chars().count());
                if count > MAX_NAME_CHARS {
                    return Err(format!(
                        "[{at}].redirect: {count} characters exceed the limit of {MAX_NAME_CHARS}"
                    ));
                }
                Ok(found)
            }
            _ => match self.parse_text(item) {
                Ok(text) => Ok(parse_not_when(&text)),
                Err(message) => Err(format!("[{at}] {message}")),
            },
        };
        items.iter().enumerate().map(parse).collect()
    }

    /// A schema: a mapping becomes JSON text, text is taken as it is.
    fn parse_schema(&self, node: &Node) -> Result<Option<String>, String> {
        match &node.data {
            Data::Null => Ok(None),
            Data::Text(text) => Ok(Some(text.trim_end_matches('\n').to_owned())),
            Data::Map(_) if self.is_json => Ok(Some(node.to_source_json(self.text))),
            Data::Map(_) => Ok(Some(node.to_json())),
            _ => Err(format!(
                "must be a mapping or JSON text, not {}",
                node.describe()
            )),
        }
    }
}

/// Line of a violated field such as `examples[2]`, as near as the document knows it.
fn line_of_field(item: &Node, field: &str) -> u32 {
    let (key, rest) = match field.find(['[', '.']) {
        Some(at) => field.split_at(at),
        None => (field, ""),
    };
    let Data::Map(pairs) = &item.data else {
        return item.line;
    };
    let is_meant = |pair: &&Pair| {
        pair.key == key
            || (key == "responsibility" && pair.key == "description")
            || (key == "name" && pair.key == "id" && item.get("name").is_none())
    };
    let Some(pair) = pairs.iter().find(is_meant) else {
        return item.line;
    };
    let at = rest
        .trim_start_matches('[')
        .split(']')
        .next()
        .and_then(|at| at.parse().ok());
    match (&pair.value.data, at) {
        (Data::List(items), Some::<usize>(at)) => items.get(at).map_or(pair.line, |i| i.line),
        _ => pair.line,
    }
}
