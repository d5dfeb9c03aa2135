//! Brings what a text holds to what a schema asks for.

mod names;
mod numbers;
mod tables;

use std::ops::Range;

use jiff::ToSpan;
use jiff::civil::{Date, Time};
use serde_json::{Value, json};

use super::choices;
use super::dates::Moment;
use super::mention::{Kind, Mentions, is_cjk, is_word, lower};
use super::schema::{Property, Role};
use super::units;
use super::{Parameter, Rule};
use tables::{cues, extension_fits, gives, language_names, same, takes, takes_only};

/// Words before a value that point at where something goes.
const TO: &[&str] = &[
    "to", "into", "as", "onto", "nach", "zu", "als", "in", "auf", "bis", "until", "till",
    "through", "à", "a", "by", "with", "durch",
];
/// Words before a value that point at where something comes from.
const FROM: &[&str] = &[
    "from", "of", "von", "aus", "since", "seit", "ab", "de", "starting", "between", "zwischen",
];
const BACK: &[&str] = &["back", "return", "returning", "zurück", "rückflug"];

/// Parameters, in no order.
pub(super) fn assign(text: &str, mentions: &Mentions, properties: &[Property]) -> Vec<Parameter> {
    let mut desk = Desk {
        text,
        lower: lower(text),
        mentions,
        used: vec![false; mentions.all.len()],
        properties,
        found: Vec::new(),
    };
    desk.choices();
    desk.typed(Role::Url, Rule::Address, |kind| match kind {
        Kind::Url(url) => Some(url.clone()),
        _ => None,
    });
    desk.typed(Role::Domain, Rule::Address, |kind| match kind {
        Kind::Domain(domain) => Some(domain.clone()),
        _ => None,
    });
    desk.typed(Role::Mail, Rule::Mail, |kind| match kind {
        Kind::Mail(mail) => Some(mail.clone()),
        _ => None,
    });
    desk.typed(Role::Path, Rule::Path, |kind| match kind {
        Kind::Path(path) => Some(path.clone()),
        _ => None,
    });
    desk.moments();
    desk.currencies();
    desk.languages();
    desk.numbers();
    desk.names();
    desk.identifiers();
    desk.quotations();
    desk.flags();
    desk.found
}

struct Desk<'a> {
    text: &'a str,
    lower: String,
    mentions: &'a Mentions,
    used: Vec<bool>,
    properties: &'a [Property],
    found: Vec<Parameter>,
}

impl<'a> Desk<'a> {
    fn take(&mut self, property: &Property, value: Value, span: Range<usize>, rule: Rule) {
        if self.is_open(property) {
            self.found.push(Parameter {
                name: property.name.clone(),
                value,
                span,
                rule,
            });
        }
    }

    fn is_open(&self, property: &Property) -> bool {
        self.found
            .iter()
            .all(|parameter| parameter.name != property.name)
    }

    fn open(&self, roles: &[Role]) -> Vec<&'a Property> {
        let properties: &'a [Property] = self.properties;
        properties
            .iter()
            .filter(|property| roles.contains(&property.role) && self.is_open(property))
            .collect()
    }

    fn unused(&self, wanted: impl Fn(&Kind) -> bool) -> Vec<usize> {
        (0..self.mentions.all.len())
            .filter(|at| !self.used[*at] && wanted(&self.mentions.all[*at].kind))
            .collect()
    }

    fn word_before(&self, span: &Range<usize>) -> &str {
        self.mentions
            .before(span)
            .next()
            .map_or("", |word| &word.lower)
    }

    fn ends_before(&self, span: &Range<usize>, words: &[&str]) -> bool {
        let before =
            self.text[..span.start].trim_end_matches([' ', '"', '“', '「', '\'', '`', '„', '《']);
        words.iter().any(|word| before.ends_with(word))
    }

    fn points_to(&self, span: &Range<usize>) -> bool {
        TO.contains(&self.word_before(span))
            || self.ends_before(span, &["到", "为", "成", "至", "进", "换成"])
    }

    fn points_from(&self, span: &Range<usize>) -> bool {
        FROM.contains(&self.word_before(span)) || self.ends_before(span, &["从", "自", "把", "将"])
    }

    /// Whether a word of the property's name stands right before or behind the value.
    fn is_cued(&self, property: &Property, span: &Range<usize>) -> bool {
        let near = self
            .mentions
            .before(span)
            .take(2)
            .filter(|word| span.start - word.end <= 2 + word.lower.len() * 2);
        let behind = self
            .mentions
            .after(span)
            .take(1)
            .filter(|word| word.start - span.end <= 1);
        near.chain(behind).any(|word| {
            let word = word.lower.as_str();
            let tokens = property.tokens.iter().filter(|token| token.len() > 2);
            tokens.clone().any(|token| same(token, word))
                || cues(property).contains(&word)
                // "Name of the branch"
                || matches!(property.role, Role::Name | Role::Identifier) && word.len() > 3 && property.says(&[word])
        }) || cues(property)
            .iter()
            .filter(|cue| cue.chars().any(is_cjk))
            .any(|cue| self.ends_before(span, &[cue]) || self.text[span.end..].trim_start().starts_with(cue))
    }

    fn choices(&mut self) {
        for property in self.open(&[Role::Choice]) {
            if property.list {
                continue;
            }
            if let Some((value, span)) = choices::find(self.text, self.mentions, property) {
                self.take(property, value, span, Rule::Choice);
            }
        }
    }

    /// Values of one kind of mention to the properties of one role.
    fn typed(&mut self, role: Role, rule: Rule, read: impl Fn(&Kind) -> Option<String>) {
        let open = self.open(&[role]);
        let (lists, single): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|property| property.list);
        let candidates = self.unused(|kind| read(kind).is_some());
        let values: Vec<(usize, Range<usize>)> = candidates
            .iter()
            .map(|at| (*at, self.mentions.all[*at].span.clone()))
            .collect();
        for (property, at) in self.distribute(&single, &values, !lists.is_empty()) {
            let mention = &self.mentions.all[at];
            if let Some(value) = read(&mention.kind) {
                self.used[at] = true;
                self.take(property, Value::String(value), mention.span.clone(), rule);
            }
        }
        if let [list] = lists.as_slice() {
            let rest: Vec<usize> = candidates
                .into_iter()
                .filter(|at| !self.used[*at])
                .collect();
            self.take_list(list, &rest, rule, read);
        }
    }

    fn take_list(
        &mut self,
        list: &Property,
        rest: &[usize],
        rule: Rule,
        read: impl Fn(&Kind) -> Option<String>,
    ) {
        let (Some(first), Some(last)) = (rest.first(), rest.last()) else {
            return;
        };
        let span = self.mentions.all[*first].span.start..self.mentions.all[*last].span.end;
        let values: Vec<Value> = rest
            .iter()
            .filter_map(|at| read(&self.mentions.all[*at].kind).map(Value::String))
            .collect();
        for at in rest {
            self.used[*at] = true;
        }
        self.take(list, Value::Array(values), span, rule);
    }

    /// Which value goes to which property: by a word of its name, by direction, by being the
    /// only one left, by order. What stays open stays open.
    fn distribute(
        &self,
        properties: &[&'a Property],
        values: &[(usize, Range<usize>)],
        has_list: bool,
    ) -> Vec<(&'a Property, usize)> {
        let mut pairs: Vec<(&'a Property, usize)> = Vec::new();
        let mut open: Vec<&'a Property> = properties.to_vec();
        let mut rest: Vec<(usize, Range<usize>)> = values.to_vec();
        let fits =
            |property: &Property, at: usize| extension_fits(property, &self.mentions.all[at].kind);
        // By a word of the name.
        for property in properties {
            let cued: Vec<usize> = rest
                .iter()
                .filter(|(at, span)| fits(property, *at) && self.is_cued(property, span))
                .map(|(at, _)| *at)
                .collect();
            if let [at] = cued.as_slice()
                && properties.len() > 1
            {
                pairs.push((property, *at));
                rest.retain(|(other, _)| other != at);
                open.retain(|other| other.name != property.name);
            }
        }
        // By direction.
        for (at, span) in rest.clone() {
            let side: Option<fn(&Property) -> bool> = if BACK.iter().any(|word| {
                self.mentions
                    .before(&span)
                    .take(3)
                    .any(|w| w.lower == *word)
            }) {
                Some(|property: &Property| property.named(&["return", "back"]))
            } else if self.points_to(&span) && !self.points_from(&span) {
                Some(takes)
            } else if self.points_from(&span) {
                Some(gives)
            } else {
                None
            };
            let Some(side) = side else { continue };
            let sided: Vec<&'a Property> = open
                .iter()
                .copied()
                .filter(|property| side(property) && fits(property, at))
                .collect();
            if let [property] = sided.as_slice() {
                pairs.push((property, at));
                rest.retain(|(other, _)| *other != at);
                open.retain(|other| other.name != property.name);
            }
        }
        if has_list && rest.len() > 1 {
            return pairs;
        }
        let required: Vec<&'a Property> = open
            .iter()
            .copied()
            .filter(|property| property.required)
            .collect();
        match rest.as_slice() {
            [] => {}
            [(at, _)] => {
                let fitting: Vec<&'a Property> =
                    open.iter().copied().filter(|p| fits(p, *at)).collect();
                let required: Vec<&'a Property> =
                    fitting.iter().copied().filter(|p| p.required).collect();
                let giving: Vec<&'a Property> =
                    fitting.iter().copied().filter(|p| gives(p)).collect();
                let chosen = match (required.as_slice(), fitting.as_slice(), giving.as_slice()) {
                    ([one], _, _) => Some(*one),
                    ([], [one], _) if !takes_only(one) => Some(*one),
                    (_, _, [one]) => Some(*one),
                    _ => None,
                };
                if let Some(property) = chosen.filter(|_| !has_list || required.len() == 1) {
                    pairs.push((property, *at));
                }
            }
            many if many.len() == required.len() => {
                pairs.extend(required.into_iter().zip(many.iter().map(|(at, _)| *at)));
            }
            _ => {}
        }
        pairs
    }

    fn moments(&mut self) {
        let open = self.open(&[Role::Date, Role::DateTime, Role::Time]);
        let single: Vec<&'a Property> =
            open.into_iter().filter(|property| !property.list).collect();
        if single.is_empty() {
            return;
        }
        let candidates = self.unused(|kind| matches!(kind, Kind::Moment(_)));
        let values: Vec<(usize, Range<usize>)> = candidates
            .iter()
            .map(|at| (*at, self.mentions.all[*at].span.clone()))
            .collect();
        let mut pairs = self.distribute(&single, &values, false);
        // One moment and several places for it: the one that says when it begins.
        if pairs.is_empty()
            && let [(at, _)] = values.as_slice()
        {
            let begins: Vec<&'a Property> = single
                .iter()
                .copied()
                .filter(|property| {
                    property.named(&["from", "start", "date", "time", "since", "day", "when"])
                        && !property.named(&["return", "end"])
                })
                .collect();
            if let [property] = begins.as_slice() {
                pairs.push((property, *at));
            }
        } else if pairs.is_empty() && values.len() == 2 && single.len() >= 2 {
            pairs.extend(
                single
                    .iter()
                    .copied()
                    .take(2)
                    .zip(values.iter().map(|(at, _)| *at)),
            );
        }
        // "from Monday to Wednesday", said on a Monday: the Wednesday after that Monday.
        let begin = pairs
            .iter()
            .find_map(|(property, at)| match &self.mentions.all[*at].kind {
                Kind::Moment(moment) if gives(property) => moment.date,
                _ => None,
            });
        for (property, at) in pairs {
            let mention = &self.mentions.all[at];
            let mut mention = mention.clone();
            if let (Kind::Moment(moment), Some(begin), true) =
                (&mut mention.kind, begin, takes(property))
                && moment.is_weekday
                && moment.date.is_some_and(|date| date < begin)
            {
                moment.date = moment.date.and_then(|date| date.checked_add(7.days()).ok());
            }
            if let Kind::Moment(moment) = &mention.kind
                && let Some(value) = moment_value(property, moment)
            {
                self.used[at] = true;
                self.take(
                    property,
                    Value::String(value),
                    mention.span.clone(),
                    Rule::Time,
                );
            }
        }
    }

    fn currencies(&mut self) {
        let open = self.open(&[Role::Currency]);
        if open.is_empty() {
            return;
        }
        let named = units::currencies(&self.lower);
        let mut rest: Vec<&'a Property> = open.clone();
        let mut pairs: Vec<(&'a Property, usize)> = Vec::new();
        for (number, (_, span)) in named.iter().enumerate() {
            if self.points_to(span)
                && let [property] = rest
                    .iter()
                    .copied()
                    .filter(|p| takes(p))
                    .collect::<Vec<_>>()
                    .as_slice()
            {
                pairs.push((property, number));
                rest.retain(|other| other.name != property.name);
            }
        }
        let left: Vec<usize> = (0..named.len())
            .filter(|at| pairs.iter().all(|(_, used)| used != at))
            .collect();
        if left.len() == rest.len() {
            pairs.extend(rest.into_iter().zip(left));
        } else if let ([one], [property]) = (
            left.as_slice(),
            rest.iter()
                .copied()
                .filter(|p| gives(p))
                .collect::<Vec<_>>()
                .as_slice(),
        ) {
            pairs.push((property, *one));
        }
        for (property, number) in pairs {
            let (code, span) = named[number].clone();
            self.take(property, json!(code), span, Rule::Choice);
        }
        // The units of a quantity: "5 km to miles".
    }

    fn languages(&mut self) {
        let open = self.open(&[Role::Language, Role::UnitName]);
        let languages: Vec<&'a Property> = open
            .iter()
            .copied()
            .filter(|p| p.role == Role::Language)
            .collect();
        if !languages.is_empty() {
            let found = language_names(&self.lower);
            let named: Vec<Range<usize>> = found
                .into_iter()
                .filter(|span| !self.is_taken(span))
                .collect();
            let mut pairs: Vec<(&'a Property, Range<usize>)> = Vec::new();
            for span in &named {
                let side: fn(&Property) -> bool =
                    if self.points_from(span) && self.word_before(span) != "of" {
                        gives
                    } else {
                        takes
                    };
                let sided: Vec<&'a Property> =
                    languages.iter().copied().filter(|p| side(p)).collect();
                match (sided.as_slice(), languages.as_slice()) {
                    ([property], _) => pairs.push((property, span.clone())),
                    (_, [property]) if named.len() == 1 => pairs.push((property, span.clone())),
                    _ => {}
                }
            }
            for (property, span) in pairs {
                let value = self.text[span.clone()].to_owned();
                self.take(property, Value::String(value), span, Rule::Choice);
            }
        }
        // The units of a quantity: "5 km to miles".
        let unit_names: Vec<&'a Property> = open
            .iter()
            .copied()
            .filter(|p| p.role == Role::UnitName)
            .collect();
        if let [from, to] = unit_names.as_slice() {
            let quantity = self
                .mentions
                .all
                .iter()
                .find_map(|mention| match &mention.kind {
                    Kind::Number {
                        unit: Some(unit),
                        unit_text,
                        ..
                    } => Some((mention.span.clone(), *unit, unit_text.clone())),
                    _ => None,
                });
            if let Some((span, unit, unit_text)) = quantity {
                let start = span.end - unit_text.len();
                self.take(from, Value::String(unit_text), start..span.end, Rule::Unit);
                let target = self.mentions.after(&span).find(|word| {
                    units::named(&word.lower).is_some_and(|other| other.dimension == unit.dimension)
                });
                if let Some(word) = target {
                    let span = word.start..word.end;
                    let value = self.text[span.clone()].to_owned();
                    self.take(to, Value::String(value), span, Rule::Unit);
                }
            }
        }
    }

    fn is_taken(&self, span: &Range<usize>) -> bool {
        self.mentions.all.iter().any(|mention| {
            matches!(mention.kind, Kind::Quoted(_) | Kind::Path(_) | Kind::Url(_))
                && mention.span.start <= span.start
                && span.end <= mention.span.end
        })
    }

    fn quotations(&mut self) {
        let open: Vec<&'a Property> = self
            .open(&[Role::Free, Role::Name, Role::Identifier])
            .into_iter()
            .filter(|property| !property.list)
            .collect();
        let quoted = self.unused(|kind| matches!(kind, Kind::Quoted(_)));
        let mut pairs: Vec<(&'a Property, usize)> = Vec::new();
        for property in &open {
            let cued: Vec<usize> = quoted
                .iter()
                .copied()
                .filter(|at| pairs.iter().all(|(_, used)| used != at))
                .filter(|at| self.is_cued(property, &self.mentions.all[*at].span))
                .collect();
            if let [at] = cued.as_slice() {
                pairs.push((property, *at));
            }
        }
        let rest: Vec<usize> = quoted
            .into_iter()
            .filter(|at| pairs.iter().all(|(_, used)| used != at))
            .collect();
        let free: Vec<&'a Property> = open
            .iter()
            .copied()
            .filter(|property| pairs.iter().all(|(used, _)| used.name != property.name))
            .filter(|property| property.role == Role::Free || property.role == Role::Name)
            .collect();
        let required: Vec<&'a Property> = free
            .iter()
            .copied()
            .filter(|property| property.required)
            .collect();
        if !rest.is_empty() && rest.len() == required.len() {
            pairs.extend(required.into_iter().zip(rest));
        } else if let (true, [one], [at]) = (required.is_empty(), free.as_slice(), rest.as_slice())
        {
            pairs.push((one, *at));
        }
        for (property, at) in pairs {
            let mention = &self.mentions.all[at];
            if let Kind::Quoted(text) = &mention.kind {
                self.used[at] = true;
                self.take(
                    property,
                    Value::String(text.clone()),
                    mention.span.clone(),
                    Rule::Quotation,
                );
            }
        }
    }

    /// A flag is set by the words of its name, and cleared by them behind a negation.
    fn flags(&mut self) {
        // Names that are words of nearly every request.
        const COMMON: &[&str] = &[
            "all",
            "check",
            "thread",
            "notify",
            "check",
            "list",
            "submit",
            "dev",
            "volumes",
            "background",
            "hidden",
        ];
        for property in self.open(&[Role::Flag]) {
            let name = property.tokens.join(" ");
            if COMMON.contains(&name.as_str()) {
                continue;
            }
            let spans = [
                name.clone(),
                property.tokens.join("-"),
                property.name.to_lowercase(),
            ];
            let Some(span) = spans.iter().find_map(|phrase| {
                self.lower
                    .match_indices(phrase.as_str())
                    .map(|(at, _)| at..at + phrase.len())
                    .find(|span| is_word(&self.lower, span))
            }) else {
                continue;
            };
            if self.is_taken(&span) {
                continue;
            }
            let negated = self.mentions.before(&span).take(2).any(|word| {
                [
                    "no", "not", "without", "don't", "kein", "keine", "keinen", "ohne", "nicht",
                    "non",
                ]
                .contains(&word.lower.as_str())
            });
            self.take(property, Value::Bool(!negated), span, Rule::Flag);
        }
    }
}

/// A moment in the form that a property asks for; none where the text lacks a part of it.
fn moment_value(property: &Property, moment: &Moment) -> Option<String> {
    let stamp = |date: Date, time: Time| match &moment.exact {
        Some(exact) => exact.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        None => format!("{date}T{time}"),
    };
    match property.role {
        Role::Date => moment.date.map(|date| date.to_string()),
        Role::Time => moment.time.map(|time| time.to_string()),
        _ => match (moment.date, moment.time) {
            (Some(date), Some(time)) => Some(stamp(date, time)),
            (Some(date), None) if !property.format => Some(date.to_string()),
            (None, Some(time)) if !property.format => Some(time.to_string()),
            _ => None,
        },
    }
}
