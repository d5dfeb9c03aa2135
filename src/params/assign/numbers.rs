//! Numbers: tied to a parameter by a unit or a word, or the only one for the only one.

use serde_json::{Number, Value, json};

use super::super::mention::{Kind, Mention};
use super::super::schema::{Property, Role};
use super::super::{Rule, units};
use super::Desk;

/// A value that a number has for a property.
type Offer<'a> = (&'a Property, Value, Rule);

impl<'a> Desk<'a> {
    pub(super) fn numbers(&mut self) {
        let open: Vec<&'a Property> = self
            .open(&[Role::Integer, Role::Number])
            .into_iter()
            .filter(|property| !property.list)
            .collect();
        let candidates = self.unused(|kind| matches!(kind, Kind::Number { .. } | Kind::Issue(_)));
        let fits: Vec<(usize, Vec<Offer<'a>>)> = candidates
            .iter()
            .map(|at| {
                let mention = &self.mentions.all[*at];
                let found = open
                    .iter()
                    .filter_map(|property| {
                        let (value, rule) = self.number_for(property, mention)?;
                        Some((*property, value, rule))
                    })
                    .collect();
                (*at, found)
            })
            .collect();
        // A number that two properties would take goes to neither, and the reverse.
        for (at, found) in &fits {
            let [(property, value, rule)] = found.as_slice() else {
                continue;
            };
            let rivals = fits
                .iter()
                .filter(|(_, found)| found.iter().any(|(other, ..)| other.name == property.name))
                .count();
            if rivals == 1 {
                self.used[*at] = true;
                let span = self.mentions.all[*at].span.clone();
                self.take(property, value.clone(), span, *rule);
            }
        }
        // The only number for the only required property.
        let required: Vec<&'a Property> = open
            .into_iter()
            .filter(|property| property.required && self.is_open(property))
            .collect();
        let free: Vec<usize> = candidates
            .into_iter()
            .filter(|at| !self.used[*at])
            .collect();
        if let ([property], [at]) = (required.as_slice(), free.as_slice()) {
            let mention = &self.mentions.all[*at];
            let value = match &mention.kind {
                Kind::Number {
                    value, unit: None, ..
                } => typed_number(property, *value),
                Kind::Number { value, .. } if property.named(&["value", "amount", "quantity"]) => {
                    typed_number(property, *value)
                }
                Kind::Issue(number) => typed_number(property, *number as f64),
                _ => None,
            };
            if let Some(value) = value {
                self.used[*at] = true;
                self.take(property, value, mention.span.clone(), Rule::Number);
            }
        }
    }

    /// The value that a number has for a property, if a unit or a word ties them together.
    pub(super) fn number_for(
        &self,
        property: &Property,
        mention: &Mention,
    ) -> Option<(Value, Rule)> {
        match &mention.kind {
            Kind::Issue(number) => {
                let takes = property.named(&["number", "issue", "pr", "id"]);
                takes
                    .then(|| typed_number(property, *number as f64))
                    .flatten()
                    .map(|v| (v, Rule::Identifier))
            }
            Kind::Number {
                value,
                unit: Some(unit),
                ..
            } => {
                let wanted = property.unit.or_else(|| {
                    property
                        .named(&["percent", "percentage"])
                        .then(|| units::named("%"))
                        .flatten()
                })?;
                let converted = units::convert(*value, *unit, wanted)?;
                let rule = match unit.size == wanted.size {
                    true => Rule::Number,
                    false => Rule::Unit,
                };
                Some((typed_number(property, converted)?, rule))
            }
            Kind::Number {
                value, unit: None, ..
            } => {
                let counts = property.named(&[
                    "limit", "count", "depth", "top", "max", "n", "last", "first", "entries",
                    "rows",
                ]);
                let counted = counts
                    && ([
                        "top", "first", "last", "latest", "letzten", "ersten", "neuesten",
                        "recent", "newest",
                    ]
                    .contains(&self.word_before(&mention.span))
                        || self.ends_before(&mention.span, &["最近", "前", "最新", "最后"]));
                let tied = counted || self.is_cued(property, &mention.span);
                tied.then(|| typed_number(property, *value))
                    .flatten()
                    .map(|v| (v, Rule::Number))
            }
            _ => None,
        }
    }
}

/// A number of the property's type, within its limits.
pub(super) fn typed_number(property: &Property, value: f64) -> Option<Value> {
    let within = property.minimum.is_none_or(|least| value >= least)
        && property.maximum.is_none_or(|most| value <= most);
    if !within || !value.is_finite() {
        return None;
    }
    if property.role == Role::Integer {
        return (value.fract() == 0.0 && value.abs() < 9e15).then(|| json!(value as i64));
    }
    match value.fract() == 0.0 && value.abs() < 9e15 {
        true => Some(json!(value as i64)),
        false => Number::from_f64(value).map(Value::Number),
    }
}
