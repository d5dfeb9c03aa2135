//! Faults that people reported of routers, each as a test with the real model.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use proptest::prelude::*;
use prost::Message;
use signalbox::app::embedder;
use signalbox::catalog::{Entry, Kind};
use signalbox::config::{Config, Overrides};
use signalbox::embed::{Embedder, ModelState};
use signalbox::index::Index;
use signalbox::registry::Registry;
use signalbox::route::{Mode, Outcome, Request, RouteResult, Router, Settings, Warning};
use signalbox::store::Store;

/// Encoders by model id; one of each serves all tests of this file.
fn encoder(model: &str) -> Embedder {
    static BOTH: OnceLock<Embedder> = OnceLock::new();
    static ENGLISH: OnceLock<Embedder> = OnceLock::new();
    let cell = match model {
        "all-minilm-l6-v2" => &ENGLISH,
        _ => &BOTH,
    };
    let start = || {
        let mut config = Config::load(None, Overrides::new()).expect("defaults");
        config.model.id = model.into();
        config.model.dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("models/weights");
        embedder(&config.model)
    };
    cell.get_or_init(start).clone()
}

const DEFAULT: &str = "multilingual-e5-small";

/// A router over entries that are registered in the order given, in chunks of `step`.
async fn router(model: &str, entries: Vec<Entry>, step: usize) -> (Router, Registry) {
    let encoder = encoder(model);
    let state = encoder.loaded().await;
    assert!(
        matches!(state, ModelState::Ready(_)),
        "{state:?}; run `make models`"
    );
    let index = Arc::new(Index::default());
    // Only the vectors in it are used again: a registry reads entries when it is told to.
    static VECTORS: OnceLock<Store> = OnceLock::new();
    let vectors = VECTORS.get_or_init(|| Store::in_memory().expect("opens"));
    let store = Some(vectors.clone());
    let registry = Registry::new(index.clone(), encoder.clone(), store, 1_000);
    for chunk in entries.chunks(step) {
        let summary = registry
            .upsert("entries", chunk.to_vec())
            .await
            .expect("upserts");
        assert_eq!(summary.vectors_pending, 0);
    }
    (Router::new(index, encoder, Settings::default()), registry)
}

async fn route(model: &str, entries: Vec<Entry>, prompt: &str) -> RouteResult {
    let (router, _registry) = router(model, entries, 100).await;
    router.route(&Request::new(prompt)).await
}

fn entry(kind: Kind, name: &str, description: &str) -> Entry {
    let mut entry = Entry::new(kind, "test", name);
    entry.responsibility = description.into();
    entry
}

fn skill(name: &str, description: &str) -> Entry {
    entry(Kind::Skill, name, description)
}

fn first(result: &RouteResult) -> &str {
    result
        .matches
        .first()
        .map_or("nothing", |found| &found.entry.id.name)
}

// Case 1.
#[tokio::test(flavor = "multi_thread")]
async fn a_trigger_inside_a_word_does_not_fire() {
    let mut git = skill(
        "git-ops",
        "Branches, commits, merges and tags of a repository",
    );
    git.triggers = vec!["git".into()];
    let mut uv = skill("uv-env", "Python environments and their packages");
    uv.triggers = vec!["uv".into()];
    for prompt in [
        "Is the digital survey legitimate?",
        "Did the juvenile leave the louvre?",
    ] {
        let result = route(DEFAULT, vec![git.clone(), uv.clone()], prompt).await;
        assert_eq!(result.decision.outcome, Outcome::Abstained, "{prompt}");
    }
}

fn chinese_skills() -> Vec<Entry> {
    [
        ("weather-report", "查询城市天气预报和空气质量"),
        ("recipe-helper", "推荐菜谱并生成购物清单"),
        ("resume-writer", "撰写和润色个人简历"),
        ("travel-planner", "规划旅行路线、预订酒店和机票"),
        ("code-review", "检查代码质量并给出修改建议"),
        ("meeting-notes", "整理会议记录和待办事项"),
        ("translate-text", "在中文和其他语言之间翻译文本"),
        ("image-editor", "裁剪、调色和压缩图片"),
        ("fitness-coach", "制定健身和饮食计划"),
        ("law-advisor", "解读合同条款和法律法规"),
        (
            "finance-tracker",
            "跟踪上市公司的财务数据：营收、利润、财报和股价",
        ),
    ]
    .map(|(name, description)| skill(name, description))
    .to_vec()
}

// Case 4.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_in_other_words_finds_its_skill_in_chinese() {
    let prompt = "帮我分析一下腾讯最近赚了多少钱";
    let result = route(DEFAULT, chinese_skills(), prompt).await;
    assert_eq!(first(&result), "finance-tracker", "{:?}", result.decision);
    assert_ne!(result.decision.outcome, Outcome::Abstained);
    assert_eq!(result.language.expect("known").as_str(), "zh");

    let result = route("all-minilm-l6-v2", chinese_skills(), prompt).await;
    assert!(
        matches!(result.warnings[..], [Warning::LanguageUnsupported { .. }]),
        "{:?}",
        result.warnings
    );
    assert_eq!(result.decision.outcome, Outcome::Abstained);
}

// Case 5; that vectors agree with the reference is tested in model_reference.rs.
#[tokio::test(flavor = "multi_thread")]
async fn a_phrase_far_into_a_prompt_counts_and_a_cut_is_told() {
    let entries = vec![
        skill("invoice-export", "Export invoices as PDF files"),
        skill("parrot-care", "Feed and train parrots"),
        skill("chess-coach", "Analyse games of chess"),
    ];
    let filler = "we talked about this and that and went on for quite a while ".repeat(12);
    let prompt = format!("{filler} now please export the invoices as a PDF. {filler}");
    let result = route(DEFAULT, entries.clone(), &prompt).await;
    assert_eq!(first(&result), "invoice-export", "{:?}", result.nearest);
    assert_eq!(result.truncated, None);
    let result = route(DEFAULT, entries, &"many words ".repeat(2_500)).await;
    let truncated = result.truncated.expect("told");
    assert_eq!(truncated.used_tokens, 512);
    assert!(truncated.prompt_tokens >= 5_000, "{truncated:?}");
}

// Case 8. What is refused as invalid is tested over the wire in serve.rs.
#[tokio::test(flavor = "multi_thread")]
async fn prompts_that_ask_for_nothing_are_never_accepted() {
    let (router, _registry) = router(DEFAULT, chinese_skills(), 100).await;
    for prompt in [
        "meaning of life",
        "🙂",
        "a\u{0}b",
        "\u{202e}مرحبا hello שלום\u{202c}",
        "???",
        "x",
        &"lorem ipsum ".repeat(5_000),
    ] {
        let result = router.route(&Request::new(prompt)).await;
        assert_ne!(result.decision.outcome, Outcome::Accepted, "{prompt:.20}");
        assert!(result.decision.confidence.is_finite());
    }
}

// Case 7: tools that are alike in all but their names, and kinds and sources that only break
// ties.
fn lookalikes() -> Vec<Entry> {
    let mut entries = Vec::new();
    for (kind, source, name) in [
        (Kind::Tool, "b", "search"),
        (Kind::Tool, "a", "search"),
        (Kind::Command, "d", "search"),
        (Kind::Skill, "c", "search"),
        (Kind::Tool, "a", "find"),
        (Kind::Tool, "a", "lookup"),
    ] {
        let mut entry = Entry::new(kind, source, name);
        entry.responsibility = "Look something up in the company's documents".into();
        entry.examples = vec![
            "find the travel policy".into(),
            "look up the holidays".into(),
        ];
        entry.use_when = vec!["The user asks what a document says".into()];
        entries.push(entry);
    }
    entries.push(entry(Kind::Tool, "send_mail", "Send a mail to a person"));
    entries.push(entry(Kind::Command, "deploy", "Deploy the service"));
    entries
}

/// The whole answer as it goes over the wire.
fn bytes(result: RouteResult) -> Vec<u8> {
    signalbox::grpc::response_of(result, String::new(), true).encode_to_vec()
}

async fn answers(entries: Vec<Entry>, step: usize) -> Vec<Vec<u8>> {
    let (router, _registry) = router(DEFAULT, entries, step).await;
    let mut answers = Vec::new();
    for mode in [Mode::Lexical, Mode::Semantic, Mode::Hybrid] {
        for prompt in [
            "search the documents",
            "Was steht in der Reiserichtlinie?",
            "发邮件",
        ] {
            let mut request = Request::new(prompt);
            request.mode = mode;
            answers.push(bytes(router.route(&request).await));
        }
    }
    answers
}

fn runtime() -> &'static tokio::runtime::Runtime {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Runtime::new().expect("starts"))
}

proptest! {
    // Each case registers eight entries and routes nine prompts.
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_registration_changes_no_byte(
        entries in Just(lookalikes()).prop_shuffle(),
        step in 1usize..9,
    ) {
        let wanted = runtime().block_on(answers(lookalikes(), 100));
        let found = runtime().block_on(answers(entries, step));
        prop_assert!(wanted == found, "another order or another start gives other bytes");
    }
}

#[test]
fn equal_scores_are_ordered_by_kind_name_and_source() {
    let result = runtime().block_on(async {
        let (router, _registry) = router(DEFAULT, lookalikes(), 1).await;
        let mut request = Request::new("search");
        request.mode = Mode::Lexical;
        router.route(&request).await
    });
    let order: Vec<(Kind, &str, &str)> = result
        .matches
        .iter()
        .take(4)
        .map(|found| {
            (
                found.entry.kind,
                &*found.entry.id.name,
                &*found.entry.id.source,
            )
        })
        .collect();
    assert_eq!(
        order,
        [
            (Kind::Command, "search", "d"),
            (Kind::Tool, "search", "a"),
            (Kind::Tool, "search", "b"),
            (Kind::Skill, "search", "c"),
        ]
    );
}
