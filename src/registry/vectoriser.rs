//! The one task that gives entries their vectors.
//!
//! Whoever changes the catalogue waits for the vectors of what it changed; these go before
//! the rest. The texts of an entry are looked up in the store, the encoder reads what is not
//! there, and the result is attached. When the encoder finishes loading, everything that is
//! in the index by then gets its vectors.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::hub::{self, Pool};
use super::projection::Projected;
use crate::embed::{EmbedError, Embedder, ModelInfo, ModelState, Priority, TextRole};
use crate::index::{EntryVectors, Index, IndexedEntry, Snapshot};
use crate::route::profile::Profile;
use crate::store::{Role, Store, VectorKey};

/// Entries whose vectors are made and published together.
const ENTRIES_PER_STEP: usize = 16;

/// Callers that may wait at once; more wait for room.
const WAITERS: usize = 256;

/// Vectors the store keeps beyond those in use: those of earlier texts and other models, so
/// that going back to them costs nothing.
const KEPT_VECTORS: usize = 200_000;

/// Where the catalogue stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vectorised {
    /// Entries that have no vectors.
    pub pending: usize,
}

/// Somebody who waits.
struct Waiter {
    /// For these entries; for all where there are none.
    entries: Vec<Arc<IndexedEntry>>,
    reply: oneshot::Sender<Vectorised>,
}

/// Handle of the task; it ends when the last handle goes.
pub(crate) struct Vectoriser {
    waiters: mpsc::Sender<Waiter>,
    index: Arc<Index>,
}

impl Vectoriser {
    pub(crate) fn spawn(index: Arc<Index>, embedder: Embedder, store: Option<Store>) -> Self {
        let (waiters, requests) = mpsc::channel(WAITERS);
        let task = Task {
            index: index.clone(),
            embedder,
            store,
            pool: None,
            refused: HashSet::new(),
            waiting: VecDeque::new(),
        };
        tokio::spawn(task.run(requests));
        Self { waiters, index }
    }

    /// Waits until these entries have vectors, or it is known that they get none.
    pub(super) async fn entries(&self, entries: Vec<Arc<IndexedEntry>>) -> Vectorised {
        if entries.is_empty() {
            return self.now();
        }
        self.wait(entries).await
    }

    /// Waits for all entries.
    pub(crate) async fn all(&self) -> Vectorised {
        self.wait(Vec::new()).await
    }

    async fn wait(&self, entries: Vec<Arc<IndexedEntry>>) -> Vectorised {
        let (reply, done) = oneshot::channel();
        if self.waiters.send(Waiter { entries, reply }).await.is_ok()
            && let Ok(vectorised) = done.await
        {
            return vectorised;
        }
        self.now()
    }

    fn now(&self) -> Vectorised {
        Vectorised {
            pending: self.index.snapshot().pending_vectors(),
        }
    }
}

struct Task {
    index: Arc<Index>,
    embedder: Embedder,
    store: Option<Store>,
    pool: Option<Arc<Pool>>,
    /// Hashes of entries that the encoder failed on: not tried again.
    refused: HashSet<[u8; 32]>,
    waiting: VecDeque<Waiter>,
}

impl Task {
    async fn run(mut self, mut requests: mpsc::Receiver<Waiter>) {
        let mut loading = true;
        loop {
            tokio::select! {
                request = requests.recv() => match request {
                    Some(waiter) => self.waiting.push_back(waiter),
                    None => return,
                },
                _ = self.embedder.loaded(), if loading => loading = false,
            }
            if let ModelState::Ready(model) = self.embedder.state() {
                self.make_all(&model, &mut requests).await;
                self.prune().await;
            }
            self.answer(|_| true);
        }
    }

    /// Makes vectors until no entry is without, taking in new waiters between the steps.
    async fn make_all(&mut self, model: &ModelInfo, requests: &mut mpsc::Receiver<Waiter>) {
        if let Err(error) = self.load_pool(model).await {
            tracing::error!(%error, "the neutral prompts have no vectors; entries wait");
            return;
        }
        loop {
            while let Ok(waiter) = requests.try_recv() {
                self.waiting.push_back(waiter);
            }
            let step = self.next_step();
            if step.is_empty() {
                return;
            }
            self.make(model, step).await;
            let snapshot = self.index.snapshot();
            let refused = std::mem::take(&mut self.refused);
            self.answer(|waiter| {
                !waiter.entries.is_empty()
                    && waiter
                        .entries
                        .iter()
                        .all(|entry| !is_due(&snapshot, &refused, entry))
            });
            self.refused = refused;
        }
    }

    /// The next entries without vectors: those somebody waits for before the rest.
    fn next_step(&self) -> Vec<Arc<IndexedEntry>> {
        let snapshot = self.index.snapshot();
        let waited_for = self.waiting.iter().flat_map(|waiter| &waiter.entries);
        let mut step: Vec<Arc<IndexedEntry>> = waited_for
            .filter(|entry| is_due(&snapshot, &self.refused, entry))
            .take(ENTRIES_PER_STEP)
            .cloned()
            .collect();
        if step.is_empty() {
            step.extend(
                snapshot
                    .entries()
                    .filter(|entry| is_due(&snapshot, &self.refused, entry))
                    .take(ENTRIES_PER_STEP)
                    .cloned(),
            );
        }
        step
    }

    async fn make(&mut self, model: &ModelInfo, step: Vec<Arc<IndexedEntry>>) {
        let mut made = Vec::new();
        match self.vectors_of(model, &step).await {
            Ok(vectors) => made.extend(step.into_iter().zip(vectors)),
            // One text that the encoder fails on must not keep the others waiting.
            Err(_) if step.len() > 1 => {
                for indexed in step {
                    match self.vectors_of(model, std::slice::from_ref(&indexed)).await {
                        Ok(mut vectors) => {
                            made.extend(vectors.pop().map(|vectors| (indexed, vectors)));
                        }
                        Err(error) => self.refuse(&indexed, &error),
                    }
                }
            }
            Err(error) => step.iter().for_each(|indexed| self.refuse(indexed, &error)),
        }
        self.index.attach(made);
    }

    /// Answers the waiters that are done.
    fn answer(&mut self, done: impl Fn(&Waiter) -> bool) {
        let pending = self.index.snapshot().pending_vectors();
        for waiter in std::mem::take(&mut self.waiting) {
            if done(&waiter) {
                // A waiter that has gone needs no answer.
                let _ = waiter.reply.send(Vectorised { pending });
            } else {
                self.waiting.push_back(waiter);
            }
        }
    }

    /// Forgets the vectors that were not used for longest.
    async fn prune(&self) {
        let Some(store) = &self.store else { return };
        let keep = self.index.snapshot().matrix().rows() + KEPT_VECTORS;
        if let Err(error) = store.prune_vectors(keep).await {
            tracing::warn!(%error, "old vectors could not be removed");
        }
    }

    fn refuse(&mut self, indexed: &IndexedEntry, error: &EmbedError) {
        tracing::warn!(entry = %indexed.entry.id, %error, "no vectors; routed by tokens alone");
        self.refused.insert(indexed.hash);
    }

    async fn load_pool(&mut self, model: &ModelInfo) -> Result<(), EmbedError> {
        if self.pool.is_none() {
            let prompts = hub::prompts();
            let texts = prompts.iter().map(|neutral| neutral.prompt.clone());
            let vectors = self
                .embed(model, TextRole::Neutral, texts.collect())
                .await?;
            self.pool = Some(Arc::new(Pool::new(&prompts, &vectors)));
        }
        Ok(())
    }

    async fn vectors_of(
        &self,
        model: &ModelInfo,
        step: &[Arc<IndexedEntry>],
    ) -> Result<Vec<Arc<EntryVectors>>, EmbedError> {
        let projection = Profile::of(&model.id).projection;
        let projected: Vec<Projected> = step
            .iter()
            .map(|indexed| Projected::new(&indexed.entry, projection))
            .collect();
        let texts = projected
            .iter()
            .flat_map(Projected::texts)
            .cloned()
            .collect();
        let vectors = self.embed(model, TextRole::Passage, texts).await?;
        let mut rest = vectors.as_slice();
        let mut made = Vec::with_capacity(step.len());
        for projected in &projected {
            let (own, after) = rest.split_at(projected.len().min(rest.len()));
            rest = after;
            let mut vectors = EntryVectors {
                rows: projected.rows(own, model.first),
                not_when: projected.not_when_of(own),
                ..EntryVectors::default()
            };
            if let Some(pool) = &self.pool {
                pool.measure(&mut vectors);
            }
            made.push(Arc::new(vectors));
        }
        Ok(made)
    }

    /// Vectors of texts, from the store where it has them; new ones are written down.
    async fn embed(
        &self,
        model: &ModelInfo,
        role: TextRole,
        texts: Vec<String>,
    ) -> Result<Vec<Arc<[f32]>>, EmbedError> {
        let role_in_store = match role {
            // Neutral prompts are the only ones that are stored.
            TextRole::Query | TextRole::Neutral => Role::Query,
            TextRole::Passage => Role::Passage,
        };
        let keys: Vec<VectorKey> = texts
            .iter()
            .map(|text| VectorKey::new(role_in_store, text))
            .collect();
        let mut known = match &self.store {
            Some(store) => store
                .load_vectors(&model.digest, keys.clone())
                .await
                .unwrap_or_else(|error| {
                    tracing::warn!(%error, "stored vectors cannot be read; made again");
                    Default::default()
                }),
            None => Default::default(),
        };
        let mut wanted: Vec<(VectorKey, String)> = Vec::new();
        let mut asked = HashSet::new();
        for (key, text) in keys.iter().zip(texts) {
            if !known.contains_key(key) && asked.insert(*key) {
                wanted.push((*key, text));
            }
        }
        if !wanted.is_empty() {
            let (new_keys, texts): (Vec<VectorKey>, Vec<String>) = wanted.into_iter().unzip();
            let made = self.embedder.embed(role, Priority::Bulk, texts).await?;
            let made: Vec<(VectorKey, Arc<[f32]>)> = new_keys
                .into_iter()
                .zip(made.into_iter().map(|made| made.vector))
                .collect();
            known.extend(made.iter().cloned());
            if let Some(store) = &self.store
                && let Err(error) = store.save_vectors(&model.digest, made).await
            {
                tracing::warn!(%error, "new vectors could not be written down");
            }
        }
        keys.iter()
            .map(|key| known.get(key).cloned().ok_or(EmbedError::Closed))
            .collect()
    }
}

/// Whether an entry is still in the index, has no vectors, and may get some.
fn is_due(snapshot: &Snapshot, refused: &HashSet<[u8; 32]>, entry: &IndexedEntry) -> bool {
    !refused.contains(&entry.hash)
        && snapshot
            .entry(entry.slot)
            .is_some_and(|current| current.hash == entry.hash && current.vectors.is_none())
}
