//! Purging, and the limits of age, size and loop.

use super::*;

fn purge_of(loop_id: &str) -> Purge {
    Purge {
        loop_id: Some(loop_id.into()),
        ..Purge::default()
    }
}

#[tokio::test]
async fn a_purge_removes_what_was_planned_and_keeps_the_ends() {
    let (clock, forward) = hand_clock();
    let journal = in_memory(Options {
        clock,
        ..Options::default()
    })
    .await;
    for number in 1..=10 {
        append_each(&journal, "a", number, 1).await;
        append_each(&journal, "b", number, 1).await;
        forward(1);
    }
    let before = Timestamp::from_parts(1_700_000_004, 0);
    let purge = Purge {
        before,
        ..purge_of("a")
    };
    let planned = journal.plan_purge(&purge).await.unwrap();
    assert_eq!(planned.events, 4);
    assert_eq!(
        all(&journal, &Filter::default()).await.len(),
        20,
        "planning removes nothing"
    );
    assert_eq!(journal.purge(&purge).await.unwrap(), planned);
    let of = async |loop_id: &str| sequences(&all(&journal, &Filter::of_loop(loop_id)).await);
    assert_eq!(of("a").await, [5, 6, 7, 8, 9, 10]);
    assert_eq!(of("b").await.len(), 10);
    let purge = Purge {
        before,
        ..Purge::default()
    };
    assert_eq!(journal.purge(&purge).await.unwrap().events, 4);
    assert_eq!(of("b").await, [5, 6, 7, 8, 9, 10]);
    assert_eq!(
        journal.purge(&purge_of("nobody's")).await.unwrap(),
        Purged::default()
    );
    // An open loop that lost everything goes on with the next sequence.
    assert_eq!(journal.purge(&purge_of("a")).await.unwrap().events, 6);
    append_each(&journal, "a", 11, 1).await;
    journal.verify().await.unwrap();
}

#[tokio::test]
async fn a_loop_that_ended_and_was_purged_is_forgotten() {
    let journal = in_memory(Options::default()).await;
    journal
        .append(Append {
            events: vec![custom("x"), terminated()],
            ..batch("a", 1, 0)
        })
        .await
        .unwrap();
    assert_eq!(journal.stats().await.unwrap().loops, 1);
    journal.purge(&purge_of("a")).await.unwrap();
    assert_eq!(journal.stats().await.unwrap().loops, 0);
    append_each(&journal, "a", 1, 1).await;
    journal.verify().await.unwrap();
}

#[tokio::test]
async fn large_purges_go_in_parts() {
    let journal = in_memory(Options::default()).await;
    for first in (1..=7_000).step_by(1_000) {
        journal.append(batch("a", first, 1_000)).await.unwrap();
    }
    let through = Some(Token {
        position: 6_500,
        ..journal
            .follow(Filter::default(), From::Now)
            .await
            .unwrap()
            .token()
    });
    let purge = Purge {
        through,
        ..Purge::default()
    };
    assert_eq!(journal.plan_purge(&purge).await.unwrap().events, 6_500);
    assert_eq!(journal.purge(&purge).await.unwrap().events, 6_500);
    let left = all(&journal, &Filter::default()).await;
    assert!(sequences(&left).into_iter().eq(6_501..=7_000));
    journal.verify().await.unwrap();
}

#[tokio::test]
async fn old_events_go_by_themselves() {
    let (clock, forward) = hand_clock();
    let options = Options {
        clock,
        max_age: Some(Duration::from_secs(100)),
        ..Options::default()
    };
    let journal = in_memory(options).await;
    append_each(&journal, "a", 1, 3).await;
    forward(60);
    append_each(&journal, "a", 4, 3).await;
    assert_eq!(journal.retain().await.unwrap(), Purged::default());
    forward(60);
    assert_eq!(journal.retain().await.unwrap().events, 3);
    assert_eq!(
        sequences(&all(&journal, &Filter::default()).await),
        [4, 5, 6]
    );
    forward(60);
    journal.retain().await.unwrap();
    assert_eq!(all(&journal, &Filter::default()).await, []);
    append_each(&journal, "a", 7, 1).await;
    journal.verify().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_limits_are_applied_in_the_background() {
    let options = Options {
        max_loop_events: 10,
        ..Options::default()
    };
    let journal = in_memory(options).await;
    append_each(&journal, "a", 1, 25).await;
    append_each(&journal, "b", 1, 5).await;
    tokio::time::sleep(Duration::from_secs(61)).await;
    // The task runs on the store's thread, whose time is not tokio's.
    let kept = async || all(&journal, &Filter::of_loop("a")).await;
    while kept().await.len() != 10 {
        tokio::task::yield_now().await;
    }
    assert!(sequences(&kept().await).into_iter().eq(16..=25));
    assert_eq!(all(&journal, &Filter::of_loop("b")).await.len(), 5);
    journal.verify().await.unwrap();
}

#[tokio::test]
async fn the_oldest_go_where_there_are_too_many_bytes() {
    let options = Options {
        max_bytes: 20_000,
        ..Options::default()
    };
    let (dir, store) = {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        (dir, store)
    };
    let journal = Journal::open(store, options).await.unwrap();
    for first in (1..=3_000).step_by(1_000) {
        journal.append(batch("a", first, 1_000)).await.unwrap();
    }
    let removed = journal.retain().await.unwrap();
    let stats = journal.stats().await.unwrap();
    assert!(stats.bytes <= 20_000 && stats.bytes > 19_000, "{stats:?}");
    assert_eq!(removed.events + stats.events, 3_000);
    assert_eq!(stats.last_position, 3_000);
    journal.verify().await.unwrap();
    drop(dir);
}

#[tokio::test]
async fn in_memory_the_journal_is_bounded_at_every_append() {
    let options = Options {
        memory_events: 100,
        ..Options::default()
    };
    let journal = in_memory(options).await;
    assert!(!journal.is_durable());
    append_each(&journal, "a", 1, 250).await;
    assert_eq!(journal.stats().await.unwrap().events, 100);
    journal.append(batch("a", 251, 1_000)).await.unwrap();
    let kept = all(&journal, &Filter::default()).await;
    assert!(sequences(&kept).into_iter().eq(1_151..=1_250));

    let options = Options {
        memory_bytes: 5_000,
        ..Options::default()
    };
    let journal = in_memory(options).await;
    append_each(&journal, "a", 1, 250).await;
    let stats = journal.stats().await.unwrap();
    assert!(stats.bytes <= 5_000 && stats.events > 20, "{stats:?}");
    journal.verify().await.unwrap();
}
