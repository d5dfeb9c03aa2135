//! What a JSON Schema asks for: the properties of an object, and what kind of value each is.

use serde_json::Value;

use super::MAX_PROPERTIES;
use super::units::{self, Unit};
use crate::text::tokenize;

/// What kind of value a property takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// One of `choices`.
    Choice,
    Flag,
    Integer,
    Number,
    Url,
    Domain,
    Mail,
    Path,
    Date,
    DateTime,
    Time,
    Currency,
    UnitName,
    Language,
    /// A version, hash, number or other name with marks.
    Identifier,
    /// A name or title.
    Name,
    /// Any text.
    Free,
    /// Nothing that is read from a text.
    Other,
}

/// One property.
#[derive(Debug, Clone)]
pub(super) struct Property {
    pub name: String,
    pub required: bool,
    /// Whether it takes a list of such values.
    pub list: bool,
    pub role: Role,
    pub choices: Vec<Value>,
    /// Other words for the choices, from the schema itself.
    pub synonyms: Vec<(Value, Vec<String>)>,
    /// Words of its name.
    pub tokens: Vec<String>,
    /// Words of its description.
    pub words: Vec<String>,
    /// Unit that name or description state.
    pub unit: Option<Unit>,
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    /// Whether its format is strict.
    pub format: bool,
}

impl Property {
    /// Whether one of the words is in its name.
    pub fn named(&self, words: &[&str]) -> bool {
        self.tokens
            .iter()
            .any(|token| words.contains(&token.as_str()))
    }

    /// Whether one of the words is in its description.
    pub fn says(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| words.contains(&word.as_str()))
    }
}

/// The properties of a schema, in its order.
pub(super) fn properties(schema: &Value) -> Vec<Property> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    properties
        .iter()
        .take(MAX_PROPERTIES)
        .map(|(name, value)| property(name, value, required.contains(&name.as_str())))
        .collect()
}

fn property(name: &str, schema: &Value, required: bool) -> Property {
    let list = type_of(schema) == "array";
    let item = match list {
        true => schema.get("items").unwrap_or(&Value::Null),
        false => schema,
    };
    let description = schema
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let (choices, synonyms) = choices(item);
    let number = |key: &str| item.get(key).and_then(Value::as_f64);
    let mut property = Property {
        name: name.to_owned(),
        required,
        list,
        role: Role::Other,
        choices,
        synonyms,
        tokens: tokenize(name),
        words: tokenize(description),
        unit: None,
        minimum: number("minimum"),
        maximum: number("maximum"),
        format: item.get("format").is_some(),
    };
    property.unit = unit_of(&property);
    property.role = role(&property, item);
    property
}

fn type_of(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .find(|name| *name != "null")
            .unwrap_or(""),
        _ if schema.get("enum").is_some() || schema.get("oneOf").is_some() => "string",
        _ => "",
    }
}

type Choices = (Vec<Value>, Vec<(Value, Vec<String>)>);

/// Values of `enum`, or constants of `oneOf`/`anyOf` with their titles; `x-synonyms` maps a
/// value to other words for it.
fn choices(schema: &Value) -> Choices {
    let mut values: Vec<Value> = schema
        .get("enum")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let mut synonyms: Vec<(Value, Vec<String>)> = Vec::new();
    for key in ["oneOf", "anyOf"] {
        for variant in schema
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let Some(constant) = variant.get("const") else {
                continue;
            };
            values.push(constant.clone());
            let titles = ["title", "description"]
                .iter()
                .filter_map(|key| variant.get(*key)?.as_str());
            synonyms.push((constant.clone(), titles.map(str::to_lowercase).collect()));
        }
    }
    for key in ["x-synonyms", "x-enum-synonyms"] {
        for (value, words) in schema
            .get(key)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let words = words.as_array().into_iter().flatten();
            let words = words
                .filter_map(Value::as_str)
                .map(str::to_lowercase)
                .collect();
            synonyms.push((Value::String(value.clone()), words));
        }
    }
    values.retain(|value| !value.is_null());
    (values, synonyms)
}

/// The unit that the last word of the name states ("timeout_ms"), or the description
/// ("in milliseconds").
fn unit_of(property: &Property) -> Option<Unit> {
    let by_name = property
        .tokens
        .last()
        .filter(|token| property.tokens.len() > 1 || token.len() > 2)
        .and_then(|token| units::named(token));
    by_name.or_else(|| {
        let at = property.words.iter().position(|word| word == "in")?;
        units::named(property.words.get(at + 1)?)
    })
}

fn role(property: &Property, schema: &Value) -> Role {
    if !property.choices.is_empty() {
        return Role::Choice;
    }
    match type_of(schema) {
        "boolean" => return Role::Flag,
        "integer" => return Role::Integer,
        "number" => return Role::Number,
        "string" => {}
        _ => return Role::Other,
    }
    match schema.get("format").and_then(Value::as_str) {
        Some("uri" | "url" | "iri") => return Role::Url,
        Some("email") => return Role::Mail,
        Some("date") => return Role::Date,
        Some("date-time") => return Role::DateTime,
        Some("time") => return Role::Time,
        Some("uuid") => return Role::Identifier,
        Some("hostname") => return Role::Domain,
        _ => {}
    }
    let named = |words: &[&str]| property.named(words);
    let says = |words: &[&str]| property.says(words);
    let plain = property.words.len() <= 6;
    if named(&["url", "uri", "href", "endpoint", "link"]) {
        Role::Url
    } else if named(&["email", "mail", "recipients", "attendees", "cc", "bcc"])
        || (says(&["recipients", "participants"]) && property.list)
        || (says(&["mail", "email"]) && says(&["address", "addresses"]))
    {
        Role::Mail
    } else if named(&[
        "path",
        "paths",
        "file",
        "files",
        "folder",
        "directory",
        "dir",
        "filename",
        "filepath",
        "dockerfile",
    ]) || (says(&[
        "path",
        "file",
        "files",
        "folder",
        "folders",
        "workbook",
        "archive",
        "directory",
    ]) && plain
        && !named(&[
            "query",
            "content",
            "text",
            "prompt",
            "instruction",
            "pattern",
            "filter",
            "title",
            "url",
            "sheet",
            "expression",
            "statement",
            "code",
            "message",
            "body",
            "glob",
        ]))
    {
        Role::Path
    } else if named(&["domain", "domains", "host", "hostname"]) {
        Role::Domain
    } else if named(&["currency"]) {
        Role::Currency
    } else if named(&["unit"]) && says(&["unit"]) {
        Role::UnitName
    } else if named(&["language", "lang", "locale"]) || (says(&["language"]) && plain) {
        Role::Language
    } else if says(&["date"]) && says(&["time"]) || named(&["datetime", "timestamp"]) {
        Role::DateTime
    } else if named(&["date", "day", "since", "until", "deadline", "due"])
        || (says(&["date", "day"]) && plain)
    {
        Role::Date
    } else if named(&["time", "when", "at", "start", "end", "from", "to", "depart"])
        && says(&[
            "time",
            "when",
            "start",
            "end",
            "departure",
            "earliest",
            "latest",
            "moment",
        ])
        && !says(&[
            "line",
            "branch",
            "tag",
            "hash",
            "airport",
            "station",
            "place",
            "destination",
            "zone",
        ])
    {
        Role::DateTime
    } else if named(&[
        "version", "tag", "revision", "commit", "hash", "sha", "sha256", "uuid", "id", "number",
        "branch", "symbol", "key", "ref", "good", "bad", "object", "ticker", "tracking",
    ]) || says(&["branch", "revision", "ticker", "tag", "hash"]) && plain
        || named(&["old", "new"]) && named(&["name", "symbol"])
    {
        Role::Identifier
    } else if named(&["name", "title", "label"]) {
        Role::Name
    } else {
        Role::Free
    }
}
