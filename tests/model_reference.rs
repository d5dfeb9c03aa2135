//! The real models against vectors and token ids that owe nothing to this crate: PyTorch's for
//! all-minilm-l6-v2, another engine's for multilingual-e5-small (see `tests/reference/`).
//!
//! Needs the weights: `make models`.

#![allow(clippy::unwrap_used, reason = "a test file")]

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::{Duration, Instant},
};

use serde::Deserialize;
use signalbox::embed::{
    DeviceChoice, EmbedConfig, Embedded, Embedder, ModelInfo, ModelState, Priority, TextRole,
};

#[derive(Deserialize)]
struct Reference {
    model: String,
    variant: String,
    max_tokens: usize,
    cases: Vec<Case>,
    #[serde(default)]
    tokens_only: Vec<Tokens>,
}

#[derive(Deserialize)]
struct Case {
    prefix: String,
    text: String,
    ids: Vec<u32>,
    /// Base64 of little-endian f32.
    vector: String,
}

#[derive(Deserialize)]
struct Tokens {
    text: String,
    /// Without any prefix.
    ids: Vec<u32>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn reference(name: &str) -> Reference {
    let path: PathBuf = root().join("tests/reference").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn spawn(model: &str, adapter: bool) -> Embedder {
    spawn_with(model, adapter, Vec::new())
}

fn spawn_with(model: &str, adapter: bool, adapters: Vec<PathBuf>) -> Embedder {
    Embedder::spawn(EmbedConfig {
        model: model.into(),
        dir: root().join("models/weights"),
        device: DeviceChoice::Cpu,
        threads: 2,
        max_queued_texts: 256,
        cache_entries: 0,
        adapter,
        adapters,
        english: None,
    })
}

async fn info(embedder: &Embedder) -> ModelInfo {
    match embedder.loaded().await {
        ModelState::Ready(info) => ModelInfo::clone(&info),
        state => panic!("the weights are needed: run `make models` first ({state:?})"),
    }
}

// Loaded once for all tests of this file.
fn minilm() -> &'static Embedder {
    static MODEL: OnceLock<Embedder> = OnceLock::new();
    MODEL.get_or_init(|| spawn("all-minilm-l6-v2", true))
}

fn e5() -> &'static Embedder {
    static MODEL: OnceLock<Embedder> = OnceLock::new();
    MODEL.get_or_init(|| spawn("multilingual-e5-small", false))
}

fn tuned() -> &'static Embedder {
    static MODEL: OnceLock<Embedder> = OnceLock::new();
    MODEL.get_or_init(|| spawn("multilingual-e5-small", true))
}

async fn embed(embedder: &Embedder, role: TextRole, text: &str) -> Embedded {
    let texts = vec![text.to_owned()];
    let mut found = embedder
        .embed(role, Priority::Interactive, texts)
        .await
        .unwrap();
    found.pop().unwrap()
}

fn decode_base64(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text
        .bytes()
        .filter(|byte| *byte != b'=')
        .map(|byte| match byte {
            b'A'..=b'Z' => u32::from(byte - b'A'),
            b'a'..=b'z' => u32::from(byte - b'a') + 26,
            b'0'..=b'9' => u32::from(byte - b'0') + 52,
            b'+' => 62,
            b'/' => 63,
            _ => panic!("{byte} is no base64 digit"),
        })
        .collect();
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let bits = group
            .iter()
            .enumerate()
            .fold(0, |bits, (at, d)| bits | (d << (18 - 6 * at)));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}

fn vector(case: &Case) -> Vec<f32> {
    let bytes = decode_base64(&case.vector);
    bytes
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

// Both have length 1.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(x, y)| f64::from(*x) * f64::from(*y))
        .sum()
}

// Compares every case; returns how many there were and the least cosine.
async fn compare(embedder: &Embedder, reference: &Reference, least: f64) -> (usize, f64) {
    let info = info(embedder).await;
    assert_eq!(
        (&info.id, info.max_tokens),
        (&reference.model, reference.max_tokens)
    );
    let mut lowest = f64::INFINITY;
    for case in &reference.cases {
        let role = match case.prefix.as_str() {
            "passage: " => TextRole::Passage,
            "query: " | "" => TextRole::Query,
            other => panic!("unknown prefix {other:?}"),
        };
        assert_eq!(
            embedder.token_ids(role, &case.text).unwrap(),
            case.ids,
            "{:?}",
            case.text
        );
        let found = embed(embedder, role, &case.text).await;
        assert_eq!(found.used_tokens as usize, case.ids.len());
        let cosine = cosine(&found.vector, &vector(case));
        assert!(
            cosine >= least,
            "{cosine} for {}{:?}",
            case.prefix,
            case.text
        );
        lowest = lowest.min(cosine);
    }
    println!(
        "{} {}: least cosine {lowest:.7}",
        reference.model, reference.variant
    );
    (reference.cases.len(), lowest)
}

#[tokio::test]
async fn minilm_agrees_with_pytorch() {
    let (cases, _) = compare(minilm(), &reference("minilm.json"), 0.9999).await;
    assert!(cases >= 50, "{cases} cases");
}

#[tokio::test]
async fn e5_agrees_with_its_source_engine() {
    let reference = reference("e5.json");
    for prefix in ["query: ", "passage: "] {
        assert!(
            reference.cases.iter().any(|case| case.prefix == prefix),
            "no {prefix:?}"
        );
    }
    // The source engine rounds activations to int8.
    let (cases, _) = compare(e5(), &reference, 0.9998).await;
    assert!(cases >= 50, "{cases} cases");
}

#[tokio::test]
async fn e5_reads_rare_texts_as_the_reference_tokenizer_does() {
    let reference = reference("e5.json");
    assert!(!reference.tokens_only.is_empty());
    info(e5()).await;
    // Without <s>, the one token of "a", and </s>.
    let prefix = e5().token_ids(TextRole::Query, "a").unwrap().len() - 3;
    for Tokens { text, ids } in &reference.tokens_only {
        let found = e5().token_ids(TextRole::Query, text).unwrap();
        // The reference has no prefix, so of a text at the limit ours ends that much earlier.
        let until = ids.len().min(reference.max_tokens - prefix) - 1;
        assert_eq!(
            found[1 + prefix..found.len() - 1],
            ids[1..until],
            "{text:?}"
        );
    }
}

/// Dot products of a query with two passages by PyTorch, on weights merged by PyTorch.
const TUNED: [(&str, f64); 2] = [
    ("play: Play a song or an album", 0.835_598_96),
    ("weather: Show the forecast for a place", 0.674_504_22),
];

#[tokio::test]
async fn the_adapter_agrees_with_pytorch() {
    let (with, without) = (info(tuned()).await, info(e5()).await);
    assert_ne!(with.digest, without.digest);
    let prompt = "put on some music";
    let query = embed(tuned(), TextRole::Query, prompt).await;
    for (passage, wanted) in TUNED {
        let found = embed(tuned(), TextRole::Passage, passage).await;
        let dot = cosine(&query.vector, &found.vector);
        assert!(
            (dot - wanted).abs() < 1e-5,
            "{dot} for {passage:?}, expected {wanted}"
        );
    }
}

#[tokio::test]
async fn a_short_prompt_is_not_padded() {
    info(minilm()).await;
    let found = embed(minilm(), TextRole::Query, "ls -la").await;
    assert_eq!((found.tokens, found.used_tokens), (6, 6));
    assert_eq!(minilm().count_tokens("ls -la"), Some(4));
}

#[tokio::test]
async fn a_long_text_is_cut_at_the_models_limit_and_counted_whole() {
    // Besides the words: special tokens, and e5's "query: " of three tokens.
    for (embedder, around) in [(minilm(), 2), (e5(), 2 + 3)] {
        let info = info(embedder).await;
        let text = "list all files ".repeat(1_667);
        // Without the last space, which e5 counts as a token.
        let text = text.trim_end();
        let words = 3 * 1_667;
        let found = embed(embedder, TextRole::Query, text).await;
        assert_eq!(found.tokens, words + around, "{}", info.id);
        assert_eq!(found.used_tokens as usize, info.max_tokens, "{}", info.id);
        assert_eq!(
            embedder.count_tokens(text),
            Some(words as usize),
            "{}",
            info.id
        );
        // What lies beyond the limit changes nothing.
        let longer = embed(embedder, TextRole::Query, &format!("{text} {text}")).await;
        assert_eq!(longer.vector, found.vector, "{}", info.id);
    }
}

#[tokio::test]
async fn hostile_texts_give_unit_vectors_in_bounded_time() {
    let texts = [
        String::new(),
        " ".repeat(200_000),
        "x".repeat(100_000),
        "漢".repeat(100_000),
        "\u{301}".repeat(50_000),
        "a\u{200d}".repeat(50_000),
        "\0".repeat(100_000),
        "[SEP]</s><mask>[PAD]".repeat(5_000),
        "!?;,".repeat(25_000),
        "👩‍👩‍👧‍👦".repeat(4_000),
    ];
    for embedder in [minilm(), e5()] {
        let info = info(embedder).await;
        for text in &texts {
            let began = Instant::now();
            let found = embed(embedder, TextRole::Passage, text).await;
            let (took, start) = (began.elapsed(), text.chars().take(8).collect::<String>());
            assert!(took < Duration::from_secs(20), "{took:?} for {start:?}");
            assert!(found.used_tokens as usize <= info.max_tokens);
            let length: f64 = cosine(&found.vector, &found.vector);
            assert!((length - 1.0).abs() < 1e-5, "{length} for {start:?}");
        }
    }
}

#[tokio::test]
async fn the_same_text_gives_the_same_bits_whatever_else_is_queued() {
    for embedder in [minilm(), e5()] {
        info(embedder).await;
        let prompt = "summarise the open pull requests of last week";
        let alone = embed(embedder, TextRole::Query, prompt).await;
        let others: Vec<String> = (0..24)
            .map(|n| format!("entry {n} {}", "and more ".repeat(n)))
            .collect();
        let bulk = {
            let embedder = embedder.clone();
            tokio::spawn(async move {
                embedder
                    .embed(TextRole::Passage, Priority::Bulk, others)
                    .await
            })
        };
        for _ in 0..8 {
            tokio::task::yield_now().await;
            let again = embed(embedder, TextRole::Query, prompt).await;
            let bits = |e: &Embedded| e.vector.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&again), bits(&alone));
        }
        bulk.await.unwrap().unwrap();
    }
}

// candle has a pool of its own, of spinning threads; nothing here may start it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_long_text_stays_on_its_workers_thread() {
    info(tuned()).await;
    embed(tuned(), TextRole::Passage, &"list all files ".repeat(200)).await;
    let threads: Vec<String> = fs::read_dir("/proc/self/task")
        .unwrap()
        .filter_map(|task| fs::read_to_string(task.unwrap().path().join("comm")).ok())
        .collect();
    assert!(
        threads.iter().any(|name| name.starts_with("embed-0")),
        "{threads:?}"
    );
    assert!(
        !threads.iter().any(|name| name.starts_with("candle")),
        "{threads:?}"
    );
}

// An adapter file for the last layer's query of MiniLM.
fn write_adapter(path: &Path, model_digest: &str) {
    let numbers = |count: usize| -> Vec<f32> { (0..count).map(|n| n as f32 / 1e3).collect() };
    let tensor = |shape: (usize, usize)| {
        let numbers = numbers(shape.0 * shape.1);
        candle_core::Tensor::from_vec(numbers, shape, &candle_core::Device::Cpu).unwrap()
    };
    let name = "encoder.layer.5.attention.self.query";
    let factors = HashMap::from([
        (format!("{name}.lora_A"), tensor((2, 384))),
        (format!("{name}.lora_B"), tensor((384, 2))),
    ]);
    let key = serde_json::json!({
        "format": 1, "model": "all-minilm-l6-v2", "model_digest": model_digest, "rank": 2,
        "alpha": 32.0, "strength": 0.5, "catalog_revision": "r", "seed": 1, "steps": 1, "rows": 50
    });
    let metadata = HashMap::from([("signalbox.adapter".to_owned(), key.to_string())]);
    fs::write(
        path,
        safetensors::serialize(&factors, Some(metadata)).unwrap(),
    )
    .unwrap();
}

#[tokio::test]
async fn an_adapter_of_ones_own_changes_vectors_and_digest_and_a_foreign_one_is_refused() {
    let plain = info(minilm()).await;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("own.safetensors");
    write_adapter(&path, &plain.digest);
    let own = spawn_with(&plain.id, true, vec![path.clone()]);
    assert_ne!(info(&own).await.digest, plain.digest);
    let text = "list files";
    let changed = embed(&own, TextRole::Query, text).await;
    assert_ne!(changed, embed(minilm(), TextRole::Query, text).await);

    // Merged a second time it meets a model that it was not trained on.
    for adapters in [vec![path.clone(), path.clone()], vec![dir.path().into()]] {
        let state = spawn_with(&plain.id, true, adapters).loaded().await;
        let ModelState::Failed(why) = state else {
            panic!("{state:?}")
        };
        let wanted = "trained on a model of digest";
        assert!(why.contains(wanted) || why.contains("plain file"), "{why}");
        assert!(why.contains(dir.path().to_str().unwrap()), "{why}");
    }
}
