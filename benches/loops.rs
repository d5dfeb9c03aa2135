//! How long the loop guard takes: `cargo bench --bench loops`.
//!
//! Prints the time of one attempt on outputs of 1 MB (wanted: p99 within 5 ms) and the time to
//! rebuild a loop from 1,000 records (wanted: within 50 ms), folded alone and by a hub from the
//! journal's database.

use std::time::{Duration, Instant};

use signalbox::journal::event::Usage;
use signalbox::journal::{Journal, Options};
use signalbox::session::hub::{HubOptions, LoopHub, NewLoop, Reported};
use signalbox::session::{
    CallReport, LoopConfig, LoopRecord, LoopState, StepIteration, StepReport,
};
use signalbox::store::Store;

const ROUNDS: usize = 500;

fn main() {
    let config = LoopConfig {
        max_iterations: 1_000_000,
        step_iteration: Some(StepIteration {
            max_reattempts_per_step: 1_000,
            similarity_threshold: 0.99,
            ..StepIteration::default()
        }),
        ..LoopConfig::default()
    };
    let outputs = [0, 1].map(output);
    let mut state = LoopState::new(config.clone());
    let mut records = Vec::new();
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let started = Instant::now();
        let record = state
            .record_attempt("step", "make all", &outputs[round % 2])
            .expect("valid");
        let verdict = state.apply(round as u64 + 1, Duration::ZERO, &record);
        times.push(started.elapsed());
        assert!(verdict.attempt.is_some());
        records.push(serde_json::to_string(&record).expect("JSON"));
    }
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "attempt on two outputs of {:.2} MB: p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms",
        outputs[0].len() as f64 / 1e6,
        at(0.5),
        at(0.99),
        at(1.0),
    );
    let started = Instant::now();
    let mut state = LoopState::new(config);
    for (sequence, json) in (1..).zip(records.iter().cycle().take(1_000)) {
        let record: LoopRecord = serde_json::from_str(json).expect("reads");
        state.apply(sequence, Duration::ZERO, &record);
    }
    let rebuilt = started.elapsed().as_secs_f64() * 1e3;
    println!("rebuilding a loop from 1,000 such attempts: {rebuilt:.1} ms");
    let reports: Vec<String> = (0..1_000)
        .map(|n| {
            let call = CallReport {
                tool: "bash".into(),
                arguments: format!("cat src/file_{}.rs | head -n {}", n % 37, n % 91),
                output: format!("line {}", n % 53),
                ..CallReport::default()
            };
            let report = StepReport {
                calls: vec![call],
                ..StepReport::default()
            };
            serde_json::to_string(&LoopRecord::Step(report.record())).expect("JSON")
        })
        .collect();
    let started = Instant::now();
    let mut state = LoopState::new(LoopConfig::default());
    for (sequence, json) in (1..).zip(&reports) {
        let record: LoopRecord = serde_json::from_str(json).expect("reads");
        state.apply(sequence, Duration::ZERO, &record);
    }
    let rebuilt = started.elapsed().as_secs_f64() * 1e3;
    println!("rebuilding a loop from 1,000 reports: {rebuilt:.1} ms");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(reopen());
}

/// A log of 1 MB with times, ids and counts on every line; two of them differ everywhere.
fn output(seed: usize) -> String {
    (0..)
        .map(|n| {
            let n = n * 7 + seed * 13;
            format!(
                "2026-11-30T10:{:02}:{:02}.{:03}Z worker[{n}]: request {:08x} took {}.{:02} ms, \
                 {n} rows from db:5432 at src/a.rs:{}\n",
                n / 60 % 60,
                n % 60,
                n % 1000,
                n.wrapping_mul(2_654_435_761) as u32,
                n % 90,
                n % 100,
                n % 500,
            )
        })
        .scan(0, |size, line| {
            *size += line.len();
            (*size <= 1_000_000).then_some(line)
        })
        .collect()
}

/// Reports 1,000 steps to a hub over a database on disk, then opens it anew.
async fn reopen() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let open = async || {
        let store = Store::open(dir.path()).expect("a store");
        let journal = Journal::open(store.clone(), Options::default())
            .await
            .expect("a journal");
        (store, journal)
    };
    let (store, journal) = open().await;
    let hub = LoopHub::open(journal, HubOptions::default())
        .await
        .expect("a hub");
    let config = LoopConfig {
        max_iterations: 1_000_000,
        ..LoopConfig::default()
    };
    let new = NewLoop {
        loop_id: "a".into(),
        config,
        ..NewLoop::default()
    };
    hub.create(new).await.expect("created");
    let mut times = Vec::new();
    for n in 0..1_000 {
        let call = CallReport {
            tool: "bash".into(),
            arguments: format!("cat src/file_{n}.rs"),
            output: format!("line {n}"),
            ..CallReport::default()
        };
        let report = StepReport {
            calls: vec![call],
            ..StepReport::default()
        };
        let reported = Reported::Step(report, Usage::default());
        let started = Instant::now();
        hub.report("a", "", "", reported).await.expect("an answer");
        times.push(started.elapsed());
    }
    times.sort_unstable();
    println!(
        "one report, durable: p50 {:.2} ms, p99 {:.2} ms",
        times[500].as_secs_f64() * 1e3,
        times[990].as_secs_f64() * 1e3,
    );
    drop(hub);
    store.close().await;
    let (_store, journal) = open().await;
    let started = Instant::now();
    let hub = LoopHub::open(journal, HubOptions::default())
        .await
        .expect("a hub");
    let rebuilt = started.elapsed().as_secs_f64() * 1e3;
    assert_eq!(hub.get("a").await.expect("a view").iterations, 1_000);
    println!("a hub that opens a journal with 1,000 reports of one loop: {rebuilt:.1} ms");
}
