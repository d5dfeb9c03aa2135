//! What tenants and users prefer: entries pinned, blocked or preferred.
//!
//! A tenant's preferences hold for all its users, a user's for that user alone. A blocked
//! entry takes no part, whatever else is said of it, so a tenant's block cannot be lifted by a
//! user. Preferences outlive the process where there is a database, and are written down
//! before they count.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use crate::catalog::EntryId;
use crate::catalog::entry::MAX_NAME_CHARS;
use crate::error::Violations;
use crate::store::{Store, StoreError};

/// Entries of one list.
pub const MAX_ENTRIES: usize = 256;
/// Tenants and users that may have preferences.
pub const MAX_OWNERS: usize = 10_000;
/// Characters of a tenant or user.
pub const MAX_OWNER_CHARS: usize = 128;

/// Whose preferences they are; without a user, those of the whole tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Owner {
    /// May be empty: whoever names no tenant.
    pub tenant: String,
    /// Empty for the tenant as a whole.
    pub user: String,
}

impl Owner {
    /// Adds every limit the owner breaks; `path` is prefixed to the field names.
    pub fn check(&self, path: &str, violations: &mut Violations) {
        for (field, name) in [("tenant", &self.tenant), ("user", &self.user)] {
            let count = name.chars().count();
            if count > MAX_OWNER_CHARS {
                let text = format!("{count} characters exceed the limit of {MAX_OWNER_CHARS}");
                violations.add(format!("{path}{field}"), text);
            } else if name.chars().any(char::is_control) {
                violations.add(format!("{path}{field}"), "must not hold control characters");
            }
        }
    }
}

/// Preferences of one owner.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// Keep a place in every answer that is not an abstention.
    pub pinned: Vec<EntryId>,
    /// Take no part.
    pub blocked: Vec<EntryId>,
    /// Rank a little higher where they fit by themselves.
    pub preferred: Vec<EntryId>,
}

impl Preferences {
    /// Whether nothing is preferred.
    pub fn is_empty(&self) -> bool {
        self.pinned.is_empty() && self.blocked.is_empty() && self.preferred.is_empty()
    }

    /// All entries that are named.
    pub fn entries(&self) -> impl Iterator<Item = &EntryId> {
        self.pinned
            .iter()
            .chain(&self.blocked)
            .chain(&self.preferred)
    }

    /// Adds every limit they break; `path` is prefixed to the field names.
    pub fn check(&self, path: &str, violations: &mut Violations) {
        for (field, list) in [
            ("pinned", &self.pinned),
            ("blocked", &self.blocked),
            ("preferred", &self.preferred),
        ] {
            if list.len() > MAX_ENTRIES {
                let text = format!("{} entries exceed the limit of {MAX_ENTRIES}", list.len());
                violations.add(format!("{path}{field}"), text);
                continue;
            }
            for (at, id) in list.iter().enumerate() {
                let field = format!("{path}{field}[{at}]");
                let count = id.name.chars().count().max(id.source.chars().count());
                if id.name.trim().is_empty() {
                    violations.add(format!("{field}.name"), "must not be blank");
                } else if count > MAX_NAME_CHARS {
                    let text = format!("{count} characters exceed the limit of {MAX_NAME_CHARS}");
                    violations.add(format!("{field}.name"), text);
                }
                let elsewhere =
                    field.starts_with(&format!("{path}pinned")) && self.blocked.contains(id);
                if elsewhere {
                    violations.add(format!("{field}.name"), "is blocked as well");
                }
            }
        }
    }
}

/// What holds for one call: the tenant's preferences and the user's together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effective {
    pinned: HashSet<EntryId>,
    blocked: HashSet<EntryId>,
    preferred: HashSet<EntryId>,
}

impl Effective {
    /// Lays several preferences together.
    pub fn of<'a>(all: impl IntoIterator<Item = &'a Preferences>) -> Self {
        let mut effective = Self::default();
        for one in all {
            effective.pinned.extend(one.pinned.iter().cloned());
            effective.blocked.extend(one.blocked.iter().cloned());
            effective.preferred.extend(one.preferred.iter().cloned());
        }
        effective
    }

    /// Whether nothing is preferred.
    pub fn is_empty(&self) -> bool {
        self.pinned.is_empty() && self.blocked.is_empty() && self.preferred.is_empty()
    }

    /// Whether an entry takes no part.
    pub fn blocks(&self, id: &EntryId) -> bool {
        self.blocked.contains(id)
    }

    /// Whether an entry keeps a place.
    pub fn pins(&self, id: &EntryId) -> bool {
        self.pinned.contains(id)
    }

    /// Whether an entry ranks a little higher.
    pub fn prefers(&self, id: &EntryId) -> bool {
        self.preferred.contains(id)
    }

    /// The same as lists, each ordered by source and name.
    pub fn to_preferences(&self) -> Preferences {
        let sorted = |ids: &HashSet<EntryId>| {
            let mut ids: Vec<EntryId> = ids.iter().cloned().collect();
            ids.sort_unstable();
            ids
        };
        Preferences {
            pinned: sorted(&self.pinned),
            blocked: sorted(&self.blocked),
            preferred: sorted(&self.preferred),
        }
    }
}

/// Why preferences were not set.
#[derive(Debug, thiserror::Error)]
pub enum PreferenceError {
    /// Fields are out of their limits.
    #[error("{0}")]
    Invalid(Violations),
    /// As many owners as may have preferences have some.
    #[error("{MAX_OWNERS} tenants and users have preferences, which is the limit")]
    Full,
    /// They could not be written down, and do not count.
    #[error(transparent)]
    Storage(#[from] StoreError),
    /// The process is shutting down.
    #[error("the server is shutting down")]
    Closed,
}

/// The preferences of all owners. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct PreferenceBook {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    store: Option<Store>,
    owners: RwLock<BTreeMap<Owner, Arc<Preferences>>>,
    /// Held from writing preferences down until they count.
    order: tokio::sync::Mutex<()>,
}

impl PreferenceBook {
    /// The preferences that the store holds; without one, none.
    ///
    /// # Errors
    ///
    /// Those of [`Store::read`], and [`StoreError::Corrupt`] for what cannot be read.
    pub async fn open(store: Option<Store>) -> Result<Self, StoreError> {
        let owners = match &store {
            Some(store) => store
                .load_preferences()
                .await?
                .into_iter()
                .map(|(owner, preferences)| (owner, Arc::new(preferences)))
                .collect(),
            None => BTreeMap::new(),
        };
        Ok(Self {
            shared: Arc::new(Shared {
                store,
                owners: RwLock::new(owners),
                order: tokio::sync::Mutex::default(),
            }),
        })
    }

    /// The preferences of exactly this owner.
    pub fn get(&self, owner: &Owner) -> Arc<Preferences> {
        self.owners().get(owner).cloned().unwrap_or_default()
    }

    /// What holds for a call of this owner.
    pub fn effective(&self, owner: &Owner) -> Arc<Effective> {
        let owners = self.owners();
        if owners.is_empty() {
            return Arc::default();
        }
        let tenant = Owner {
            tenant: owner.tenant.clone(),
            user: String::new(),
        };
        let own = (!owner.user.is_empty())
            .then(|| owners.get(owner))
            .flatten();
        let all = owners.get(&tenant).into_iter().chain(own);
        Arc::new(Effective::of(all.map(|preferences| &**preferences)))
    }

    /// Replaces the preferences of an owner; empty ones are forgotten.
    ///
    /// # Errors
    ///
    /// [`PreferenceError`]; nothing has changed then.
    pub async fn set(&self, owner: Owner, preferences: Preferences) -> Result<(), PreferenceError> {
        let mut violations = Violations::default();
        owner.check("", &mut violations);
        preferences.check("preferences.", &mut violations);
        violations.into_result().map_err(PreferenceError::Invalid)?;
        let book = self.clone();
        // On its own task: a caller that goes away leaves no half of it behind.
        let set = tokio::spawn(async move {
            let _order = book.shared.order.lock().await;
            let is_new = !book.owners().contains_key(&owner);
            if is_new && !preferences.is_empty() && book.owners().len() >= MAX_OWNERS {
                return Err(PreferenceError::Full);
            }
            if let Some(store) = &book.shared.store {
                store
                    .save_preferences(owner.clone(), preferences.clone())
                    .await?;
            }
            let mut owners = book
                .shared
                .owners
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            match preferences.is_empty() {
                true => owners.remove(&owner),
                false => owners.insert(owner, Arc::new(preferences)),
            };
            Ok(())
        });
        set.await.unwrap_or(Err(PreferenceError::Closed))
    }

    fn owners(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<Owner, Arc<Preferences>>> {
        // Held for the moment of a look-up only.
        self.shared
            .owners
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
