//! `ResolveConventions` over real folders.

use std::fs;

use super::super::resolve::Resolve;
use super::super::workspace::SourceKind;
use super::*;

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    fs::write(path, text).expect("written");
}

fn resolve(paths: &[&str]) -> Resolve {
    Resolve {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        max_context_tokens: None,
    }
}

fn sources(resolved: &ResolvedConventions) -> Vec<&str> {
    resolved
        .items
        .iter()
        .map(|item| item.source.as_str())
        .collect()
}

#[tokio::test]
async fn every_kind_of_file_is_found_root_first() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let root = dir.path();
    write(root, "AGENTS.md", "Root agents.");
    write(root, "CLAUDE.md", "Root claude.");
    write(root, ".github/copilot-instructions.md", "Root copilot.");
    write(
        root,
        ".github/instructions/py.instructions.md",
        "---\napplyTo: \"**/*.py\"\n---\nPython only.",
    );
    write(
        root,
        ".cursor/rules/always.mdc",
        "---\nalwaysApply: true\n---\nAlways.",
    );
    write(
        root,
        ".cursor/rules/ts.mdc",
        "---\nglobs: src/**/*.{ts,tsx}\n---\nTypeScript only.",
    );
    write(
        root,
        ".cursor/rules/ask.mdc",
        "---\ndescription: ask\n---\nOn demand.",
    );
    write(
        root,
        ".claude/rules/api.md",
        "---\npaths:\n  - src/api/**\n---\nFor the API.",
    );
    write(root, "src/AGENTS.md", "Source agents.");
    write(root, "src/api/AGENTS.md", "Hidden by the override.");
    write(root, "src/api/AGENTS.override.md", "API override.");
    write(root, "src/api-legacy/AGENTS.md", "Legacy agents.");
    write(root, "src/api/a.ts", "");
    let knowledge = with_workspace(root).await;
    convention(&knowledge, Some("src/api"), "", "Stored for the API.").await;
    convention(&knowledge, None, "typescript", "Stored for TypeScript.").await;
    convention(&knowledge, None, "rust", "Stored for Rust.").await;
    let resolved = knowledge
        .resolve(&resolve(&["src/api/a.ts"]))
        .await
        .expect("resolved");
    let items: Vec<_> = resolved
        .items
        .iter()
        .map(|item| (item.content.as_str(), item.depth, item.scope.as_str()))
        .collect();
    assert_eq!(
        items,
        [
            ("Stored for TypeScript.", 0, "typescript"),
            ("Root copilot.", 0, "."),
            ("Root claude.", 0, "."),
            ("Root agents.", 0, "."),
            ("For the API.", 0, "src/api/**"),
            ("Always.", 0, "."),
            ("TypeScript only.", 0, "src/**/*.{ts,tsx}"),
            ("Source agents.", 1, "src"),
            ("API override.", 2, "src/api"),
            ("Stored for the API.", 2, "src/api"),
        ]
    );
    assert_eq!(resolved.items[8].source, "src/api/AGENTS.override.md");
    assert!(resolved.skipped.is_empty() && resolved.dropped.is_empty());
    let message = &resolved.context.message;
    assert!(message.starts_with("[KNOWLEDGE_CONTEXT]"));
    let at = |text: &str| message.find(text).expect("in the message");
    assert!(
        at("Root agents.") < at("Source agents.") && at("Source agents.") < at("API override.")
    );

    // A file that does not exist yet, a directory, and several at once.
    let other = knowledge
        .resolve(&resolve(&["src/new.py", "src/api-legacy/"]))
        .await;
    let other = other.expect("resolved");
    let of = |content: &str| {
        let item = other.items.iter().find(|item| item.content == content);
        item.map(|item| item.paths.clone())
    };
    assert_eq!(of("Root agents."), Some(vec![0, 1]));
    assert_eq!(of("Python only."), Some(vec![0]));
    assert_eq!(of("Legacy agents."), Some(vec![1]));
    assert_eq!(of("API override."), None);
}

#[tokio::test]
async fn files_are_read_again_when_they_change() {
    let dir = tempfile::tempdir().expect("temporary folder");
    write(dir.path(), "AGENTS.md", "First.");
    let knowledge = with_workspace(dir.path()).await;
    let now = async || {
        let resolved = knowledge
            .resolve(&resolve(&["a.rs"]))
            .await
            .expect("resolved");
        resolved
            .items
            .iter()
            .map(|item| item.content.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(now().await, ["First."]);
    // Of the same length, at once.
    write(dir.path(), "AGENTS.md", "Other.");
    assert_eq!(now().await, ["Other."]);
    fs::remove_file(dir.path().join("AGENTS.md")).expect("removed");
    assert!(now().await.is_empty());
}

#[tokio::test]
async fn what_says_the_same_stays_where_it_is_nearest() {
    let dir = tempfile::tempdir().expect("temporary folder");
    write(dir.path(), "AGENTS.md", "The same.\n");
    write(dir.path(), "src/AGENTS.md", "The same.");
    std::os::unix::fs::symlink("AGENTS.md", dir.path().join("CLAUDE.md")).expect("a link");
    let knowledge = with_workspace(dir.path()).await;
    let resolved = knowledge
        .resolve(&resolve(&["src/a.rs"]))
        .await
        .expect("resolved");
    assert_eq!(sources(&resolved), ["src/AGENTS.md"]);
    assert_eq!(resolved.duplicates, 2);
}

#[tokio::test]
async fn the_budget_drops_the_farthest_first() {
    let dir = tempfile::tempdir().expect("temporary folder");
    for (path, word) in [("", "root"), ("a/", "upper"), ("a/b/", "near")] {
        write(
            dir.path(),
            &format!("{path}AGENTS.md"),
            &format!("{word} ").repeat(60),
        );
    }
    let knowledge = with_workspace(dir.path()).await;
    let with_budget = async |tokens| {
        let resolve = Resolve {
            max_context_tokens: Some(tokens),
            ..resolve(&["a/b/c.rs"])
        };
        knowledge.resolve(&resolve).await.expect("resolved")
    };
    let all = with_budget(1_000).await;
    assert_eq!(sources(&all), ["AGENTS.md", "a/AGENTS.md", "a/b/AGENTS.md"]);
    let two = with_budget(200).await;
    assert_eq!(sources(&two), ["a/AGENTS.md", "a/b/AGENTS.md"]);
    assert_eq!(two.dropped[0].source, "AGENTS.md");
    assert!(two.context.tokens <= 200 && !two.context.cut);
    let cut = with_budget(50).await;
    assert_eq!(sources(&cut), ["a/b/AGENTS.md"]);
    assert!(cut.context.cut && cut.context.tokens <= 50 && cut.context.tokens > 40);
}

#[tokio::test]
async fn nothing_outside_of_the_workspace_is_read() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let root = dir.path().join("repo");
    write(dir.path(), "AGENTS.md", "Above the root.");
    write(&root, "src/a.rs", "");
    std::os::unix::fs::symlink("../AGENTS.md", root.join("AGENTS.md")).expect("a link");
    std::os::unix::fs::symlink("..", root.join("up")).expect("a link");
    let made = std::process::Command::new("mkfifo")
        .arg(root.join("CLAUDE.md"))
        .status();
    assert!(made.expect("mkfifo runs").success());
    write(&root, ".cursor/rules/bad.mdc", "---\nglobs: \"a[\"\n---\nx");
    write(&root, "src/AGENTS.md", &"x".repeat(300 << 10));
    let knowledge = with_workspace(&root).await;
    let resolved = knowledge
        .resolve(&resolve(&["src/a.rs", "up/x.rs"]))
        .await
        .expect("resolved");
    assert!(resolved.items.is_empty(), "{:?}", resolved.items);
    let skipped: Vec<&str> = resolved
        .skipped
        .iter()
        .map(|file| file.path.as_str())
        .collect();
    for path in [
        "AGENTS.md",
        "CLAUDE.md",
        ".cursor/rules/bad.mdc",
        "src/AGENTS.md",
    ] {
        assert!(skipped.contains(&path), "{path} in {skipped:?}");
    }
    let error = knowledge
        .resolve(&resolve(&["ok.rs", "../x.rs", "/etc/passwd"]))
        .await;
    assert_eq!(
        fields(error.expect_err("refused")),
        ["paths[1]", "paths[2]"]
    );
    let none = knowledge.resolve(&resolve(&[])).await;
    assert_eq!(fields(none.expect_err("refused")), ["paths"]);
}

#[tokio::test]
async fn without_a_workspace_there_are_stored_conventions() {
    let knowledge = in_memory().await;
    convention(&knowledge, Some("src"), "rust", "Only Rust.").await;
    let resolved = knowledge
        .resolve(&resolve(&["src/a.rs"]))
        .await
        .expect("resolved");
    assert_eq!(resolved.items[0].kind, SourceKind::Stored);
    let other = knowledge
        .resolve(&resolve(&["src/a.py"]))
        .await
        .expect("resolved");
    assert!(other.items.is_empty());
    assert_eq!(other.context.message, "");
}
