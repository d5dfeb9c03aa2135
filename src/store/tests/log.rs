//! What a crash, or damage, leaves of the write-ahead log.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::super::log;
use super::*;

const PAGE: u64 = 4_096;
const FRAME: u64 = 24 + PAGE;

/// A folder as a killed process leaves it: three notes in the log, each a transaction of one
/// frame (as the table has one page), none of them in the file.
struct Killed {
    _from: TempDir,
    dir: TempDir,
}

impl Killed {
    async fn new() -> Self {
        let (from, store) = store_with_notes().await;
        store.close().await;
        let store = Store::open(from.path()).unwrap();
        for text in ["first", "second", "third"] {
            note(&store, text).await.unwrap();
        }
        // Copied while open: the log is not carried over.
        let dir = tempfile::tempdir().unwrap();
        for name in ["signalbox.db", "signalbox.db-wal"] {
            fs::copy(from.path().join(name), dir.path().join(name)).unwrap();
        }
        let killed = Self { _from: from, dir };
        assert_eq!(fs::metadata(killed.log()).unwrap().len(), 32 + 3 * FRAME);
        killed
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("signalbox.db-wal")
    }

    /// Flips a bit of the log.
    fn damage(&self, at: u64) {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(self.log())
            .unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 0x10], at).unwrap();
    }

    fn cut(&self, bytes: u64) {
        let file = OpenOptions::new().write(true).open(self.log()).unwrap();
        file.set_len(file.metadata().unwrap().len() - bytes)
            .unwrap();
    }

    async fn notes(&self) -> Vec<String> {
        let store = Store::open(self.dir.path()).unwrap();
        let found = notes(&store).await;
        store.close().await;
        found
    }
}

#[tokio::test]
async fn a_whole_log_is_read() {
    let killed = Killed::new().await;
    assert_eq!(log::unfinished(&killed.log()).unwrap(), 0);
    assert_eq!(killed.notes().await, ["first", "second", "third"]);
}

#[tokio::test]
async fn a_torn_end_is_cut_once() {
    for cut in [1, 100, PAGE, FRAME - 1] {
        let killed = Killed::new().await;
        killed.cut(cut);
        assert_eq!(log::unfinished(&killed.log()).unwrap(), FRAME - cut);
        assert_eq!(killed.notes().await, ["first", "second"]);
        assert_eq!(log::unfinished(&killed.log()).unwrap(), 0, "told of once");
        assert_eq!(killed.notes().await, ["first", "second"]);
    }
}

#[tokio::test]
async fn an_end_that_was_not_written_whole_is_cut() {
    let killed = Killed::new().await;
    // In the page of the last frame.
    killed.damage(32 + 3 * FRAME - 10);
    assert_eq!(log::unfinished(&killed.log()).unwrap(), FRAME);
    assert_eq!(killed.notes().await, ["first", "second"]);
}

#[tokio::test]
async fn damage_in_front_of_finished_transactions_is_told() {
    // Header; the salts, checksum and page of the first and second frame.
    let places = [
        0,
        9,
        17,
        25,
        32 + 9,
        32 + 17,
        32 + 100,
        32 + FRAME + 17,
        32 + FRAME + 4_000,
    ];
    for at in places {
        let killed = Killed::new().await;
        killed.damage(at);
        let refused = Store::open(killed.dir.path()).unwrap_err();
        assert!(
            matches!(refused, StoreError::Corrupt { .. }),
            "byte {at}: {refused:?}"
        );
        // Nothing was touched: whoever has a copy of the damaged byte can repair it.
        killed.damage(at);
        assert_eq!(killed.notes().await, ["first", "second", "third"]);
    }
}

#[tokio::test]
async fn a_store_can_be_read_while_another_process_writes() {
    let (dir, store) = store_with_notes().await;
    note(&store, "first").await.unwrap();
    let reader = Store::open_read_only(dir.path()).unwrap();
    assert_eq!(notes(&reader).await, ["first"]);
    note(&store, "second").await.unwrap();
    assert_eq!(notes(&reader).await, ["first", "second"]);
    let refused = note(&reader, "third").await;
    assert!(matches!(refused, Err(StoreError::Closed)), "{refused:?}");
    reader.close().await;
    store.close().await;
    // Also one that nobody serves, and one that was killed.
    let reader = Store::open_read_only(dir.path()).unwrap();
    assert_eq!(notes(&reader).await, ["first", "second"]);
    reader.close().await;
    let killed = Killed::new().await;
    let reader = Store::open_read_only(killed.dir.path()).unwrap();
    assert_eq!(notes(&reader).await.len(), 3);
    reader.close().await;
    assert!(Store::open_read_only(tempfile::tempdir().unwrap().path()).is_err());
}
