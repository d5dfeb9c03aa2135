//! What the catalogue holds when the process starts: the files, and over them the changes
//! that were made through calls and written down.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Registry, RegistryError};
use crate::catalog::{Entry, EntryId};
use crate::index::Change;

impl Registry {
    /// Fills the catalogue from entries read from files and the changes in the store: a
    /// stored entry replaces one of the files, a stored deletion hides it.
    pub async fn fill(&self, from_files: Vec<Entry>) -> Result<usize, RegistryError> {
        let mut entries: BTreeMap<EntryId, Entry> = from_files
            .into_iter()
            .map(|entry| (entry.id.clone(), entry))
            .collect();
        if let Some(store) = &self.inner.store {
            for (id, change) in store.load_entries().await? {
                match change {
                    Some(entry) => entries.insert(id, entry),
                    None => entries.remove(&id),
                };
            }
        }
        let (wanted, limit) = (entries.len(), self.inner.max_entries);
        if wanted > limit {
            return Err(RegistryError::Full { wanted, limit });
        }
        let puts = entries
            .into_values()
            .map(|entry| Change::Put(Arc::new(entry)))
            .collect();
        let applied = self.inner.apply(puts).await?;
        self.inner.changes.publish(&applied);
        Ok(wanted)
    }
}
