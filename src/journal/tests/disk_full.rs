//! A full disk, where the test may mount a small one.

use std::process::Command;

use super::*;

const DISK: usize = 4 << 20;

/// A small file system, unmounted when dropped.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount() -> Result<Self, String> {
        let dir = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={DISK}"), "tmpfs"])
            .arg(dir.path())
            .output()
            .map_err(|error| error.to_string())?;
        if mount.status.success() {
            Ok(Self(dir))
        } else {
            Err(String::from_utf8_lossy(&mount.stderr).into_owned())
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

fn large(loop_id: &str, bytes: usize) -> Append {
    let data = format!("\"{}\"", "x".repeat(bytes));
    let events = vec![
        LoopEvent::Custom(Custom {
            name: "large".into(),
            data,
        })
        .into(),
    ];
    Append {
        events,
        ..batch(loop_id, 0, 0)
    }
}

#[tokio::test]
async fn a_full_disk_fails_the_append_that_met_it_and_nothing_else() {
    let disk = match SmallDisk::mount() {
        Ok(disk) => disk,
        Err(reason) => {
            println!("skipped: no small file system to be had: {reason}");
            return;
        }
    };
    let filler = disk.0.path().join("filler");
    std::fs::write(&filler, vec![1; DISK / 2]).unwrap();
    let store = Store::open(disk.0.path()).unwrap();
    let journal = Journal::open(store, Options::default()).await.unwrap();
    append_each(&journal, "a", 1, 3).await;
    // One group: the large ones have no room, the small ones do.
    let huge = || {
        let mut append = large("huge", 900_000);
        append.events = vec![append.events[0].clone(); 4];
        append
    };
    let (one, first, two, second, three) = tokio::join!(
        journal.append(batch("a", 4, 1)),
        journal.append(huge()),
        journal.append(batch("a", 5, 1)),
        journal.append(huge()),
        journal.append(batch("a", 6, 1)),
    );
    for full in [first, second] {
        assert!(
            matches!(full, Err(JournalError::Storage(StoreError::Full))),
            "{full:?}"
        );
    }
    for (small, sequence) in [(one, 4), (two, 5), (three, 6)] {
        assert_eq!(small.unwrap().first_sequence, sequence);
    }
    // Followers were told of what was stored, and of nothing else.
    assert_eq!(
        sequences(&all(&journal, &Filter::default()).await),
        [1, 2, 3, 4, 5, 6]
    );
    // Until there is no room at all.
    let mut sequence = 7;
    let full = loop {
        match journal.append(large("a", 50_000)).await {
            Ok(appended) => assert_eq!(appended.first_sequence, sequence),
            Err(error) => break error,
        }
        sequence += 1;
        assert!(sequence < 200, "the disk is never full");
    };
    assert!(
        matches!(full, JournalError::Storage(StoreError::Full)),
        "{full:?}"
    );
    std::fs::remove_file(filler).unwrap();
    let appended = journal.append(large("a", 50_000)).await.unwrap();
    assert_eq!(
        appended.first_sequence, sequence,
        "the refused one left no gap"
    );
    journal.verify().await.unwrap();
    journal.shared.store.close().await;
    let store = Store::open(disk.0.path()).unwrap();
    let journal = Journal::open(store, Options::default()).await.unwrap();
    assert_eq!(
        all(&journal, &Filter::default()).await.len() as u64,
        sequence
    );
    journal.verify().await.unwrap();
    journal.shared.store.close().await;
}
