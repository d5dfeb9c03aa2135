//! JSON as a tree with lines.
//!
//! serde_json tells where a syntax error is, but not where a value is. So the upper levels are
//! read as raw slices of the document first, and the distance of a slice from its start is
//! its place.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::MAX_ITEMS;
use super::node::{Data, Node, Pair, Unreadable};

/// Levels of a JSON document that are read with a line each: document, `entries`, item,
/// field, list item, its fields. What lies below has the line of its ancestor.
const JSON_LEVELS: u32 = 6;

/// Where lines of a text begin.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    /// Of this text.
    pub fn new(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// Line of a byte, from 1.
    pub fn of(&self, byte: usize) -> u32 {
        let breaks = self.0.partition_point(|at| *at < byte);
        u32::try_from(breaks + 1).unwrap_or(u32::MAX)
    }
}

/// Reads the JSON value that `text[from..to]` holds. Lines are those of `text`.
pub(super) fn read_json(
    text: &str,
    (from, to): (usize, usize),
    lines: &Lines,
) -> Result<Node, Unreadable> {
    // The first pass checks the syntax of all of it, so that an error has its own line.
    let slice = text.get(from..to).unwrap_or_default();
    let raw: &RawValue = serde_json::from_str(slice).map_err(|e| json_error(&e, lines.of(from)))?;
    JsonReader { text, lines }.node(raw.get(), JSON_LEVELS)
}

/// `line` is the line that the parsed slice begins at.
fn json_error(error: &serde_json::Error, line: u32) -> Unreadable {
    let offset = u32::try_from(error.line().saturating_sub(1)).unwrap_or(u32::MAX);
    // serde_json ends its messages with a place relative to the slice.
    let text = error.to_string();
    let message = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(message, _)| message);
    let column = error.column();
    (
        Some(line.saturating_add(offset)),
        format!("is no readable JSON: {message} (column {column})"),
    )
}

struct JsonReader<'a> {
    text: &'a str,
    lines: &'a Lines,
}

impl<'a> JsonReader<'a> {
    /// Reads `json`, a slice of the document.
    fn node(&self, json: &'a str, levels: u32) -> Result<Node, Unreadable> {
        // Slices of one allocation: their distance is the offset.
        let start = (json.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let span = (start, start + json.len());
        let line = self.lines.of(start);
        let failed = |error: serde_json::Error| json_error(&error, line);
        let data = match json.as_bytes().first() {
            Some(b'{') if levels > 0 => {
                let RawPairs(raw) = serde_json::from_str(json).map_err(failed)?;
                let mut pairs: Vec<Pair> = Vec::with_capacity(raw.len());
                for (key, value) in raw {
                    let value = self.node(value.get(), levels - 1)?;
                    pairs.push(Pair {
                        key,
                        line: value.line,
                        value,
                    });
                }
                if let Some(pair) = duplicate(&pairs) {
                    let message = format!("key {:?} stands twice in one object", pair.key);
                    return Err((Some(pair.line), message));
                }
                Data::Map(pairs)
            }
            Some(b'[') if levels > 0 => {
                let raw: Vec<&RawValue> = serde_json::from_str(json).map_err(failed)?;
                if raw.len() > MAX_ITEMS {
                    let message = format!("{} items exceed the limit of {MAX_ITEMS}", raw.len());
                    return Err((Some(line), message));
                }
                let nodes = raw
                    .into_iter()
                    .map(|item| self.node(item.get(), levels - 1));
                Data::List(nodes.collect::<Result<_, _>>()?)
            }
            _ => Node::from_value(serde_json::from_str(json).map_err(failed)?, line).data,
        };
        Ok(Node { line, span, data })
    }
}

/// The first key that stands a second time.
fn duplicate(pairs: &[Pair]) -> Option<&Pair> {
    let mut seen = HashSet::with_capacity(pairs.len());
    pairs.iter().find(|pair| !seen.insert(pair.key.as_str()))
}

/// A JSON object of which the values are not parsed yet.
struct RawPairs<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for RawPairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;
        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = RawPairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(RawPairs(pairs))
            }
        }
        deserializer.deserialize_map(PairsVisitor)
    }
}
