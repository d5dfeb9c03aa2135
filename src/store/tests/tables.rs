//! The catalogue's and the vectors' tables.

use std::collections::HashMap;
use std::sync::Arc;

use super::*;
use crate::catalog::{Entry, EntryId, Kind};
use crate::store::{Role, VectorKey};

const MODEL: &str = "0f3a";

fn vector(numbers: &[f32]) -> Arc<[f32]> {
    numbers.into()
}

fn key(text: &str) -> VectorKey {
    VectorKey::new(Role::Passage, text)
}

async fn execute(store: &Store, sql: &'static str) {
    let run = move |tx: &Transaction<'_>| Ok(tx.execute_batch(sql)?);
    store.write(run).await.unwrap();
}

async fn load(store: &Store, keys: &[VectorKey]) -> HashMap<VectorKey, Arc<[f32]>> {
    store.load_vectors(MODEL, keys.to_vec()).await.unwrap()
}

#[tokio::test]
async fn entries_come_back_in_order_with_their_tombstones() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let mut search = Entry::new(Kind::Tool, "mcp", "search");
    search.title = "Suche – 検索".to_owned();
    search.input_schema = Some(r#"{"type":"object"}"#.to_owned());
    search.annotations.insert("owner".into(), "docs".into());
    let gone = EntryId::new("files", "gone");
    let api = Entry::new(Kind::Command, "", "z");
    store
        .save_entries(vec![
            (search.id.clone(), Some(search.clone())),
            (gone.clone(), Some(Entry::new(Kind::Skill, "files", "gone"))),
            (api.id.clone(), Some(api.clone())),
            (gone.clone(), None),
        ])
        .await
        .unwrap();
    store.close().await;
    let store = Store::open(dir.path()).unwrap();
    let expected = vec![
        (api.id.clone(), Some(api)),
        (gone.clone(), None),
        (search.id.clone(), Some(search)),
    ];
    assert_eq!(store.load_entries().await.unwrap(), expected);
    let back = Entry::new(Kind::Skill, "files", "gone");
    store
        .save_entries(vec![(gone.clone(), Some(back.clone()))])
        .await
        .unwrap();
    assert_eq!(store.load_entries().await.unwrap()[1], (gone, Some(back)));
}

#[tokio::test]
async fn changes_are_stored_all_or_none() {
    let store = Store::in_memory().unwrap();
    execute(
        &store,
        "CREATE TRIGGER refuse BEFORE INSERT ON entries WHEN new.name = 'bad'
         BEGIN SELECT RAISE(ABORT, 'refused'); END",
    )
    .await;
    let changes = ["good", "bad"].map(|name| (EntryId::new("api", name), None));
    store.save_entries(changes.to_vec()).await.unwrap_err();
    assert_eq!(store.load_entries().await.unwrap(), []);
    store.save_entries(Vec::new()).await.unwrap();
}

#[tokio::test]
async fn an_entry_that_cannot_be_read_is_damage_with_its_name() {
    let (dir, store) = store_with_notes().await;
    let insert = "INSERT INTO entries VALUES ('api', 'broken', '{\"kind\": \"tool\"')";
    execute(&store, insert).await;
    let error = store.load_entries().await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("api/broken"), "{text}");
    assert!(text.contains(dir.path().to_str().unwrap()), "{text}");
    execute(&store, "UPDATE entries SET entry = x'ff00'").await;
    let error = store.load_entries().await.unwrap_err();
    assert!(error.to_string().contains("api/broken"), "{error}");
}

#[tokio::test]
async fn vectors_come_back_by_model_role_and_text() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let one = vector(&[0.25, -1.0, f32::MIN_POSITIVE]);
    let two = vector(&[1.0, 2.0, 3.0]);
    let query = VectorKey::new(Role::Query, "text");
    let passage = key("text");
    let vectors = vec![(query, one.clone()), (passage, one.clone())];
    store.save_vectors(MODEL, vectors).await.unwrap();
    let replaced = vec![(passage, two.clone())];
    store.save_vectors(MODEL, replaced).await.unwrap();
    let other = vec![(key("other"), one.clone())];
    store.save_vectors("another", other).await.unwrap();
    store.close().await;

    let store = Store::open(dir.path()).unwrap();
    let found = load(&store, &[query, passage, passage, key("other")]).await;
    assert_eq!(found, HashMap::from([(query, one), (passage, two)]));
    assert!(load(&store, &[]).await.is_empty());
}

#[test]
fn a_key_is_the_sha256_of_the_text() {
    let hash = key("abc").text_hash;
    assert_eq!(hash[..4], [0xba, 0x78, 0x16, 0xbf]);
    assert_eq!(hash, VectorKey::new(Role::Query, "abc").text_hash);
}

#[tokio::test]
async fn an_unsound_vector_counts_as_missing() {
    let store = Store::in_memory().unwrap();
    let good = vector(&[1.0, 2.0]);
    for text in ["cut", "odd", "infinite", "text", "good"] {
        let vectors = vec![(key(text), good.clone())];
        store.save_vectors(MODEL, vectors).await.unwrap();
    }
    for (text, blob) in [
        ("cut", "x'0000803f'"),
        ("odd", "x'0000803f00'"),
        ("infinite", "x'0000803f0000807f'"),
        ("text", "'not a blob'"),
    ] {
        let sql = format!("UPDATE vectors SET vector = {blob} WHERE text_hash = ?1");
        let update = move |tx: &Transaction<'_>| Ok(tx.execute(&sql, [key(text).text_hash])?);
        assert_eq!(store.write(update).await.unwrap(), 1);
    }
    let unsound = vec![
        (key("never"), vector(&[f32::NAN])),
        (key("empty"), vector(&[])),
    ];
    store.save_vectors(MODEL, unsound).await.unwrap();
    let keys = ["cut", "odd", "infinite", "text", "good", "never", "empty"].map(key);
    let found = load(&store, &keys).await;
    assert_eq!(found, HashMap::from([(key("good"), good.clone())]));
    // Embedded anew, it replaces the unsound one.
    let again = vec![(key("cut"), good.clone())];
    store.save_vectors(MODEL, again).await.unwrap();
    assert_eq!(load(&store, &keys).await.len(), 2);
}

#[tokio::test]
async fn pruning_keeps_what_was_used_last() {
    let store = Store::in_memory().unwrap();
    let keys: Vec<_> = (0..1203).map(|n| key(&n.to_string())).collect();
    let vectors = keys.iter().map(|key| (*key, vector(&[1.0])));
    store.save_vectors(MODEL, vectors.collect()).await.unwrap();
    assert_eq!(store.prune_vectors(5000).await.unwrap(), 0);
    execute(&store, "UPDATE vectors SET last_used = last_used - 9").await;
    // Loading notes the use, so the very first one is the newest now.
    assert_eq!(load(&store, &keys[..1]).await.len(), 1);
    assert_eq!(store.prune_vectors(3).await.unwrap(), 1200);
    let left = load(&store, &keys).await;
    let expected = [keys[0], keys[1201], keys[1202]];
    assert_eq!(left.len(), 3);
    assert!(expected.iter().all(|key| left.contains_key(key)));
    assert_eq!(store.prune_vectors(0).await.unwrap(), 3);
}
