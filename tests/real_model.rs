//! The starter catalogue with the real multilingual model: what a newcomer sees first.

mod common;

use std::path::Path;
use std::process::Command;
use std::sync::Once;

use common::{signalbox, stderr, stdout};
use serde_json::Value;

/// Folder that keeps the starter catalogue's vectors, so that they are made once for all
/// tests (the clients' tests copy it).
fn vectors() -> &'static Path {
    static MADE: Once = Once::new();
    let dir = Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/starter-vectors"));
    MADE.call_once(|| {
        let output = starter(dir, "anything").output().expect("the binary runs");
        assert!(output.status.success(), "{}", stderr(&output));
    });
    dir
}

fn starter(vectors: &Path, prompt: &str) -> Command {
    let mut command = signalbox();
    command
        .args(["route", prompt, "--json", "--explain"])
        .args(["--catalog", "catalogs/starter", "--models-dir", "models/weights"])
        .arg("--data-dir")
        .arg(vectors);
    command
}

fn route(prompt: &str, extra: &[&str]) -> Value {
    let output = starter(vectors(), prompt).args(extra).output().expect("the binary runs");
    assert!(output.status.success(), "{}", stderr(&output));
    let value: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(value["degraded"], Value::Array(Vec::new()), "{}", stderr(&output));
    value
}

#[test]
fn the_seeds_examples_come_first() {
    let mut wrong = Vec::new();
    for (prompt, first) in [
        ("Erstelle einen neuen Branch für das Login-Feature", &["git-branch"][..]),
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
        let value = route(prompt, &[]);
        let name = value["matches"][0]["name"].as_str().unwrap_or("nothing").to_owned();
        if !first.contains(&name.as_str()) {
            wrong.push(format!("{prompt}: {name}, confidence {}", value["decision"]["confidence"]));
        }
    }
    let value = route("hello world", &[]);
    if value["decision"]["outcome"] != "abstained" {
        wrong.push(format!("hello world: {}", value["nearest"][0]));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_second_run_embeds_nothing_and_answers_the_same() {
    let first = route("Lege ein Ticket für den Absturz an", &[]);
    assert_eq!(first, route("Lege ein Ticket für den Absturz an", &[]));
    assert_eq!(first["model"], "multilingual-e5-small");
    assert_eq!(first["mode"], "hybrid");
}

#[test]
fn a_long_prompt_says_how_much_was_read() {
    let value = route(&"make a branch for me please ".repeat(1_000), &[]);
    let truncated = &value["input_truncated"];
    assert_eq!(truncated["used_tokens"], 512);
    assert!(truncated["prompt_tokens"].as_i64().expect("a number") > 5_000);
}
