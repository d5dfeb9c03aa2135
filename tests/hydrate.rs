//! Context before the first turn, against the real binary, a real web server and real files.

mod common;
#[allow(dead_code)]
#[path = "../src/hydrate/tests/server.rs"]
mod web;

use std::time::{Duration, Instant};

use common::Server;
use signalbox::grpc::pb;
use signalbox::grpc::pb::hydrate_context_request::Message as Ask;
use signalbox::grpc::pb::hydrate_context_response::Message as Tell;
use signalbox::grpc::pb::loop_service_client::LoopServiceClient;
use signalbox::grpc::pb::{ReferenceFailure, ReferenceStatus};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};
use tonic_types::StatusExt;
use web::WebServer;

type Client = LoopServiceClient<Channel>;

/// A server that may read a folder and connect to this machine.
struct Place {
    server: Server,
    files: tempfile::TempDir,
}

impl Place {
    fn start() -> Self {
        let files = tempfile::tempdir().expect("temporary folder");
        let root = files.path().join("root");
        std::fs::create_dir(&root).expect("a folder");
        let config = files.path().join("signalbox.toml");
        let text = format!(
            "[hydrate]\nroots = [{root:?}]\nplain_http = true\nallow_networks = [\"127.0.0.1/32\"]\n"
        );
        std::fs::write(&config, text).expect("written");
        let server = Server::start(&["--config", config.to_str().expect("a path")]);
        Self { server, files }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.files.path().join("root").join(name), text).expect("written");
    }

    async fn client(&self) -> Client {
        LoopServiceClient::new(self.server.channel().await)
    }
}

fn config(tools: &[(&str, &str)]) -> Option<pb::PreHydration> {
    let tools = tools
        .iter()
        .map(|(kind, tool)| ((*kind).to_owned(), (*tool).to_owned()));
    Some(pb::PreHydration {
        resolution_tools: tools.collect(),
        ..pb::PreHydration::default()
    })
}

const BUILTINS: [(&str, &str); 2] = [("url", "builtin:http"), ("file", "builtin:file")];

struct Stream {
    asks: mpsc::Sender<pb::HydrateContextRequest>,
    tells: Streaming<pb::HydrateContextResponse>,
}

impl Stream {
    async fn start(client: &mut Client, start: pb::StartHydration) -> Self {
        let (asks, receiver) = mpsc::channel(16);
        let stream = Self::ask(&asks, Ask::Start(start));
        stream.await;
        let tells = client.hydrate_context(ReceiverStream::new(receiver)).await;
        let tells = tells.expect("a stream").into_inner();
        Self { asks, tells }
    }

    async fn ask(asks: &mpsc::Sender<pb::HydrateContextRequest>, message: Ask) {
        let message = pb::HydrateContextRequest {
            message: Some(message),
        };
        asks.send(message).await.expect("sent");
    }

    async fn next(&mut self) -> Result<Option<Tell>, Status> {
        let message = self.tells.message().await?;
        Ok(message.and_then(|message| message.message))
    }

    async fn hydrated(mut self) -> Result<pb::HydratedContext, Status> {
        match self.next().await? {
            Some(Tell::Hydrated(hydrated)) => Ok(hydrated),
            other => panic!("{other:?}"),
        }
    }

    async fn answer(&self, call_id: &str, outcome: pb::tool_result::Outcome) {
        let result = pb::ToolResult {
            call_id: call_id.into(),
            outcome: Some(outcome),
        };
        Self::ask(&self.asks, Ask::Result(result)).await;
    }
}

async fn hydrate(client: &mut Client, start: pb::StartHydration) -> pb::HydratedContext {
    let stream = Stream::start(client, start).await;
    stream.hydrated().await.expect("hydrated")
}

fn statuses(hydrated: &pb::HydratedContext) -> Vec<ReferenceStatus> {
    hydrated
        .outcomes
        .iter()
        .map(pb::ReferenceOutcome::status)
        .collect()
}

#[tokio::test]
async fn references_are_extracted_on_their_own() {
    let place = Place::start();
    let mut client = place.client().await;
    let text = "Fix PR #55 in `src/a.rs:42`, PROJ-7: https://x.dev/p#7";
    let request = pb::ExtractReferencesRequest {
        text: text.into(),
        custom_patterns: vec![pb::ReferencePattern {
            ref_type: "jira".into(),
            pattern: "[A-Z]+-[0-9]+".into(),
        }],
        include_fenced_code: false,
    };
    let found = client
        .extract_references(request.clone())
        .await
        .expect("found")
        .into_inner();
    let read: Vec<_> = found
        .references
        .iter()
        .map(|found| {
            let span = &text[found.start as usize..found.end as usize];
            (
                found.ref_type.as_str(),
                found.value.as_str(),
                found.line,
                span,
            )
        })
        .collect();
    assert_eq!(
        read,
        [
            ("pr", "55", 0, "PR #55"),
            ("file", "src/a.rs", 42, "src/a.rs:42"),
            ("jira", "PROJ-7", 0, "PROJ-7"),
            ("url", "https://x.dev/p#7", 0, "https://x.dev/p#7"),
        ]
    );
    assert_eq!(found.reference_count, 4);

    let mut bad = request.clone();
    bad.custom_patterns[0].pattern = "[".into();
    let status = client.extract_references(bad).await.expect_err("refused");
    assert_eq!(status.code(), Code::InvalidArgument);
    let details = status.get_error_details();
    let violation = &details.bad_request().expect("BadRequest").field_violations[0];
    assert_eq!(violation.field, "custom_patterns[0].pattern");
    assert!(
        violation.description.contains("\"[\""),
        "{}",
        violation.description
    );
    let large = pb::ExtractReferencesRequest {
        text: "a".repeat((1 << 20) + 1),
        ..request
    };
    let status = client.extract_references(large).await.expect_err("refused");
    assert_eq!(status.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn files_and_pages_are_fetched_and_what_sleeps_has_its_own_status() {
    let web = WebServer::start().await;
    let place = Place::start();
    for name in ["a.rs", "b.rs", "c.rs"] {
        place.write(name, &format!("// content of {name}\n"));
    }
    let mut client = place.client().await;
    let port = web.port;
    let mut config = config(&BUILTINS);
    config.as_mut().expect("a config").timeout =
        prost_types::Duration::try_from(Duration::from_millis(700)).ok();
    let start = pb::StartHydration {
        text: format!(
            "./a.rs ./b.rs ./c.rs http://127.0.0.1:{port}/slow http://127.0.0.1:{port}/page \
             http://127.0.0.1:{port}/redirect-to/http://169.254.169.254/ http://10.0.0.1/ \
             ../signalbox.toml /etc/passwd #42"
        ),
        config,
        ..pb::StartHydration::default()
    };
    let began = Instant::now();
    let hydrated = hydrate(&mut client, start).await;
    assert!(began.elapsed() >= Duration::from_millis(700));
    use ReferenceStatus::{Failed, NoResolver, Resolved};
    assert_eq!(
        statuses(&hydrated),
        [
            Resolved, Resolved, Resolved, Failed, Resolved, Failed, Failed, Failed, Failed,
            NoResolver
        ]
    );
    let failures: Vec<_> = hydrated
        .outcomes
        .iter()
        .map(pb::ReferenceOutcome::failure)
        .collect();
    assert_eq!(failures[3], ReferenceFailure::Timeout);
    assert_eq!(failures[5], ReferenceFailure::AddressRefused);
    assert_eq!(failures[6], ReferenceFailure::AddressRefused);
    assert_eq!(failures[7], ReferenceFailure::OutsideRoots);
    assert_eq!(failures[8], ReferenceFailure::OutsideRoots);
    assert_eq!(
        (
            hydrated.reference_count,
            hydrated.resolved_count,
            hydrated.failed_count
        ),
        (10, 4, 5)
    );
    assert!(hydrated.message.starts_with("[PRE_HYDRATED_CONTEXT]"));
    for part in [
        "// content of a.rs",
        "// content of c.rs",
        "Readable",
        "Unresolved references: 6",
    ] {
        assert!(hydrated.message.contains(part), "{part}");
    }
    assert_eq!(
        (hydrated.token_counter.as_str(), hydrated.sequence),
        ("estimate", 0)
    );
    assert!(hydrated.token_count > 0 && hydrated.token_count <= 4_000);
}

#[tokio::test]
async fn the_orchestrators_tools_answer_over_the_stream() {
    use pb::tool_result::Outcome;
    let place = Place::start();
    let mut client = place.client().await;
    let start = || pb::StartHydration {
        text: "#1 #2 #3".into(),
        config: config(&[("issue", "get_issue")]),
        ..pb::StartHydration::default()
    };
    let mut stream = Stream::start(&mut client, start()).await;
    let mut calls = Vec::new();
    for _ in 0..3 {
        match stream.next().await.expect("no error") {
            Some(Tell::Resolve(call)) => calls.push(call),
            other => panic!("{other:?}"),
        }
    }
    assert!(
        calls
            .iter()
            .all(|call| call.tool == "get_issue" && call.timeout.is_some())
    );
    // In any order.
    let id = |value: &str| {
        let call = calls.iter().find(|call| {
            call.reference
                .as_ref()
                .is_some_and(|reference| reference.value == value)
        });
        call.expect("a call").call_id.clone()
    };
    stream
        .answer(&id("3"), Outcome::Denied("not allowed".into()))
        .await;
    stream
        .answer(&id("1"), Outcome::Content("The first issue".into()))
        .await;
    stream.answer(&id("2"), Outcome::Error("gone".into())).await;
    let hydrated = stream.hydrated().await.expect("hydrated");
    use ReferenceStatus::{Failed, Resolved};
    assert_eq!(statuses(&hydrated), [Resolved, Failed, Failed]);
    assert_eq!(hydrated.outcomes[1].failure(), ReferenceFailure::ToolFailed);
    assert_eq!(
        hydrated.outcomes[2].failure(),
        ReferenceFailure::PolicyDenied
    );
    assert_eq!(hydrated.outcomes[2].detail, "not allowed");

    // A client that says no more leaves them without an answer, at once.
    let stream = Stream::start(&mut client, start()).await;
    let Stream { asks, mut tells } = stream;
    drop(asks);
    let last = loop {
        match tells
            .message()
            .await
            .expect("no error")
            .and_then(|message| message.message)
        {
            Some(Tell::Hydrated(hydrated)) => break hydrated,
            Some(Tell::Resolve(_)) => {}
            None => panic!("no last message"),
        }
    };
    assert_eq!(statuses(&last), [Failed, Failed, Failed]);

    let mut stream = Stream::start(&mut client, start()).await;
    stream.answer("ref-99", Outcome::Content("x".into())).await;
    let status = loop {
        match stream.next().await {
            Ok(_) => {}
            Err(status) => break status,
        }
    };
    assert_eq!(status.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn a_loop_lends_its_settings_and_keeps_the_event() {
    let place = Place::start();
    place.write("a.rs", "fn a() {}");
    let channel = place.server.channel().await;
    let mut client = LoopServiceClient::new(channel.clone());
    let loop_config = |profile| pb::LoopConfig {
        pre_hydration: config(&[BUILTINS[1], ("issue", "get_issue"), ("pr", "get_pull")]),
        tool_profile: profile,
        ..pb::LoopConfig::default()
    };
    let profile = pb::ToolProfile {
        exclude: vec!["get_*".into()],
        ..pb::ToolProfile::default()
    };
    for (loop_id, config) in [
        ("a", Some(loop_config(Some(profile)))),
        ("without", None),
        ("closed", Some(loop_config(None))),
    ] {
        let create = pb::CreateLoopRequest {
            loop_id: loop_id.into(),
            config,
            ..pb::CreateLoopRequest::default()
        };
        client.create_loop(create).await.expect("created");
    }
    let start = |loop_id: &str| pb::StartHydration {
        text: "./a.rs #1 PR #2".into(),
        loop_id: loop_id.into(),
        ..pb::StartHydration::default()
    };
    let hydrated = hydrate(&mut client, start("a")).await;
    use ReferenceStatus::{Failed, Resolved};
    assert_eq!(statuses(&hydrated), [Resolved, Failed, Failed]);
    assert!(
        hydrated.outcomes[1..]
            .iter()
            .all(|outcome| outcome.failure() == ReferenceFailure::ToolExcluded)
    );
    assert!(
        hydrated.outcomes[1].detail.contains("get_*"),
        "{}",
        hydrated.outcomes[1].detail
    );

    let mut journal = pb::journal_service_client::JournalServiceClient::new(channel);
    let list = pb::ListEventsRequest {
        loop_id: "a".into(),
        ..pb::ListEventsRequest::default()
    };
    let events = journal
        .list_events(list)
        .await
        .expect("events")
        .into_inner()
        .entries;
    let written = events
        .iter()
        .find_map(|entry| match entry.event.as_ref()?.event.as_ref()? {
            pb::loop_event::Event::PreHydrationComplete(event) => Some((entry.sequence, event)),
            _ => None,
        });
    let (sequence, event) = written.expect("the event");
    assert_eq!(sequence, hydrated.sequence);
    assert_eq!(
        (
            event.reference_count,
            event.resolved_count,
            event.failed_count
        ),
        (3, 1, 2)
    );
    assert_eq!(event.token_count, i64::from(hydrated.token_count));

    // Absent means off.
    let nothing = hydrate(&mut client, start("without")).await;
    assert_eq!(
        nothing,
        pb::HydratedContext {
            duration: nothing.duration,
            ..pb::HydratedContext::default()
        }
    );
    for (loop_id, code) in [
        ("unknown", Code::NotFound),
        ("closed", Code::FailedPrecondition),
    ] {
        if loop_id == "closed" {
            let close = pb::CloseLoopRequest {
                loop_id: loop_id.into(),
                ..pb::CloseLoopRequest::default()
            };
            client.close_loop(close).await.expect("closed");
        }
        let stream = Stream::start(&mut client, start(loop_id)).await;
        let status = stream.hydrated().await.expect_err("refused");
        assert_eq!(status.code(), code, "{loop_id}");
    }
}

#[tokio::test]
async fn profiles_drop_resolvers_and_bad_settings_are_named() {
    let place = Place::start();
    place.write("a.rs", "fn a() {}");
    let mut client = place.client().await;
    let mut start = pb::StartHydration {
        text: "./a.rs".into(),
        config: config(&BUILTINS),
        tool_profile: Some(pb::ToolProfile {
            exclude: vec!["builtin:file".into()],
            ..pb::ToolProfile::default()
        }),
        ..pb::StartHydration::default()
    };
    let hydrated = hydrate(&mut client, start.clone()).await;
    assert_eq!(
        hydrated.outcomes[0].failure(),
        ReferenceFailure::ToolExcluded
    );
    start.tool_profile = Some(pb::ToolProfile {
        require_verified: true,
        read_only: true,
        ..pb::ToolProfile::default()
    });
    let hydrated = hydrate(&mut client, start.clone()).await;
    assert_eq!(
        statuses(&hydrated),
        [ReferenceStatus::Resolved],
        "the built-in ones are both"
    );

    let settings = start.config.as_mut().expect("a config");
    settings.max_references = Some(0);
    settings
        .resolution_tools
        .insert("url".into(), "builtin:gopher".into());
    let stream = Stream::start(&mut client, start).await;
    let status = stream.hydrated().await.expect_err("refused");
    let details = status.get_error_details();
    let violations = &details.bad_request().expect("BadRequest").field_violations;
    let fields: Vec<_> = violations
        .iter()
        .map(|found| found.field.as_str())
        .collect();
    assert_eq!(fields, ["config.max_references", "config.resolution_tools"]);
}
