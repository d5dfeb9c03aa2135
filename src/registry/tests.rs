use std::sync::Arc;

use super::*;
use crate::catalog::Kind;

fn entry(name: &str, responsibility: &str) -> Entry {
    let mut entry = Entry::new(Kind::Command, "test", name);
    entry.responsibility = responsibility.into();
    entry
}

fn registry(store: Option<Store>, max_entries: usize) -> Registry {
    Registry::new(
        Arc::new(Index::default()),
        Embedder::disabled(),
        store,
        max_entries,
    )
}

fn id(name: &str) -> EntryId {
    EntryId::new("test", name)
}

#[tokio::test]
async fn a_change_is_there_when_its_call_returns() {
    let registry = registry(None, 10);
    let before = registry.index().snapshot().revision();
    let summary = registry
        .upsert("entries", vec![entry("a", "x")])
        .await
        .expect("upsert");
    assert_eq!(
        (summary.created, summary.updated, summary.vectors_pending),
        (1, 0, 1)
    );
    assert_ne!(summary.revision, before);
    assert_eq!(registry.get(&id("a")).expect("there").responsibility, "x");
    let summary = registry
        .upsert("entries", vec![entry("a", "x")])
        .await
        .expect("upsert");
    assert_eq!(
        (summary.created, summary.updated, summary.unchanged),
        (0, 0, 1)
    );
    let summary = registry.delete(id("a"), false).await.expect("delete");
    assert_eq!((summary.deleted, summary.revision), (1, before));
}

#[tokio::test]
async fn an_invalid_entry_stops_the_whole_batch() {
    let registry = registry(None, 10);
    let batch = vec![entry("a", "x"), entry("", "y"), entry("a", "z")];
    let Err(RegistryError::Invalid(violations)) = registry.upsert("entries", batch).await else {
        panic!("accepted");
    };
    let fields: Vec<&str> = violations
        .as_slice()
        .iter()
        .map(|violation| violation.field.as_str())
        .collect();
    assert_eq!(fields, ["entries[1].name", "entries[2].name"]);
    assert!(registry.index().snapshot().is_empty());
}

#[tokio::test]
async fn a_missing_entry_is_an_error_unless_allowed() {
    let registry = registry(None, 10);
    let missing = registry.delete(id("a"), false).await;
    assert!(matches!(missing, Err(RegistryError::NotFound(_))));
    let summary = registry.delete(id("a"), true).await.expect("allowed");
    assert_eq!((summary.deleted, summary.unchanged), (0, 1));
}

#[tokio::test]
async fn a_full_catalogue_takes_replacements_only() {
    let registry = registry(None, 2);
    let two = vec![entry("a", ""), entry("b", "")];
    registry.upsert("entries", two).await.expect("fits");
    let third = registry.upsert("entries", vec![entry("c", "")]).await;
    assert!(matches!(
        third,
        Err(RegistryError::Full {
            wanted: 3,
            limit: 2
        })
    ));
    registry
        .upsert("entries", vec![entry("a", "new")])
        .await
        .expect("replaces");
}

#[tokio::test]
async fn replacing_a_source_leaves_others_alone() {
    let registry = registry(None, 10);
    let other = Entry::new(Kind::Tool, "other", "keep");
    let first = vec![entry("a", ""), entry("b", ""), other];
    registry.upsert("entries", first).await.expect("upsert");
    let next = vec![entry("b", "new"), entry("c", "")];
    let summary = registry
        .replace_source("document", "test".into(), next)
        .await
        .expect("ok");
    assert_eq!(
        (summary.created, summary.updated, summary.deleted),
        (1, 1, 1)
    );
    assert!(registry.get(&id("a")).is_err());
    assert!(registry.get(&EntryId::new("other", "keep")).is_ok());
}

#[tokio::test]
async fn stored_changes_come_back_over_the_files() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let files = || vec![entry("from-file", "old"), entry("hidden", "")];
    {
        let store = Store::open(dir.path()).expect("opens");
        let registry = registry(Some(store.clone()), 10);
        registry.fill(files()).await.expect("fills");
        let changed = vec![entry("from-file", "new"), entry("added", "")];
        registry.upsert("entries", changed).await.expect("upsert");
        registry.delete(id("hidden"), false).await.expect("delete");
        store.close().await;
    }
    let store = Store::open(dir.path()).expect("opens again");
    let registry = registry(Some(store), 10);
    registry.fill(files()).await.expect("fills");
    assert_eq!(
        registry
            .get(&id("from-file"))
            .expect("there")
            .responsibility,
        "new"
    );
    assert!(registry.get(&id("added")).is_ok());
    assert!(registry.get(&id("hidden")).is_err());
}

#[tokio::test]
async fn a_watch_sees_every_change_once_and_resumes() {
    let registry = registry(None, 100);
    let mut watch = registry.watch(None).expect("watch");
    registry
        .upsert("entries", vec![entry("a", "")])
        .await
        .expect("upsert");
    let WatchEvent::Change(change) = watch.next().await else {
        panic!("no change")
    };
    assert_eq!(change.upserted, [(Kind::Command, id("a"))]);
    assert_eq!(change.revision, registry.index().snapshot().revision());
    let token = watch.token();
    drop(watch);
    registry
        .upsert("entries", vec![entry("b", "")])
        .await
        .expect("upsert");
    registry
        .upsert("entries", vec![entry("b", "")])
        .await
        .expect("changes nothing");
    registry.delete(id("a"), false).await.expect("delete");
    let token = token.to_string().parse().expect("token");
    let mut watch = registry.watch(Some(token)).expect("resumes");
    let WatchEvent::Change(first) = watch.next().await else {
        panic!("no change")
    };
    let WatchEvent::Change(second) = watch.next().await else {
        panic!("no change")
    };
    assert_eq!(first.upserted, [(Kind::Command, id("b"))]);
    assert_eq!(second.deleted, [(Kind::Command, id("a"))]);
}

#[tokio::test]
async fn tokens_of_another_process_or_of_the_past_are_expired() {
    let registry = registry(None, 10_000);
    let watch = registry.watch(None).expect("watch");
    let old = watch.token();
    let foreign: ResumeToken = "0000000000000001-0".parse().expect("token");
    assert_eq!(
        registry.watch(Some(foreign)).err(),
        Some(WatchError::Expired)
    );
    for n in 0..1_100 {
        let entry = entry(&format!("e{n}"), "");
        registry
            .upsert("entries", vec![entry])
            .await
            .expect("upsert");
    }
    assert_eq!(registry.watch(Some(old)).err(), Some(WatchError::Expired));
}

#[tokio::test]
async fn a_watcher_that_falls_behind_is_told() {
    let registry = registry(None, 10_000);
    let mut watch = registry.watch(None).expect("watch");
    for n in 0..300 {
        let entry = entry(&format!("e{n}"), "");
        registry
            .upsert("entries", vec![entry])
            .await
            .expect("upsert");
    }
    assert_eq!(watch.next().await, WatchEvent::Behind);
}
