//! Sequences, positions, idempotence, order.

use super::*;

#[tokio::test]
async fn sequences_count_per_loop_and_positions_over_all() {
    let (dir, journal) = durable().await;
    append_each(&journal, "a", 1, 3).await;
    let appended = journal.append(batch("b", 1, 2)).await.unwrap();
    assert_eq!((appended.first_sequence, appended.last_sequence), (1, 2));
    assert_eq!((appended.last_position, appended.repeated), (5, false));
    append_each(&journal, "a", 4, 1).await;
    let journal = reopen(&dir, journal).await;
    append_each(&journal, "b", 3, 1).await;
    let found = all(&journal, &Filter::default()).await;
    let places: Vec<_> = found
        .iter()
        .map(|e| (e.position, e.loop_id.as_str(), e.sequence))
        .collect();
    assert_eq!(
        places,
        [
            (1, "a", 1),
            (2, "a", 2),
            (3, "a", 3),
            (4, "b", 1),
            (5, "b", 2),
            (6, "a", 4),
            (7, "b", 3)
        ]
    );
    assert!(found.is_sorted_by_key(|entry| entry.timestamp));
    let verified = journal.verify().await.unwrap();
    assert_eq!(
        verified,
        Verified {
            events: 7,
            loops: 2
        }
    );
}

#[tokio::test]
async fn a_request_id_appends_once() {
    let (dir, journal) = durable().await;
    let append = Append {
        request_id: "r1".into(),
        ..batch("a", 1, 2)
    };
    let first = journal.append(append.clone()).await.unwrap();
    append_each(&journal, "a", 3, 1).await;
    let journal = reopen(&dir, journal).await;
    // Also where it would be refused by now.
    let again = Append {
        expected_sequence: Some(1),
        ..append.clone()
    };
    assert_eq!(
        journal.append(again).await.unwrap(),
        Appended {
            repeated: true,
            ..first
        }
    );
    let other = Append {
        events: vec![custom("other")],
        ..append.clone()
    };
    let refused = journal.append(other).await;
    assert!(
        matches!(refused, Err(JournalError::RequestReused { .. })),
        "{refused:?}"
    );
    // Another loop may use the same id.
    let elsewhere = Append {
        loop_id: "b".into(),
        ..append
    };
    assert!(!journal.append(elsewhere).await.unwrap().repeated);
    assert_eq!(
        sequences(&all(&journal, &Filter::of_loop("a")).await),
        [1, 2, 3]
    );
}

#[tokio::test]
async fn equal_requests_at_once_append_once() {
    let journal = in_memory(Options::default()).await;
    let append = Append {
        request_id: "r1".into(),
        ..batch("a", 1, 2)
    };
    let calls = (0..20).map(|_| journal.append(append.clone()));
    let answers = futures_util::future::join_all(calls).await;
    let fresh = answers
        .iter()
        .filter(|answer| !answer.as_ref().unwrap().repeated)
        .count();
    assert_eq!(fresh, 1);
    assert!(
        answers
            .iter()
            .all(|answer| answer.as_ref().unwrap().last_sequence == 2)
    );
    assert_eq!(sequences(&all(&journal, &Filter::default()).await), [1, 2]);
}

#[tokio::test]
async fn the_oldest_request_ids_are_forgotten() {
    let journal = in_memory(Options {
        max_request_ids: 10,
        ..Options::default()
    })
    .await;
    for number in 1..=25 {
        let append = Append {
            request_id: format!("r{number}"),
            ..batch("a", number, 1)
        };
        journal.append(append).await.unwrap();
    }
    assert_eq!(journal.stats().await.unwrap().request_ids, 10);
    let kept = Append {
        request_id: "r16".into(),
        ..batch("a", 16, 1)
    };
    assert!(journal.append(kept).await.unwrap().repeated);
    let forgotten = Append {
        request_id: "r15".into(),
        ..batch("a", 15, 1)
    };
    assert!(!journal.append(forgotten).await.unwrap().repeated);
}

#[tokio::test]
async fn an_expected_sequence_has_to_be_the_next_one() {
    let journal = in_memory(Options::default()).await;
    let expect = |sequence| Append {
        expected_sequence: Some(sequence),
        ..batch("a", 1, 2)
    };
    let refused = journal.append(expect(2)).await;
    assert!(
        matches!(
            refused,
            Err(JournalError::SequenceMismatch {
                expected: 2,
                actual: 1,
                ..
            })
        ),
        "{refused:?}"
    );
    journal.append(expect(1)).await.unwrap();
    // Of two that expect the same, one wins.
    let (one, other) = tokio::join!(journal.append(expect(3)), journal.append(expect(3)));
    assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
    assert_eq!(
        sequences(&all(&journal, &Filter::default()).await),
        [1, 2, 3, 4]
    );
}

#[tokio::test]
async fn a_loop_ends_once_and_takes_feedback_after() {
    use super::super::event::FeedbackRecorded;

    let (dir, journal) = durable().await;
    let append = |events| Append {
        events,
        ..batch("a", 1, 0)
    };
    let refused = journal
        .append(append(vec![terminated(), custom("late")]))
        .await;
    assert!(
        matches!(refused, Err(JournalError::LoopEnded { .. })),
        "{refused:?}"
    );
    journal.append(append(vec![custom("first")])).await.unwrap();
    assert_eq!(journal.open_loops().await.unwrap().len(), 1);
    journal.append(append(vec![terminated()])).await.unwrap();
    assert_eq!(journal.open_loops().await.unwrap(), []);
    let journal = reopen(&dir, journal).await;
    for late in [custom("late"), terminated()] {
        let refused = journal.append(append(vec![late])).await;
        assert!(
            matches!(refused, Err(JournalError::LoopEnded { .. })),
            "{refused:?}"
        );
    }
    let feedback = LoopEvent::FeedbackRecorded(FeedbackRecorded {
        feedback_id: "f".into(),
        verdict: "accepted".into(),
        ..FeedbackRecorded::default()
    });
    let appended = journal.append(append(vec![feedback.into()])).await.unwrap();
    assert_eq!(appended.last_sequence, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_appends_have_no_gaps_and_stay_in_order() {
    let (_dir, journal) = durable().await;
    let writers: Vec<_> = (0..16)
        .map(|writer| {
            let journal = journal.clone();
            tokio::spawn(async move {
                append_each(&journal, &format!("loop {writer}"), 1, 25).await;
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let found = all(&journal, &Filter::default()).await;
    assert!(found.iter().map(|entry| entry.position).eq(1..=400));
    for writer in 0..16 {
        let of_one = all(&journal, &Filter::of_loop(format!("loop {writer}"))).await;
        assert!(of_one.iter().map(|entry| entry.sequence).eq(1..=25));
        assert!(
            of_one
                .iter()
                .all(|e| name_of(e) == format!("event {}", e.sequence))
        );
    }
    journal.verify().await.unwrap();
}

#[tokio::test]
async fn too_many_waiting_appends_are_refused_at_once() {
    let journal = in_memory(Options::default()).await;
    let calls = (0..3_000).map(|_| journal.append(batch("a", 1, 1)));
    let answers = futures_util::future::join_all(calls).await;
    let refused = answers
        .iter()
        .filter(|a| matches!(a, Err(JournalError::Overloaded)))
        .count();
    let stored = answers.iter().filter(|answer| answer.is_ok()).count();
    assert_eq!(refused + stored, 3_000);
    assert!(refused > 0);
    assert_eq!(all(&journal, &Filter::default()).await.len(), stored);
}

#[tokio::test]
async fn a_clock_set_back_does_not_turn_the_times_round() {
    let (clock, forward) = hand_clock();
    let journal = in_memory(Options {
        clock,
        ..Options::default()
    })
    .await;
    append_each(&journal, "a", 1, 2).await;
    forward(-3_600);
    append_each(&journal, "a", 3, 1).await;
    forward(7_200);
    append_each(&journal, "a", 4, 1).await;
    let times: Vec<_> = all(&journal, &Filter::default())
        .await
        .iter()
        .map(|entry| entry.timestamp.to_parts().0 - 1_700_000_000)
        .collect();
    assert_eq!(times, [0, 0, 0, 3_600]);
}

#[tokio::test]
async fn filters_choose_by_loop_agent_type_and_time() {
    let (clock, forward) = hand_clock();
    let journal = in_memory(Options {
        clock,
        ..Options::default()
    })
    .await;
    for number in 1..=20u64 {
        let loop_id = if number % 2 == 0 { "even" } else { "odd" };
        let agent_id = if number % 5 == 0 {
            "fifth".to_owned()
        } else {
            String::new()
        };
        journal
            .append(Append {
                agent_id,
                ..batch(loop_id, number, 1)
            })
            .await
            .unwrap();
        forward(1);
    }
    journal
        .append(Append {
            events: vec![terminated()],
            ..batch("odd", 0, 0)
        })
        .await
        .unwrap();
    let positions = async |filter: Filter| -> Vec<u64> {
        all(&journal, &filter)
            .await
            .iter()
            .map(|entry| entry.position)
            .collect()
    };
    let at = |seconds: i64| Timestamp::from_parts(1_700_000_000 + seconds, 0);
    let fifth = Some("fifth".to_owned());
    let ends = TypeSet::from_iter([EventType::Terminated]);
    assert_eq!(
        positions(Filter::of_loop("even")).await,
        [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
    );
    assert_eq!(
        positions(Filter {
            agent_id: fifth.clone(),
            ..Filter::default()
        })
        .await,
        [5, 10, 15, 20]
    );
    assert_eq!(
        positions(Filter {
            agent_id: fifth,
            ..Filter::of_loop("odd")
        })
        .await,
        [5, 15]
    );
    assert_eq!(
        positions(Filter {
            types: ends,
            ..Filter::default()
        })
        .await,
        [21]
    );
    assert_eq!(
        positions(Filter {
            types: ends,
            ..Filter::of_loop("even")
        })
        .await,
        [0; 0]
    );
    // The first event has second 0, the one at position n second n - 1.
    let middle = Filter {
        from: at(4),
        until: at(7),
        ..Filter::default()
    };
    assert_eq!(positions(middle.clone()).await, [5, 6, 7]);
    assert_eq!(
        positions(Filter {
            loop_id: Some("odd".into()),
            ..middle
        })
        .await,
        [5, 7]
    );
    assert_eq!(
        positions(Filter {
            from: at(100),
            ..Filter::default()
        })
        .await,
        [0; 0]
    );
    assert_eq!(
        positions(Filter {
            until: at(0),
            ..Filter::default()
        })
        .await,
        [0; 0]
    );
    assert_eq!(positions(Filter::of_loop("nobody's")).await, [0; 0]);
    let newest = journal.newest(&Filter::of_loop("even"), 3).await.unwrap();
    assert_eq!(
        newest
            .iter()
            .map(|entry| entry.position)
            .collect::<Vec<_>>(),
        [16, 18, 20]
    );
}
