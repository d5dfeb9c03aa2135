//! The one task that gives entries their vectors.
//!
//! Whoever changes the catalogue asks for a pass. A pass takes every entry without vectors,
//! looks its texts up in the store, has the encoder read the rest, and attaches the result.
//! When the encoder finishes loading, a pass starts by itself.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::hub::{self, Pool};
use super::projection::Projected;
use crate::embed::{EmbedError, Embedder, ModelInfo, ModelState, Priority, TextRole};
use crate::index::{EntryVectors, Index, IndexedEntry};
use crate::route::profile::Profile;
use crate::store::{Role, Store, VectorKey};

/// Entries whose vectors are made and published together.
const ENTRIES_PER_STEP: usize = 16;

/// Passes that may be waited for at once; more wait for room.
const WAITERS: usize = 256;

/// Where the catalogue stands after a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vectorised {
    /// Entries that have no vectors.
    pub pending: usize,
}

/// Handle of the task; it ends when the last handle goes.
pub(super) struct Vectoriser {
    passes: mpsc::Sender<oneshot::Sender<Vectorised>>,
    index: Arc<Index>,
}

impl Vectoriser {
    pub(super) fn spawn(index: Arc<Index>, embedder: Embedder, store: Option<Store>) -> Self {
        let (passes, requests) = mpsc::channel(WAITERS);
        let task = Task {
            index: index.clone(),
            embedder,
            store,
            pool: None,
            refused: HashSet::new(),
        };
        tokio::spawn(task.run(requests));
        Self { passes, index }
    }

    /// Asks for a pass over everything that is in the index by now, and waits for its end.
    pub(super) async fn pass(&self) -> Vectorised {
        let (reply, done) = oneshot::channel();
        if self.passes.send(reply).await.is_ok()
            && let Ok(vectorised) = done.await
        {
            return vectorised;
        }
        Vectorised { pending: self.index.snapshot().pending_vectors() }
    }
}

struct Task {
    index: Arc<Index>,
    embedder: Embedder,
    store: Option<Store>,
    pool: Option<Arc<Pool>>,
    /// Hashes of entries that the encoder failed on: not tried again.
    refused: HashSet<[u8; 32]>,
}

impl Task {
    async fn run(mut self, mut requests: mpsc::Receiver<oneshot::Sender<Vectorised>>) {
        let mut loading = true;
        loop {
            let mut waiters = Vec::new();
            tokio::select! {
                request = requests.recv() => match request {
                    Some(waiter) => waiters.push(waiter),
                    None => return,
                },
                _ = self.embedder.loaded(), if loading => loading = false,
            }
            while let Ok(waiter) = requests.try_recv() {
                waiters.push(waiter);
            }
            if let ModelState::Ready(model) = self.embedder.state() {
                self.pass(&model).await;
            }
            let pending = self.index.snapshot().pending_vectors();
            for waiter in waiters {
                // A waiter that has gone needs no answer.
                let _ = waiter.send(Vectorised { pending });
            }
        }
    }

    async fn pass(&mut self, model: &ModelInfo) {
        if let Err(error) = self.load_pool(model).await {
            tracing::error!(%error, "the neutral prompts have no vectors; entries wait");
            return;
        }
        loop {
            let snapshot = self.index.snapshot();
            let step: Vec<Arc<IndexedEntry>> = snapshot
                .entries()
                .filter(|indexed| indexed.vectors.is_none())
                .filter(|indexed| !self.refused.contains(&indexed.hash))
                .take(ENTRIES_PER_STEP)
                .cloned()
                .collect();
            if step.is_empty() {
                return;
            }
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
    }

    fn refuse(&mut self, indexed: &IndexedEntry, error: &EmbedError) {
        tracing::warn!(entry = %indexed.entry.id, %error, "no vectors; routed by tokens alone");
        self.refused.insert(indexed.hash);
    }

    async fn load_pool(&mut self, model: &ModelInfo) -> Result<(), EmbedError> {
        if self.pool.is_none() {
            let prompts = hub::prompts();
            let vectors = self.embed(model, TextRole::Query, prompts.clone()).await?;
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
        let projected: Vec<Projected> =
            step.iter().map(|indexed| Projected::new(&indexed.entry, projection)).collect();
        let texts = projected.iter().flat_map(Projected::texts).cloned().collect();
        let vectors = self.embed(model, TextRole::Passage, texts).await?;
        let mut rest = vectors.as_slice();
        let mut made = Vec::with_capacity(step.len());
        for projected in &projected {
            let (own, after) = rest.split_at(projected.len().min(rest.len()));
            rest = after;
            let mut vectors =
                EntryVectors { rows: projected.rows(own), ..EntryVectors::default() };
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
        let kind = match role {
            TextRole::Query => Role::Query,
            TextRole::Passage => Role::Passage,
        };
        let keys: Vec<VectorKey> = texts.iter().map(|text| VectorKey::new(kind, text)).collect();
        let mut known = match &self.store {
            Some(store) => {
                store.load_vectors(&model.digest, keys.clone()).await.unwrap_or_else(|error| {
                    tracing::warn!(%error, "stored vectors cannot be read; made again");
                    Default::default()
                })
            }
            None => Default::default(),
        };
        let mut wanted: Vec<(VectorKey, String)> = Vec::new();
        let mut asked = HashSet::new();
        for (key, text) in keys.iter().zip(texts) {
            if !known.contains_key(key) && asked.insert(key.clone()) {
                wanted.push((key.clone(), text));
            }
        }
        if !wanted.is_empty() {
            let (new_keys, texts): (Vec<VectorKey>, Vec<String>) = wanted.into_iter().unzip();
            let made = self.embedder.embed(role, Priority::Bulk, texts).await?;
            let made: Vec<(VectorKey, Arc<[f32]>)> =
                new_keys.into_iter().zip(made.into_iter().map(|made| made.vector)).collect();
            known.extend(made.iter().cloned());
            if let Some(store) = &self.store
                && let Err(error) = store.save_vectors(&model.digest, made).await
            {
                tracing::warn!(%error, "new vectors could not be written down");
            }
        }
        keys.iter().map(|key| known.get(key).cloned().ok_or(EmbedError::Closed)).collect()
    }
}
