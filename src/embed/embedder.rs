//! The handle that everything else holds, and the threads behind it.
//!
//! One thread loads the model; then it makes `threads` workers. Each worker is a thread with a
//! rayon pool of one thread, in which the forward runs: candle's matrix product and softmax
//! split their work over the pool that they are called in, and a pool of one keeps a text on
//! one core however many texts run beside it. Dropping the last handle closes the queue, which ends them all.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, OnceLock},
    thread,
    time::Instant,
};

use tokio::sync::watch;

use super::{
    cache::QueryCache,
    encoder,
    queue::{Outcome, Queue, Taken},
    types::{EmbedConfig, EmbedError, Embedded, ModelInfo, ModelState, Priority, TextRole},
};

/// What the workers need of a model; a fake one stands in for it in tests.
pub(super) trait Encode: Send + Sync {
    /// The vector of one text. The same text must always give the same bits.
    fn encode(&self, role: TextRole, text: &str) -> Result<Embedded, String>;
    /// Tokens of the text alone.
    fn count_tokens(&self, text: &str) -> usize;
    /// The ids that the forward would read.
    fn token_ids(&self, role: TextRole, text: &str) -> Result<Vec<u32>, String>;
}

/// What loading gives.
pub(super) type Loaded = Result<(Arc<dyn Encode>, ModelInfo), String>;

/// A handle to the sentence encoder. Cheap to clone; the last one dropped ends its threads.
///
/// No method runs the model on the caller's thread.
#[derive(Clone)]
pub struct Embedder {
    handle: Arc<Handle>,
}

struct Handle {
    shared: Arc<Shared>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.queue.close();
    }
}

struct Shared {
    state: watch::Sender<ModelState>,
    encoder: OnceLock<Arc<dyn Encode>>,
    queue: Queue,
    cache: QueryCache,
}

impl Embedder {
    /// An embedder without a model: its state is `Disabled` for good.
    pub fn disabled() -> Self {
        Self::with_state(ModelState::Disabled, 1, 0)
    }

    /// Starts loading the model on a thread of its own, and returns at once. Whatever goes
    /// wrong becomes the state `Failed`.
    pub fn spawn(config: EmbedConfig) -> Self {
        let (threads, limit, entries) = (
            config.threads,
            config.max_queued_texts,
            config.cache_entries,
        );
        Self::spawn_with(threads, limit, entries, move || encoder::load(&config))
    }

    /// Like [`Embedder::spawn`], with any encoder.
    pub(super) fn spawn_with(
        threads: usize,
        max_queued_texts: usize,
        cache_entries: usize,
        load: impl FnOnce() -> Loaded + Send + 'static,
    ) -> Self {
        let embedder = Self::with_state(ModelState::Loading, max_queued_texts, cache_entries);
        let shared = Arc::clone(&embedder.handle.shared);
        let started = thread::Builder::new()
            .name("embed-load".into())
            .spawn(move || start(&shared, threads.max(1), load));
        if let Err(error) = started {
            embedder
                .handle
                .shared
                .fail(format!("cannot start the loading thread: {error}"));
        }
        embedder
    }

    fn with_state(state: ModelState, max_queued_texts: usize, cache_entries: usize) -> Self {
        let shared = Arc::new(Shared {
            state: watch::Sender::new(state),
            encoder: OnceLock::new(),
            queue: Queue::new(max_queued_texts),
            cache: QueryCache::new(cache_entries),
        });
        Self {
            handle: Arc::new(Handle { shared }),
        }
    }

    /// Where the encoder stands now.
    pub fn state(&self) -> ModelState {
        self.handle.shared.state.borrow().clone()
    }

    /// Waits until the encoder is no longer `Loading`, and gives its state then.
    pub async fn loaded(&self) -> ModelState {
        let mut states = self.handle.shared.state.subscribe();
        let settled = states
            .wait_for(|state| !matches!(state, ModelState::Loading))
            .await
            .map(|s| s.clone());
        // An error would mean that the sender is gone, but this handle keeps it.
        settled.unwrap_or_else(|_| self.state())
    }

    /// The vectors of `texts`, in their order. No texts, no vectors, whatever the state.
    ///
    /// Dropping the future takes every text that has not reached the model out of the queue.
    ///
    /// # Errors
    /// `Disabled`, `Loading` or `Failed` without a model; `Failed` also where one text cannot
    /// be encoded (then none is given). `Overloaded`, at once, where an interactive call finds
    /// no room for all its texts; so a call with more than
    /// [`max_queued_texts`](EmbedConfig::max_queued_texts) new texts never fits. `Closed`
    /// during shutdown.
    pub async fn embed(
        &self,
        role: TextRole,
        priority: Priority,
        texts: Vec<String>,
    ) -> Result<Vec<Embedded>, EmbedError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        match self.state() {
            ModelState::Disabled => return Err(EmbedError::Disabled),
            ModelState::Loading => return Err(EmbedError::Loading),
            ModelState::Failed(why) => return Err(EmbedError::Failed(why)),
            ModelState::Ready(_) => {}
        }
        let shared = &self.handle.shared;
        let mut found: Vec<Option<Embedded>> = texts
            .iter()
            .map(|text| shared.cache.get(role, text))
            .collect();
        let missing = texts
            .into_iter()
            .zip(&found)
            .filter_map(|(text, hit)| hit.is_none().then_some(text))
            .collect::<Vec<_>>();
        let waiting = match priority {
            Priority::Interactive => shared.queue.push_interactive(role, missing)?,
            Priority::Bulk => {
                let mut waiting = Vec::with_capacity(missing.len());
                for text in missing {
                    waiting.push(shared.queue.push_bulk(role, text).await?);
                }
                waiting
            }
        };
        let empty = found.iter_mut().filter(|hit| hit.is_none());
        for (place, outcome) in empty.zip(waiting) {
            // A channel closed without an outcome: the queue was closed.
            *place = Some(outcome.await.unwrap_or(Err(EmbedError::Closed))?);
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// The vector of `text` if it was computed lately; never waits.
    ///
    /// Only queries of at most 4 KiB are remembered.
    pub fn cached(&self, role: TextRole, text: &str) -> Option<Embedded> {
        self.handle.shared.cache.get(role, text)
    }

    /// Tokens of `text` by the model's own tokenizer, without prefix and special tokens;
    /// `None` while there is no tokenizer.
    ///
    /// Runs on the caller's thread, in time linear in the text: below 1 ms a kilobyte even in a
    /// development build. Texts of many kilobytes belong off the runtime's threads.
    pub fn count_tokens(&self, text: &str) -> Option<usize> {
        let encoder = self.handle.shared.encoder.get()?;
        catch_unwind(AssertUnwindSafe(|| encoder.count_tokens(text))).ok()
    }

    /// The ids that the model reads for `text`: with prefix and special tokens, cut at its
    /// limit. For comparing tokenizers; `None` while there is none, or if it refuses the text.
    ///
    /// Runs on the caller's thread, like [`Embedder::count_tokens`].
    pub fn token_ids(&self, role: TextRole, text: &str) -> Option<Vec<u32>> {
        let encoder = self.handle.shared.encoder.get()?;
        catch_unwind(AssertUnwindSafe(|| encoder.token_ids(role, text)))
            .ok()?
            .ok()
    }
}

impl Shared {
    fn fail(&self, why: String) {
        tracing::error!(reason = %why, "sentence encoder failed to load");
        self.state.send_replace(ModelState::Failed(why.into()));
    }

    // Encodes one text; a panic in the model fails this text only.
    fn encode(&self, encoder: &dyn Encode, pool: &rayon::ThreadPool, job: &Taken) -> Outcome {
        let (role, text) = (job.role, job.text.as_str());
        // The encoder is only read, so a panic leaves nothing half changed.
        let run = || pool.install(|| encoder.encode(role, text));
        let outcome = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            let why = panic_message(panic.as_ref());
            tracing::error!(
                reason = why,
                bytes = text.len(),
                "sentence encoder panicked"
            );
            Err(format!("the encoder panicked: {why}"))
        });
        let embedded = outcome.map_err(|why| EmbedError::Failed(why.into()))?;
        // Here rather than in the caller, so that a caller's retry after its deadline hits.
        self.cache.insert(role, text, &embedded);
        Ok(embedded)
    }

    fn work(&self, encoder: &dyn Encode, pool: &rayon::ThreadPool) {
        while let Some(job) = self.queue.next() {
            let outcome = self.encode(encoder, pool, &job);
            job.reply(outcome);
        }
    }
}

// The loading thread: load, make the workers, say so.
fn start(shared: &Arc<Shared>, threads: usize, load: impl FnOnce() -> Loaded + Send) {
    let began = Instant::now();
    let loaded = one_thread_pool("embed-load").and_then(|pool| {
        catch_unwind(AssertUnwindSafe(|| pool.install(load))).unwrap_or_else(|panic| {
            Err(format!(
                "loading panicked: {}",
                panic_message(panic.as_ref())
            ))
        })
    });
    let ready = loaded.and_then(|(encoder, info)| {
        for n in 0..threads {
            spawn_worker(shared, Arc::clone(&encoder), format!("embed-{n}"))?;
        }
        // Set here and nowhere else, so it is empty until now.
        let _ = shared.encoder.set(encoder);
        Ok(info)
    });
    match ready {
        Ok(info) => {
            tracing::info!(
                model = info.id,
                digest = info.digest,
                device = info.device,
                threads,
                took_ms = began.elapsed().as_millis(),
                "sentence encoder ready"
            );
            shared.state.send_replace(ModelState::Ready(Arc::new(info)));
        }
        Err(why) => {
            // Ends the workers that did start.
            shared.queue.close();
            shared.fail(why);
        }
    }
}

fn spawn_worker(
    shared: &Arc<Shared>,
    encoder: Arc<dyn Encode>,
    name: String,
) -> Result<(), String> {
    let pool = one_thread_pool(&name)?;
    let shared = Arc::clone(shared);
    thread::Builder::new()
        .name(name)
        .spawn(move || shared.work(encoder.as_ref(), &pool))
        .map(drop)
        .map_err(|error| format!("cannot start an encoder thread: {error}"))
}

fn one_thread_pool(name: &str) -> Result<rayon::ThreadPool, String> {
    let name = format!("{name}-run");
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .thread_name(move |_| name.clone())
        .build()
        .map_err(|error| format!("cannot start an encoder thread: {error}"))
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}
