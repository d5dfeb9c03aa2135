//! What the store promises, beside the modules that keep it.

#![allow(clippy::unwrap_used, reason = "a test ends at its first surprise")]

mod crash;
mod disk_full;
mod folder;
mod group;
mod log;
mod tables;

use std::sync::mpsc;

use rusqlite::Transaction;
use tempfile::TempDir;

use super::{Store, StoreError};

/// A store on disk with a table `notes(text)`, and the folder it lives in.
async fn store_with_notes() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    create_notes(&store).await;
    (dir, store)
}

async fn create_notes(store: &Store) {
    let create = |tx: &Transaction<'_>| {
        tx.execute_batch("CREATE TABLE notes (text NOT NULL)")?;
        Ok(())
    };
    store.write(create).await.unwrap();
}

fn add(tx: &Transaction<'_>, text: &str) -> Result<(), StoreError> {
    tx.execute("INSERT INTO notes VALUES (?1)", [text])?;
    Ok(())
}

async fn note(store: &Store, text: &'static str) -> Result<(), StoreError> {
    store.write(move |tx| add(tx, text)).await
}

/// All notes in the order they were written.
async fn notes(store: &Store) -> Vec<String> {
    let read = |conn: &rusqlite::Connection| {
        let mut query = conn.prepare("SELECT text FROM notes ORDER BY rowid")?;
        let rows = query.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    };
    store.read(read).await.unwrap()
}

/// A job that holds the writer: it says when it has begun, and ends when told to.
struct Gate {
    began: mpsc::Receiver<()>,
    open: mpsc::Sender<()>,
}

impl Gate {
    fn new() -> (
        Self,
        impl FnOnce(&Transaction<'_>) -> Result<(), StoreError> + Send,
    ) {
        let (begin, began) = mpsc::channel();
        let (open, opened) = mpsc::channel::<()>();
        let job = move |_: &Transaction<'_>| {
            begin.send(()).unwrap();
            opened.recv().unwrap();
            Ok(())
        };
        (Self { began, open }, job)
    }

    fn wait_until_begun(&self) {
        self.began.recv().unwrap();
    }

    fn open(&self) {
        self.open.send(()).unwrap();
    }
}

#[tokio::test]
async fn acknowledged_writes_survive_a_reopen() {
    let (dir, store) = store_with_notes().await;
    assert!(store.is_durable());
    note(&store, "kept").await.unwrap();
    // Dropped, not closed: the next `open` waits for the threads to let go.
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(notes(&store).await, ["kept"]);
    store.close().await;
    let left: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(
        left.len(),
        2,
        "only the file and its lock are left: {left:?}"
    );
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(notes(&store).await, ["kept"]);
}

#[tokio::test]
async fn every_connection_is_set_up_for_durability() {
    let (_dir, store) = store_with_notes().await;
    let settings = |conn: &rusqlite::Connection| {
        ["journal_mode", "synchronous", "foreign_keys", "temp_store"]
            .into_iter()
            .map(|name| {
                conn.pragma_query_value(None, name, |row| {
                    row.get_ref(0).map(|value| format!("{value:?}"))
                })
                .map_err(StoreError::from)
            })
            .collect::<Result<Vec<_>, _>>()
    };
    let written = store.write(move |tx| settings(tx)).await.unwrap();
    let read = store.read(settings).await.unwrap();
    assert_eq!(written, read);
    assert!(written[0].starts_with("Text"), "{written:?}");
    assert_eq!(&written[1..], ["Integer(2)", "Integer(1)", "Integer(2)"]);
    let mode: String = store
        .read(|conn| Ok(conn.pragma_query_value(None, "journal_mode", |row| row.get(0))?))
        .await
        .unwrap();
    assert_eq!(mode, "wal");
}

#[tokio::test]
async fn a_read_sees_one_state_and_cannot_write() {
    for store in [Store::in_memory().unwrap(), store_with_notes().await.1] {
        let _ = store
            .write(|tx| Ok(tx.execute_batch("CREATE TABLE IF NOT EXISTS notes (text)")?))
            .await;
        let refused = store
            .read(|conn| Ok(conn.execute("INSERT INTO notes VALUES ('x')", [])?))
            .await;
        assert!(matches!(refused, Err(StoreError::Sqlite(_))), "{refused:?}");
        note(&store, "by the writer").await.unwrap();
        assert_eq!(notes(&store).await, ["by the writer"]);
    }
    let (_dir, store) = store_with_notes().await;
    let (resume, resumed) = mpsc::channel::<()>();
    let (counted, first_count) = mpsc::channel();
    let reading = tokio::spawn({
        let store = store.clone();
        async move {
            store
                .read(move |conn| {
                    let count = "SELECT count(*) FROM notes";
                    let before: i64 = conn.query_row(count, [], |row| row.get(0))?;
                    counted.send(()).unwrap();
                    resumed.recv().unwrap();
                    let after: i64 = conn.query_row(count, [], |row| row.get(0))?;
                    Ok((before, after))
                })
                .await
        }
    });
    tokio::task::spawn_blocking(move || first_count.recv().unwrap())
        .await
        .unwrap();
    note(&store, "meanwhile").await.unwrap();
    resume.send(()).unwrap();
    assert_eq!(reading.await.unwrap().unwrap(), (0, 0));
}

#[tokio::test]
async fn a_store_in_memory_runs_the_same_code() {
    let store = Store::in_memory().unwrap();
    assert!(!store.is_durable());
    create_notes(&store).await;
    note(&store, "volatile").await.unwrap();
    assert_eq!(notes(&store).await, ["volatile"]);
    store.close().await;
    assert!(matches!(
        note(&store, "late").await,
        Err(StoreError::Closed)
    ));
}

#[tokio::test]
async fn closing_finishes_what_waits_and_refuses_the_rest() {
    let (dir, store) = store_with_notes().await;
    let (gate, hold) = Gate::new();
    let held = tokio::spawn({
        let store = store.clone();
        async move { store.write(hold).await }
    });
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { note(&store, "waiting").await }
    });
    // Both tasks reach their queue before this one goes on.
    tokio::task::yield_now().await;
    gate.wait_until_begun();
    let closing = tokio::spawn({
        let store = store.clone();
        async move { store.close().await }
    });
    tokio::task::yield_now().await;
    let late = note(&store, "late").await;
    assert!(matches!(late, Err(StoreError::Closed)), "{late:?}");
    let late = store.read(|_| Ok(())).await;
    assert!(matches!(late, Err(StoreError::Closed)), "{late:?}");
    assert!(!closing.is_finished());
    gate.open();
    closing.await.unwrap();
    held.await.unwrap().unwrap();
    waiting.await.unwrap().unwrap();
    store.close().await;
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(notes(&store).await, ["waiting"]);
}
