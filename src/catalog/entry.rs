//! The entry: one thing a prompt can be routed to, and what makes one valid.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{FieldViolation, Violations};

/// Source of entries that name none.
pub const DEFAULT_SOURCE: &str = "api";

/// Characters of a name or source.
pub const MAX_NAME_CHARS: usize = 128;
/// Bytes of one text field.
pub const MAX_TEXT_BYTES: usize = 32 * 1024;
/// Items of one list field.
pub const MAX_LIST_ITEMS: usize = 256;
/// Bytes of one list item.
pub const MAX_ITEM_BYTES: usize = 4 * 1024;
/// Bytes of `input_schema`.
pub const MAX_SCHEMA_BYTES: usize = 256 * 1024;

/// What an entry is. The order is the one in which equal scores are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Something invoked by name.
    Command,
    /// A function a model may call.
    Tool,
    /// Instructions a model may load.
    Skill,
}

impl Kind {
    /// All kinds, in listing order.
    pub const ALL: [Kind; 3] = [Kind::Command, Kind::Tool, Kind::Skill];

    /// Lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Command => "command",
            Kind::Tool => "tool",
            Kind::Skill => "skill",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Kind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| format!("unknown kind {text:?}: one of command, tool, skill"))
    }
}

/// Identity of an entry. Two sources may both own a `search`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntryId {
    /// Who the entry comes from.
    pub source: String,
    /// Name, unique within the source.
    pub name: String,
}

impl EntryId {
    /// Identity from its parts; an empty source is [`DEFAULT_SOURCE`].
    pub fn new(source: &str, name: &str) -> Self {
        let source = if source.is_empty() {
            DEFAULT_SOURCE
        } else {
            source
        };
        Self {
            source: source.to_owned(),
            name: name.to_owned(),
        }
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.source, self.name)
    }
}

/// A situation an entry is not meant for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotWhen {
    /// The situation.
    pub text: String,
    /// Name of the entry that serves it instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
}

/// One thing a prompt can be routed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// Source and name.
    #[serde(flatten)]
    pub id: EntryId,
    /// Short title for people.
    #[serde(default)]
    pub title: String,
    /// One or two words on where it stems from.
    #[serde(default)]
    pub source_hint: String,
    /// What it does.
    #[serde(default)]
    pub responsibility: String,
    /// Further names for exact commands.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Short phrases on what it can do.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// Situations it is meant for.
    #[serde(default)]
    pub use_when: Vec<String>,
    /// Situations it is not meant for.
    #[serde(default)]
    pub not_when: Vec<NotWhen>,
    /// Sample prompts, in any language.
    #[serde(default)]
    pub examples: Vec<String>,
    /// Words that call it.
    #[serde(default)]
    pub triggers: Vec<String>,
    /// JSON Schema of its parameters, as JSON text.
    #[serde(default)]
    pub input_schema: Option<String>,
    /// Names of entries whose work has to come first.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// Labels.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Anything else worth keeping.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
}

impl Entry {
    /// An entry of which only kind and identity are given.
    pub fn new(kind: Kind, source: &str, name: &str) -> Self {
        Self {
            kind,
            id: EntryId::new(source, name),
            title: String::new(),
            source_hint: String::new(),
            responsibility: String::new(),
            aliases: Vec::new(),
            capabilities: Vec::new(),
            use_when: Vec::new(),
            not_when: Vec::new(),
            examples: Vec::new(),
            triggers: Vec::new(),
            input_schema: None,
            depends_on: Vec::new(),
            tags: Vec::new(),
            annotations: BTreeMap::new(),
        }
    }

    /// Every limit the entry breaks; `path` is prefixed to the field names.
    pub fn check(&self, path: &str, violations: &mut Violations) {
        let mut add = |field: &str, message: String| {
            violations.push(FieldViolation::new(format!("{path}{field}"), message));
        };
        for (field, text) in [("name", &self.id.name), ("source", &self.id.source)] {
            let count = text.chars().count();
            if text.trim().is_empty() {
                add(field, "must not be blank".into());
            } else if count > MAX_NAME_CHARS {
                add(
                    field,
                    format!("{count} characters exceed the limit of {MAX_NAME_CHARS}"),
                );
            } else if text.chars().any(char::is_control) {
                add(field, "must not hold control characters".into());
            }
        }
        for (field, text) in [
            ("title", &self.title),
            ("source_hint", &self.source_hint),
            ("responsibility", &self.responsibility),
        ] {
            if text.len() > MAX_TEXT_BYTES {
                add(
                    field,
                    format!("{} bytes exceed the limit of {MAX_TEXT_BYTES}", text.len()),
                );
            }
        }
        for (field, items) in [
            ("aliases", &self.aliases),
            ("capabilities", &self.capabilities),
            ("use_when", &self.use_when),
            ("examples", &self.examples),
            ("triggers", &self.triggers),
            ("depends_on", &self.depends_on),
            ("tags", &self.tags),
        ] {
            if items.len() > MAX_LIST_ITEMS {
                add(
                    field,
                    format!("{} items exceed the limit of {MAX_LIST_ITEMS}", items.len()),
                );
            }
            for (at, item) in items.iter().enumerate() {
                check_item(&mut add, &format!("{field}[{at}]"), item);
            }
        }
        if self.not_when.len() > MAX_LIST_ITEMS {
            let count = self.not_when.len();
            add(
                "not_when",
                format!("{count} items exceed the limit of {MAX_LIST_ITEMS}"),
            );
        }
        for (at, item) in self.not_when.iter().enumerate() {
            check_item(&mut add, &format!("not_when[{at}].text"), &item.text);
        }
        if self.annotations.len() > MAX_LIST_ITEMS {
            let count = self.annotations.len();
            add(
                "annotations",
                format!("{count} items exceed the limit of {MAX_LIST_ITEMS}"),
            );
        }
        for (key, value) in &self.annotations {
            if key.len() + value.len() > MAX_TEXT_BYTES {
                let key: String = key.chars().take(40).collect();
                add(
                    "annotations",
                    format!("{key:?} exceeds the limit of {MAX_TEXT_BYTES} bytes"),
                );
            }
        }
        if let Some(schema) = &self.input_schema {
            if schema.len() > MAX_SCHEMA_BYTES {
                let size = schema.len();
                add(
                    "input_schema",
                    format!("{size} bytes exceed the limit of {MAX_SCHEMA_BYTES}"),
                );
            } else if let Err(error) = serde_json::from_str::<serde_json::Value>(schema) {
                add("input_schema", format!("is no JSON: {error}"));
            }
        }
    }
}

fn check_item(add: &mut impl FnMut(&str, String), field: &str, item: &str) {
    if item.trim().is_empty() {
        add(field, "must not be blank".into());
    } else if item.len() > MAX_ITEM_BYTES {
        add(
            field,
            format!("{} bytes exceed the limit of {MAX_ITEM_BYTES}", item.len()),
        );
    }
}

/// Checks a batch: each entry, and that no identity stands in it twice. `path` names the
/// list, for example `entries`.
pub fn check_batch(path: &str, entries: &[Entry]) -> Violations {
    let mut violations = Violations::default();
    let mut seen = BTreeSet::new();
    for (at, entry) in entries.iter().enumerate() {
        entry.check(&format!("{path}[{at}]."), &mut violations);
        if !seen.insert(&entry.id) {
            violations.push(FieldViolation::new(
                format!("{path}[{at}].name"),
                format!(
                    "{:?} stands twice in source {:?}",
                    entry.id.name, entry.id.source
                ),
            ));
        }
    }
    violations
}
