//! The folder: who may open it, and what is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::*;
use crate::store::{file, schema};

/// A closed store of some size, and its file.
async fn closed_store() -> (TempDir, PathBuf) {
    let (dir, store) = store_with_notes().await;
    let fill = |tx: &Transaction<'_>| {
        for number in 0..500 {
            add(tx, &format!("{number} {}", "x".repeat(200)))?;
        }
        Ok(())
    };
    store.write(fill).await.unwrap();
    store.close().await;
    let path = dir.path().join(file::DB_FILE);
    (dir, path)
}

fn refusal(dir: &TempDir) -> StoreError {
    Store::open(dir.path()).unwrap_err()
}

#[test]
fn folder_and_files_are_for_their_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let nested = dir.path().join("some/where");
    let _store = Store::open(&nested).unwrap();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(nested.clone()), 0o700);
    assert_eq!(mode(dir.path().join("some")), 0o700);
    for entry in fs::read_dir(nested).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(path.clone()), 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn a_second_opener_is_refused_until_the_first_has_closed() {
    let (dir, store) = store_with_notes().await;
    let error = refusal(&dir);
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    note(&store, "still works").await.unwrap();
    store.close().await;
    let second = Store::open(dir.path()).unwrap();
    assert_eq!(notes(&second).await, ["still works"]);
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let (dir, path) = closed_store().await;
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.pragma_update(None, "user_version", schema::KNOWN + 1)
        .unwrap();
    drop(conn);
    let error = refusal(&dir);
    assert!(
        matches!(error, StoreError::NewerSchema { found, known } if found == known + 1),
        "{error:?}"
    );
    let conn = rusqlite::Connection::open(&path).unwrap();
    let left: i64 = conn
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(left, schema::KNOWN + 1);
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(file::DB_FILE);
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch("CREATE TABLE theirs (x)").unwrap();
    drop(conn);
    let before = fs::read(&path).unwrap();
    let error = refusal(&dir);
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
    assert!(error.to_string().contains(file::DB_FILE), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_cut_file_is_damage_at_every_length() {
    let (dir, path) = closed_store().await;
    let whole = fs::read(&path).unwrap();
    for length in [
        0, 1, 15, 16, 99, 100, 511, 512, 1000, 4095, 4096, 5000, 8192,
    ] {
        assert!(length < whole.len());
        expect_damage(&dir, &path, &whole[..length], &format!("cut to {length}"));
    }
    expect_damage(&dir, &path, &whole[..whole.len() - 1], "cut by one byte");
    expect_damage(&dir, &path, &whole[..whole.len() - 4096], "cut by a page");
    fs::write(&path, &whole).unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(notes(&store).await.len(), 500);
}

#[tokio::test]
async fn garbage_is_damage_wherever_it_stands() {
    let (dir, path) = closed_store().await;
    let whole = fs::read(&path).unwrap();
    let noise = |length: usize| (0..length).map(|at| (at * 151 + 43) as u8);
    expect_damage(&dir, &path, &noise(20_000).collect::<Vec<_>>(), "noise");
    expect_damage(&dir, &path, b"hello", "a text");
    for page in 0..whole.len() / 4096 {
        let mut damaged = whole.clone();
        damaged.splice(page * 4096..(page + 1) * 4096, noise(4096));
        expect_damage(&dir, &path, &damaged, &format!("page {page} overwritten"));
    }
}

fn expect_damage(dir: &TempDir, path: &PathBuf, content: &[u8], what: &str) {
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", path.display()));
    }
    fs::write(path, content).unwrap();
    match Store::open(dir.path()) {
        Ok(_) => panic!("{what}: opened"),
        Err(error) => {
            assert!(
                matches!(error, StoreError::Corrupt { .. } | StoreError::Open { .. }),
                "{what}: {error:?}"
            );
            assert!(error.to_string().contains(file::DB_FILE), "{what}: {error}");
        }
    }
}

#[tokio::test]
async fn a_log_without_its_file_is_damage() {
    let (dir, path) = closed_store().await;
    fs::remove_file(&path).unwrap();
    fs::write(format!("{}-wal", path.display()), b"frames").unwrap();
    let error = refusal(&dir);
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert!(!path.exists());
}

#[tokio::test]
async fn a_start_that_was_cut_short_is_begun_anew() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("signalbox.db.new"), b"half").unwrap();
    fs::write(dir.path().join("signalbox.db.new-wal"), b"half").unwrap();
    let store = Store::open(dir.path()).unwrap();
    create_notes(&store).await;
    assert!(!dir.path().join("signalbox.db.new").exists());
}

#[test]
fn a_folder_that_cannot_be_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Store::open(&file.join("below")).unwrap_err();
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
    assert!(error.to_string().contains("file/below"), "{error}");
    fs::create_dir(dir.path().join(file::DB_FILE)).unwrap();
    let error = refusal(&dir);
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
}
