//! The handle on all knowledge.
//!
//! A change is on disk (where there is one) before it is in the book and in the index, and
//! there before its call returns. Changes happen one after another; a caller that goes away in
//! the middle leaves no half of one behind. Vectors come later, from the same task that serves
//! the catalogue; until then an item is found by its words.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::{Mutex, Notify};

use super::book::{Book, Listing};
use super::directory::Directory;
use super::item::{Convention, Fact};
use crate::catalog::{Entry, EntryId, Kind};
use crate::embed::Embedder;
use crate::error::Violations;
use crate::hydrate::Counter;
use crate::index::{Change, Index};
use crate::registry::Vectoriser;
use crate::store::{Store, StoreError};

/// Bytes of an item that are indexed: what search can look at.
const INDEXED_BYTES: usize = 8 << 10;

/// What an operator sets.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folder of the code; files are read below it. None: only what is stored.
    pub workspace: Option<PathBuf>,
    /// Facts and conventions together.
    pub max_items: usize,
    /// Tokens of a message for a caller that says nothing.
    pub max_context_tokens: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workspace: None,
            max_items: 100_000,
            max_context_tokens: 4_000,
        }
    }
}

/// Why a call failed; nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum KnowledgeError {
    /// Values are out of their limits.
    #[error("{0}")]
    Invalid(Violations),
    /// No convention has that id.
    #[error("no convention has the id {0:?}")]
    NotFound(String),
    /// There are as many items as there may be.
    #[error("{0} facts and conventions are stored already")]
    Full(usize),
    /// The change could not be written down.
    #[error(transparent)]
    Storage(#[from] StoreError),
    /// A fault of our own; the log has it.
    #[error("the call was cut off")]
    CutOff,
}

impl From<Violations> for KnowledgeError {
    fn from(violations: Violations) -> Self {
        KnowledgeError::Invalid(violations)
    }
}

/// All knowledge. Cheap to clone.
#[derive(Clone)]
pub struct Knowledge {
    inner: Arc<Inner>,
}

struct Inner {
    book: RwLock<Book>,
    index: Arc<Index>,
    store: Option<Store>,
    embedder: Embedder,
    options: Options,
    /// Held from writing a change down until it is in the index.
    order: Mutex<()>,
    /// Says that there are items without vectors.
    changed: Arc<Notify>,
}

impl Drop for Inner {
    /// Lets the task that waits for changes end.
    fn drop(&mut self) {
        self.changed.notify_one();
    }
}

/// Source of a fact's entry in the index; its name is the subject.
pub(super) const FACT: &str = "fact:";
/// Source of a convention's entry; its name is where it holds.
pub(super) const CONVENTION: &str = "convention:";

impl Knowledge {
    /// The knowledge in a store, or none without one. Starts the task that makes vectors.
    ///
    /// # Errors
    ///
    /// What is stored cannot be read.
    pub async fn open(
        store: Option<Store>,
        embedder: Embedder,
        options: Options,
    ) -> Result<Self, StoreError> {
        let index = Arc::new(Index::default());
        let mut book = Book::default();
        if let Some(store) = &store {
            let mut changes = Vec::new();
            for fact in store.load_facts().await? {
                changes.push(Change::Put(Arc::new(fact_entry(&fact))));
                book.put_fact(Arc::new(fact));
            }
            for convention in store.load_conventions().await? {
                changes.push(Change::Put(Arc::new(convention_entry(&convention))));
                book.put_convention(Arc::new(convention));
            }
            let indexing = index.clone();
            let indexed = tokio::task::spawn_blocking(move || indexing.apply(changes));
            indexed.await.map_err(|_| StoreError::Closed)?;
        }
        let changed = Arc::new(Notify::new());
        let vectoriser = Vectoriser::spawn(index.clone(), embedder.clone(), store.clone());
        let inner = Arc::new(Inner {
            book: RwLock::new(book),
            index,
            store,
            embedder,
            options,
            order: Mutex::new(()),
            changed: changed.clone(),
        });
        // However many changes come while vectors are made, one more round takes them all.
        let alive = Arc::downgrade(&inner);
        tokio::spawn(async move {
            while alive.strong_count() > 0 {
                vectoriser.all().await;
                changed.notified().await;
            }
        });
        Ok(Self { inner })
    }

    /// Stores a fact; the same one again replaces its confidence.
    ///
    /// # Errors
    ///
    /// Values out of their limits, no room, and what the store says.
    pub async fn store_fact(&self, fact: Fact) -> Result<Arc<Fact>, KnowledgeError> {
        fact.check().into_result()?;
        let fact = Arc::new(fact);
        let entry = fact_entry(&fact);
        let (to_disk, to_book) = (fact.clone(), fact.clone());
        self.change(
            move |book| book.fact(&to_book.id).is_none(),
            move |store| async move { store.save_fact((*to_disk).clone()).await },
            {
                let fact = fact.clone();
                move |book| {
                    book.put_fact(fact);
                    Vec::new()
                }
            },
            Some(entry),
        )
        .await?;
        Ok(fact)
    }

    /// Inserts or replaces a convention.
    ///
    /// # Errors
    ///
    /// Values out of their limits, no room, and what the store says.
    pub async fn upsert_convention(
        &self,
        convention: Convention,
    ) -> Result<Arc<Convention>, KnowledgeError> {
        convention.check().into_result()?;
        let convention = Arc::new(convention);
        let entry = convention_entry(&convention);
        let (to_disk, id) = (convention.clone(), convention.id.clone());
        self.change(
            move |book| book.convention(&id).is_none(),
            move |store| async move { store.save_convention((*to_disk).clone()).await },
            {
                let convention = convention.clone();
                move |book| {
                    // Its entry is named after its place, which may be another one now.
                    let before = book.convention(&convention.id);
                    let gone = before.map(|before| convention_entry(&before).id);
                    book.put_convention(convention);
                    gone.into_iter().collect()
                }
            },
            Some(entry),
        )
        .await?;
        Ok(convention)
    }

    /// Deletes a convention; one that is missing is an error unless `allow_missing`.
    ///
    /// # Errors
    ///
    /// No such convention, and what the store says.
    pub async fn delete_convention(
        &self,
        id: &str,
        allow_missing: bool,
    ) -> Result<(), KnowledgeError> {
        if self.read(|book| book.convention(id).is_none()) {
            return match allow_missing {
                true => Ok(()),
                false => Err(KnowledgeError::NotFound(id.to_owned())),
            };
        }
        let (id, stored) = (id.to_owned(), id.to_owned());
        self.change(
            |_| false,
            move |store| async move { store.remove_convention(stored).await },
            move |book| {
                let gone = book.convention(&id).map(|gone| convention_entry(&gone).id);
                book.remove_convention(&id);
                gone.into_iter().collect()
            },
            None,
        )
        .await
    }

    /// A page of conventions by directory and id, and whether there are more.
    pub fn list(&self, listing: &Listing) -> (Vec<Arc<Convention>>, bool) {
        self.read(|book| book.list(listing))
    }

    /// Facts and conventions that are kept.
    pub fn len(&self) -> usize {
        self.read(Book::len)
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The folder of the code, if there is one.
    pub fn workspace(&self) -> Option<&Path> {
        self.inner.options.workspace.as_deref()
    }

    /// Reads a place; the field names it in a violation.
    pub fn directory(
        &self,
        field: &str,
        path: &str,
        violations: &mut Violations,
    ) -> Option<Directory> {
        match Directory::parse(path, self.workspace()) {
            Ok(directory) => Some(directory),
            Err(why) => {
                violations.add(field, why);
                None
            }
        }
    }

    pub(super) fn read<T>(&self, read: impl FnOnce(&Book) -> T) -> T {
        read(
            &self
                .inner
                .book
                .read()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    pub(super) fn index(&self) -> &Arc<Index> {
        &self.inner.index
    }

    pub(super) fn embedder(&self) -> &Embedder {
        &self.inner.embedder
    }

    pub(super) fn counter(&self) -> Counter {
        Counter::of(&self.inner.embedder)
    }

    pub(super) fn default_budget(&self) -> usize {
        self.inner.options.max_context_tokens
    }

    /// One change: refused where there is no room, written down, then done in the book, which
    /// says what leaves the index, and in the index.
    async fn change<Written>(
        &self,
        is_new: impl FnOnce(&Book) -> bool + Send + 'static,
        write: impl FnOnce(Store) -> Written + Send + 'static,
        apply: impl FnOnce(&mut Book) -> Vec<EntryId> + Send + 'static,
        entry: Option<Entry>,
    ) -> Result<(), KnowledgeError>
    where
        Written: Future<Output = Result<(), StoreError>> + Send + 'static,
    {
        let this = self.clone();
        // On its own task: the caller may go away, the change goes on to its end.
        let change = tokio::spawn(async move {
            let inner = &this.inner;
            let _order = inner.order.lock().await;
            let most = inner.options.max_items;
            if this.read(|book| is_new(book) && book.len() >= most) {
                return Err(KnowledgeError::Full(most));
            }
            if let Some(store) = &inner.store {
                write(store.clone()).await?;
            }
            let gone = {
                let mut book = inner.book.write().unwrap_or_else(PoisonError::into_inner);
                apply(&mut book)
            };
            let put = entry.map(|entry| Change::Put(Arc::new(entry)));
            let changes = gone.into_iter().map(Change::Remove).chain(put).collect();
            inner.index.apply(changes);
            inner.changed.notify_one();
            Ok(())
        });
        change.await.unwrap_or(Err(KnowledgeError::CutOff))
    }
}

fn fact_entry(fact: &Fact) -> Entry {
    entry(
        &format!("{FACT}{}", fact.id),
        &fact.subject,
        "",
        &fact.line(),
    )
}

/// A convention as routing's index takes it.
pub fn convention_entry(convention: &Convention) -> Entry {
    let source = format!("{CONVENTION}{}", convention.id);
    let place = match &convention.directory {
        Some(directory) => directory.to_string(),
        None => convention.language.clone(),
    };
    entry(&source, &place, &convention.language, &convention.content)
}

/// An item as routing's index takes it.
fn entry(source: &str, name: &str, hint: &str, text: &str) -> Entry {
    let cut = |text: &str| text[..text.floor_char_boundary(INDEXED_BYTES)].to_owned();
    Entry {
        source_hint: hint.to_owned(),
        responsibility: cut(text),
        ..Entry::new(Kind::Skill, source, &cut(name))
    }
}
