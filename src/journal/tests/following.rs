//! Replay, then live: case 22 and what can go wrong on the way.

use super::*;

/// The next entries; skips the word that the follower has caught up.
async fn next_entries(follow: &mut Follow) -> Vec<Arc<Entry>> {
    loop {
        let next = tokio::time::timeout(Duration::from_secs(20), follow.next());
        match next.await.expect("was missed").unwrap() {
            Followed::Entries(entries) => return entries,
            Followed::CaughtUp => {}
            Followed::Behind => panic!("behind"),
        }
    }
}

/// Takes exactly `count` entries.
async fn take(follow: &mut Follow, count: usize) -> Vec<Arc<Entry>> {
    let mut taken = Vec::new();
    while taken.len() < count {
        taken.extend(next_entries(follow).await);
    }
    assert_eq!(taken.len(), count);
    taken
}

#[tokio::test]
async fn a_cut_stream_resumes_where_it_was_and_goes_on_live() {
    let (_dir, journal) = durable().await;
    append_each(&journal, "a", 1, 100).await;
    let mut follow = journal
        .follow(Filter::of_loop("a"), From::Earliest)
        .await
        .unwrap();
    let replayed = take(&mut follow, 100).await;
    let token = follow.token_after(&replayed[36]);
    drop(follow);
    append_each(&journal, "a", 101, 10).await;
    // As text, as it goes over the wire.
    let token: Token = token.to_string().parse().unwrap();
    let mut follow = journal
        .follow(Filter::of_loop("a"), From::After(token))
        .await
        .unwrap();
    let resumed = take(&mut follow, 73).await;
    assert!(sequences(&resumed).into_iter().eq(38..=110));
    assert_eq!(follow.next().await.unwrap(), Followed::CaughtUp);
    append_each(&journal, "b", 1, 1).await;
    append_each(&journal, "a", 111, 2).await;
    assert_eq!(sequences(&take(&mut follow, 2).await), [111, 112]);
    assert_eq!(journal.followers(), 1);
    drop(follow);
    assert_eq!(journal.followers(), 0);
}

#[tokio::test]
async fn a_token_is_good_for_its_loop_alone() {
    let journal = in_memory(Options::default()).await;
    append_each(&journal, "a", 1, 2).await;
    append_each(&journal, "b", 1, 2).await;
    let follow = journal
        .follow(Filter::of_loop("a"), From::Earliest)
        .await
        .unwrap();
    let token = follow.token();
    for filter in [Filter::of_loop("b"), Filter::default()] {
        let refused = journal
            .follow(filter.clone(), From::After(token))
            .await
            .err();
        assert!(
            matches!(refused, Some(JournalError::ForeignToken)),
            "{refused:?}"
        );
        let refused = journal.list(&filter, Some(&token), 1).await;
        assert!(
            matches!(refused, Err(JournalError::ForeignToken)),
            "{refused:?}"
        );
    }
    // One for all loops is good for each of them.
    let token = journal
        .follow(Filter::default(), From::Earliest)
        .await
        .unwrap()
        .token();
    let mut follow = journal
        .follow(Filter::of_loop("b"), From::After(token))
        .await
        .unwrap();
    assert_eq!(sequences(&take(&mut follow, 2).await), [1, 2]);
}

#[tokio::test]
async fn a_purged_range_names_the_earliest_position() {
    for filter in [Filter::of_loop("a"), Filter::default()] {
        let journal = in_memory(Options::default()).await;
        append_each(&journal, "a", 1, 20).await;
        append_each(&journal, "b", 1, 5).await;
        let mut follow = journal
            .follow(filter.clone(), From::Earliest)
            .await
            .unwrap();
        let first = next_entries(&mut follow).await;
        let (gone, kept) = (follow.token_after(&first[5]), follow.token_after(&first[9]));
        let purge = Purge {
            through: Some(kept),
            loop_id: filter.loop_id.clone(),
            before: None,
        };
        assert_eq!(journal.purge(&purge).await.unwrap().events, 10);
        let refused = journal
            .follow(filter.clone(), From::After(gone))
            .await
            .err();
        let Some(JournalError::OutOfRange { earliest, .. }) = refused else {
            panic!("{refused:?}");
        };
        for token in [earliest, kept] {
            let from = From::After(token);
            let mut follow = journal.follow(filter.clone(), from).await.unwrap();
            let entries = next_entries(&mut follow).await;
            assert_eq!(entries.len(), first.len() - 10);
            assert_eq!(entries[0].sequence, 11);
        }
    }
}

#[tokio::test]
async fn another_journals_token_is_out_of_range() {
    let before = in_memory(Options::default()).await;
    append_each(&before, "a", 1, 2).await;
    let token = before
        .follow(Filter::of_loop("a"), From::Earliest)
        .await
        .unwrap()
        .token();
    let journal = in_memory(Options::default()).await;
    append_each(&journal, "a", 1, 3).await;
    let refused = journal
        .follow(Filter::of_loop("a"), From::After(token))
        .await
        .err();
    let Some(JournalError::OutOfRange { earliest, .. }) = refused else {
        panic!("{refused:?}")
    };
    let mut follow = journal
        .follow(Filter::of_loop("a"), From::After(earliest))
        .await
        .unwrap();
    assert_eq!(sequences(&take(&mut follow, 3).await), [1, 2, 3]);
    // So is one that is ahead, as after a restored backup.
    let ahead = Token {
        position: 4,
        ..follow.token()
    };
    let refused = journal
        .follow(Filter::of_loop("a"), From::After(ahead))
        .await
        .err();
    assert!(
        matches!(refused, Some(JournalError::OutOfRange { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn what_is_purged_under_a_reader_is_said() {
    let journal = in_memory(Options::default()).await;
    for first in (1..=5_000).step_by(1_000) {
        journal.append(batch("a", first, 1_000)).await.unwrap();
    }
    let mut follow = journal
        .follow(Filter::default(), From::Earliest)
        .await
        .unwrap();
    let first = next_entries(&mut follow).await;
    assert!(first.len() < 2_000);
    let through = Some(Token {
        position: 4_000,
        ..follow.token()
    });
    journal
        .purge(&Purge {
            through,
            ..Purge::default()
        })
        .await
        .unwrap();
    let refused = follow.next().await;
    assert!(
        matches!(refused, Err(JournalError::OutOfRange { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_reader_that_began_after_a_purge_is_not_bothered_by_it() {
    let journal = in_memory(Options::default()).await;
    append_each(&journal, "a", 1, 3).await;
    append_each(&journal, "b", 1, 3).await;
    // Leaves position 1 to 3 of "a", and a hole behind it.
    journal
        .purge(&Purge {
            loop_id: Some("b".into()),
            ..Purge::default()
        })
        .await
        .unwrap();
    append_each(&journal, "a", 4, 1).await;
    let mut follow = journal
        .follow(Filter::default(), From::Earliest)
        .await
        .unwrap();
    let entries = take(&mut follow, 4).await;
    let mut resumed = journal
        .follow(
            Filter::default(),
            From::After(follow.token_after(&entries[0])),
        )
        .await
        .unwrap();
    assert_eq!(sequences(&take(&mut resumed, 3).await), [2, 3, 4]);
}

#[tokio::test]
async fn a_slow_follower_is_closed_and_can_resume() {
    let journal = in_memory(Options::default()).await;
    append_each(&journal, "a", 1, 1).await;
    let mut follow = journal
        .follow(Filter::of_loop("a"), From::Earliest)
        .await
        .unwrap();
    take(&mut follow, 1).await;
    assert_eq!(follow.next().await.unwrap(), Followed::CaughtUp);
    append_each(&journal, "a", 2, 1).await;
    take(&mut follow, 1).await;
    let behind = tail::BEHIND as u64 + 10;
    append_each(&journal, "a", 3, behind).await;
    assert_eq!(follow.next().await.unwrap(), Followed::Behind);
    let token = follow.token();
    drop(follow);
    let mut follow = journal
        .follow(Filter::of_loop("a"), From::After(token))
        .await
        .unwrap();
    let missed = take(&mut follow, usize::try_from(behind).unwrap()).await;
    assert!(sequences(&missed).into_iter().eq(3..3 + behind));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn followers_see_every_event_once_while_writers_write() {
    let (_dir, journal) = durable().await;
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let journal = journal.clone();
            tokio::spawn(async move {
                append_each(&journal, &format!("loop {writer}"), 1, 100).await;
            })
        })
        .collect();
    // They join in the middle, some late, each with a restart on the way.
    let followers: Vec<_> = (0..8u64)
        .map(|number| {
            let journal = journal.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(number * 5)).await;
                let mut from = From::Earliest;
                let mut seen = Vec::new();
                while seen.len() < 800 {
                    let mut follow = journal.follow(Filter::default(), from).await.unwrap();
                    for _ in 0..20 {
                        seen.extend(next_entries(&mut follow).await);
                        if seen.len() >= 800 {
                            break;
                        }
                    }
                    from = From::After(follow.token());
                }
                assert!(seen.iter().map(|entry| entry.position).eq(1..=800));
            })
        })
        .collect();
    for task in writers.into_iter().chain(followers) {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn large_appends_reach_followers_through_the_store() {
    let journal = in_memory(Options::default()).await;
    let mut follow = journal.follow(Filter::default(), From::Now).await.unwrap();
    assert_eq!(follow.next().await.unwrap(), Followed::CaughtUp);
    append_each(&journal, "a", 1, 1).await;
    journal.append(batch("a", 2, 1_000)).await.unwrap();
    // Nothing has to follow for it to arrive.
    let seen = take(&mut follow, 1_001).await;
    assert!(sequences(&seen).into_iter().eq(1..=1_001));
    append_each(&journal, "a", 1_002, 1).await;
    assert_eq!(sequences(&take(&mut follow, 1).await), [1_002]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_while_a_follower_joins_is_not_missed() {
    let journal = in_memory(Options::default()).await;
    append_each(&journal, "a", 1, 1).await;
    for round in 2..1_000 {
        let from = From::After(
            journal
                .follow(Filter::default(), From::Now)
                .await
                .unwrap()
                .token(),
        );
        let mut follow = journal.follow(Filter::default(), from).await.unwrap();
        let appending = tokio::spawn({
            let journal = journal.clone();
            async move { append_each(&journal, "a", round, 1).await }
        });
        // Nothing else comes that could tell the follower of what it has missed.
        assert_eq!(sequences(&next_entries(&mut follow).await), [round]);
        appending.await.unwrap();
    }
}

#[tokio::test]
async fn a_quiet_loop_does_not_hold_its_reader_back() {
    let journal = in_memory(Options::default()).await;
    append_each(&journal, "quiet", 1, 1).await;
    let mut follow = journal
        .follow(Filter::of_loop("quiet"), From::Earliest)
        .await
        .unwrap();
    take(&mut follow, 1).await;
    append_each(&journal, "busy", 1, 50).await;
    // What was passed over counts as seen, also where it is purged later.
    let mut resumed = journal
        .follow(Filter::of_loop("quiet"), From::After(follow.token()))
        .await
        .unwrap();
    assert_eq!(resumed.next().await.unwrap(), Followed::CaughtUp);
    let token = resumed.token();
    journal
        .purge(&Purge {
            loop_id: Some("busy".into()),
            ..Purge::default()
        })
        .await
        .unwrap();
    assert!(
        journal
            .follow(Filter::of_loop("quiet"), From::After(token))
            .await
            .is_ok()
    );
}
