//! The journal over the wire and on the command line, with the real binary.

mod common;

use std::collections::HashMap;
use std::time::Duration;

use common::{Server, run, stderr, stdout};
use signalbox::grpc::pb;
use signalbox::grpc::pb::journal_service_client::JournalServiceClient;
use signalbox::grpc::pb::loop_event::Event as Kind;
use signalbox::grpc::pb::route_service_client::RouteServiceClient;
use signalbox::grpc::pb::stream_events_response::Event;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};
use tonic_types::StatusExt;

type Client = JournalServiceClient<Channel>;

fn event(name: &str) -> pb::NewLoopEvent {
    let custom = pb::Custom {
        name: name.into(),
        data: r#"{"größe": 1}"#.into(),
    };
    let event = Some(pb::LoopEvent {
        event: Some(Kind::Custom(custom)),
    });
    pb::NewLoopEvent {
        iteration: 0,
        event,
    }
}

fn append(loop_id: &str, numbers: std::ops::Range<u64>) -> pb::AppendEventsRequest {
    pb::AppendEventsRequest {
        loop_id: loop_id.into(),
        agent_id: "tester".into(),
        events: numbers
            .map(|number| event(&format!("event {number}")))
            .collect(),
        ..pb::AppendEventsRequest::default()
    }
}

fn follow(loop_id: &str, position: &str) -> pb::StreamEventsRequest {
    pb::StreamEventsRequest {
        loop_id: loop_id.into(),
        position: position.into(),
        ..pb::StreamEventsRequest::default()
    }
}

/// Reads entries until there are `count`.
async fn take(
    stream: &mut Streaming<pb::StreamEventsResponse>,
    count: usize,
) -> Vec<pb::JournalEntry> {
    let mut entries = Vec::new();
    while entries.len() < count {
        let message = stream.message().await.expect("goes on").expect("goes on");
        if let Some(Event::Events(batch)) = message.event {
            entries.extend(batch.entries);
        }
    }
    assert_eq!(entries.len(), count);
    entries
}

fn sequences(entries: &[pb::JournalEntry]) -> Vec<i64> {
    entries.iter().map(|entry| entry.sequence).collect()
}

/// Reason and metadata of a status.
fn info(status: &Status) -> (String, HashMap<String, String>) {
    let info = status.get_details_error_info().expect("has an ErrorInfo");
    (info.reason, info.metadata)
}

async fn client(server: &Server) -> Client {
    JournalServiceClient::new(server.channel().await)
}

#[tokio::test]
async fn a_stream_is_cut_resumed_and_goes_on_live() {
    let server = Server::start(&[]);
    let mut client = client(&server).await;
    client
        .append_events(append("a", 1..101))
        .await
        .expect("appends");
    let mut stream = client
        .stream_events(follow("a", ""))
        .await
        .expect("streams")
        .into_inner();
    let first = take(&mut stream, 100).await;
    let cut = first[36].position.clone();
    drop(stream);
    let answer = client
        .append_events(append("a", 101..111))
        .await
        .expect("appends")
        .into_inner();
    assert_eq!((answer.first_sequence, answer.last_sequence), (101, 110));

    let mut stream = client
        .stream_events(follow("a", &cut))
        .await
        .expect("streams")
        .into_inner();
    assert!(
        sequences(&take(&mut stream, 73).await)
            .into_iter()
            .eq(38..=110)
    );
    let message = stream.message().await.expect("goes on").expect("goes on");
    assert!(
        matches!(message.event, Some(Event::Heartbeat(_))),
        "{message:?}"
    );
    client
        .append_events(append("b", 1..2))
        .await
        .expect("appends");
    client
        .append_events(append("a", 111..112))
        .await
        .expect("appends");
    let live = take(&mut stream, 1).await;
    assert_eq!(
        (live[0].sequence, live[0].agent_id.as_str()),
        (111, "tester")
    );
    let Some(Kind::Custom(custom)) = live[0].event.clone().expect("event").event else {
        panic!("{live:?}");
    };
    assert_eq!(
        (custom.name.as_str(), custom.data.as_str()),
        ("event 111", r#"{"größe": 1}"#)
    );

    // What a call appended is a place, too.
    let request = pb::StreamEventsRequest {
        replay_only: true,
        ..follow("a", &answer.position)
    };
    let mut stream = client
        .stream_events(request)
        .await
        .expect("streams")
        .into_inner();
    assert_eq!(sequences(&take(&mut stream, 1).await), [111]);
    assert!(stream.message().await.expect("ends well").is_none());

    let status = client
        .stream_events(follow("b", &cut))
        .await
        .expect_err("foreign");
    assert_eq!(
        (status.code(), info(&status).0.as_str()),
        (Code::PermissionDenied, "FOREIGN_POSITION")
    );
    let purge = pb::PurgeEventsRequest {
        loop_id: "a".into(),
        through_position: first[49].position.clone(),
        force: true,
        ..pb::PurgeEventsRequest::default()
    };
    let purged = client
        .purge_events(purge)
        .await
        .expect("purges")
        .into_inner();
    assert_eq!((purged.purge_count, purged.purged), (50, true));
    let status = client
        .stream_events(follow("a", &cut))
        .await
        .expect_err("purged");
    let (reason, metadata) = info(&status);
    assert_eq!(
        (status.code(), reason.as_str()),
        (Code::OutOfRange, "POSITION_OUT_OF_RANGE")
    );
    let earliest = &metadata["earliest_position"];
    let mut stream = client
        .stream_events(follow("a", earliest))
        .await
        .expect("streams")
        .into_inner();
    assert!(
        sequences(&take(&mut stream, 61).await)
            .into_iter()
            .eq(51..=111)
    );
}

#[tokio::test]
async fn appends_are_idempotent_ordered_and_checked() {
    let server = Server::start(&[]);
    let mut client = client(&server).await;
    let request = pb::AppendEventsRequest {
        request_id: "r".into(),
        ..append("a", 1..3)
    };
    let first = client
        .append_events(request.clone())
        .await
        .expect("appends")
        .into_inner();
    let again = client
        .append_events(request.clone())
        .await
        .expect("repeats")
        .into_inner();
    assert!(again.repeated_request && !first.repeated_request);
    assert_eq!((again.first_sequence, again.last_sequence), (1, 2));
    assert_eq!(
        (again.position, again.timestamp),
        (first.position, first.timestamp)
    );

    let mut refused = Vec::new();
    let other = pb::AppendEventsRequest {
        request_id: "r".into(),
        ..append("a", 5..6)
    };
    refused.push((other, Code::AlreadyExists, "REQUEST_ID_REUSED"));
    let expected = pb::AppendEventsRequest {
        expected_sequence: Some(2),
        ..append("a", 1..2)
    };
    refused.push((expected, Code::Aborted, "SEQUENCE_MISMATCH"));
    for (loop_id, count) in [("", 1), ("signalbox.routes", 1), ("a", 0), ("a", 1_001)] {
        refused.push((
            append(loop_id, 0..count),
            Code::InvalidArgument,
            "INVALID_FIELD",
        ));
    }
    let nothing = pb::NewLoopEvent::default();
    let nothing = pb::AppendEventsRequest {
        events: vec![nothing],
        ..append("a", 0..0)
    };
    refused.push((nothing, Code::InvalidArgument, "INVALID_FIELD"));
    for (request, code, reason) in refused {
        let status = client.append_events(request).await.expect_err("refused");
        assert_eq!(
            (status.code(), info(&status).0.as_str()),
            (code, reason),
            "{status:?}"
        );
    }
    let terminated = pb::Terminated {
        reason: pb::TerminationReason::Completed.into(),
        ..pb::Terminated::default()
    };
    let event = Some(pb::LoopEvent {
        event: Some(Kind::Terminated(terminated)),
    });
    let end = pb::AppendEventsRequest {
        events: vec![pb::NewLoopEvent {
            iteration: 0,
            event,
        }],
        ..append("a", 0..0)
    };
    client.append_events(end.clone()).await.expect("ends");
    let status = client.append_events(end).await.expect_err("ends once");
    assert_eq!(
        (status.code(), info(&status).0.as_str()),
        (Code::FailedPrecondition, "LOOP_ENDED")
    );
}

#[tokio::test]
async fn events_are_listed_in_pages_and_filtered() {
    let server = Server::start(&[]);
    let mut client = client(&server).await;
    for round in 0..5 {
        client
            .append_events(append("a", round * 10..round * 10 + 10))
            .await
            .expect("appends");
        client
            .append_events(append("b", round..round + 1))
            .await
            .expect("appends");
    }
    let mut request = pb::ListEventsRequest {
        page_size: 7,
        loop_id: "a".into(),
        ..pb::ListEventsRequest::default()
    };
    let mut entries = Vec::new();
    loop {
        let page = client
            .list_events(request.clone())
            .await
            .expect("lists")
            .into_inner();
        entries.extend(page.entries);
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    assert!(sequences(&entries).into_iter().eq(1..=50));
    let time = entries[10].timestamp;
    let later = pb::ListEventsRequest {
        start_time: time,
        ..pb::ListEventsRequest::default()
    };
    let later = client
        .list_events(later)
        .await
        .expect("lists")
        .into_inner()
        .entries;
    assert!(
        !later.is_empty()
            && later
                .iter()
                .all(|entry| entry.timestamp.map(|t| (t.seconds, t.nanos))
                    >= time.map(|t| (t.seconds, t.nanos)))
    );
    let none = pb::ListEventsRequest {
        types: vec![pb::LoopEventType::Terminated.into()],
        ..pb::ListEventsRequest::default()
    };
    let none = client.list_events(none).await.expect("lists").into_inner();
    assert!(none.entries.is_empty() && none.next_page_token.is_empty());

    for request in [
        pb::ListEventsRequest {
            page_size: 1_001,
            ..pb::ListEventsRequest::default()
        },
        pb::ListEventsRequest {
            page_token: "x".into(),
            ..pb::ListEventsRequest::default()
        },
        pb::ListEventsRequest {
            types: vec![99],
            ..pb::ListEventsRequest::default()
        },
    ] {
        let status = client.list_events(request).await.expect_err("refused");
        assert_eq!(status.code(), Code::InvalidArgument);
    }
    // Without `force`, nothing is removed; without a filter, nothing is even counted.
    let purge = pb::PurgeEventsRequest {
        loop_id: "b".into(),
        ..pb::PurgeEventsRequest::default()
    };
    let planned = client
        .purge_events(purge)
        .await
        .expect("counts")
        .into_inner();
    assert_eq!((planned.purge_count, planned.purged), (5, false));
    let status = client
        .purge_events(pb::PurgeEventsRequest::default())
        .await
        .expect_err("all");
    assert_eq!(status.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn dropped_streams_leave_room_for_others() {
    let server = Server::start(&[]);
    let mut client = client(&server).await;
    client
        .append_events(append("a", 0..1))
        .await
        .expect("appends");
    // Far more than may be open at once.
    for _ in 0..600 {
        let mut stream = client
            .stream_events(follow("a", ""))
            .await
            .expect("room")
            .into_inner();
        take(&mut stream, 1).await;
        drop(stream);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn sigterm_ends_streams_with_a_token_that_resumes_in_the_next_process() {
    let data = tempfile::tempdir().expect("temporary folder");
    let data = data.path().to_str().expect("path");
    let mut server = Server::start(&["--data-dir", data]);
    let mut client = self::client(&server).await;
    client
        .append_events(append("a", 0..5))
        .await
        .expect("appends");
    let mut stream = client
        .stream_events(follow("a", ""))
        .await
        .expect("streams")
        .into_inner();
    take(&mut stream, 5).await;
    server.signal("TERM");
    let mut token = String::new();
    let status = loop {
        match stream.message().await {
            Ok(Some(message)) => token = message.resume_token,
            Ok(None) => panic!("ended without a status"),
            Err(status) => break status,
        }
    };
    let (reason, metadata) = info(&status);
    assert_eq!(
        (status.code(), reason.as_str()),
        (Code::Unavailable, "DRAINING")
    );
    assert_eq!(metadata["resume_token"], token);
    assert_eq!(server.wait().code(), Some(0));

    let server = Server::start(&["--data-dir", data]);
    let mut client = self::client(&server).await;
    client
        .append_events(append("a", 5..7))
        .await
        .expect("appends");
    let mut stream = client
        .stream_events(follow("a", &token))
        .await
        .expect("resumes")
        .into_inner();
    assert_eq!(sequences(&take(&mut stream, 2).await), [6, 7]);
    // In memory, the next process has another journal.
    drop(server);
    let server = Server::start(&[]);
    let mut client = self::client(&server).await;
    let status = client
        .stream_events(follow("a", &token))
        .await
        .expect_err("older");
    assert_eq!(status.code(), Code::OutOfRange);
}

#[tokio::test]
async fn what_was_acknowledged_outlives_a_killed_server() {
    let data = tempfile::tempdir().expect("temporary folder");
    let data = data.path().to_str().expect("path");
    let mut server = Server::start(&["--data-dir", data]);
    let mut client = self::client(&server).await;
    for number in 0..50 {
        client
            .append_events(append("a", number..number + 1))
            .await
            .expect("appends");
    }
    server.signal("KILL");
    server.wait();
    let server = Server::start(&["--data-dir", data]);
    let mut client = self::client(&server).await;
    let mut stream = client
        .stream_events(follow("", ""))
        .await
        .expect("streams")
        .into_inner();
    assert!(
        sequences(&take(&mut stream, 50).await)
            .into_iter()
            .eq(1..=50)
    );
}

#[tokio::test]
async fn the_command_line_reads_a_folder_and_a_server() {
    let data = tempfile::tempdir().expect("temporary folder");
    let data = data.path().to_str().expect("path");
    let server = Server::start(&["--data-dir", data]);
    let mut client = self::client(&server).await;
    client
        .append_events(append("a", 0..30))
        .await
        .expect("appends");
    client
        .append_events(append("b", 0..3))
        .await
        .expect("appends");
    for source in [["--data-dir", data], ["--server", &server.address]] {
        let journal = |args: &[&str]| {
            let output = run(&[&["journal"], args, &source].concat());
            assert!(output.status.success(), "{args:?}: {}", stderr(&output));
            stdout(&output)
        };
        let tail = journal(&["tail"]);
        assert_eq!(tail.lines().count(), 20, "{tail}");
        assert!(
            tail.lines()
                .last()
                .expect("a line")
                .contains(" b #3 by tester custom "),
            "{tail}"
        );
        let tail = journal(&["tail", "--loop", "a", "--json", "-n", "2"]);
        let last: serde_json::Value =
            serde_json::from_str(tail.lines().last().expect("a line")).expect("JSON");
        assert_eq!(
            (&last["loop_id"], &last["sequence"]),
            (&"a".into(), &30.into())
        );
        assert_eq!(last["event"]["custom"]["name"], "event 29");
        assert_eq!(journal(&["export"]).lines().count(), 33);
        assert_eq!(journal(&["export", "--loop", "b"]).lines().count(), 3);
        assert!(journal(&["verify"]).contains("33 entries of 2 loops"));
        let stats: serde_json::Value =
            serde_json::from_str(&journal(&["stats", "--json"])).expect("JSON");
        assert_eq!(
            (&stats["events"], &stats["open_loops"]),
            (&33.into(), &2.into())
        );
        assert_eq!(stats["by_type"]["custom"], 33);
    }
    let missing = run(&["journal", "stats"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        stderr(&missing).contains("--data-dir"),
        "{}",
        stderr(&missing)
    );
}

#[tokio::test]
async fn routes_are_journaled_and_computed_again() {
    let data = tempfile::tempdir().expect("temporary folder");
    let data = data.path().to_str().expect("path");
    let folder = tempfile::tempdir().expect("temporary folder");
    let config = folder.path().join("signalbox.toml");
    std::fs::write(&config, "[journal]\nroutes = true\n").expect("written");
    let server = Server::start(&[
        "--data-dir",
        data,
        "--config",
        config.to_str().expect("path"),
    ]);
    let mut routes = RouteServiceClient::new(server.channel().await);
    let request = pb::RouteRequest {
        prompt: "create a new branch".into(),
        ..pb::RouteRequest::default()
    };
    let first = routes
        .route(request.clone())
        .await
        .expect("routes")
        .into_inner();
    let again = routes
        .route(request.clone())
        .await
        .expect("routes")
        .into_inner();
    assert_eq!(first.route_id.len(), 32);
    assert_eq!(again.route_id, first.route_id, "equal calls have equal ids");
    let other = pb::RouteRequest {
        limit: Some(1),
        ..request
    };
    let batch = pb::BatchRouteRequest {
        requests: vec![other.clone(), other],
    };
    let batch = routes
        .batch_route(batch)
        .await
        .expect("routes")
        .into_inner();
    assert_ne!(batch.responses[0].route_id, first.route_id);

    let mut client = self::client(&server).await;
    let mut stream = client
        .stream_events(follow("signalbox.routes", ""))
        .await
        .expect("streams")
        .into_inner();
    let entries = take(&mut stream, 4).await;
    let Some(Kind::RouteDecided(decided)) = entries[0].event.clone().expect("event").event else {
        panic!("{entries:?}");
    };
    assert_eq!(decided.route_id, first.route_id);
    assert_eq!(decided.matches.len(), first.matches.len());
    assert_eq!(decided.matches[0].score, first.matches[0].score);

    let catalogue = server.dir().join("small.yaml");
    let catalogue = catalogue.to_str().expect("path");
    let here = [
        "--data-dir",
        data,
        "--catalog",
        catalogue,
        "--model",
        "none",
    ];
    for source in [&here[..], &["--server", &server.address]] {
        let output = run(&[&["journal", "replay", &first.route_id], source].concat());
        assert!(
            output.status.success(),
            "{}{}",
            stdout(&output),
            stderr(&output)
        );
        assert!(
            stdout(&output).starts_with("identical"),
            "{}",
            stdout(&output)
        );
    }
    let unknown = run(&["journal", "replay", "0", "--server", &server.address]);
    assert_eq!(unknown.status.code(), Some(1));

    // With another catalogue it is another decision, and says what differs.
    let changed = folder.path().join("changed.yaml");
    let text = std::fs::read_to_string(catalogue).expect("reads");
    std::fs::write(&changed, text.replace("Create and manage", "Prune")).expect("written");
    let changed = changed.to_str().expect("path");
    let here = ["--data-dir", data, "--catalog", changed, "--model", "none"];
    let output = run(&[&["journal", "replay", &first.route_id], &here[..]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(
        stdout(&output).contains("catalogue: "),
        "{}",
        stdout(&output)
    );
}
