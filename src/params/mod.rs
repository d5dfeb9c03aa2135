//! Parameters that a prompt names, by rule: each with the bytes it was read from.
//!
//! `mention` finds what a text holds (quotations, addresses, paths, numbers, dates, names),
//! `schema` says what a JSON Schema asks for, and `assign` brings the two together. Precision
//! comes first: what fits two parameters, or could be read in two ways, is left out, and what
//! the text does not hold is never made up.

mod assign;
mod choices;
mod dates;
mod mention;
mod numerals;
mod schema;
mod units;

use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

/// Bytes of a text that are read for parameters.
const READ_BYTES: usize = 8 << 10;

/// Properties of a schema that are looked at.
const MAX_PROPERTIES: usize = 64;

/// What relative dates are relative to.
#[derive(Debug, Clone, PartialEq)]
pub struct Clock {
    /// The moment of the call.
    pub now: Timestamp,
    /// The zone of whoever asks.
    pub zone: TimeZone,
}

impl Clock {
    /// The system's clock, in UTC.
    pub fn system() -> Self {
        Self {
            now: Timestamp::now(),
            zone: TimeZone::UTC,
        }
    }
}

/// How a value was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// One of the values that the schema lists, or a synonym.
    Choice,
    /// A number.
    Number,
    /// A number converted to the unit that the schema names.
    Unit,
    /// A date, a time, or both.
    Time,
    /// A URL or a domain.
    Address,
    /// A mail address.
    Mail,
    /// A path or file name.
    Path,
    /// A quotation, or what is said to be the name.
    Quotation,
    /// An identifier: a number of an issue, a version, a hash, a name with marks.
    Identifier,
    /// A word that sets a flag.
    Flag,
}

impl Rule {
    /// Lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Rule::Choice => "choice",
            Rule::Number => "number",
            Rule::Unit => "unit",
            Rule::Time => "time",
            Rule::Address => "address",
            Rule::Mail => "mail",
            Rule::Path => "path",
            Rule::Quotation => "quotation",
            Rule::Identifier => "identifier",
            Rule::Flag => "flag",
        }
    }
}

/// One parameter that the text names.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name in the schema.
    pub name: String,
    /// Its value, of the type that the schema asks for.
    pub value: Value,
    /// The bytes it was read from; of a list, from its first item to its last.
    pub span: Range<usize>,
    /// How it was read.
    pub rule: Rule,
}

/// What was found for one schema.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Extraction {
    /// Parameters that the text names, in the schema's order.
    pub found: Vec<Parameter>,
    /// Required ones that it does not, in the schema's order.
    pub missing: Vec<String>,
}

/// Reads the parameters of a JSON Schema from a text. A schema that cannot be read has none.
pub fn extract(schema: &str, text: &str, clock: &Clock) -> Extraction {
    let Ok(schema) = serde_json::from_str::<Value>(schema) else {
        return Extraction::default();
    };
    let properties = schema::properties(&schema);
    if properties.is_empty() {
        return Extraction::default();
    }
    let text = &text[..text.floor_char_boundary(READ_BYTES)];
    let mentions = mention::scan(text, clock);
    let mut found = assign::assign(text, &mentions, &properties);
    let place = |name: &str| properties.iter().position(|property| property.name == name);
    found.sort_by_key(|parameter| place(&parameter.name));
    let missing = properties
        .iter()
        .filter(|property| property.required)
        .filter(|property| {
            found
                .iter()
                .all(|parameter| parameter.name != property.name)
        })
        .map(|property| property.name.clone())
        .collect();
    Extraction { found, missing }
}

#[cfg(test)]
mod tests;
