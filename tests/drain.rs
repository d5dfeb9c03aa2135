//! From start to end with the real model: what health says, and what a SIGTERM in the middle of
//! work leaves behind.

mod common;

use std::time::Duration;

use common::{Server, http, run, stdout, value};
use signalbox::grpc::pb;
use signalbox::grpc::pb::catalog_service_client::CatalogServiceClient;
use signalbox::grpc::pb::journal_service_client::JournalServiceClient;
use signalbox::grpc::pb::route_service_client::RouteServiceClient;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus::{self, NotServing, Serving};
use tonic_health::pb::health_client::HealthClient;
use tonic_types::StatusExt;

/// Names that follow readiness.
const READY: [&str; 3] = ["", "readiness", "signalbox.v1.RouteService"];

async fn health(channel: &Channel, service: &str) -> Result<ServingStatus, Status> {
    let service = service.to_owned();
    let answer = HealthClient::new(channel.clone())
        .check(HealthCheckRequest { service })
        .await?;
    Ok(answer.into_inner().status())
}

async fn wait_for(channel: &Channel, service: &str, wanted: ServingStatus) {
    for _ in 0..2_000 {
        if health(channel, service).await.expect("known") == wanted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{service:?} does not become {wanted:?}");
}

async fn in_flight(admin: &str) -> f64 {
    let address = admin.to_owned();
    let asked = tokio::task::spawn_blocking(move || http(&address, "GET /metrics"));
    let (_, metrics) = asked.await.expect("answers");
    value(&metrics, "signalbox_rpc_in_flight", &["\"calls\""]).unwrap_or_default()
}

fn drained(status: &Status) {
    let reason = status.get_error_details().error_info().cloned();
    let reason = reason.map(|info| info.reason).unwrap_or_default();
    assert_eq!(
        (status.code(), reason.as_str()),
        (Code::Unavailable, "DRAINING")
    );
}

/// Cases 25 and 26.
#[tokio::test(flavor = "multi_thread")]
async fn health_tells_every_phase_and_a_drain_leaves_nothing_undone() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let data = folder.path().join("data").display().to_string();
    let mut server = Server::spawn_with(
        &["--model", "all-minilm-l6-v2", "--data-dir", &data],
        &[
            ("SIGNALBOX_MODEL__THREADS", "1"),
            // Twenty prompts on one thread of a busy machine.
            ("SIGNALBOX_SERVER__DRAIN_SECONDS", "120"),
            ("SIGNALBOX_JOURNAL__ROUTES", "true"),
        ],
    );
    let admin = Channel::from_shared(format!("http://{}", server.admin)).expect("address");
    let admin = admin.connect().await.expect("connects");
    // The model's files are being read.
    for name in READY.into_iter().chain(["startup"]) {
        assert_eq!(
            health(&admin, name).await.expect(name),
            NotServing,
            "{name}"
        );
    }
    assert_eq!(health(&admin, "liveness").await.expect("known"), Serving);
    server.wait_for("ready");
    for name in READY.into_iter().chain(["startup", "liveness"]) {
        wait_for(&admin, name, Serving).await;
    }
    let unknown = health(&admin, "nobody").await.expect_err("unknown");
    assert_eq!(unknown.code(), Code::NotFound);

    let channel = server.channel().await;
    let mut catalogue = CatalogServiceClient::new(channel.clone());
    let watch = pb::WatchCatalogRequest::default();
    let mut changes = catalogue
        .watch_catalog(watch)
        .await
        .expect("watches")
        .into_inner();
    let mut journal = JournalServiceClient::new(channel.clone());
    let follow = pb::StreamEventsRequest::default();
    let mut events = journal
        .stream_events(follow)
        .await
        .expect("follows")
        .into_inner();
    // Long and different: on one thread these take a while.
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let mut client = RouteServiceClient::new(channel.clone());
            let prompt =
                format!("create branch number {n} ") + &"and look at every file ".repeat(12);
            let request = pb::RouteRequest {
                prompt,
                ..pb::RouteRequest::default()
            };
            tokio::spawn(async move { client.route(request).await })
        })
        .collect();
    let mut most = 0.0;
    while most < 15.0 {
        let now = in_flight(&server.admin).await;
        assert!(
            now >= most || most == 0.0,
            "the calls ended before there were 15"
        );
        most = now;
    }

    server.signal("TERM");
    for name in READY {
        wait_for(&admin, name, NotServing).await;
    }
    for name in ["startup", "liveness"] {
        assert_eq!(health(&admin, name).await.expect(name), Serving, "{name}");
    }
    let mut token = String::new();
    let end = loop {
        match changes.message().await {
            Ok(Some(message)) => token = message.resume_token,
            Ok(None) => panic!("ended without a status"),
            Err(status) => break status,
        }
    };
    drained(&end);
    assert!(!token.is_empty());
    let mut token = String::new();
    let end = loop {
        match events.message().await {
            Ok(Some(message)) => token = message.resume_token,
            Ok(None) => panic!("ended without a status"),
            Err(status) => break status,
        }
    };
    drained(&end);
    assert!(!token.is_empty());
    for call in calls {
        let answer = call.await.expect("joins").expect("answered").into_inner();
        assert!(answer.degraded.is_empty(), "{:?}", answer.degraded);
    }
    assert_eq!(server.wait().code(), Some(0));

    let exported = stdout(&run(&["journal", "export", "--data-dir", &data]));
    let decided = exported
        .lines()
        .filter(|line| line.contains("route_decided"))
        .count();
    assert_eq!(
        decided, 20,
        "every decision that was answered is on disk:\n{exported}"
    );
}
