//! Group commit: what jobs that share a transaction do to each other, and what they do not.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use futures_util::poll;

use super::*;
use crate::store::{WRITES_WAITING, file};

/// Puts a write into the queue without waiting for its answer.
async fn enqueue<F: Future>(write: &mut Pin<&mut F>) {
    assert!(poll!(write.as_mut()).is_pending());
}

#[tokio::test]
async fn no_answer_leaves_before_the_commit() {
    let (dir, store) = store_with_notes().await;
    let (first, hold_first) = Gate::new();
    let (second, hold_second) = Gate::new();
    let mut held = pin!(store.write(hold_first));
    enqueue(&mut held).await;
    first.wait_until_begun();
    let mut written = pin!(note(&store, "in the group"));
    enqueue(&mut written).await;
    let mut held_again = pin!(store.write(hold_second));
    enqueue(&mut held_again).await;
    first.open();
    second.wait_until_begun();

    // The note's job has run, but its group is not committed.
    let other = file::connect_reader(&dir.path().join(file::DB_FILE)).unwrap();
    let count = || {
        let count = "SELECT count(*) FROM notes";
        other.query_row(count, [], |row| row.get::<_, i64>(0))
    };
    assert_eq!(count().unwrap(), 0);
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    assert!(poll!(written.as_mut()).is_pending());
    second.open();
    written.await.unwrap();
    assert_eq!(count().unwrap(), 1);
}

#[tokio::test]
async fn a_failing_job_rolls_back_alone() {
    let (_dir, store) = store_with_notes().await;
    let (gate, hold) = Gate::new();
    let mut held = pin!(store.write(hold));
    enqueue(&mut held).await;
    gate.wait_until_begun();
    let mut before = pin!(note(&store, "before"));
    let mut failing = pin!(store.write(|tx| {
        add(tx, "half done")?;
        tx.execute("INSERT INTO notes VALUES (NULL)", [])?;
        Ok(())
    }));
    let mut panicking = pin!(store.write(|tx| -> Result<(), StoreError> {
        add(tx, "half done")?;
        panic!("job number {}", 3)
    }));
    let mut nested = pin!(store.write(|tx| {
        tx.execute_batch("SAVEPOINT own")?;
        add(tx, "in a savepoint left open")
    }));
    let mut after = pin!(note(&store, "after"));
    enqueue(&mut before).await;
    enqueue(&mut failing).await;
    enqueue(&mut panicking).await;
    enqueue(&mut nested).await;
    enqueue(&mut after).await;
    gate.open();
    held.await.unwrap();
    before.await.unwrap();
    let failed = failing.await;
    assert!(matches!(failed, Err(StoreError::Sqlite(_))), "{failed:?}");
    let panicked = panicking.await.unwrap_err();
    assert_eq!(
        panicked.to_string(),
        "a job of the store panicked: job number 3"
    );
    nested.await.unwrap();
    after.await.unwrap();
    assert_eq!(
        notes(&store).await,
        ["before", "in a savepoint left open", "after"]
    );
}

#[tokio::test]
async fn a_panic_ends_neither_writer_nor_reader() {
    struct PanicsOnDrop;
    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    for store in [store_with_notes().await.1, Store::in_memory().unwrap()] {
        // More often than there are threads.
        for _ in 0..4 {
            let write = store.write(|_| -> Result<(), StoreError> { panic!("in a write") });
            assert!(matches!(write.await, Err(StoreError::Panicked { .. })));
            let read = store.read(|_| -> Result<(), StoreError> { panic!("in a read") });
            assert!(matches!(read.await, Err(StoreError::Panicked { .. })));

            // The caller goes while its job runs, so the result is dropped over there.
            let (gate, hold) = Gate::new();
            {
                let mut write = pin!(store.write(move |tx| {
                    hold(tx)?;
                    Ok(PanicsOnDrop)
                }));
                enqueue(&mut write).await;
                gate.wait_until_begun();
            }
            gate.open();
        }
        store.write(|_| Ok(())).await.unwrap();
        store.read(|_| Ok(())).await.unwrap();
        store.close().await;
    }
}

#[tokio::test]
async fn a_failed_commit_fails_the_whole_group_and_applies_nothing() {
    let (_dir, store) = store_with_notes().await;
    // A deferred constraint is the one thing that SQLite checks at the commit.
    let create = |tx: &Transaction<'_>| {
        tx.execute_batch(
            "CREATE TABLE parents (id INTEGER PRIMARY KEY);
             CREATE TABLE children (parent REFERENCES parents DEFERRABLE INITIALLY DEFERRED);",
        )?;
        Ok(())
    };
    store.write(create).await.unwrap();
    let (gate, hold) = Gate::new();
    let mut held = pin!(store.write(hold));
    enqueue(&mut held).await;
    gate.wait_until_begun();
    let mut innocent = pin!(note(&store, "lost with the group"));
    let mut orphan = pin!(store.write(|tx| Ok(tx.execute("INSERT INTO children VALUES (1)", [])?)));
    enqueue(&mut innocent).await;
    enqueue(&mut orphan).await;
    gate.open();
    assert!(matches!(held.await, Err(StoreError::Sqlite(_))));
    assert!(matches!(innocent.await, Err(StoreError::Sqlite(_))));
    assert!(matches!(orphan.await, Err(StoreError::Sqlite(_))));
    note(&store, "next group").await.unwrap();
    assert_eq!(notes(&store).await, ["next group"]);
}

#[tokio::test]
async fn a_job_that_ends_the_transaction_fails_the_group_but_not_the_next() {
    let (_dir, store) = store_with_notes().await;
    let (gate, hold) = Gate::new();
    let mut held = pin!(store.write(hold));
    enqueue(&mut held).await;
    gate.wait_until_begun();
    let mut before = pin!(note(&store, "before"));
    let mut ending = pin!(store.write(|tx| Ok(tx.execute_batch("ROLLBACK")?)));
    let mut after = pin!(note(&store, "after"));
    enqueue(&mut before).await;
    enqueue(&mut ending).await;
    enqueue(&mut after).await;
    gate.open();
    assert!(matches!(held.await, Err(StoreError::Aborted)));
    assert!(matches!(before.await, Err(StoreError::Aborted)));
    assert!(ending.await.is_err());
    after.await.unwrap();
    assert_eq!(notes(&store).await, ["after"]);
}

#[tokio::test]
async fn a_full_queue_refuses_at_once() {
    let (_dir, store) = store_with_notes().await;
    let (gate, hold) = Gate::new();
    let mut held = pin!(store.write(hold));
    enqueue(&mut held).await;
    gate.wait_until_begun();
    let mut waiting = Vec::new();
    for _ in 0..WRITES_WAITING {
        let mut write = Box::pin(note(&store, "waited"));
        assert!(poll!(write.as_mut()).is_pending());
        waiting.push(write);
    }
    let refused = poll!(pin!(note(&store, "one too many")));
    assert!(
        matches!(refused, Poll::Ready(Err(StoreError::Overloaded))),
        "{refused:?}"
    );
    gate.open();
    held.await.unwrap();
    for write in waiting {
        write.await.unwrap();
    }
    assert_eq!(notes(&store).await.len(), WRITES_WAITING);
}

#[tokio::test]
async fn a_job_without_its_caller_is_skipped_until_begun() {
    let (_dir, store) = store_with_notes().await;
    let begun = Arc::new(AtomicBool::new(false));
    let (gate, hold) = Gate::new();
    {
        let mut held = pin!(store.write(move |tx| {
            add(tx, "begun")?;
            hold(tx)
        }));
        enqueue(&mut held).await;
        gate.wait_until_begun();
        let began = Arc::clone(&begun);
        let mut never = pin!(store.write(move |tx| {
            began.store(true, Ordering::SeqCst);
            add(tx, "not begun")
        }));
        enqueue(&mut never).await;
    }
    gate.open();
    note(&store, "next").await.unwrap();
    assert!(!begun.load(Ordering::SeqCst));
    assert_eq!(notes(&store).await, ["begun", "next"]);
}

#[tokio::test]
async fn a_read_in_memory_waits_for_the_commit() {
    let store = Store::in_memory().unwrap();
    create_notes(&store).await;
    let (gate, hold) = Gate::new();
    let mut held = pin!(store.write(hold));
    enqueue(&mut held).await;
    gate.wait_until_begun();
    let mut before = pin!(note(&store, "before"));
    let mut reading = pin!(notes(&store));
    let mut after = pin!(note(&store, "after"));
    enqueue(&mut before).await;
    enqueue(&mut reading).await;
    enqueue(&mut after).await;
    gate.open();
    assert_eq!(reading.await, ["before"]);
    after.await.unwrap();
    assert_eq!(notes(&store).await, ["before", "after"]);
}
