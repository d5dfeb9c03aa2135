//! Kills a writing process at a random moment, again and again, and reads back what it had
//! acknowledged. The process is this test binary, started with one (otherwise ignored) test.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::*;

const FOLDER: &str = "SIGNALBOX_TEST_CRASH_FOLDER";
const CYCLE: &str = "SIGNALBOX_TEST_CRASH_CYCLE";
const CYCLES: i64 = 10;
const WRITERS: i64 = 8;
/// Ids are `cycle * PER_CYCLE + writer * PER_WRITER + n`.
const PER_WRITER: i64 = 1_000_000;
const PER_CYCLE: i64 = PER_WRITER * 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by no_acknowledged_write_is_lost, which kills it"]
async fn writes_until_killed() {
    let (Ok(dir), Ok(cycle)) = (std::env::var(FOLDER), std::env::var(CYCLE)) else {
        return;
    };
    let cycle: i64 = cycle.parse().unwrap();
    let store = Store::open(Path::new(&dir)).unwrap();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            tokio::spawn(write_on(
                store.clone(),
                cycle * PER_CYCLE + writer * PER_WRITER,
            ))
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
}

/// Writes one row after the other, and says so once each is acknowledged.
async fn write_on(store: Store, first: i64) {
    for id in first.. {
        // Large enough that the log is carried over a few times in each cycle.
        let row = move |tx: &Transaction<'_>| {
            tx.prepare_cached("INSERT INTO rows VALUES (?1, randomblob(1500))")?
                .execute([id])?;
            Ok(())
        };
        store.write(row).await.unwrap();
        // Past the test harness, in one write: a killed process leaves no half line but the last.
        let mut out = std::io::stdout().lock();
        out.write_all(format!("ack {id}\n").as_bytes()).unwrap();
        out.flush().unwrap();
    }
}

#[tokio::test]
async fn no_acknowledged_write_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let create =
        |tx: &Transaction<'_>| Ok(tx.execute_batch("CREATE TABLE rows (id INTEGER, fill BLOB)")?);
    store.write(create).await.unwrap();
    store.close().await;

    let mut acknowledged = HashSet::new();
    for cycle in 0..CYCLES {
        let fresh = run_and_kill(dir.path(), cycle);
        assert!(!fresh.is_empty(), "cycle {cycle} acknowledged nothing");
        for id in fresh {
            assert!(acknowledged.insert(id), "{id} acknowledged twice");
        }
        check(dir.path(), &acknowledged).await;
    }
    println!(
        "{} rows acknowledged in {CYCLES} cycles",
        acknowledged.len()
    );
}

/// Runs the child for a random time and returns the ids it acknowledged.
fn run_and_kill(dir: &Path, cycle: i64) -> Vec<i64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["store::tests::crash::writes_until_killed", "--exact"])
        .args(["--ignored", "--nocapture"])
        .env(FOLDER, dir)
        .env(CYCLE, cycle.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = child.stdout.take().unwrap();
    let (first, begun) = mpsc::channel();
    let listening = thread::spawn(move || {
        let mut ids = Vec::new();
        let mut out = BufReader::new(out);
        let mut line = String::new();
        // A last line without its end was cut by the kill.
        while out.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
            if let Some(id) = line.trim_end().strip_prefix("ack ") {
                ids.push(id.parse().unwrap());
                let _ = first.send(());
            }
            line.clear();
        }
        ids
    });
    let _ = begun.recv_timeout(Duration::from_secs(30));
    thread::sleep(Duration::from_micros(
        RandomState::new().hash_one(cycle) % 300_000,
    ));
    child.kill().unwrap();
    child.wait().unwrap();
    listening.join().unwrap()
}

/// Every acknowledged row is there, none twice, and each writer has one more at most: the
/// one whose acknowledgement the kill swallowed.
async fn check(dir: &Path, acknowledged: &HashSet<i64>) {
    let store = Store::open(dir).unwrap();
    let rows: Vec<i64> = store
        .read(|conn| {
            let mut query = conn.prepare("SELECT id FROM rows")?;
            let rows = query.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
        .unwrap();
    store.close().await;
    let stored: HashSet<i64> = rows.iter().copied().collect();
    assert_eq!(stored.len(), rows.len(), "rows were doubled");
    let lost: Vec<_> = acknowledged.difference(&stored).collect();
    assert!(lost.is_empty(), "acknowledged, then lost: {lost:?}");
    let mut more = HashMap::new();
    for id in stored.difference(acknowledged) {
        *more.entry(id / PER_WRITER).or_insert(0) += 1;
    }
    assert!(more.values().all(|count| *count == 1), "{more:?}");
}
