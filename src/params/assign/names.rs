//! Names: what a text calls something, and words that can only be identifiers.

use serde_json::Value;

use super::super::Rule;
use super::super::mention::Kind;
use super::super::schema::{Property, Role};
use super::Desk;

/// A kind of mention and the words of the properties that take it.
type KindOf = (fn(&Kind) -> bool, &'static [&'static str]);

impl<'a> Desk<'a> {
    /// "called x", "named x", "namens x", "名为x".
    pub(super) fn names(&mut self) {
        const CALLED: &[&str] = &[
            "called", "named", "namens", "genannt", "titled", "entitled", "nommé", "nommée",
            "llamado", "llamada", "chiamato", "genaamd",
        ];
        const CALLED_CJK: &[&str] = &[
            "名为",
            "叫做",
            "叫作",
            "命名为",
            "名字叫",
            "名叫",
            "叫",
            "标题为",
            "标题是",
        ];
        let open: Vec<&'a Property> = self
            .open(&[Role::Name, Role::Identifier])
            .into_iter()
            .filter(|property| {
                property.named(&["name", "title"]) && !property.named(&["old"]) && !property.list
            })
            .collect();
        let target = match open.as_slice() {
            [one] => *one,
            _ => return,
        };
        let mut end = None;
        for (at, word) in self.mentions.words.iter().enumerate() {
            let phrase = CALLED.contains(&word.lower.as_str())
                || (word.lower == "name"
                    && at > 0
                    && ["the", "dem", "den", "with", "its"]
                        .contains(&self.mentions.words[at - 1].lower.as_str()));
            if phrase {
                end = Some(word.end);
            }
        }
        for phrase in CALLED_CJK {
            if end.is_none()
                && let Some(at) = self.text.find(phrase)
            {
                end = Some(at + phrase.len());
            }
        }
        let Some(end) = end else { return };
        let gap = self.text[end..].len()
            - self.text[end..]
                .trim_start_matches([' ', '"', '“', '\'', '`', '「', '„'])
                .len();
        let start = end + gap;
        let quoted = self.mentions.all.iter().position(|mention| {
            mention.span.start == start && matches!(mention.kind, Kind::Quoted(_))
        });
        if let Some(at) = quoted {
            if let Kind::Quoted(name) = &self.mentions.all[at].kind {
                self.used[at] = true;
                let name = name.clone();
                self.take(
                    target,
                    Value::String(name),
                    self.mentions.all[at].span.clone(),
                    Rule::Quotation,
                );
            }
            return;
        }
        let rest = &self.text[start..];
        let stop =
            |c: char| c.is_whitespace() || "，。；、！？,;!?\"“”「」".contains(c) || c == '的';
        let length = rest.find(stop).unwrap_or(rest.len());
        let name = rest[..length].trim_end_matches(['.', ':', ')']);
        let wordy = name.chars().count() > 1 && name.chars().count() < 64;
        let article = ["the", "a", "an", "der", "die", "das", "after", "like", "so"]
            .contains(&name.to_lowercase().as_str());
        if wordy && !article {
            let span = start..start + name.len();
            for (at, mention) in self.mentions.all.iter().enumerate() {
                if mention.span.start < span.end && span.start < mention.span.end {
                    self.used[at] = true;
                }
            }
            self.take(
                target,
                Value::String(name.to_owned()),
                span,
                Rule::Quotation,
            );
        }
    }

    pub(super) fn identifiers(&mut self) {
        let open: Vec<&'a Property> = self
            .open(&[Role::Identifier, Role::Name, Role::Free])
            .into_iter()
            .filter(|property| !property.list)
            .collect();
        let read = |kind: &Kind| match kind {
            Kind::Version(text) | Kind::Hash(text) | Kind::Identifier(text) => Some(text.clone()),
            _ => None,
        };
        let candidates = self.unused(|kind| read(kind).is_some());
        // "branch feature-x", "feature-x branch", "service api-gateway".
        for property in &open {
            let cued: Vec<usize> = candidates
                .iter()
                .copied()
                .filter(|at| {
                    !self.used[*at] && self.is_cued(property, &self.mentions.all[*at].span)
                })
                .collect();
            if let [at] = cued.as_slice() {
                self.take_identifier(property, *at, read);
            }
        }
        // "rename a to b": both at once.
        let pair: Vec<&'a Property> = open
            .iter()
            .copied()
            .filter(|p| p.named(&["old", "new"]) && self.is_open(p))
            .collect();
        let rest: Vec<usize> = candidates
            .iter()
            .copied()
            .filter(|at| {
                !self.used[*at] && matches!(self.mentions.all[*at].kind, Kind::Identifier(_))
            })
            .collect();
        if let ([old, new], [first, second]) = (pair.as_slice(), rest.as_slice())
            && old.named(&["old"])
        {
            self.take_identifier(old, *first, read);
            self.take_identifier(new, *second, read);
        }
        // A version, hash or number for the only property that takes one.
        let kinds: [KindOf; 2] = [
            (
                |kind| matches!(kind, Kind::Version(_)),
                &["version", "tag", "release"],
            ),
            (
                |kind| matches!(kind, Kind::Hash(_)),
                &[
                    "hash", "commit", "revision", "sha", "sha256", "id", "uuid", "object",
                    "target", "bad", "good", "expected",
                ],
            ),
        ];
        for (is_kind, names) in kinds {
            let values: Vec<usize> = self.unused(is_kind);
            let takers: Vec<&'a Property> = open
                .iter()
                .copied()
                .filter(|property| {
                    self.is_open(property)
                        && (property.named(names) || property.says(&names[..2.min(names.len())]))
                })
                .collect();
            let required: Vec<&'a Property> =
                takers.iter().copied().filter(|p| p.required).collect();
            let chosen = match (takers.as_slice(), required.as_slice()) {
                ([one], _) | (_, [one]) => Some(*one),
                _ => None,
            };
            if let (Some(property), [at]) = (chosen, values.as_slice()) {
                self.take_identifier(property, *at, read);
            }
        }
        // The only name with marks for the only required identifier.
        let required: Vec<&'a Property> = open
            .iter()
            .copied()
            .filter(|p| p.required && p.role == Role::Identifier && self.is_open(p))
            .collect();
        let rest: Vec<usize> = self
            .unused(|kind| matches!(kind, Kind::Identifier(_) | Kind::Version(_) | Kind::Hash(_)));
        if let ([property], [at]) = (required.as_slice(), rest.as_slice()) {
            self.take_identifier(property, *at, read);
        }
    }

    pub(super) fn take_identifier(
        &mut self,
        property: &Property,
        at: usize,
        read: impl Fn(&Kind) -> Option<String>,
    ) {
        let mention = &self.mentions.all[at];
        if let Some(value) = read(&mention.kind) {
            self.used[at] = true;
            self.take(
                property,
                Value::String(value),
                mention.span.clone(),
                Rule::Identifier,
            );
        }
    }
}
