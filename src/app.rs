//! The composition root: builds everything, serves, and stops in order.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use tokio_util::sync::CancellationToken;

use crate::admin::{Admin, Shown};
use crate::catalog::import::{self, Imported, Severity};
use crate::config::{Config, ModelConfig};
use crate::embed::{Embedder, ModelState};
use crate::grpc::{self, Domain, Doors, Edge, HealthDoor};
use crate::hydrate::Hydrator;
use crate::index::Index;
use crate::journal::Journal;
use crate::knowledge::Knowledge;
use crate::lifecycle::{Blocker, Readiness, Signals, exit_on_second};
use crate::preferences::PreferenceBook;
use crate::registry::Registry;
use crate::route::{Fitted, MAX_FILE_BYTES, Router};
use crate::session::LoopHub;
use crate::store::Store;
use crate::telemetry::{self, Observed, Telemetry};

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
        let mut router = Router::new(index, embedder.clone(), config.route.settings());
        if let Some(path) = &config.route.calibration {
            router = router.with_fitted(read_calibration(path)?);
        }
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
            ModelState::Ready(model) => {
                tracing::info!(
                    model = model.id,
                    device = model.device,
                    without_vectors = vectorised.pending,
                    "model loaded"
                );
                if let Err(stale) = self.router.check_fitted(model) {
                    tracing::warn!("{}", stale.detail);
                }
            }
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

    /// Facts and conventions, in the database or, without one, in memory.
    async fn knowledge(&self, config: &Config) -> anyhow::Result<Knowledge> {
        let (store, embedder) = (self.store.clone(), self.embedder.clone());
        Ok(Knowledge::open(store, embedder, config.knowledge.options()).await?)
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
pub async fn serve(
    config: Config,
    telemetry: Telemetry,
    announce: impl Fn(String),
) -> anyhow::Result<()> {
    let mut signals = Signals::listen().context("cannot listen for signals")?;
    let readiness = Arc::new(Readiness::new(blockers(&config.model)));
    // Bound before anything slow: an address in use is known at once. Served only when the
    // catalogue is loaded; until then connections wait in the listener's queue.
    let doors = Doors::bind(config.server.tcp(), config.server.uds.as_deref()).await?;
    let addresses = doors.addresses();
    // Served from now on: probes are answered while the catalogue is read.
    if let Some(admin) = Admin::bind(config.admin.door()).await? {
        if let Some(address) = admin.address() {
            announce(format!("admin on {address}"));
        }
        tokio::spawn(admin.serve(Shown {
            health: HealthDoor::open(&readiness).await,
            readiness: readiness.clone(),
            telemetry: telemetry.clone(),
        }));
    }
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
    let knowledge = engine.knowledge(&config).await?;

    let draining = CancellationToken::new();
    let domain = Domain {
        router: engine.router.clone(),
        registry: engine.registry.clone(),
        preferences: engine.preferences.clone(),
        embedder: engine.embedder.clone(),
        journal: journal.clone(),
        loops: loops.clone(),
        hydrator: Hydrator::new(config.hydrate.options(), engine.embedder.clone()),
        knowledge,
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
    let counts = edge.clone();
    telemetry::observe(
        &telemetry.meter(),
        &Observed {
            index: engine.registry.index().clone(),
            embedder: engine.embedder.clone(),
            loops,
            journal,
            readiness: readiness.clone(),
            data_dir: config.store.data_dir.clone(),
            calls: Arc::new(move || counts.counts()),
        },
    );
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
    telemetry.stop().await;
    Ok(())
}

/// The encoder of a configuration; begins to load it.
pub fn embedder(config: &ModelConfig) -> Embedder {
    if !config.is_enabled() {
        return Embedder::disabled();
    }
    Embedder::spawn(config.embed_config())
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

/// Reads a calibration that `signalbox calibrate` wrote.
fn read_calibration(path: &Path) -> anyhow::Result<Fitted> {
    let shown = path.display();
    let read = || -> anyhow::Result<Fitted> {
        let size = std::fs::metadata(path)?.len();
        anyhow::ensure!(
            size <= MAX_FILE_BYTES,
            "{size} bytes exceed the limit of {MAX_FILE_BYTES}"
        );
        Fitted::parse(&std::fs::read_to_string(path)?).map_err(anyhow::Error::msg)
    };
    read().with_context(|| format!("route.calibration: cannot use {shown}"))
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
