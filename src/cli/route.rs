//! `signalbox route`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use super::args::RouteArgs;
use super::{Failure, client, print_result, render};
use crate::app::{Engine, read_catalogue};
use crate::config::Config;
use crate::embed::ModelState;
use crate::error::Violations;
use crate::grpc::pb;
use crate::grpc::pb::route_service_client::RouteServiceClient;
use crate::grpc::response_of;
use crate::journal::routes::decided;
use crate::params::Clock;
use crate::preferences::Owner;
use crate::route::{KindFilter, Mode, Request, RouteResult};
use crate::store::Store;

/// How long a person waits without being told for what.
const SILENCE: Duration = Duration::from_secs(2);

pub(super) async fn run(args: &RouteArgs, config: Config) -> Result<ExitCode, Failure> {
    let request = request(args, &config)?;
    let (explain, plan) = (args.explain, args.plan);
    let response = match &args.server {
        Some(server) => ask(server, &request, args.explain).await?,
        None => route_here(config, &request, args.explain).await?,
    };
    print_result(&match args.json {
        true => render::json(&args.prompt, &response, explain),
        false if plan => render::plan(&response, explain),
        false => render::text(&response, args.limit, explain),
    })
}

fn request(args: &RouteArgs, config: &Config) -> Result<Request, Failure> {
    let mut request = Request::new(&args.prompt);
    request.limit = args.limit;
    request.min_score = args.min_score;
    request.mode = args.mode.into();
    request.coverage = args.coverage;
    request.kinds = KindFilter {
        no_commands: args.no_commands,
        no_tools: args.no_tools,
        no_skills: args.no_skills,
    };
    request.plan = args.plan;
    request.explain = args.explain;
    request.conversation.turns.clone_from(&args.context);
    request.owner = Owner {
        tenant: args.tenant.clone(),
        user: args.user.clone(),
    };
    if args.now.is_some() || args.time_zone.is_some() {
        let mut clock = Clock::system();
        clock.now = args.now.unwrap_or(clock.now);
        clock.zone = args.time_zone.clone().unwrap_or(clock.zone);
        request.clock = Some(clock);
    }
    let mut violations = Violations::default();
    request.check("", config.limits.max_prompt_bytes, &mut violations);
    violations
        .into_result()
        .map_err(|error| Failure::Usage(error.into()))?;
    Ok(request)
}

pub(super) async fn ask(
    server: &str,
    request: &Request,
    full: bool,
) -> anyhow::Result<pb::RouteResponse> {
    let mode = match request.mode {
        Mode::Lexical => pb::RouteMode::Lexical,
        Mode::Semantic => pb::RouteMode::Semantic,
        Mode::Hybrid => pb::RouteMode::Hybrid,
    };
    let view = if full {
        pb::RouteView::Full
    } else {
        pb::RouteView::Basic
    };
    let message = pb::RouteRequest {
        prompt: request.prompt.clone(),
        limit: i32::try_from(request.limit).ok(),
        min_score: request.min_score,
        mode: mode.into(),
        no_commands: request.kinds.no_commands,
        no_tools: request.kinds.no_tools,
        no_skills: request.kinds.no_skills,
        view: view.into(),
        context: (!request.conversation.is_empty()).then(|| pb::ConversationContext {
            turns: request
                .conversation
                .turns
                .iter()
                .map(|text| pb::ConversationTurn {
                    text: text.clone(),
                    ..pb::ConversationTurn::default()
                })
                .collect(),
            summary: request.conversation.summary.clone(),
        }),
        tenant: request.owner.tenant.clone(),
        user: request.owner.user.clone(),
        plan: request.plan,
        now: request.clock.as_ref().map(|clock| prost_types::Timestamp {
            seconds: clock.now.as_second(),
            nanos: clock.now.subsec_nanosecond(),
        }),
        time_zone: request
            .clock
            .as_ref()
            .and_then(|clock| clock.zone.iana_name())
            .unwrap_or_default()
            .to_owned(),
        coverage: request.coverage,
    };
    let mut client = RouteServiceClient::new(client::connect(server).await?);
    let response = client
        .route(message)
        .await
        .map_err(|status| anyhow::anyhow!("{}: {}", status.code(), status.message()))?;
    Ok(response.into_inner())
}

async fn route_here(
    mut config: Config,
    request: &Request,
    full: bool,
) -> anyhow::Result<pb::RouteResponse> {
    if request.mode == Mode::Lexical {
        config.model.id = "none".into();
    }
    let store = open_store(&config)?;
    let engine = Engine::over(&config, read_catalogue(&config.catalog.paths).await?, store).await?;
    let mut settled = std::pin::pin!(engine.settled());
    if tokio::time::timeout(SILENCE, &mut settled).await.is_err() {
        eprintln!("signalbox: the model reads the catalogue; later calls reuse its vectors");
        settled.await;
    }
    let mut request = request.clone();
    request.preferences = engine.preferences.effective(&request.owner);
    let request = &request;
    let result = engine.router.route(request).await;
    engine.close().await;
    Ok(answer(&engine, request, result, full))
}

/// The answer as a server would give it.
pub(super) fn answer(
    engine: &Engine,
    request: &Request,
    result: RouteResult,
    full: bool,
) -> pb::RouteResponse {
    let digest = match engine.embedder.state() {
        ModelState::Ready(model) => model.digest.clone(),
        ModelState::Disabled | ModelState::Loading | ModelState::Failed(_) => String::new(),
    };
    let route_id = decided(request, &result, &digest).route_id;
    response_of(result, route_id, full)
}

/// The configured database; without one, a cache for vectors, so that the second call does
/// not embed the catalogue again. The cache is a convenience: where it cannot be used (no
/// home, in use by another call) everything is computed.
pub(super) fn open_store(config: &Config) -> anyhow::Result<Option<Store>> {
    if let Some(dir) = &config.store.data_dir {
        return Ok(Some(Store::open(dir)?));
    }
    if !config.model.is_enabled() {
        return Ok(None);
    }
    Ok(cache_dir().and_then(|dir| Store::open(&dir).ok()))
}

/// `signalbox` in the user's cache folder (XDG base directories).
fn cache_dir() -> Option<PathBuf> {
    let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let base = path("XDG_CACHE_HOME")
        .filter(|dir| dir.is_absolute())
        .or_else(|| Some(path("HOME")?.join(".cache")))?;
    Some(base.join("signalbox"))
}
