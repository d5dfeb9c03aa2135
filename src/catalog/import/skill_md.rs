//! `SKILL.md`, read leniently: what people wrote is kept, what was repaired or cut is said.
//!
//! Three dialects are one findings: Agent Skills (`name`, `description`, `license`,
//! `compatibility`, `metadata`, `allowed-tools`), ZCLAW (sections in the description;
//! `examples`, `capabilities`, `triggers`) and OpenFang (`version`, `author`, `tags`,
//! `runtime`, `metadata.openclaw`, `config`). Lists become fields of the entry; all else is
//! kept as annotations, nested mappings with dotted names (`metadata.openclaw.requires.bins`).

use super::findings::{Findings, Items, fill_lists};
use super::front_matter::{self, FrontMatter};
use super::headings::Field;
use super::node::{Data, Node, Pair};
use super::sections;
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
    let first = diagnostics.len();
    let found = read_skill(bytes, origin, defaults, diagnostics);
    // Findings made before the name was known are about the same entry.
    if let Some(found) = &found {
        for diagnostic in &mut diagnostics[first..] {
            diagnostic.item = Some(found.entry.id.name.clone());
        }
    }
    found
}

fn read_skill(
    bytes: &[u8],
    origin: &str,
    defaults: &Defaults,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Found> {
    let folder = folder_of(origin);
    let item = folder.map(str::to_owned);
    let mut findings = Findings {
        origin,
        item,
        diagnostics,
    };
    let text = match decode(bytes) {
        Ok(text) => text.replace("\r\n", "\n"),
        Err((line, message)) => return findings.reject("UNREADABLE_TEXT", line, message),
    };
    for hit in injection::scan(&text) {
        let message = format!(
            "text reads like an override of instructions: {:?}",
            hit.phrase
        );
        findings.warn("INJECTION_PHRASE", Some(hit.line), message);
    }
    let parts = match front_matter::split(&text) {
        Ok(Some(parts)) => parts,
        Ok(None) => {
            let message = "description: is missing; there is no front matter between --- lines";
            return findings.reject("MISSING_DESCRIPTION", Some(1), message.into());
        }
        Err(message) => return findings.reject("UNREADABLE_YAML", Some(1), message),
    };
    let front_line = |line: u32| parts.front_line.saturating_add(line).saturating_sub(1);
    let front = match front_matter::parse(parts.front) {
        Ok(front) => front,
        Err((line, message)) => {
            return findings.reject("UNREADABLE_YAML", line.map(front_line), message);
        }
    };
    for (line, repair) in &front.repairs {
        findings.warn("RECOVERED_YAML", Some(front_line(*line)), repair.clone());
    }
    let skill = Skill {
        front: &front,
        front_line: parts.front_line,
    };
    let entry = skill.entry(folder, defaults, &parts, &mut findings)?;
    let mut violations = Violations::default();
    entry.check("", &mut violations);
    if !violations.as_slice().is_empty() {
        return findings.reject(
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
        findings: &mut Findings<'_>,
    ) -> Option<Entry> {
        let name = self.name(folder, findings)?;
        findings.item = Some(name.clone());
        let mut entry = Entry::new(Kind::Skill, &defaults.source, &name);
        let mut items = Items::new();
        let mut annotations = Vec::new();
        for pair in &self.front.pairs {
            self.field(pair, &mut entry, &mut items, &mut annotations, findings);
        }
        if entry.responsibility.is_empty() {
            let message = "description: is missing or blank".to_owned();
            return findings.reject("MISSING_DESCRIPTION", Some(self.front_line), message);
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
            findings.warn("TRUNCATED_LIST", Some(in_file(line)), message);
        }
        fill_lists(&mut entry, &items, findings);
        // The restriction first, so that it is never among those left out.
        annotations.sort_by_key(|(key, _, _)| key != "allowed-tools");
        for (key, line, value) in annotations {
            if entry.annotations.len() == MAX_LIST_ITEMS {
                let message =
                    format!("annotations past the limit of {MAX_LIST_ITEMS} were left out");
                findings.warn("TRUNCATED_LIST", Some(line), message);
                break;
            }
            // A list of allowed tools is not cut: past the limit the skill is rejected.
            let room = MAX_TEXT_BYTES.saturating_sub(key.len());
            let value = match key.as_str() {
                "allowed-tools" => value,
                _ => findings.fit_text(&key, line, &value, room),
            };
            entry.annotations.insert(key, value);
        }
        Some(entry)
    }

    /// The skill's name: its own, else that of its folder.
    fn name(&self, folder: Option<&str>, findings: &mut Findings<'_>) -> Option<String> {
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
                findings.warn("MISSING_NAME", Some(line), message);
                folder
            }
            None => {
                let message = "name: is missing, and there is no folder to take it from";
                return findings.reject("MISSING_NAME", Some(line), message.into());
            }
        };
        if let Some(folder) = folder.filter(|folder| *folder != name) {
            let shown: String = name.chars().take(MAX_NAME_CHARS).collect();
            let message = format!("name: {shown:?} differs from the folder's name {folder:?}");
            findings.warn("NAME_MISMATCH", Some(line), message);
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
            findings.warn("NAME_TOO_LONG", Some(line), message);
        }
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let edges = name.starts_with('-') || name.ends_with('-') || name.contains("--");
        if edges || !name.chars().all(is_plain) {
            let message = "name: should hold lower-case letters, digits and single hyphens only";
            findings.note(Severity::Info, "NAME_FORMAT", Some(line), message.into());
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
        findings: &mut Findings<'_>,
    ) {
        let (line, value) = (self.line(pair.line), &pair.value);
        let text = || self.front.text_of(value);
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
                    findings.note(Severity::Info, "DESCRIPTION_TOO_LONG", Some(line), message);
                }
                let split = sections::split_description(&text);
                entry.responsibility =
                    findings.fit_text("description", line, &split.summary, MAX_TEXT_BYTES);
                items.extend(
                    split
                        .items
                        .into_iter()
                        .map(|(field, text)| (field, line, text)),
                );
                return;
            }
            "title" => {
                entry.title = findings.fit_text("title", line, &text(), MAX_TEXT_BYTES);
                return;
            }
            "source-hint" => {
                entry.source_hint = findings.fit_text("source_hint", line, &text(), MAX_TEXT_BYTES);
                return;
            }
            "aliases" => {
                return findings.fit_list(
                    "aliases",
                    line,
                    &mut entry.aliases,
                    self.front.words_of(value),
                );
            }
            "depends-on" => {
                return findings.fit_list(
                    "depends_on",
                    line,
                    &mut entry.depends_on,
                    self.front.words_of(value),
                );
            }
            "tags" => {
                return findings.fit_list(
                    "tags",
                    line,
                    &mut entry.tags,
                    self.front.words_of(value),
                );
            }
            "triggers" => {
                items.extend(
                    self.front
                        .words_of(value)
                        .into_iter()
                        .map(|t| (Field::Triggers, line, t)),
                );
                return;
            }
            "capabilities" => {
                items.extend(
                    self.front
                        .words_of(value)
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
                    findings.note(Severity::Info, "UNKNOWN_FIELD", Some(line), message);
                }
                let count = text().chars().count();
                if own == "compatibility" && count > MAX_COMPATIBILITY_CHARS {
                    let message = format!(
                        "compatibility: {count} characters exceed the limit of \
                         {MAX_COMPATIBILITY_CHARS}"
                    );
                    findings.note(
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
            self.front
                .texts_of(value)
                .into_iter()
                .map(|text| (list_field, line, text)),
        );
    }

    /// Line in the file of a line in the front matter.
    fn line(&self, line: u32) -> u32 {
        self.front_line.saturating_add(line).saturating_sub(1)
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
            _ => self.front.text_of(value),
        };
        annotations.push((cut(key, MAX_ITEM_BYTES).to_owned(), line, text));
    }
}
