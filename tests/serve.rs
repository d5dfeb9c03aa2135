//! The server as its callers and operators see it: the real binary over real sockets.

mod common;

use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::time::Duration;

use common::Server;
use signalbox::grpc::pb;
use signalbox::grpc::pb::catalog_service_client::CatalogServiceClient;
use signalbox::grpc::pb::route_service_client::RouteServiceClient;
use signalbox::grpc::pb::stream_route_response::Stage;
use signalbox::grpc::pb::system_service_client::SystemServiceClient;
use signalbox::grpc::pb::watch_catalog_response::Event;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_types::StatusExt;

fn prompt(text: &str) -> pb::RouteRequest {
    pb::RouteRequest {
        prompt: text.into(),
        ..pb::RouteRequest::default()
    }
}

fn entry(name: &str, responsibility: &str) -> pb::Entry {
    pb::Entry {
        kind: pb::EntryKind::Command.into(),
        source: "test".into(),
        name: name.into(),
        responsibility: responsibility.into(),
        ..pb::Entry::default()
    }
}

fn reason(status: &Status) -> String {
    let details = status.get_error_details();
    let info = details
        .error_info()
        .unwrap_or_else(|| panic!("no ErrorInfo: {status:?}"));
    assert_eq!(info.domain, "signalbox");
    info.reason.clone()
}

fn fields(status: &Status) -> Vec<String> {
    let details = status.get_error_details();
    let request = details.bad_request().expect("BadRequest");
    request
        .field_violations
        .iter()
        .map(|violation| violation.field.clone())
        .collect()
}

async fn health(channel: &Channel, service: &str) -> Result<ServingStatus, Status> {
    let request = HealthCheckRequest {
        service: service.into(),
    };
    let response = HealthClient::new(channel.clone()).check(request).await?;
    Ok(response.into_inner().status())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_is_routed_and_the_answer_is_the_same_every_time() {
    let server = Server::start(&[]);
    let mut client = RouteServiceClient::new(server.channel().await);
    let first = client
        .route(prompt("create a branch"))
        .await
        .expect("routes")
        .into_inner();
    let best = first.matches[0].entry.clone().expect("entry");
    assert_eq!(
        (best.name.as_str(), best.source.as_str()),
        ("git-branch", "small")
    );
    assert_eq!(
        first.degraded[0].reason(),
        pb::DegradedReason::ModelDisabled
    );
    let second = client
        .route(prompt("create a branch"))
        .await
        .expect("routes")
        .into_inner();
    assert_eq!(first, second);

    let batch = pb::BatchRouteRequest {
        requests: vec![prompt("create a branch"), prompt("record changes")],
    };
    let batch = client
        .batch_route(batch)
        .await
        .expect("routes")
        .into_inner();
    assert_eq!(batch.responses[0], first);
    assert_eq!(batch.catalog_revision, first.catalog_revision);

    let request = pb::StreamRouteRequest {
        route: Some(prompt("create a branch")),
    };
    let mut stream = client
        .stream_route(request)
        .await
        .expect("streams")
        .into_inner();
    let mut stages = Vec::new();
    while let Some(message) = stream.message().await.expect("message") {
        stages.push(message.stage.expect("stage"));
    }
    assert!(matches!(stages[0], Stage::Lexical(_)));
    assert_eq!(stages.last(), Some(&Stage::Decision(first)));
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_name_the_field() {
    let server = Server::start(&[]);
    let mut client = RouteServiceClient::new(server.channel().await);
    let mut bad = prompt("  \u{0} ");
    bad.limit = Some(-1);
    bad.mode = 77;
    bad.view = 78;
    bad.min_score = f64::NAN;
    let status = client.route(bad.clone()).await.expect_err("refused");
    assert_eq!(status.code(), Code::InvalidArgument);
    assert_eq!(reason(&status), "INVALID_FIELD");
    let mut named = fields(&status);
    named.sort();
    assert_eq!(named, ["limit", "min_score", "mode", "prompt", "view"]);

    let batch = pb::BatchRouteRequest {
        requests: vec![prompt("fine"), bad],
    };
    let status = client.batch_route(batch).await.expect_err("refused");
    assert!(fields(&status).contains(&"requests[1].prompt".to_owned()));

    let status = client
        .route(prompt(&"x".repeat(70_000)))
        .await
        .expect_err("refused");
    assert!(
        status.message().contains("limit of 65536"),
        "{}",
        status.message()
    );
    let status = client
        .route(prompt(&"x".repeat(5 << 20)))
        .await
        .expect_err("refused");
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(reason(&status), "MESSAGE_TOO_LARGE");

    // Hostile but valid text is an answer.
    for text in [
        "🙂",
        "\u{202e}abc\u{202c}",
        "meaning of life",
        "a\u{0}b",
        &"查".repeat(9_000),
    ] {
        let answer = client
            .route(prompt(text))
            .await
            .expect("answers")
            .into_inner();
        let outcome = answer.decision.expect("decision").outcome();
        assert_ne!(outcome, pb::Outcome::Accepted, "{text:.20}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_routable_at_once_and_watched() {
    let server = Server::start(&[]);
    let channel = server.channel().await;
    let mut catalogue = CatalogServiceClient::new(channel.clone());
    let mut router = RouteServiceClient::new(channel);
    let mut watch = catalogue
        .watch_catalog(pb::WatchCatalogRequest::default())
        .await
        .expect("watches")
        .into_inner();
    let first = watch.message().await.expect("message").expect("message");
    let Some(Event::State(state)) = first.event else {
        panic!("no state first")
    };
    assert_eq!(state.entry_count, 4);

    let entries = vec![entry("parrot-feed", "Feed parrots with seeds")];
    let summary = catalogue
        .upsert_entries(pb::UpsertEntriesRequest { entries })
        .await
        .expect("upserts")
        .into_inner()
        .summary
        .expect("summary");
    assert_eq!(summary.created, 1);
    assert_ne!(summary.catalog_revision, state.catalog_revision);
    let answer = router
        .route(prompt("feed the parrots"))
        .await
        .expect("routes")
        .into_inner();
    assert_eq!(
        answer.matches[0].entry.clone().expect("entry").name,
        "parrot-feed"
    );
    assert_eq!(answer.catalog_revision, summary.catalog_revision);

    let message = watch.message().await.expect("message").expect("message");
    let Some(Event::Change(change)) = message.event else {
        panic!("no change")
    };
    assert_eq!(change.upserted[0].name, "parrot-feed");
    assert_eq!(change.catalog_revision, summary.catalog_revision);

    let mut request = pb::DeleteEntryRequest {
        source: "test".into(),
        name: "parrot-feed".into(),
        allow_missing: false,
    };
    catalogue
        .delete_entry(request.clone())
        .await
        .expect("deletes");
    let status = catalogue
        .delete_entry(request.clone())
        .await
        .expect_err("is gone");
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::NotFound, "ENTRY_NOT_FOUND")
    );
    request.allow_missing = true;
    catalogue.delete_entry(request).await.expect("allowed");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_is_listed_in_pages() {
    let server = Server::start(&[]);
    let mut client = CatalogServiceClient::new(server.channel().await);
    let entries = (0..25).map(|n| entry(&format!("e{n:02}"), "x")).collect();
    client
        .upsert_entries(pb::UpsertEntriesRequest { entries })
        .await
        .expect("upserts");
    let mut request = pb::ListEntriesRequest {
        page_size: 10,
        source: "test".into(),
        ..pb::ListEntriesRequest::default()
    };
    let mut names = Vec::new();
    loop {
        let page = client
            .list_entries(request.clone())
            .await
            .expect("lists")
            .into_inner();
        assert_eq!(page.total_size, 25);
        names.extend(page.entries.into_iter().map(|entry| entry.name));
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    assert_eq!(
        names,
        (0..25).map(|n| format!("e{n:02}")).collect::<Vec<_>>()
    );
    request.page_token = "zz".into();
    request.page_size = 5_000;
    request.kind = 9;
    let status = client.list_entries(request).await.expect_err("refused");
    assert_eq!(fields(&status), ["kind", "page_size", "page_token"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_imported_in_pieces_or_refused_with_their_line() {
    let server = Server::start(&[]);
    let mut client = CatalogServiceClient::new(server.channel().await);
    let header = |replace_source| pb::ImportEntriesRequest {
        part: Some(pb::import_entries_request::Part::Header(pb::ImportHeader {
            format: pb::ImportFormat::Yaml.into(),
            source: "doc".into(),
            kind: pb::EntryKind::Tool.into(),
            replace_source,
        })),
    };
    let chunk = |text: &str| pb::ImportEntriesRequest {
        part: Some(pb::import_entries_request::Part::Chunk(
            text.as_bytes().to_vec(),
        )),
    };
    let parts = vec![
        header(false),
        chunk("- name: one\n  respon"),
        chunk("sibility: x\n- name: two\n"),
    ];
    let response = client
        .import_entries(tokio_stream::iter(parts))
        .await
        .expect("imports")
        .into_inner();
    assert_eq!(response.summary.expect("summary").created, 2);

    let parts = vec![header(true), chunk("- name: two\n- name: three\n")];
    let response = client
        .import_entries(tokio_stream::iter(parts))
        .await
        .expect("imports")
        .into_inner();
    let summary = response.summary.expect("summary");
    assert_eq!((summary.created, summary.deleted), (1, 1));

    let parts = vec![header(false), chunk("- name: four\n- naem: five\n")];
    let status = client
        .import_entries(tokio_stream::iter(parts))
        .await
        .expect_err("refused");
    assert_eq!(reason(&status), "IMPORT_REJECTED");
    let details = status.get_error_details();
    let metadata = &details.error_info().expect("ErrorInfo").metadata;
    assert_eq!(
        metadata.get("line").map(String::as_str),
        Some("2"),
        "{metadata:?}"
    );

    let status = client
        .import_entries(tokio_stream::iter(vec![chunk("- name: six\n")]))
        .await
        .expect_err("refused");
    assert_eq!(fields(&status), ["header"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_methods_and_expired_tokens_carry_their_reason() {
    let server = Server::start(&[]);
    let channel = server.channel().await;
    let mut client = CatalogServiceClient::new(channel.clone());
    let resume_token = "0000000000000001-1".to_owned();
    let status = client
        .watch_catalog(pb::WatchCatalogRequest { resume_token })
        .await
        .expect_err("expired");
    assert_eq!(status.code(), Code::OutOfRange);
    assert_eq!(reason(&status), "RESUME_TOKEN_EXPIRED");

    let mut grpc = tonic::client::Grpc::new(channel);
    grpc.ready().await.expect("ready");
    let codec = tonic_prost::ProstCodec::<pb::RouteRequest, pb::RouteResponse>::default();
    let path = http::uri::PathAndQuery::from_static("/signalbox.v1.RouteService/Nothing");
    let status = grpc
        .unary(Request::new(prompt("x")), path, codec)
        .await
        .expect_err("unknown");
    assert_eq!(status.code(), Code::Unimplemented);
    assert_eq!(reason(&status), "UNKNOWN_METHOD");
}

#[tokio::test(flavor = "multi_thread")]
async fn overload_is_refused_at_once_and_health_is_not() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let config = dir.path().join("signalbox.toml");
    std::fs::write(&config, "[limits]\nmax_streams = 1\n").expect("written");
    let server = Server::start(&["--config", config.to_str().expect("path")]);
    let channel = server.channel().await;
    let mut client = CatalogServiceClient::new(channel.clone());
    let first = client
        .watch_catalog(pb::WatchCatalogRequest::default())
        .await
        .expect("watches");
    let status = client
        .watch_catalog(pb::WatchCatalogRequest::default())
        .await
        .expect_err("one too many");
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(reason(&status), "OVERLOADED");
    assert!(status.get_error_details().retry_info().is_some());
    assert_eq!(
        health(&channel, "").await.expect("health"),
        ServingStatus::Serving
    );
    // The room is free again when the first stream has gone.
    drop(first);
    for _ in 0..200 {
        if client
            .watch_catalog(pb::WatchCatalogRequest::default())
            .await
            .is_ok()
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("a closed stream keeps its permit");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_of_a_millisecond_is_an_answer_or_its_own_error() {
    let mut server = Server::start(&[]);
    let mut client = RouteServiceClient::new(server.channel().await);
    for _ in 0..50 {
        let mut request = Request::new(prompt("create a branch"));
        request
            .metadata_mut()
            .insert("grpc-timeout", "1u".parse().expect("header"));
        // Whose clock is first is open: the client calls its own end CANCELLED.
        match client.route(request).await {
            Ok(_) => {}
            Err(status) if status.code() == Code::Cancelled => {}
            Err(status) => assert_eq!(reason(&status), "DEADLINE_EXCEEDED", "{status:?}"),
        }
    }
    assert!(server.is_running());
    client
        .route(prompt("create a branch"))
        .await
        .expect("still answers");
}

#[tokio::test(flavor = "multi_thread")]
async fn health_follows_readiness() {
    let server = Server::start(&[]);
    let channel = server.channel().await;
    for name in [
        "",
        "startup",
        "readiness",
        "liveness",
        "signalbox.v1.RouteService",
    ] {
        assert_eq!(
            health(&channel, name).await.expect(name),
            ServingStatus::Serving,
            "{name}"
        );
    }
    let unknown = health(&channel, "nothing").await.expect_err("unknown");
    assert_eq!(unknown.code(), Code::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_cannot_be_loaded_means_degraded_answers() {
    let empty = tempfile::tempdir().expect("temporary folder");
    let dir = empty.path().to_str().expect("path").to_owned();
    let mut server = Server::spawn(&["--model", "all-minilm-l6-v2", "--models-dir", &dir]);
    server.wait_for("ready: 4 entries, degraded");
    let channel = server.channel().await;
    let info = SystemServiceClient::new(channel.clone())
        .get_server_info(pb::GetServerInfoRequest {})
        .await
        .expect("info")
        .into_inner();
    assert_eq!(info.degraded[0].reason(), pb::DegradedReason::ModelFailed);
    let answer = RouteServiceClient::new(channel)
        .route(prompt("create a branch"))
        .await
        .expect("routes")
        .into_inner();
    assert_eq!(answer.degraded[0].reason(), pb::DegradedReason::ModelFailed);
    assert_eq!(
        answer.matches[0].entry.clone().expect("entry").name,
        "git-branch"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_required_model_that_is_missing_keeps_the_server_unready() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let config = dir.path().join("signalbox.toml");
    std::fs::write(&config, "[model]\nrequired = true\n").expect("written");
    let models = dir.path().to_str().expect("path");
    let config = config.to_str().expect("path");
    let server = Server::spawn(&["--config", config, "--models-dir", models]);
    let channel = server.channel().await;
    let mut system = SystemServiceClient::new(channel.clone());
    loop {
        let request = pb::GetServerInfoRequest {};
        let info = system
            .get_server_info(request)
            .await
            .expect("info")
            .into_inner();
        if info.model.clone().expect("model").state() == pb::ModelState::Failed {
            assert_eq!(info.pending, ["model"]);
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for (name, status) in [
        ("", ServingStatus::NotServing),
        ("readiness", ServingStatus::NotServing),
        ("startup", ServingStatus::NotServing),
        ("signalbox.v1.RouteService", ServingStatus::NotServing),
        ("liveness", ServingStatus::Serving),
    ] {
        assert_eq!(health(&channel, name).await.expect(name), status, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_socket_is_private_and_gone_at_the_end() {
    let mut server = Server::start(&[]);
    let metadata = std::fs::metadata(&server.socket).expect("socket");
    assert!(metadata.file_type().is_socket());
    assert_eq!(metadata.permissions().mode() & 0o777, 0o660);
    let socket = format!("unix:{}", server.socket.display());
    let output = common::run(&["route", "create a branch", "--json", "--server", &socket]);
    assert!(output.status.success(), "{}", common::stderr(&output));
    assert!(common::stdout(&output).contains("\"git-branch\""));
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
    assert!(!server.socket.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_answers_what_runs_and_ends_streams_with_a_token() {
    let mut server = Server::start(&[]);
    let channel = server.channel().await;
    let mut catalogue = CatalogServiceClient::new(channel.clone());
    let mut watches = Vec::new();
    for _ in 0..2 {
        let request = pb::WatchCatalogRequest::default();
        watches.push(
            catalogue
                .watch_catalog(request)
                .await
                .expect("watches")
                .into_inner(),
        );
    }
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let mut client = RouteServiceClient::new(channel.clone());
            tokio::spawn(async move { client.route(prompt("create a branch")).await })
        })
        .collect();
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.expect("joins"));
    }
    server.signal("TERM");
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    for mut watch in watches {
        let mut closing = None;
        let status = loop {
            match watch.message().await {
                Ok(Some(message)) => {
                    if let Some(Event::Closing(_)) = message.event {
                        closing = Some(message.resume_token);
                    }
                }
                Ok(None) => panic!("ended without a status"),
                Err(status) => break status,
            }
        };
        assert_eq!(
            (status.code(), reason(&status).as_str()),
            (Code::Unavailable, "DRAINING")
        );
        assert!(closing.is_some_and(|token| !token.is_empty()));
    }
    assert_eq!(server.wait().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_outlive_the_process_with_a_data_folder() {
    let data = tempfile::tempdir().expect("temporary folder");
    let data = data.path().to_str().expect("path").to_owned();
    let mut revision = String::new();
    for round in 0..2 {
        let mut server = Server::start(&["--data-dir", &data]);
        let mut client = CatalogServiceClient::new(server.channel().await);
        if round == 0 {
            let entries = vec![entry("kept", "x")];
            let request = pb::UpsertEntriesRequest { entries };
            let response = client
                .upsert_entries(request)
                .await
                .expect("upserts")
                .into_inner();
            revision = response.summary.expect("summary").catalog_revision;
        } else {
            let request = pb::GetEntryRequest {
                source: "test".into(),
                name: "kept".into(),
            };
            let response = client
                .get_entry(request)
                .await
                .expect("is there")
                .into_inner();
            assert_eq!(response.catalog_revision, revision);
        }
        server.signal("TERM");
        assert_eq!(server.wait().code(), Some(0));
    }
}
