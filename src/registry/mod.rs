//! The live catalogue: takes changes, writes them down, indexes them, gives them vectors and
//! tells watchers.
//!
//! A change is on disk (where there is one) before it is in the index, and in the index
//! before its call returns. Changes happen one after another; a caller that goes away in the
//! middle does not leave half of one behind.

mod changes;
mod hub;
mod projection;
mod startup;
mod vectoriser;

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::catalog::entry::check_batch;
use crate::catalog::{Entry, EntryId};
use crate::embed::Embedder;
use crate::error::Violations;
use crate::index::{Applied, Change, Index};
use crate::store::{Store, StoreError};

pub use changes::{CatalogChange, ResumeToken, Watch, WatchError, WatchEvent};
pub(crate) use projection::texts_of;
pub use vectoriser::Vectorised;

use changes::Changes;
pub(crate) use vectoriser::Vectoriser;

/// Prompts that ask for nothing in particular, in nine languages.
pub fn neutral_prompts() -> Vec<String> {
    hub::prompts()
        .into_iter()
        .map(|neutral| neutral.prompt)
        .collect()
}

/// Entries a change may hold before indexing it leaves the runtime's threads.
const APPLY_INLINE: usize = 64;

/// Why a change did not happen.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// Fields are out of their limits.
    #[error("{0}")]
    Invalid(Violations),
    /// No entry has that id.
    #[error("no entry is named {:?} in source {:?}", .0.name, .0.source)]
    NotFound(EntryId),
    /// The catalogue would hold more entries than it may.
    #[error("{wanted} entries exceed the limit of {limit}")]
    Full {
        /// Entries it would hold.
        wanted: usize,
        /// Entries it may hold.
        limit: usize,
    },
    /// The change could not be written down, and did not happen.
    #[error(transparent)]
    Storage(#[from] StoreError),
    /// A fault of our own; the log has it.
    #[error("the change failed; see the server's log")]
    Failed,
    /// The process is shutting down.
    #[error("the catalogue is closed")]
    Closed,
}

/// What a change did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Revision after the change.
    pub revision: String,
    /// New entries.
    pub created: usize,
    /// Entries whose text changed.
    pub updated: usize,
    /// Entries that went.
    pub deleted: usize,
    /// Entries that were so already.
    pub unchanged: usize,
    /// Entries that have no vectors yet.
    pub vectors_pending: usize,
}

/// The live catalogue. Cheap to clone.
#[derive(Clone)]
pub struct Registry {
    inner: Arc<Inner>,
}

struct Inner {
    index: Arc<Index>,
    store: Option<Store>,
    max_entries: usize,
    changes: Changes,
    vectoriser: Vectoriser,
    /// Held from writing a change down until it is in the index.
    order: Mutex<()>,
}

impl Registry {
    /// A registry over an index; starts the task that gives entries their vectors.
    pub fn new(
        index: Arc<Index>,
        embedder: Embedder,
        store: Option<Store>,
        max_entries: usize,
    ) -> Self {
        let vectoriser = Vectoriser::spawn(index.clone(), embedder, store.clone());
        let inner = Inner {
            index,
            store,
            max_entries,
            changes: Changes::default(),
            vectoriser,
            order: Mutex::new(()),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The index behind the catalogue.
    pub fn index(&self) -> &Arc<Index> {
        &self.inner.index
    }

    /// The entry of that id.
    pub fn get(&self, id: &EntryId) -> Result<Arc<Entry>, RegistryError> {
        self.inner
            .index
            .get(id)
            .ok_or_else(|| RegistryError::NotFound(id.clone()))
    }

    /// Inserts or replaces entries, all or none. `path` names the list in error messages.
    pub async fn upsert(&self, path: &str, entries: Vec<Entry>) -> Result<Summary, RegistryError> {
        check_batch(path, &entries)
            .into_result()
            .map_err(RegistryError::Invalid)?;
        self.commit(entries, |_, _| Vec::new()).await
    }

    /// Deletes an entry; one that is missing is an error unless `allow_missing`.
    pub async fn delete(&self, id: EntryId, allow_missing: bool) -> Result<Summary, RegistryError> {
        if !allow_missing {
            self.get(&id)?;
        }
        self.commit(Vec::new(), move |_, _| vec![id]).await
    }

    /// Inserts or replaces entries and deletes all others of `source`, in one change.
    pub async fn replace_source(
        &self,
        path: &str,
        source: String,
        entries: Vec<Entry>,
    ) -> Result<Summary, RegistryError> {
        check_batch(path, &entries)
            .into_result()
            .map_err(RegistryError::Invalid)?;
        self.commit(entries, move |index, kept| {
            let snapshot = index.snapshot();
            let ids = snapshot.entries().map(|indexed| &indexed.entry.id);
            ids.filter(|id| id.source == source && !kept.contains(*id))
                .cloned()
                .collect()
        })
        .await
    }

    /// Says what changes from now on, or from a token on.
    pub fn watch(&self, resume: Option<ResumeToken>) -> Result<Watch, WatchError> {
        self.inner.changes.watch(resume)
    }

    /// Waits until all entries that can have vectors have them.
    pub async fn vectorised(&self) -> Vectorised {
        self.inner.vectoriser.all().await
    }

    async fn commit(
        &self,
        puts: Vec<Entry>,
        removals: impl FnOnce(&Index, &BTreeSet<EntryId>) -> Vec<EntryId> + Send + 'static,
    ) -> Result<Summary, RegistryError> {
        let inner = self.inner.clone();
        // On its own task: the caller may go away, the change goes on to its end.
        let change = tokio::spawn(async move {
            let applied = {
                let _order = inner.order.lock().await;
                let kept: BTreeSet<EntryId> = puts.iter().map(|entry| entry.id.clone()).collect();
                let removals = removals(&inner.index, &kept);
                inner.check_room(&kept, &removals)?;
                inner.write_down(&puts, &removals).await?;
                let changes = puts
                    .into_iter()
                    .map(|entry| Change::Put(Arc::new(entry)))
                    .chain(removals.into_iter().map(Change::Remove))
                    .collect();
                let applied = inner.apply(changes).await?;
                inner.changes.publish(&applied);
                applied
            };
            let changed = applied
                .created
                .iter()
                .chain(&applied.updated)
                .cloned()
                .collect();
            let vectorised = inner.vectoriser.entries(changed).await;
            Ok(Summary {
                revision: applied.revision,
                created: applied.created.len(),
                updated: applied.updated.len(),
                deleted: applied.deleted.len(),
                unchanged: applied.unchanged,
                vectors_pending: vectorised.pending,
            })
        });
        change.await.unwrap_or_else(|error| {
            Err(if error.is_panic() {
                RegistryError::Failed
            } else {
                RegistryError::Closed
            })
        })
    }
}

impl Inner {
    fn check_room(
        &self,
        puts: &BTreeSet<EntryId>,
        removals: &[EntryId],
    ) -> Result<(), RegistryError> {
        let held = |id: &&EntryId| self.index.get(id).is_some();
        let new = puts.iter().filter(|id| !held(id)).count();
        let gone = removals.iter().filter(held).count();
        let wanted = (self.index.snapshot().len() + new).saturating_sub(gone);
        let limit = self.max_entries;
        if new > 0 && wanted > limit {
            return Err(RegistryError::Full { wanted, limit });
        }
        Ok(())
    }

    async fn write_down(&self, puts: &[Entry], removals: &[EntryId]) -> Result<(), StoreError> {
        let Some(store) = &self.store else {
            return Ok(());
        };
        let puts = puts
            .iter()
            .map(|entry| (entry.id.clone(), Some(entry.clone())));
        let removals = removals.iter().map(|id| (id.clone(), None));
        store.save_entries(puts.chain(removals).collect()).await
    }

    async fn apply(&self, changes: Vec<Change>) -> Result<Applied, RegistryError> {
        if changes.len() <= APPLY_INLINE {
            return Ok(self.index.apply(changes));
        }
        let index = self.index.clone();
        tokio::task::spawn_blocking(move || index.apply(changes))
            .await
            .map_err(|_| RegistryError::Failed)
    }
}

#[cfg(test)]
mod tests;
