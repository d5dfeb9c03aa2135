//! Damage is told, never read past.

use rusqlite::Connection;

use super::*;

/// A journal of ten events of two loops, closed, whose file something happens to; then it is
/// opened again.
async fn damaged(damage: &str) -> (TempDir, Journal) {
    let (dir, journal) = durable().await;
    append_each(&journal, "a", 1, 5).await;
    append_each(&journal, "b", 1, 5).await;
    journal.shared.store.close().await;
    let conn = Connection::open(dir.path().join("signalbox.db")).unwrap();
    conn.execute_batch(damage).unwrap();
    drop(conn);
    let journal = Journal::open(Store::open(dir.path()).unwrap(), Options::default())
        .await
        .unwrap();
    (dir, journal)
}

fn is_damage<T: std::fmt::Debug>(answer: Result<T, JournalError>, what: &str) {
    match answer {
        Err(JournalError::Storage(StoreError::Corrupt { detail, .. })) => {
            assert!(!detail.is_empty());
        }
        other => panic!("{what}: {other:?}"),
    }
}

#[tokio::test]
async fn every_change_to_a_row_is_noticed() {
    for change in [
        "event = replace(event, 'event 3', 'event 4')",
        "event = substr(event, 1, 10)",
        "event = x'ff'",
        "sequence = 4",
        "time = time + 1",
        "agent_id = 'x'",
        "iteration = 1",
        "type = 1",
        "checksum = 0",
        "loop = 2",
        "loop = 77",
        "position = 30",
    ] {
        let sql = format!("UPDATE journal_events SET {change} WHERE position = 3");
        let (_dir, journal) = damaged(&sql).await;
        is_damage(journal.verify().await, change);
        is_damage(journal.list(&Filter::default(), None, 100).await, change);
        let mut follow = journal
            .follow(Filter::default(), From::Earliest)
            .await
            .unwrap();
        is_damage(follow.next().await, change);
    }
}

#[tokio::test]
async fn a_missing_row_is_noticed() {
    for (at, loop_id) in [(1, "a"), (3, "a"), (5, "a"), (10, "b")] {
        let sql = format!("DELETE FROM journal_events WHERE position = {at}");
        let (_dir, journal) = damaged(&sql).await;
        is_damage(journal.verify().await, &sql);
        is_damage(journal.list(&Filter::default(), None, 100).await, &sql);
        is_damage(
            journal.list(&Filter::of_loop(loop_id), None, 100).await,
            &sql,
        );
        let other = if loop_id == "a" { "b" } else { "a" };
        assert_eq!(all(&journal, &Filter::of_loop(other)).await.len(), 5);
    }
}

#[tokio::test]
async fn wrong_counters_are_noticed() {
    for sql in [
        "UPDATE journal_state SET events = 9",
        "UPDATE journal_loops SET last_sequence = 6, last_position = 11 WHERE loop_id = 'a'",
        "DELETE FROM journal_loops WHERE loop_id = 'a'",
        "DELETE FROM journal_state",
    ] {
        let (_dir, journal) = damaged(sql).await;
        is_damage(journal.verify().await, sql);
    }
}
