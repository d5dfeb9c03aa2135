//! What is found while a document is read leniently, and what is cut to fit an entry.

use std::collections::HashSet;

use super::headings::Field;
use super::sections::{parse_not_when, plain_item};
use super::{Diagnostic, Severity, bounded, cut};
use crate::catalog::entry::{Entry, MAX_ITEM_BYTES, MAX_LIST_ITEMS};

/// Where findings go.
pub(super) struct Findings<'a> {
    /// Where the document came from.
    pub origin: &'a str,
    /// Name of the item, as far as it is known.
    pub item: Option<String>,
    /// All findings.
    pub diagnostics: &'a mut Vec<Diagnostic>,
}

impl Findings<'_> {
    /// Adds one.
    pub fn note(
        &mut self,
        severity: Severity,
        code: &'static str,
        line: Option<u32>,
        message: String,
    ) {
        self.diagnostics.push(Diagnostic {
            severity,
            code,
            message: bounded(&message),
            origin: self.origin.to_owned(),
            line,
            item: self.item.clone(),
        });
    }

    /// Adds a warning.
    pub fn warn(&mut self, code: &'static str, line: Option<u32>, message: String) {
        self.note(Severity::Warning, code, line, message);
    }

    /// Adds the reason of a rejection; `None`, to be returned.
    pub fn reject<T>(
        &mut self,
        code: &'static str,
        line: Option<u32>,
        message: String,
    ) -> Option<T> {
        self.note(Severity::Error, code, line, message);
        None
    }

    /// Cuts a text to its limit.
    pub fn fit_text(&mut self, field: &str, line: u32, text: &str, limit: usize) -> String {
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
    pub fn fit_list(&mut self, field: &str, line: u32, list: &mut Vec<String>, items: Vec<String>) {
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
pub(super) type Items = Vec<(Field, u32, String)>;

/// Puts the items into the entry's lists, field by field.
pub(super) fn fill_lists(entry: &mut Entry, items: &Items, findings: &mut Findings<'_>) {
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
                findings.fit_list(field.as_str(), *line, &mut list, texts);
                entry.not_when = list.iter().map(|text| parse_not_when(text)).collect();
                continue;
            }
        };
        findings.fit_list(field.as_str(), *line, list, texts);
    }
}
