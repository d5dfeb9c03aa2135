//! Documents as trees in which each node knows its line.
//!
//! One tree for both syntaxes, so that the readers above it are written once. Keys keep their
//! order, a key twice in a mapping is an error, and the source text of each number stays at
//! hand: `version: 1.10` is meant as text, and a schema's numbers are passed on unrounded.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Error, Location, MessageFormatter, Spanned, UserMessageFormatter};

use super::MAX_ITEMS;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// Line, from 1.
    pub line: u32,
    /// Bytes it spans in the source; for YAML known of scalars only.
    pub span: (usize, usize),
    /// The value.
    pub data: Data,
}

/// A value.
#[derive(Debug, Clone)]
pub(super) enum Data {
    /// Nothing.
    Null,
    /// A string.
    Text(String),
    /// A number or boolean.
    Bare(Value),
    /// Values.
    List(Vec<Node>),
    /// Keys with values, in their order.
    Map(Vec<Pair>),
}

/// A key with its value.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    /// The key.
    pub key: String,
    /// Line of the key.
    pub line: u32,
    /// Its value.
    pub value: Node,
}

/// Why a document could not be read: a line where one is known, and a message.
pub(super) type Unreadable = (Option<u32>, String);

impl Node {
    /// What the value is, for messages.
    pub fn describe(&self) -> &'static str {
        match &self.data {
            Data::Null => "nothing",
            Data::Text(_) => "text",
            Data::Bare(Value::Bool(_)) => "a boolean",
            Data::Bare(_) => "a number",
            Data::List(_) => "a list",
            Data::Map(_) => "a mapping",
        }
    }

    /// The text of a scalar as it is written in `source`, the text the tree was read from.
    /// `None` for nothing, lists and mappings.
    pub fn scalar(&self, source: &str) -> Option<String> {
        match &self.data {
            Data::Text(text) => Some(text.clone()),
            Data::Bare(value) => {
                let written = source.get(self.span.0..self.span.1).map(str::trim);
                // A span can only be off if the parser counts differently from what it
                // documents; then the value itself is the next best text.
                Some(match written {
                    Some(text) if !text.is_empty() && !text.contains(['\n', ':']) => text.into(),
                    _ => value.to_string(),
                })
            }
            Data::Null | Data::List(_) | Data::Map(_) => None,
        }
    }

    /// The value of `key`, in a mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.data {
            Data::Map(pairs) => pairs.iter().find(|p| p.key == key).map(|p| &p.value),
            _ => None,
        }
    }

    /// The value as compact JSON, keys in their order.
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    /// The value as it stands in the JSON document `source`, without white space between
    /// tokens: no number is rounded, no key dropped.
    pub fn to_source_json(&self, source: &str) -> String {
        match source.get(self.span.0..self.span.1) {
            Some(json) if !json.is_empty() => minify(json),
            _ => self.to_json(),
        }
    }

    /// A value of which every part has the same line.
    pub fn from_value(value: Value, line: u32) -> Node {
        let data = match value {
            Value::Null => Data::Null,
            Value::String(text) => Data::Text(text),
            Value::Bool(_) | Value::Number(_) => Data::Bare(value),
            Value::Array(items) => Data::List(
                items
                    .into_iter()
                    .map(|v| Node::from_value(v, line))
                    .collect(),
            ),
            Value::Object(map) => Data::Map(
                map.into_iter()
                    .map(|(key, v)| Pair {
                        key,
                        line,
                        value: Node::from_value(v, line),
                    })
                    .collect(),
            ),
        };
        Node {
            line,
            span: (0, 0),
            data,
        }
    }

    fn to_value(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Text(text) => Value::String(text.clone()),
            Data::Bare(value) => value.clone(),
            Data::List(nodes) => nodes.iter().map(Node::to_value).collect(),
            Data::Map(pairs) => Value::Object(
                pairs
                    .iter()
                    .map(|pair| (pair.key.clone(), pair.value.to_value()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }
}

/// JSON without the white space between its tokens.
fn minify(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    json.chars()
        .filter(|c| {
            if in_string {
                in_string = escaped || *c != '"';
                escaped = !escaped && *c == '\\';
                true
            } else {
                in_string = *c == '"';
                !c.is_ascii_whitespace()
            }
        })
        .collect()
}

/// Why YAML could not be read.
#[derive(Debug)]
pub(super) struct YamlError {
    /// Line and message.
    pub unreadable: Unreadable,
    /// Whether it is the budget that was spent, rather than the syntax that is wrong.
    pub is_over_budget: bool,
}

/// Reads a YAML document.
///
/// The budget bounds what a document may make of itself: aliases are allowed for the odd
/// repeated list, not as a way to grow. It is generous for [`MAX_ITEMS`] items of a catalogue
/// and spent within a fraction of a second by a document that multiplies itself.
pub(super) fn read_yaml(text: &str) -> Result<Node, YamlError> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 4_000_000,
            max_nodes: 2_000_000,
            max_depth: 32,
            flow_nesting_limit: 64,
            max_documents: 1,
            max_aliases: 1_000,
            max_anchors: 1_000,
            max_merge_keys: 1_000,
            max_recorded_anchor_events: 100_000,
            max_recorded_anchor_bytes: 4 * 1024 * 1024,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 100_000,
            max_replay_stack_depth: 8,
            max_alias_expansions_per_anchor: 1_000,
        },
        with_snippet: false,
        emit_comments: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        // Without the place: the line goes beside the message, and that of front matter is not
        // that of its file.
        let message = UserMessageFormatter
            .format_message(innermost(&error))
            .into_owned();
        let line = error
            .location()
            .and_then(|at| u32::try_from(at.line()).ok());
        YamlError {
            unreadable: (
                line.filter(|line| *line > 0),
                format!("is no readable YAML: {message}"),
            ),
            is_over_budget: is_over_budget(&error),
        }
    })
}

/// The error below the wrappers that tell where an alias was used.
fn innermost(error: &Error) -> &Error {
    match error.without_snippet() {
        Error::AliasError { error, .. } => innermost(error),
        error => error,
    }
}

fn is_over_budget(error: &Error) -> bool {
    matches!(
        innermost(error),
        Error::Budget { .. }
            | Error::AliasReplayCounterOverflow { .. }
            | Error::AliasReplayLimitExceeded { .. }
            | Error::AliasExpansionLimitExceeded { .. }
            | Error::AliasReplayStackDepthExceeded { .. }
    )
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned {
            value,
            referenced,
            defined,
        } = Spanned::<Data>::deserialize(deserializer)?;
        // An alias is reported where it is used; its text stands where it is defined.
        let span = defined.span();
        let start = span.byte_offset().unwrap_or(0) as usize;
        let len = span.byte_len().unwrap_or(0) as usize;
        Ok(Node {
            line: line_of(referenced),
            span: (start, start + len),
            data: value,
        })
    }
}

fn line_of(at: Location) -> u32 {
    u32::try_from(at.line()).unwrap_or(u32::MAX)
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DataVisitor)
    }
}

struct DataVisitor;

impl<'de> Visitor<'de> for DataVisitor {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Data, E> {
        Ok(Data::Bare(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Data, E> {
        Ok(Data::Bare(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Data, E> {
        Ok(Data::Bare(value.into()))
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Data, E> {
        self.visit_f64(value as f64)
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Data, E> {
        self.visit_f64(value as f64)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Data, E> {
        let number = Number::from_f64(value)
            .ok_or_else(|| E::custom("a number must be finite; quote it if text is meant"))?;
        Ok(Data::Bare(Value::Number(number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Data, E> {
        Ok(Data::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Data, E> {
        Ok(Data::Text(value))
    }

    fn visit_unit<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }

    fn visit_none<E>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Data, D::Error> {
        Data::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Data, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = seq.next_element()? {
            if nodes.len() == MAX_ITEMS {
                let message = format!("a list holds more than the limit of {MAX_ITEMS} items");
                return Err(de::Error::custom(message));
            }
            nodes.push(node);
        }
        Ok(Data::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Data, A::Error> {
        let mut pairs = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let (line, key) = (line_of(key.referenced), key.value);
            let value: Node = map.next_value()?;
            pairs.push(Pair { key, line, value });
        }
        Ok(Data::Map(pairs))
    }
}
