//! The starter catalogue with the real multilingual model: what a newcomer sees first.

use std::path::PathBuf;

use signalbox::app::Engine;
use signalbox::config::{Config, Overrides};
use signalbox::embed::ModelState;
use signalbox::route::{Mode, Outcome, Request, RouteResult};
use tokio::sync::{Mutex, MutexGuard};

/// The vectors are in one folder, which one process and one engine at a time may open.
static ONE: Mutex<()> = Mutex::const_new(());

struct Starter {
    engine: Engine,
    _one: MutexGuard<'static, ()>,
}

impl Starter {
    /// The engine as `signalbox serve` builds it. The vectors are kept in the target folder,
    /// so that they are made once for all tests (the clients' tests copy them).
    async fn open() -> Self {
        let one = ONE.lock().await;
        let mut config = Config::load(None, Overrides::new()).expect("defaults");
        let target = concat!(env!("CARGO_TARGET_TMPDIR"), "/starter-vectors");
        config.store.data_dir = Some(PathBuf::from(target));
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        config.model.dir = root.join("models/weights");
        let engine = Engine::build(&config, &[root.join("catalogs/starter")])
            .await
            .expect("builds");
        let state = engine.settled().await;
        assert!(
            matches!(state, ModelState::Ready(_)),
            "{state:?}; run `make models`"
        );
        Self { engine, _one: one }
    }

    async fn route(&self, prompt: &str) -> RouteResult {
        let result = self.engine.router.route(&Request::new(prompt)).await;
        assert_eq!(
            (result.mode, result.degraded.as_slice()),
            (Mode::Hybrid, &[][..])
        );
        result
    }

    async fn close(self) {
        self.engine.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_seeds_examples_come_first() {
    let starter = Starter::open().await;
    let mut wrong = Vec::new();
    for (prompt, first) in [
        (
            "Erstelle einen neuen Branch für das Login-Feature",
            &["git-branch"][..],
        ),
        ("Lies den Inhalt der package.json Datei", &["Read"]),
        (
            "Analysiere die Codebasis nach Fehlern",
            &["parity-audit", "summary", "code-review"],
        ),
        ("commit", &["git-commit"]),
        ("commit changes", &["git-commit"]),
        ("save code", &["git-commit"]),
        ("update repo", &["git-pull"]),
        ("帮我分析一下腾讯最近赚了多少钱", &["finance-tracker"]),
        ("查询腾讯财报", &["finance-tracker"]),
        ("这家公司的盈利能力如何", &["finance-tracker"]),
    ] {
        let result = starter.route(prompt).await;
        let name = result
            .matches
            .first()
            .map_or("nothing", |found| &found.entry.id.name);
        if !first.contains(&name) {
            wrong.push(format!(
                "{prompt}: {name}, confidence {}",
                result.decision.confidence
            ));
        }
    }
    let result = starter.route("hello world").await;
    if result.decision.outcome != Outcome::Abstained {
        wrong.push(format!("hello world: {:?}", result.decision));
    }
    starter.close().await;
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_start_embeds_nothing_and_answers_the_same() {
    let prompt = "Lege ein Ticket für den Absturz an";
    let mut results = Vec::new();
    for _ in 0..2 {
        let starter = Starter::open().await;
        results.push(starter.route(prompt).await);
        starter.close().await;
    }
    assert_eq!(results[0], results[1]);
    assert_eq!(
        results[0].model.as_deref(),
        Some("multilingual-e5-small+all-minilm-l6-v2")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_prompt_says_how_much_was_read() {
    let starter = Starter::open().await;
    let result = starter
        .route(&"make a branch for me please ".repeat(1_000))
        .await;
    starter.close().await;
    let truncated = result.truncated.expect("truncated");
    assert_eq!(truncated.used_tokens, 512);
    assert!(truncated.prompt_tokens > 5_000);
}

/// The set was written before the splitter; docs/plans.md has the figures. The floor is below
/// what is measured, so that it breaks when something does.
#[tokio::test(flavor = "multi_thread")]
async fn plans_come_out_exactly() {
    let starter = Starter::open().await;
    let text = include_str!("data/plans.jsonl");
    let prompts = signalbox::eval::plans::read_plans(text).expect("reads");
    assert_eq!(prompts.len(), 150);
    let names: std::collections::HashSet<String> = starter
        .engine
        .registry
        .index()
        .snapshot()
        .entries()
        .map(|indexed| indexed.entry.id.name.clone())
        .collect();
    let wanted = prompts
        .iter()
        .flat_map(|prompt| &prompt.steps)
        .flat_map(|step| step.split('|'));
    for name in wanted.filter(|name| *name != "MISSING") {
        assert!(names.contains(name), "{name} is no entry of the catalogue");
    }
    let report =
        signalbox::eval::plans::measure(&starter.engine.router, &prompts, Mode::Hybrid).await;
    assert!(report.all.exact >= 0.70, "{:?}", report.all);
    assert!(report.all.count >= 0.93, "{:?}", report.all);
    starter.close().await;
}
