//! The composition root: builds everything, serves, and stops in order.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use tokio_util::sync::CancellationToken;

use crate::catalog::import::{self, Imported, Severity};
use crate::config::{Config, ModelConfig};
use crate::embed::{EmbedConfig, Embedder, ModelState};
use crate::grpc::{self, Domain, Doors, Edge};
use crate::index::Index;
use crate::journal::Journal;
use crate::lifecycle::{Blocker, Readiness, Signals, exit_on_second};
use crate::preferences::PreferenceBook;
use crate::registry::Registry;
use crate::route::Router;
use crate::session::LoopHub;
use crate::store::Store;

/// How long the database may take to close after the drain.
const CLOSE: Duration = Duration::from_secs(5);

/// The parts that every command needs that routes: catalogue, encoder, router.
pub struct Engine {
    /// The live catalogue.
    pub registry: Registry,
    /// The encoder.
    pub embedder: Embedder,
    /// Routes prompts.
    pub router: Router,
    /// What tenants and users prefer.
    pub preferences: PreferenceBook,
    store: Option<Store>,
}

impl Engine {
    /// Opens the store, begins to load the encoder, and fills the catalogue from `paths`.
    /// The entries can be routed by their tokens when it returns.
    pub async fn build(config: &Config, paths: &[PathBuf]) -> anyhow::Result<Self> {
        let store = match &config.store.data_dir {
            Some(dir) => Some(Store::open(dir)?),
            None => None,
        };
        Self::over(config, read_catalogue(paths).await?, store).await
    }

    /// The same over entries that are read already.
    pub async fn over(
        config: &Config,
        imported: Imported,
        store: Option<Store>,
    ) -> anyhow::Result<Self> {
        let embedder = embedder(&config.model);
        let index = Arc::new(Index::default());
        let max_entries = config.limits.max_entries;
        let registry = Registry::new(index.clone(), embedder.clone(), store.clone(), max_entries);
        let entries = registry.fill(imported.entries).await?;
        let revision = index.snapshot().revision();
        tracing::info!(entries, revision, "catalogue loaded");
        let preferences = PreferenceBook::open(store.clone()).await?;
        let router = Router::new(index, embedder.clone(), config.route.settings());
        Ok(Self {
            registry,
            embedder,
            router,
            preferences,
            store,
        })
    }

    /// Waits until the encoder is loaded and the entries have vectors, or it is known that
    /// they will not. Returns the encoder's state.
    pub async fn settled(&self) -> ModelState {
        let state = self.embedder.loaded().await;
        let vectorised = self.registry.vectorised().await;
        match &state {
            ModelState::Ready(model) => tracing::info!(
                model = model.id,
                device = model.device,
                without_vectors = vectorised.pending,
                "model loaded"
            ),
            ModelState::Failed(why) => {
                tracing::error!(%why, "no model: prompts are routed by tokens alone");
            }
            ModelState::Disabled | ModelState::Loading => {}
        }
        state
    }

    /// The journal, in the database or, without one, in memory.
    async fn journal(&self, config: &Config) -> anyhow::Result<Journal> {
        let store = match &self.store {
            Some(store) => store.clone(),
            None => Store::in_memory()?,
        };
        Ok(Journal::open(store, config.journal.options()).await?)
    }

    /// Writes down what is left.
    pub async fn close(&self) {
        if let Some(store) = &self.store
            && tokio::time::timeout(CLOSE, store.close()).await.is_err()
        {
            tracing::error!("the database did not close in time");
        }
    }
}

/// Serves until a signal comes, then drains. `announce` is told each line meant for the
/// person or script that started the server.
pub async fn serve(config: Config, announce: impl Fn(String)) -> anyhow::Result<()> {
    let mut signals = Signals::listen().context("cannot listen for signals")?;
    let readiness = Arc::new(Readiness::new(blockers(&config.model)));
    // Bound before anything slow: an address in use is known at once. Served only when the
    // catalogue is loaded; until then connections wait in the listener's queue.
    let doors = Doors::bind(config.server.tcp(), config.server.uds.as_deref()).await?;
    let addresses = doors.addresses();
    let engine = Engine::build(&config, &config.catalog.paths).await?;
    if config.store.data_dir.is_none() {
        tracing::warn!("no store.data_dir: changes are kept in memory and lost at the end");
    }

    readiness.clear(Blocker::Catalogue);
    let journal = engine.journal(&config).await?;
    // Loops that were open go on before anybody can ask for them.
    let loops = LoopHub::open(journal.clone(), config.loops.options()).await?;
    tracing::info!(open = loops.len(), "loops rebuilt");
    readiness.clear(Blocker::Journal);

    let draining = CancellationToken::new();
    let domain = Domain {
        router: engine.router.clone(),
        registry: engine.registry.clone(),
        preferences: engine.preferences.clone(),
        embedder: engine.embedder.clone(),
        journal,
        loops,
        journal_routes: config.journal.routes,
        heartbeat: config.journal.heartbeat(),
        readiness: readiness.clone(),
        limits: Arc::new(config.limits.clone()),
        durable: config.store.data_dir.is_some(),
        draining: draining.clone(),
    };
    let routes = grpc::routes(domain)
        .await
        .context("reflection cannot be built")?;
    let edge = Edge::new(routes, &config.limits, draining.clone());
    let grace = config.server.drain();
    let mut server = tokio::spawn(grpc::serve(doors, edge, draining.clone(), grace));
    for address in addresses {
        announce(format!("listening on {address}"));
    }

    let settle = async {
        let state = engine.settled().await;
        if config.model.required && !matches!(state, ModelState::Ready(_)) {
            tracing::error!("model.required is set: the server does not become ready");
            return;
        }
        readiness.clear(Blocker::Model);
        let snapshot = engine.registry.index().snapshot();
        announce(format!(
            "ready: {} entries, {}",
            snapshot.len(),
            describe(&state)
        ));
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = signals.next() => {}
        () = settle => signals.next().await,
        ended = &mut server => {
            return Err(anyhow!("the server ended by itself: {ended:?}"));
        }
    }

    tracing::info!(seconds = grace.as_secs(), "draining");
    exit_on_second(signals);
    readiness.drain();
    draining.cancel();
    match server.await {
        Ok(true) => tracing::info!("drained"),
        Ok(false) => tracing::warn!("calls were still in flight at the deadline"),
        Err(error) => tracing::error!(%error, "the server failed while draining"),
    }
    engine.close().await;
    Ok(())
}

/// The encoder of a configuration; begins to load it.
pub fn embedder(config: &ModelConfig) -> Embedder {
    if !config.is_enabled() {
        return Embedder::disabled();
    }
    let threads = match config.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    Embedder::spawn(EmbedConfig {
        model: config.id.clone(),
        dir: config.dir.clone(),
        device: config.device,
        threads,
        max_queued_texts: config.max_queued,
        cache_entries: config.cache_entries,
        adapter: config.adapter,
    })
}

/// Reads catalogue files; what is wrong with single skills is logged, a broken file ends it.
pub async fn read_catalogue(paths: &[PathBuf]) -> anyhow::Result<Imported> {
    let paths = paths.to_vec();
    let imported = tokio::task::spawn_blocking(move || import::load_paths(&paths))
        .await
        .context("reading the catalogue was cut off")??;
    for diagnostic in &imported.diagnostics {
        let (code, origin) = (diagnostic.code, &diagnostic.origin);
        let message = &diagnostic.message;
        match diagnostic.severity {
            Severity::Info => tracing::debug!(code, origin, "{message}"),
            Severity::Warning => tracing::warn!(code, origin, "{message}"),
            Severity::Error => tracing::error!(code, origin, "{message}"),
        }
    }
    Ok(imported)
}

fn blockers(model: &ModelConfig) -> Vec<Blocker> {
    match model.is_enabled() {
        true => vec![Blocker::Catalogue, Blocker::Journal, Blocker::Model],
        false => vec![Blocker::Catalogue, Blocker::Journal],
    }
}

fn describe(state: &ModelState) -> String {
    match state {
        ModelState::Ready(model) => format!("model {} on {}", model.id, model.device),
        ModelState::Failed(why) => format!("degraded: {why}"),
        ModelState::Disabled | ModelState::Loading => "routing by tokens alone".to_owned(),
    }
}
