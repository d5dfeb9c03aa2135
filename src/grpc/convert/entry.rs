//! Entries and what is said of changes to them.

use crate::catalog::{Entry, EntryId, Kind, NotWhen};
use crate::error::Violations;
use crate::grpc::pb;
use crate::registry::Summary;

/// Reads an entry; a kind that is none is a violation.
pub fn entry_from(message: pb::Entry, path: &str, violations: &mut Violations) -> Option<Entry> {
    let Some(kind) = kind_from(message.kind) else {
        let text = format!("{} is no kind: one of COMMAND, TOOL, SKILL", message.kind);
        violations.add(format!("{path}kind"), text);
        return None;
    };
    let not_when = |not_when: pb::NotWhen| NotWhen {
        text: not_when.text,
        redirect: (!not_when.redirect.is_empty()).then_some(not_when.redirect),
    };
    Some(Entry {
        kind,
        id: EntryId::new(&message.source, &message.name),
        title: message.title,
        source_hint: message.source_hint,
        responsibility: message.responsibility,
        aliases: message.aliases,
        capabilities: message.capabilities,
        use_when: message.use_when,
        not_when: message.not_when.into_iter().map(not_when).collect(),
        examples: message.examples,
        triggers: message.triggers,
        input_schema: (!message.input_schema.is_empty()).then_some(message.input_schema),
        depends_on: message.depends_on,
        tags: message.tags,
        annotations: message.annotations.into_iter().collect(),
    })
}

/// Writes an entry.
pub fn entry_to(entry: &Entry) -> pb::Entry {
    let not_when = |not_when: &NotWhen| pb::NotWhen {
        text: not_when.text.clone(),
        redirect: not_when.redirect.clone().unwrap_or_default(),
    };
    pb::Entry {
        kind: kind_to(entry.kind).into(),
        source: entry.id.source.clone(),
        name: entry.id.name.clone(),
        title: entry.title.clone(),
        source_hint: entry.source_hint.clone(),
        responsibility: entry.responsibility.clone(),
        aliases: entry.aliases.clone(),
        capabilities: entry.capabilities.clone(),
        use_when: entry.use_when.clone(),
        not_when: entry.not_when.iter().map(not_when).collect(),
        examples: entry.examples.clone(),
        triggers: entry.triggers.clone(),
        input_schema: entry.input_schema.clone().unwrap_or_default(),
        depends_on: entry.depends_on.clone(),
        tags: entry.tags.clone(),
        annotations: entry.annotations.clone().into_iter().collect(),
    }
}

/// Writes a reference.
pub fn reference_to(kind: Kind, id: &EntryId) -> pb::EntryRef {
    let EntryId { source, name } = id.clone();
    pb::EntryRef {
        kind: kind_to(kind).into(),
        source,
        name,
    }
}

/// Reads a filter by kind: unspecified means all, a number that is no kind a violation.
pub fn kind_filter_from(number: i32, path: &str, violations: &mut Violations) -> Option<Kind> {
    let kind = kind_from(number);
    if kind.is_none() && number != 0 {
        violations.add(
            path,
            format!("{number} is no kind: one of COMMAND, TOOL, SKILL"),
        );
    }
    kind
}

/// Writes what a change did.
pub fn summary_to(summary: Summary) -> pb::ChangeSummary {
    pb::ChangeSummary {
        catalog_revision: summary.revision,
        created: count(summary.created),
        updated: count(summary.updated),
        deleted: count(summary.deleted),
        unchanged: count(summary.unchanged),
        vectors_pending: count(summary.vectors_pending),
    }
}

/// A count on the wire; none of ours comes near the limit.
pub fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

fn kind_from(number: i32) -> Option<Kind> {
    match pb::EntryKind::try_from(number) {
        Ok(pb::EntryKind::Command) => Some(Kind::Command),
        Ok(pb::EntryKind::Tool) => Some(Kind::Tool),
        Ok(pb::EntryKind::Skill) => Some(Kind::Skill),
        Ok(pb::EntryKind::Unspecified) | Err(_) => None,
    }
}

fn kind_to(kind: Kind) -> pb::EntryKind {
    match kind {
        Kind::Command => pb::EntryKind::Command,
        Kind::Tool => pb::EntryKind::Tool,
        Kind::Skill => pb::EntryKind::Skill,
    }
}
