//! How long hydration and recall take: `cargo bench --bench hydrate`.
//!
//! Prints the time to scan a prompt of 200 KB (wanted: within 10 ms) and texts made to be slow,
//! the time that ten local references take beyond the slowest of them (wanted: within 20 ms),
//! and the time to recall from 50,000 conventions (wanted: p99 within 10 ms beyond the
//! embedding).

use std::sync::Arc;
use std::time::{Duration, Instant};

use signalbox::embed::Embedder;
use signalbox::hydrate::file::Files;
use signalbox::hydrate::job::{Job, ToolAnswer, ToolCall};
use signalbox::hydrate::{BUILTIN_FILE, Extraction, Hydrator, Options};
use signalbox::index::{Change, EntryVectors, Index, Row, RowRole};
use signalbox::knowledge::keep::{self, Knowledge};
use signalbox::knowledge::search::{self, QueryVector};
use signalbox::knowledge::{Convention, Directory, Recall};
use signalbox::session::config::PreHydration;
use tokio::sync::mpsc;

const ROUNDS: usize = 300;
const CONVENTIONS: usize = 50_000;
const DIMENSIONS: usize = 384;

fn main() {
    extraction();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(hydration());
    runtime.block_on(recall());
    search();
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    let (p50, p99, max) = (at(0.5), at(0.99), at(1.0));
    println!("{what}: p50 {p50:.2} ms, p99 {p99:.2} ms, max {max:.2} ms");
}

fn timed<T>(rounds: usize, mut work: impl FnMut() -> T) -> Vec<Duration> {
    (0..rounds)
        .map(|_| {
            let started = Instant::now();
            std::hint::black_box(work());
            started.elapsed()
        })
        .collect()
}

fn extraction() {
    let prose = "The gateway answers 503 since PR #55, as src/gateway/limits.rs:42 says; read \
        https://example.org/docs/a_(b)?q=1 and issue #42 before you change how it keeps within \
        its budget. Explain what the tests in ./tests/limits.rs cover, what they leave out, and \
        how acme/app#9 was solved. 请看文档/设计.md。 Then propose a change, small enough to be \
        reviewed in one sitting, and say what you would measure to know that it works.\n";
    let mut prompt = prose.repeat(200_000 / prose.len() + 1);
    prompt.truncate(prompt.floor_char_boundary(200_000));
    let extraction = Extraction::default();
    report(
        "a prompt of 200 KB",
        timed(ROUNDS, || extraction.references(&prompt)),
    );
    for piece in [
        "https://a.com/(((",
        "a/",
        "](",
        "#1",
        "a.",
        "@a.b",
        "www.",
        "a://",
        "PR #",
        "/a.b/",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        let times = timed(20, || extraction.references(&text));
        report(&format!("200 KB of {piece:?}"), times);
    }
}

/// Ten references, of which the orchestrator's tool takes 100 ms for one.
async fn hydration() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut text = "#1".to_owned();
    for n in 0..9 {
        let name = format!("file_{n}.rs");
        let code = format!("fn file_{n}() {{ println!(\"{n}\"); }}\n").repeat(200);
        std::fs::write(dir.path().join(&name), code).expect("written");
        text.push_str(&format!(" ./{name}"));
    }
    let options = Options {
        files: Files {
            roots: vec![dir.path().to_owned()],
            max_bytes: 1 << 20,
        },
        ..Options::default()
    };
    let hydrator = Hydrator::new(options, Embedder::disabled());
    let tools = [("file", BUILTIN_FILE), ("issue", "issues")];
    let tools = tools.map(|(kind, tool)| (kind.to_owned(), tool.to_owned()));
    let job = Job {
        text,
        config: PreHydration {
            resolution_tools: tools.into_iter().collect(),
            ..PreHydration::default()
        },
        ..Job::default()
    };
    let mut times = Vec::new();
    for _ in 0..50 {
        let (calls, mut waiting) = mpsc::channel::<ToolCall>(16);
        let slow = tokio::spawn(async move {
            while let Some(call) = waiting.recv().await {
                tokio::time::sleep(Duration::from_millis(100)).await;
                let _ = call.reply.send(ToolAnswer::Content("issue one".into()));
            }
        });
        let started = Instant::now();
        let hydrated = hydrator
            .hydrate(job.clone(), "", calls)
            .await
            .expect("valid");
        times.push(started.elapsed());
        assert_eq!(hydrated.resolved(), 10);
        slow.await.expect("ends");
    }
    report("ten references, the slowest takes 100 ms", times);
}

fn convention(n: usize) -> Convention {
    let directory = Directory::parse(
        &format!("src/m{}/p{}/d{}", n % 20, n % 400, n % 4_000),
        None,
    );
    let topics = [
        "errors", "logging", "naming", "tests", "queries", "retries", "limits",
    ];
    let content = format!(
        "Rule {n}: {} in module {} are kept apart from {} and reviewed by team {}.",
        topics[n % 7],
        n % 20,
        topics[n % 5],
        n % 31,
    );
    Convention::new(
        &format!("c{n}"),
        directory.ok(),
        ["rust", "go", ""][n % 3],
        &content,
    )
}

/// Without a model: the whole call, as it is answered.
async fn recall() {
    let options = keep::Options::default();
    let knowledge = Knowledge::open(None, Embedder::disabled(), options);
    let knowledge = knowledge.await.expect("opens");
    // Fewer than in the index below: each change publishes a snapshot of its own.
    let started = Instant::now();
    for n in 0..CONVENTIONS / 10 {
        knowledge
            .upsert_convention(convention(n))
            .await
            .expect("stored");
    }
    let each = started.elapsed().as_secs_f64() * 1e3 / (CONVENTIONS / 10) as f64;
    println!("storing a convention: {each:.2} ms");
    let mut scoped = Vec::new();
    let mut plain = Vec::new();
    for n in 0..ROUNDS {
        let recall = Recall {
            query: "rust errors and retries".into(),
            directory: Some(format!("src/m{}/p{}/d{}/x", n % 20, n % 400, n % 4_000)),
            scope: Some("conventions".into()),
            ..Recall::default()
        };
        let started = Instant::now();
        let recalled = knowledge.recall(&recall).await.expect("recalled");
        scoped.push(started.elapsed());
        assert!(!recalled.items.is_empty());
        let recall = Recall {
            query: format!("errors of module {} reviewed by team {}", n % 20, n % 31),
            ..Recall::default()
        };
        let started = Instant::now();
        knowledge.recall(&recall).await.expect("recalled");
        plain.push(started.elapsed());
    }
    report("conventions of a directory, 5,000 stored", scoped);
    report("a search by words, 5,000 stored", plain);
}

/// The index with vectors, as a query's vector meets it.
fn search() {
    let index = Index::default();
    let entries: Vec<Change> = (0..CONVENTIONS)
        .map(|n| Change::Put(Arc::new(keep::convention_entry(&convention(n)))))
        .collect();
    let applied = index.apply(entries);
    let vectors = applied.created.into_iter().enumerate().map(|(n, indexed)| {
        let rows = vec![Row {
            role: RowRole::Text,
            vector: vector(n as u64 + 1),
        }];
        let vectors = EntryVectors {
            rows,
            ..EntryVectors::default()
        };
        (indexed, Arc::new(vectors))
    });
    index.attach(vectors.collect());
    let snapshot = index.snapshot();
    for model in [None, Some("multilingual-e5-small")] {
        let times = (0..ROUNDS).map(|n| {
            let query = format!("errors of module {} reviewed by team {}", n % 20, n % 31);
            let vector = model.map(|model| QueryVector {
                language: None,
                vector: vector(n as u64 + 7),
                model: model.to_owned(),
            });
            let started = Instant::now();
            let found = search::best(&snapshot, &query, vector.as_ref(), 5, &|_| true);
            let took = started.elapsed();
            assert!(!found.is_empty() || model.is_some());
            took
        });
        let what = if model.is_some() {
            "words and vectors"
        } else {
            "words alone"
        };
        report(&format!("a search of 50,000 by {what}"), times.collect());
    }
}

/// A unit vector that only depends on its number.
fn vector(seed: u64) -> Arc<[f32]> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let numbers: Vec<f32> = (0..DIMENSIONS)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as f32 / (1u32 << 24) as f32 - 0.5
        })
        .collect();
    let length = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
    numbers.iter().map(|x| x / length).collect()
}
