//! Preferences, both ways.

use super::entry::reference_to;
use crate::catalog::{EntryId, Kind};
use crate::grpc::pb;
use crate::preferences::{Owner, Preferences};

/// Reads an owner.
pub fn owner_from(tenant: String, user: String) -> Owner {
    Owner { tenant, user }
}

/// Reads preferences; the kinds of their references are not looked at.
pub fn preferences_from(message: pb::Preferences) -> Preferences {
    let ids = |list: Vec<pb::EntryRef>| -> Vec<EntryId> {
        list.iter()
            .map(|entry| EntryId::new(&entry.source, &entry.name))
            .collect()
    };
    Preferences {
        pinned: ids(message.pinned),
        blocked: ids(message.blocked),
        preferred: ids(message.preferred),
    }
}

/// Writes preferences; `kind_of` knows the kinds of the catalogue's entries.
pub fn preferences_to(
    preferences: &Preferences,
    kind_of: &dyn Fn(&EntryId) -> Option<Kind>,
) -> pb::Preferences {
    let refs = |list: &[EntryId]| list.iter().map(|id| named_to(id, kind_of)).collect();
    pb::Preferences {
        pinned: refs(&preferences.pinned),
        blocked: refs(&preferences.blocked),
        preferred: refs(&preferences.preferred),
    }
}

/// Writes a reference; the kind of an entry that the catalogue lacks is left open.
pub fn named_to(id: &EntryId, kind_of: &dyn Fn(&EntryId) -> Option<Kind>) -> pb::EntryRef {
    match kind_of(id) {
        Some(kind) => reference_to(kind, id),
        None => pb::EntryRef {
            source: id.source.clone(),
            name: id.name.clone(),
            ..pb::EntryRef::default()
        },
    }
}
