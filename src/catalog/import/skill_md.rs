//! `SKILL.md`, read leniently: what people wrote is kept, what was repaired or cut is said.
//!
//! Three dialects are one reader: Agent Skills (`name`, `description`, `license`,
//! `compatibility`, `metadata`, `allowed-tools`), ZCLAW (sections in the description;
//! `examples`, `capabilities`, `triggers`) and OpenFang (`version`, `author`, `tags`,
//! `runtime`, `metadata.openclaw`, `config`). Lists become fields of the entry; all else is
//! kept as annotations, nested mappings with dotted names (`metadata.openclaw.requires.bins`).

use std::collections::HashSet;

use super::front_matter::{self, FrontMatter};
use super::node::{Data, Node, Pair};
use super::sections::{self, Field, plain_item};
use super::{Defaults, Diagnostic, Found, Severity, cut, decode, injection};
use crate::catalog::entry::{
    Entry, Kind, MAX_ITEM_BYTES, MAX_LIST_ITEMS, MAX_NAME_CHARS, MAX_TEXT_BYTES,
};
use crate::error::Violations;

/// Characters of a name in the Agent Skills format.
const MAX_SKILL_NAME_CHARS: usize = 64;
/// Characters of a description in the Agent Skills format.
const MAX_DESCRIPTION_CHARS: usize = 1024;
/// Characters of `compatibility` in the Agent Skills format.
const MAX_COMPATIBILITY_CHARS: usize = 500;
/// Levels of nested mappings that become dotted annotations; deeper ones are kept as JSON.
const MAX_DOTTED_LEVELS: u32 = 4;

/// Fields that become annotations under their own names without further words.
const KNOWN_ANNOTATIONS: &[&str] = &[
    "allowed-tools",
    "license",
    "compatibility",
    "version",
    "author",
    "runtime",
    "metadata",
    "config",
    "tools",
];

/// Reads a skill; `None` where it is rejected, with the reason among the diagnostics.
pub(super) fn read(
    bytes: &[u8],
    origin: &str,
    defaults: &Defaults,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Found> {
    let folder = folder_of(origin);
    let item = folder.map(str::to_owned);
    let mut reader = Reader {
        origin,
        item,
        diagnostics,
    };
    let text = match decode(bytes) {
        Ok(text) => text.replace("\r\n", "\n"),
        Err((line, message)) => return reader.reject("UNREADABLE_TEXT", line, message),
    };
    for hit in injection::scan(&text) {
        let message = format!(
            "text reads like an override of instructions: {:?}",
            hit.phrase
        );
        reader.warn("INJECTION_PHRASE", Some(hit.line), message);
    }
    let parts = match front_matter::split(&text) {
        Ok(Some(parts)) => parts,
        Ok(None) => {
            let message = "description: is missing; there is no front matter between --- lines";
            return reader.reject("MISSING_DESCRIPTION", Some(1), message.into());
        }
        Err(message) => return reader.reject("UNREADABLE_YAML", Some(1), message),
    };
    let front_line = |line: u32| parts.front_line.saturating_add(line).saturating_sub(1);
    let front = match front_matter::parse(parts.front) {
        Ok(front) => front,
        Err((line, message)) => {
            return reader.reject("UNREADABLE_YAML", line.map(front_line), message);
        }
    };
    for (line, repair) in &front.repairs {
        reader.warn("RECOVERED_YAML", Some(front_line(*line)), repair.clone());
    }
    let skill = Skill {
        front: &front,
        front_line: parts.front_line,
    };
    let entry = skill.entry(folder, defaults, &parts, &mut reader)?;
    let mut violations = Violations::default();
    entry.check("", &mut violations);
    if !violations.as_slice().is_empty() {
        return reader.reject(
            "LIMIT_EXCEEDED",
            Some(parts.front_line),
            violations.to_string(),
        );
    }
    Some(Found {
        entry,
        line: Some(1),
    })
}

/// Name of the folder that holds the file.
fn folder_of(origin: &str) -> Option<&str> {
    let (folder, _) = origin.rsplit_once(['/', '\\'])?;
    let name = folder.rsplit(['/', '\\']).next()?;
    (!name.is_empty() && name != "." && name != "..").then_some(name)
}

/// Where findings go.
struct Reader<'a> {
    origin: &'a str,
    item: Option<String>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn note(&mut self, severity: Severity, code: &'static str, line: Option<u32>, message: String) {
        self.diagnostics.push(Diagnostic {
            severity,
            code,
            message,
            origin: self.origin.to_owned(),
            line,
            item: self.item.clone(),
        });
    }

    fn warn(&mut self, code: &'static str, line: Option<u32>, message: String) {
        self.note(Severity::Warning, code, line, message);
    }

    fn reject<T>(&mut self, code: &'static str, line: Option<u32>, message: String) -> Option<T> {
        self.note(Severity::Error, code, line, message);
        None
    }

    /// Cuts a text to its limit.
    fn fit_text(&mut self, field: &str, line: u32, text: &str, limit: usize) -> String {
        if text.len() > limit {
            let message = format!(
                "{field}: {} bytes were cut to the limit of {limit}",
                text.len()
            );
            self.warn("TRUNCATED_TEXT", Some(line), message);
        }
        cut(text, limit).trim_end().to_owned()
    }

    /// Adds items to a list: no blank ones, none twice, each within its limit, not too many.
    fn fit_list(&mut self, field: &str, line: u32, list: &mut Vec<String>, items: Vec<String>) {
        let mut seen: HashSet<String> = list.iter().cloned().collect();
        let mut left_out = 0;
        for item in items {
            let item = item.trim();
            if item.is_empty() || seen.contains(item) {
                continue;
            }
            if list.len() == MAX_LIST_ITEMS {
                left_out += 1;
                continue;
            }
            let item = self.fit_text(field, line, item, MAX_ITEM_BYTES);
            seen.insert(item.clone());
            list.push(item);
        }
        if left_out > 0 {
            let message = format!(
                "{field}: {left_out} items past the limit of {MAX_LIST_ITEMS} were left out"
            );
            self.warn("TRUNCATED_LIST", Some(line), message);
        }
    }
}

/// Items that feed the list fields, each with its line in the file.
type Items = Vec<(Field, u32, String)>;

struct Skill<'a> {
    front: &'a FrontMatter,
    /// Line of the file that the front matter begins at.
    front_line: u32,
}

impl Skill<'_> {
    fn entry(
        &self,
        folder: Option<&str>,
        defaults: &Defaults,
        parts: &front_matter::Parts<'_>,
        reader: &mut Reader<'_>,
    ) -> Option<Entry> {
        let name = self.name(folder, reader)?;
        reader.item = Some(name.clone());
        let mut entry = Entry::new(Kind::Skill, &defaults.source, &name);
        let mut items = Items::new();
        let mut annotations = Vec::new();
        for pair in &self.front.pairs {
            self.field(pair, &mut entry, &mut items, &mut annotations, reader);
        }
        if entry.responsibility.is_empty() {
            let message = "description: is missing or blank".to_owned();
            return reader.reject("MISSING_DESCRIPTION", Some(self.front_line), message);
        }
        let body = sections::read_body(parts.body);
        let in_file = |line: u32| parts.body_line.saturating_add(line).saturating_sub(1);
        if entry.title.is_empty() {
            entry.title = body.title.unwrap_or_default();
        }
        items.extend(
            body.items
                .into_iter()
                .map(|(field, line, text)| (field, in_file(line), text)),
        );
        for (field, line) in body.left_out {
            let message = format!(
                "{}: bullets past the limits of {} a section and {} bytes each were left out",
                field.as_str(),
                sections::MAX_BODY_ITEMS,
                sections::MAX_BODY_ITEM_BYTES,
            );
            reader.note(
                Severity::Info,
                "TRUNCATED_LIST",
                Some(in_file(line)),
                message,
            );
        }
        fill_lists(&mut entry, &items, reader);
        // The restriction first, so that it is never among those left out.
        annotations.sort_by_key(|(key, _, _)| key != "allowed-tools");
        for (key, line, value) in annotations {
            if entry.annotations.len() == MAX_LIST_ITEMS {
                let message =
                    format!("annotations past the limit of {MAX_LIST_ITEMS} were left out");
                reader.warn("TRUNCATED_LIST", Some(line), message);
                break;
            }
            // A list of allowed tools is not cut: past the limit the skill is rejected.
            let room = MAX_TEXT_BYTES.saturating_sub(key.len());
            let value = match key.as_str() {
                "allowed-tools" => value,
                _ => reader.fit_text(&key, line, &value, room),
            };
            entry.annotations.insert(key, value);
        }
        Some(entry)
    }

    /// The skill's name: its own, else that of its folder.
    fn name(&self, folder: Option<&str>, reader: &mut Reader<'_>) -> Option<String> {
        let pair = self
            .front
            .pairs
            .iter()
            .find(|pair| pair.key.eq_ignore_ascii_case("name"));
        let line = pair.map_or(self.front_line, |pair| self.line(pair.line));
        let own = pair
            .and_then(|pair| pair.value.scalar(&self.front.text))
            .unwrap_or_default();
        let own = own.split(char::is_control).collect::<Vec<_>>().join(" ");
        let own = own.trim();
        let name = match folder {
            _ if !own.is_empty() => own,
            Some(folder) => {
                let message = format!("name: is missing; the folder's name {folder:?} is used");
                reader.warn("MISSING_NAME", Some(line), message);
                folder
            }
            None => {
                let message = "name: is missing, and there is no folder to take it from";
                return reader.reject("MISSING_NAME", Some(line), message.into());
            }
        };
        if let Some(folder) = folder.filter(|folder| *folder != name) {
            let shown: String = name.chars().take(MAX_NAME_CHARS).collect();
            let message = format!("name: {shown:?} differs from the folder's name {folder:?}");
            reader.warn("NAME_MISMATCH", Some(line), message);
        }
        let count = name.chars().count();
        if count > MAX_SKILL_NAME_CHARS {
            let kept = if count > MAX_NAME_CHARS {
                format!("; it was cut to {MAX_NAME_CHARS}")
            } else {
                String::new()
            };
            let message = format!(
                "name: {count} characters exceed the limit of {MAX_SKILL_NAME_CHARS}{kept}"
            );
            reader.warn("NAME_TOO_LONG", Some(line), message);
        }
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let edges = name.starts_with('-') || name.ends_with('-') || name.contains("--");
        if edges || !name.chars().all(is_plain) {
            let message = "name: should hold lower-case letters, digits and single hyphens only";
            reader.note(Severity::Info, "NAME_FORMAT", Some(line), message.into());
        }
        let name: String = name.chars().take(MAX_NAME_CHARS).collect();
        Some(name.trim_end().to_owned())
    }

    /// Puts one field in its place.
    fn field(
        &self,
        pair: &Pair,
        entry: &mut Entry,
        items: &mut Items,
        annotations: &mut Vec<(String, u32, String)>,
        reader: &mut Reader<'_>,
    ) {
        let (line, value) = (self.line(pair.line), &pair.value);
        let text = || self.text(value);
        let key = pair.key.to_lowercase().replace('_', "-");
        let list_field = match key.as_str() {
            "name" => return,
            "description" => {
                let text = text();
                let count = text.chars().count();
                if count > MAX_DESCRIPTION_CHARS {
                    let message = format!(
                        "description: {count} characters; other programs stop at \
                         {MAX_DESCRIPTION_CHARS}"
                    );
                    reader.note(Severity::Info, "DESCRIPTION_TOO_LONG", Some(line), message);
                }
                let split = sections::split_description(&text);
                entry.responsibility =
                    reader.fit_text("description", line, &split.summary, MAX_TEXT_BYTES);
                items.extend(
                    split
                        .items
                        .into_iter()
                        .map(|(field, text)| (field, line, text)),
                );
                return;
            }
            "title" => {
                entry.title = reader.fit_text("title", line, &text(), MAX_TEXT_BYTES);
                return;
            }
            "source-hint" => {
                entry.source_hint = reader.fit_text("source_hint", line, &text(), MAX_TEXT_BYTES);
                return;
            }
            "aliases" => {
                return reader.fit_list("aliases", line, &mut entry.aliases, self.words(value));
            }
            "depends-on" => {
                return reader.fit_list(
                    "depends_on",
                    line,
                    &mut entry.depends_on,
                    self.words(value),
                );
            }
            "tags" => return reader.fit_list("tags", line, &mut entry.tags, self.words(value)),
            "triggers" => {
                items.extend(
                    self.words(value)
                        .into_iter()
                        .map(|t| (Field::Triggers, line, t)),
                );
                return;
            }
            "capabilities" => {
                items.extend(
                    self.words(value)
                        .into_iter()
                        .map(|t| (Field::Capabilities, line, t)),
                );
                return;
            }
            "examples" => Field::Examples,
            "use-when" | "when-to-use" => Field::UseWhen,
            "not-when" | "when-not-to-use" => Field::NotWhen,
            _ => {
                // One spelling, so that whoever looks for the restriction finds it.
                let own = match key.as_str() {
                    "allowed-tools" | "allowedtools" => "allowed-tools",
                    _ => pair.key.trim(),
                };
                if !KNOWN_ANNOTATIONS.contains(&own) {
                    let message = format!("{own}: is no known field; it was kept as an annotation");
                    reader.note(Severity::Info, "UNKNOWN_FIELD", Some(line), message);
                }
                let count = text().chars().count();
                if own == "compatibility" && count > MAX_COMPATIBILITY_CHARS {
                    let message = format!(
                        "compatibility: {count} characters exceed the limit of \
                         {MAX_COMPATIBILITY_CHARS}"
                    );
                    reader.note(
                        Severity::Info,
                        "COMPATIBILITY_TOO_LONG",
                        Some(line),
                        message,
                    );
                }
                self.annotate(own, value, line, MAX_DOTTED_LEVELS, annotations);
                return;
            }
        };
        items.extend(
            self.texts(value)
                .into_iter()
                .map(|text| (list_field, line, text)),
        );
    }

    /// Line in the file of a line in the front matter.
    fn line(&self, line: u32) -> u32 {
        self.front_line.saturating_add(line).saturating_sub(1)
    }

    /// A scalar as text; a list as its texts with commas between.
    fn text(&self, node: &Node) -> String {
        match &node.data {
            Data::Null => String::new(),
            Data::Text(_) | Data::Bare(_) => node
                .scalar(&self.front.text)
                .unwrap_or_default()
                .trim()
                .to_owned(),
            Data::List(_) => self.texts(node).join(", "),
            // `- Use when: …` without quotes is a mapping to YAML, and was meant as text.
            Data::Map(pairs) => match pairs.as_slice() {
                [pair] if matches!(pair.value.data, Data::Text(_) | Data::Bare(_)) => {
                    format!("{}: {}", pair.key, self.text(&pair.value))
                }
                _ => node.to_json(),
            },
        }
    }

    /// Items of a list; of a text its lines, without bullets.
    fn texts(&self, node: &Node) -> Vec<String> {
        match &node.data {
            Data::List(nodes) => nodes.iter().map(|node| self.text(node)).collect(),
            Data::Text(text) => text
                .lines()
                .map(|line| {
                    line.trim()
                        .trim_start_matches(['-', '*', '•'])
                        .trim()
                        .to_owned()
                })
                .collect(),
            _ => vec![self.text(node)],
        }
    }

    /// Items of a list; of a text the words between commas.
    fn words(&self, node: &Node) -> Vec<String> {
        match &node.data {
            Data::Text(text) if !text.trim().contains('\n') => text
                .split([',', '，', '、', ';', '；'])
                .map(|word| word.trim().to_owned())
                .collect(),
            _ => self.texts(node),
        }
    }

    /// Keeps a value as text under its name.
    fn annotate(
        &self,
        key: &str,
        value: &Node,
        line: u32,
        levels: u32,
        annotations: &mut Vec<(String, u32, String)>,
    ) {
        let text = match &value.data {
            Data::Map(pairs) if levels > 0 && !pairs.is_empty() => {
                for Pair {
                    key: inner,
                    value,
                    line,
                } in pairs
                {
                    let key = format!("{key}.{inner}");
                    self.annotate(&key, value, self.line(*line), levels - 1, annotations);
                }
                return;
            }
            Data::Map(_) => value.to_json(),
            // A list of mappings, such as commands, has no shorter faithful form.
            Data::List(nodes)
                if nodes
                    .iter()
                    .any(|n| matches!(n.data, Data::List(_) | Data::Map(_))) =>
            {
                value.to_json()
            }
            _ => self.text(value),
        };
        annotations.push((cut(key, MAX_ITEM_BYTES).to_owned(), line, text));
    }
}

/// Puts the items into the entry's lists, field by field.
fn fill_lists(entry: &mut Entry, items: &Items, reader: &mut Reader<'_>) {
    for field in Field::ALL {
        let of_field = || items.iter().filter(move |(of, _, _)| *of == field);
        let Some((_, line, _)) = of_field().next() else {
            continue;
        };
        let texts: Vec<String> = of_field().map(|(_, _, text)| plain_item(text)).collect();
        let list = match field {
            Field::Capabilities => &mut entry.capabilities,
            Field::UseWhen => &mut entry.use_when,
            Field::Examples => &mut entry.examples,
            Field::Triggers => &mut entry.triggers,
            Field::NotWhen => {
                let mut list = Vec::new();
                reader.fit_list(field.as_str(), *line, &mut list, texts);
                entry.not_when = list
                    .iter()
                    .map(|text| sections::parse_not_when(text))
                    .collect();
                continue;
            }
        };
        reader.fit_list(field.as_str(), *line, list, texts);
    }
}
