//! Knowledge in memory, on disk, and in the files of a workspace.

mod recalling;
mod resolving;
mod tooling;

use std::path::Path;

use super::keep::{Knowledge, KnowledgeError, Options};
use super::*;
use crate::embed::Embedder;
use crate::store::Store;

async fn over(store: Option<Store>, options: Options) -> Knowledge {
    Knowledge::open(store, Embedder::disabled(), options)
        .await
        .expect("opens")
}

async fn in_memory() -> Knowledge {
    over(None, Options::default()).await
}

async fn with_workspace(root: &Path) -> Knowledge {
    let workspace = Some(root.canonicalize().expect("a folder"));
    over(
        None,
        Options {
            workspace,
            ..Options::default()
        },
    )
    .await
}

fn place(path: &str) -> Option<Directory> {
    Some(Directory::parse(path, None).expect("a place"))
}

/// Stores a convention for a directory, or with none for a language.
async fn convention(knowledge: &Knowledge, directory: Option<&str>, language: &str, text: &str) {
    let directory = directory.and_then(place);
    let convention = Convention::new("", directory, language, text);
    knowledge
        .upsert_convention(convention)
        .await
        .expect("stored");
}

async fn fact(knowledge: &Knowledge, subject: &str, predicate: &str, object: &str) {
    let fact = Fact::new(subject, predicate, object, 0.8, "");
    knowledge.store_fact(fact).await.expect("stored");
}

fn fields(error: KnowledgeError) -> Vec<String> {
    match error {
        KnowledgeError::Invalid(violations) => {
            let list = violations.as_slice().iter();
            list.map(|violation| violation.field.clone()).collect()
        }
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn what_is_stored_is_there_after_a_restart() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let store = Store::open(dir.path()).expect("a store");
    let knowledge = over(Some(store.clone()), Options::default()).await;
    fact(&knowledge, "build", "needs", "Rust 1.95").await;
    fact(&knowledge, "build", "needs", "Rust 1.95").await;
    convention(
        &knowledge,
        Some("src/api"),
        "rust",
        "Name errors after the field.",
    )
    .await;
    convention(&knowledge, None, "go", "Wrap errors.").await;
    let gone = Convention::new("gone", place("x"), "", "Soon gone.");
    knowledge.upsert_convention(gone).await.expect("stored");
    knowledge
        .delete_convention("gone", false)
        .await
        .expect("deleted");
    assert_eq!(knowledge.len(), 3);
    drop(knowledge);
    store.close().await;

    let store = Store::open(dir.path()).expect("a store");
    let knowledge = over(Some(store.clone()), Options::default()).await;
    assert_eq!(knowledge.len(), 3);
    let all = Listing {
        page_size: 10,
        ..Listing::default()
    };
    let (listed, more) = knowledge.list(&all);
    let places: Vec<_> = listed
        .iter()
        .map(|found| (found.directory.clone(), found.language.as_str()))
        .collect();
    assert_eq!(places, [(None, "go"), (place("src/api"), "rust")]);
    assert!(!more);
    let recall = Recall {
        query: "which rust does the build need".into(),
        ..Recall::default()
    };
    let recalled = knowledge.recall(&recall).await.expect("recalled");
    assert!(
        matches!(&recalled.items[0].item, RecalledItem::Fact(fact) if fact.object == "Rust 1.95")
    );
    store.close().await;
}

#[tokio::test]
async fn a_convention_that_moves_leaves_nothing_behind() {
    let knowledge = in_memory().await;
    let at = |path| Convention::new("id", place(path), "", "Be brief about quokkas.");
    knowledge
        .upsert_convention(at("src"))
        .await
        .expect("stored");
    knowledge
        .upsert_convention(at("docs"))
        .await
        .expect("stored");
    assert_eq!(knowledge.len(), 1);
    let listing = |path| Listing {
        directory: place(path),
        page_size: 10,
        ..Listing::default()
    };
    assert!(knowledge.list(&listing("src")).0.is_empty());
    assert_eq!(knowledge.list(&listing("docs")).0.len(), 1);
    let recall = Recall {
        query: "quokkas".into(),
        ..Recall::default()
    };
    let recalled = knowledge.recall(&recall).await.expect("recalled");
    assert_eq!(recalled.items.len(), 1);
}

#[tokio::test]
async fn listings_page_through_directories() {
    let knowledge = in_memory().await;
    for n in 0..25 {
        convention(&knowledge, Some("src/api"), "", &format!("rule {n}")).await;
        convention(&knowledge, Some("src/api-legacy"), "", &format!("rule {n}")).await;
        convention(&knowledge, Some("src/api/v1"), "", &format!("rule {n}")).await;
    }
    for (recursive, expected) in [(false, 25), (true, 50)] {
        let mut listing = Listing {
            directory: place("src/api"),
            recursive,
            page_size: 7,
            ..Listing::default()
        };
        let mut seen = std::collections::HashSet::new();
        loop {
            let (page, more) = knowledge.list(&listing);
            assert!(page.iter().all(|found| seen.insert(found.id.clone())));
            let Some(last) = page.last().filter(|_| more) else {
                break;
            };
            listing.after = Some((last.directory.clone(), last.id.clone()));
        }
        assert_eq!(seen.len(), expected);
    }
}

#[tokio::test]
async fn limits_are_named() {
    let options = Options {
        max_items: 1,
        ..Options::default()
    };
    let knowledge = over(None, options).await;
    let bad = Fact::new(" ", &"p".repeat(9_000), "o", f64::NAN, "");
    let error = knowledge.store_fact(bad).await.expect_err("refused");
    assert_eq!(fields(error), ["subject", "predicate", "confidence"]);
    let bad = Convention::new("", None, "", "");
    let error = knowledge.upsert_convention(bad).await.expect_err("refused");
    assert_eq!(fields(error), ["content"]);
    fact(&knowledge, "a", "is", "b").await;
    let again = Fact::new("a", "is", "b", 0.5, "");
    let stored = knowledge
        .store_fact(again)
        .await
        .expect("the same fact has its room");
    assert!((stored.confidence - 0.5).abs() < 1e-9);
    let other = Fact::new("a", "is", "c", 0.5, "");
    let error = knowledge.store_fact(other).await.expect_err("refused");
    assert!(matches!(error, KnowledgeError::Full(1)));
    let error = knowledge
        .delete_convention("none", false)
        .await
        .expect_err("refused");
    assert!(matches!(error, KnowledgeError::NotFound(id) if id == "none"));
    assert!(knowledge.delete_convention("none", true).await.is_ok());
}
