//! A full disk: a file system of 2 MiB where the test may mount one, and SQLite's own page
//! limit everywhere.

use std::fs;
use std::path::Path;
use std::pin::pin;
use std::process::Command;

use futures_util::poll;

use super::*;

const DISK: usize = 2 * 1024 * 1024;

/// A small file system, unmounted when dropped.
struct SmallDisk {
    dir: TempDir,
}

impl SmallDisk {
    fn mount() -> Result<Self, String> {
        let dir = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={DISK}"), "tmpfs"])
            .arg(dir.path())
            .output()
            .map_err(|error| error.to_string())?;
        if mount.status.success() {
            Ok(Self { dir })
        } else {
            Err(String::from_utf8_lossy(&mount.stderr).into_owned())
        }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

#[tokio::test]
async fn a_full_disk_fails_what_met_it_and_nothing_else() {
    let disk = match SmallDisk::mount() {
        Ok(disk) => disk,
        Err(reason) => {
            println!("skipped: no small file system to be had: {reason}");
            return;
        }
    };
    let filler = disk.path().join("filler");
    fs::write(&filler, vec![1; DISK / 2]).unwrap();
    let store = Store::open(disk.path()).unwrap();
    create_notes(&store).await;
    let large = |text: &'static str, length: usize| {
        let text = format!("{text} {}", "x".repeat(length));
        store.write(move |tx| add(tx, &text))
    };
    let mut stored = 0;
    let full = loop {
        match large("filling", 50_000).await {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 100, "the disk is never full");
    };
    assert!(matches!(full, StoreError::Full), "{full:?}");
    assert!(stored > 0);
    // The refused row is not there, reading goes on, and the writer lives.
    assert_eq!(notes(&store).await.len(), stored);
    assert!(matches!(
        large("again", 50_000).await,
        Err(StoreError::Full)
    ));
    assert_eq!(notes(&store).await.len(), stored);

    // Larger than SQLite's page cache, so it fails inside the job, and takes its group along.
    let (gate, hold) = Gate::new();
    let mut held = pin!(store.write(hold));
    assert!(poll!(held.as_mut()).is_pending());
    gate.wait_until_begun();
    let mut small = pin!(note(&store, "small"));
    assert!(poll!(small.as_mut()).is_pending());
    let mut huge = pin!(large("huge", 4 * DISK));
    assert!(poll!(huge.as_mut()).is_pending());
    gate.open();
    assert!(matches!(held.await, Err(StoreError::Full)));
    assert!(matches!(small.await, Err(StoreError::Full)));
    assert!(matches!(huge.await, Err(StoreError::Full)));
    assert_eq!(notes(&store).await.len(), stored);

    fs::remove_file(filler).unwrap();
    note(&store, "there is space again").await.unwrap();
    store.close().await;
    let store = Store::open(disk.path()).unwrap();
    let found = notes(&store).await;
    assert_eq!(found.len(), stored + 1);
    assert_eq!(found[stored], "there is space again");
    store.close().await;
}

#[tokio::test]
async fn a_disk_too_small_for_an_empty_store_says_so() {
    let Ok(disk) = SmallDisk::mount() else {
        println!("skipped: no small file system to be had");
        return;
    };
    let filler = disk.path().join("filler");
    fs::write(&filler, vec![1; DISK - 8192]).unwrap();
    let error = Store::open(disk.path()).unwrap_err();
    assert!(matches!(error, StoreError::Full), "{error:?}");
    fs::remove_file(filler).unwrap();
    Store::open(disk.path()).unwrap().close().await;
}

#[tokio::test]
async fn a_file_at_its_limit_fails_the_job_and_heals() {
    let (_dir, store) = store_with_notes().await;
    let limit = |pages: i64| {
        store.write(move |tx| {
            Ok(tx.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?)
        })
    };
    limit(1).await.unwrap();
    let fill = store.write(|tx| add(tx, &"x".repeat(100_000))).await;
    assert!(matches!(fill, Err(StoreError::Full)), "{fill:?}");
    assert_eq!(notes(&store).await.len(), 0);
    limit(1_000_000).await.unwrap();
    note(&store, "healed").await.unwrap();
    assert_eq!(notes(&store).await, ["healed"]);
}
