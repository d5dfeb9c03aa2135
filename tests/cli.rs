//! The command line as scripts see it.

mod common;

use common::{run, stderr, stdout};

const SMALL: &str = "\
- name: git-branch
  source_hint: git
  responsibility: Create and manage branches
- name: git-commit
  source_hint: git
  responsibility: Record changes
";

fn catalogue(text: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("temporary folder");
    let file = dir.path().join("small.yaml");
    std::fs::write(&file, text).expect("written");
    let path = file.to_str().expect("path").to_owned();
    (dir, path)
}

#[test]
fn route_prints_numbered_lines_with_kind_name_score_and_tokens() {
    let (_dir, path) = catalogue(SMALL);
    let output = run(&[
        "route",
        "create new git branch",
        "--mode",
        "lexical",
        "--catalog",
        &path,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let line = text
        .lines()
        .find(|line| line.contains("1. "))
        .expect("a first line");
    for part in [
        "[COMMAND]",
        "git-branch",
        "score",
        "lexical 0.65",
        "create, git, branch",
    ] {
        assert!(line.contains(part), "{part} is not in {line}");
    }
}

#[test]
fn json_has_the_best_match_first() {
    let (_dir, path) = catalogue(SMALL);
    let args = [
        "route",
        "create new git branch",
        "--json",
        "--mode",
        "lexical",
        "--catalog",
        &path,
    ];
    let value: serde_json::Value = serde_json::from_str(&stdout(&run(&args))).expect("JSON");
    assert_eq!(value["matches"][0]["name"], "git-branch");
    assert_eq!(value["matches"][0]["kind"], "command");
    assert_ne!(value["decision"]["outcome"], "abstained");
}

#[test]
fn no_match_says_so_and_exits_with_0() {
    let (_dir, path) = catalogue(SMALL);
    let output = run(&[
        "route",
        "hello world",
        "--mode",
        "lexical",
        "--catalog",
        &path,
    ]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        stdout(&output).starts_with("No match"),
        "{}",
        stdout(&output)
    );
    let output = run(&[
        "route",
        "/git-brnch",
        "--mode",
        "lexical",
        "--catalog",
        &path,
    ]);
    assert!(
        stdout(&output).contains("/git-branch"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn wrong_flags_and_prompts_exit_with_64() {
    let (_dir, path) = catalogue(SMALL);
    for args in [
        &["route"][..],
        &["route", "x", "--limit", "-1"],
        &["route", "x", "--limit", "many"],
        &["route", "x", "--min-score", "2"],
        &["route", "x", "--mode", "psychic"],
        &["route", "x", "--nonsense"],
        &["route", "  ", "--mode", "lexical", "--catalog", &path],
        &["nothing"],
        &["serve", "--listen", "nowhere"],
        &["check-config", "--config", "/nowhere.toml"],
        &["models", "pull", "no-such-model"],
    ] {
        let output = run(args);
        assert_eq!(
            output.status.code(),
            Some(64),
            "{args:?}: {}",
            stderr(&output)
        );
        assert!(!stderr(&output).is_empty());
    }
}

#[test]
fn a_broken_catalogue_is_named_with_its_line() {
    let (_dir, path) = catalogue("- name: a\n- name: b\n  responsibility: [\n");
    let output = run(&["route", "x", "--mode", "lexical", "--catalog", &path]);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(
        text.contains("small.yaml:3") || text.contains("small.yaml:4"),
        "{text}"
    );

    let (_dir, path) = catalogue("- name: same\n- name: same\n");
    let output = run(&["route", "x", "--mode", "lexical", "--catalog", &path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("same"), "{}", stderr(&output));
}

#[test]
fn the_configuration_is_checked_and_dumped_without_secrets() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let file = dir.path().join("signalbox.toml");
    std::fs::write(&file, "[hub]\ntoken = \"hunter2\"\n").expect("written");
    let file = file.to_str().expect("path");
    let output = run(&["check-config", "--dump", "--config", file]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    assert!(
        text.contains("[redacted]") && !text.contains("hunter2"),
        "{text}"
    );

    let output = common::signalbox()
        .args(["check-config", "--dump"])
        .env("SIGNALBOX_SERVER__LISTEN", "127.0.0.1:7")
        .output()
        .expect("runs");
    assert!(
        stdout(&output).contains("127.0.0.1:7"),
        "{}",
        stderr(&output)
    );
    let output = common::signalbox()
        .args(["check-config"])
        .env("SIGNALBOX_SERVER__LISEN", "127.0.0.1:7")
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(64));
    assert!(
        stderr(&output).to_lowercase().contains("lisen"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn eval_measures_a_labelled_set() {
    let (dir, path) = catalogue(SMALL);
    let queries = dir.path().join("queries.jsonl");
    std::fs::write(
        &queries,
        concat!(
            "{\"query\": \"manage branches\", \"lang\": \"en\", \"gold\": [\"git-branch\"]}\n",
            "{\"query\": \"record branches\", \"lang\": \"en\", \"gold\": [\"git-commit\"],",
            " \"candidates\": [\"git-commit\"]}\n",
            "{\"query\": \"weather\", \"lang\": \"de\", \"gold\": [], \"oos_kind\": \"far:x\"}\n",
        ),
    )
    .expect("written");
    let queries = queries.to_str().expect("path");
    let args = [
        "eval",
        "--catalog",
        &path,
        "--queries",
        queries,
        "--mode",
        "lexical",
        "--json",
    ];
    let output = run(&args);
    let value: serde_json::Value =
        serde_json::from_str(&stdout(&output)).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    for key in ["top1", "ndcg_at_10", "auroc"] {
        assert_eq!(value[key], 1.0, "{key} in {value}");
    }
    assert_eq!(value["recall_at"]["10"], 1.0);
    assert_eq!(value["fpr95"], 0.0);
    assert_eq!(value["n"], 3);
    assert_eq!(value["by_language"]["en"]["n"], 2);
    assert_eq!(value["auroc_by_oos_kind"]["far"], 1.0);
    assert!(value["seconds"].is_number());
}

#[test]
fn adapt_refuses_what_it_cannot_use_before_it_loads_a_model() {
    let (dir, catalogue) = catalogue(SMALL);
    let prompts = dir.path().join("prompts.jsonl");
    let prompts = prompts.to_str().expect("path");
    let out = dir.path().join("own.safetensors");
    let adapt = |flags: &[&str]| {
        let out = out.to_str().expect("path");
        let always = ["adapt", "--catalog", &catalogue, "--out", out, prompts];
        run(&[&always, flags].concat())
    };
    std::fs::write(
        prompts,
        "{\"query\": \"new branch\", \"gold\": [\"git-branch\"]}\n",
    )
    .expect("written");
    let output = adapt(&[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("at least 50 are needed"),
        "{}",
        stderr(&output)
    );

    let output = adapt(&["--steps", "0"]);
    assert!(
        stderr(&output).contains("steps: 0 is not within 1 to 1000"),
        "{}",
        stderr(&output)
    );
    let output = adapt(&["--model", "none"]);
    assert_eq!(output.status.code(), Some(64), "{}", stderr(&output));

    std::fs::write(
        prompts,
        "{\"query\": \"new branch\", \"gold\": [\"svn\"]}\n",
    )
    .expect("written");
    assert!(stderr(&adapt(&[])).contains("line 1: the catalogue has no entry \"svn\""));
    assert_eq!(run(&["adapt"]).status.code(), Some(64));
    assert!(!out.exists());
}
