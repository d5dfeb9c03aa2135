//! The shipped adapter is what its script makes: `models/adapters/train.py`, run anew on the data
//! list, ranks the prompts kept back as well as the file in the repository.
//!
//! Minutes long, so it is not part of a plain `cargo test`: `make adapter-test` runs it.

use std::path::Path;
use std::process::Command;

/// How far the two may be apart in nDCG@10.
const TOLERANCE: f64 = 0.01;

#[test]
#[ignore = "trains for minutes; run by make adapter-test"]
fn the_script_makes_an_adapter_as_good_as_the_shipped_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = tempfile::tempdir().expect("temporary folder");
    let (out, report) = (
        dir.path().join("own.safetensors"),
        dir.path().join("report.json"),
    );
    let status = Command::new("python3")
        .arg(root.join("models/adapters/train.py"))
        .args([Path::new("--out"), &out, Path::new("--report"), &report])
        .env("SIGNALBOX_BIN", env!("CARGO_BIN_EXE_signalbox"))
        .status()
        .expect("python3 runs");
    assert!(status.success(), "{status}");
    let report = std::fs::read_to_string(report).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let trained = number(&report["after"]);
    let base = number(&report["before"]);

    let shipped = number(&report["shipped"]);

    println!("nDCG@10: base {base:.4}, trained {trained:.4}, shipped {shipped:.4}");
    assert!(
        (trained - shipped).abs() <= TOLERANCE,
        "{trained} for {shipped}"
    );
    assert!(trained > base + 0.03, "{trained} for {base}");
}

fn number(scores: &serde_json::Value) -> f64 {
    scores["ndcg_at_10"].as_f64().expect("a figure")
}
