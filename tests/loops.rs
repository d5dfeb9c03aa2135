//! The loop guard as orchestrators see it: the real binary over real sockets.

mod common;

use std::time::Duration;

use common::Server;
use signalbox::grpc::pb;
use signalbox::grpc::pb::journal_service_client::JournalServiceClient;
use signalbox::grpc::pb::loop_service_client::LoopServiceClient;
use signalbox::grpc::pb::run_loop_request::Message as Ask;
use signalbox::grpc::pb::run_loop_response::Message as Tell;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};
use tonic_types::StatusExt;

type Client = LoopServiceClient<Channel>;

fn reason(status: &Status) -> String {
    status.get_details_error_info().expect("ErrorInfo").reason
}

fn create(loop_id: &str) -> pb::CreateLoopRequest {
    pb::CreateLoopRequest {
        loop_id: loop_id.into(),
        ..pb::CreateLoopRequest::default()
    }
}

fn failed(loop_id: &str, action: &str, output: &str) -> pb::ReportStepRequest {
    let call = pb::ReportedCall {
        arguments: action.into(),
        output: output.into(),
        outcome: pb::CallOutcome::Failed.into(),
        ..pb::ReportedCall::default()
    };
    let step = pb::ReportedStep {
        calls: vec![call],
        ..pb::ReportedStep::default()
    };
    pb::ReportStepRequest {
        loop_id: loop_id.into(),
        report: Some(pb::report_step_request::Report::Step(step)),
        ..pb::ReportStepRequest::default()
    }
}

async fn decide(client: &mut Client, request: pb::ReportStepRequest) -> pb::Verdict {
    let answer = client.report_step(request).await.expect("an answer");
    answer.into_inner().verdict.expect("a verdict")
}

async fn terminations(channel: Channel, loop_id: &str) -> Vec<pb::TerminationReason> {
    let request = pb::ListEventsRequest {
        loop_id: loop_id.into(),
        types: vec![pb::LoopEventType::Terminated.into()],
        ..pb::ListEventsRequest::default()
    };
    let listed = JournalServiceClient::new(channel)
        .list_events(request)
        .await;
    let entries = listed.expect("lists").into_inner().entries;
    entries
        .into_iter()
        .filter_map(|entry| match entry.event?.event? {
            pb::loop_event::Event::Terminated(end) => Some(end.reason()),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn tools_are_filtered_and_every_drop_says_where() {
    let server = Server::start(&[]);
    let mut client = LoopServiceClient::new(server.channel().await);
    let tool = |name: &str, description: &str| pb::LoopTool {
        name: name.into(),
        source: "stranger".into(),
        description: description.into(),
        ..pb::LoopTool::default()
    };
    let mut request = create("");
    request.tools = vec![
        tool("file_read", "Reads a file. [verified]"),
        tool("file_write", "Writes a file"),
        tool("net_get", "Gets a page"),
    ];
    request.config = Some(pb::LoopConfig {
        tool_profile: Some(pb::ToolProfile {
            include: vec!["file_*".into(), "fiel_*".into()],
            require_verified: true,
            ..pb::ToolProfile::default()
        }),
        ..pb::LoopConfig::default()
    });
    let created = client.create_loop(request.clone()).await.expect("created");
    let created = created.into_inner();
    assert!(created.r#loop.expect("a loop").loop_id.starts_with("loop-"));
    let tools = created.tools.expect("tools");
    assert!(tools.kept.is_empty());
    let stages: Vec<_> = tools.dropped.iter().map(pb::DroppedTool::stage).collect();
    let verified = pb::FilterStage::Verified;
    assert_eq!(stages, [verified, verified, pb::FilterStage::Include]);
    assert_eq!(tools.unmatched_patterns[0].field, "include[1]");

    let profile = request
        .config
        .as_mut()
        .and_then(|config| config.tool_profile.as_mut());
    profile.expect("a profile").exclude = vec![String::new()];
    request.config.as_mut().expect("a config").max_iterations = Some(-1);
    let status = client.create_loop(request).await.expect_err("refused");
    assert_eq!(status.code(), Code::InvalidArgument);
    let details = status.get_error_details();
    let fields: Vec<_> = details
        .bad_request()
        .expect("BadRequest")
        .field_violations
        .iter()
        .map(|violation| violation.field.as_str())
        .collect();
    assert_eq!(
        fields,
        ["config.max_iterations", "config.tool_profile.exclude[0]"]
    );
}

#[tokio::test]
async fn a_stuck_loop_is_nudged_then_stopped_and_survives_a_kill() {
    let data = tempfile::tempdir().expect("temporary folder");
    let data_dir = data.path().to_str().expect("a path").to_owned();
    let server = Server::start(&["--data-dir", &data_dir]);
    let mut client = LoopServiceClient::new(server.channel().await);
    client.create_loop(create("a")).await.expect("created");
    let first = decide(&mut client, failed("a", "make", "no rule")).await;
    assert_eq!(first.decision(), pb::GuardDecision::Continue);
    let nudge = decide(&mut client, failed("a", "make", "no rule")).await;
    assert_eq!(nudge.decision(), pb::GuardDecision::Nudge);
    assert!(
        nudge.text.contains("twice") && nudge.text.contains("no rule"),
        "{}",
        nudge.text
    );
    server.signal("KILL");
    drop(server);

    let server = Server::start(&["--data-dir", &data_dir]);
    let channel = server.channel().await;
    let mut client = LoopServiceClient::new(channel.clone());
    let stop = decide(&mut client, failed("a", "make", "no rule")).await;
    assert_eq!(stop.decision(), pb::GuardDecision::Stop);
    assert_eq!(stop.evidence[..2], [first.sequence, nudge.sequence]);
    assert_eq!(stop.termination(), pb::TerminationReason::Stuck);
    let close = pb::CloseLoopRequest {
        loop_id: "a".into(),
        ..pb::CloseLoopRequest::default()
    };
    let ended = client.close_loop(close).await.expect("closed").into_inner();
    let end = ended
        .r#loop
        .and_then(|ended| ended.terminated)
        .expect("an end");
    assert_eq!(end.reason(), pb::TerminationReason::Stuck);
    let status = client
        .report_step(failed("a", "make", "no rule"))
        .await
        .expect_err("ended");
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::FailedPrecondition, "LOOP_ENDED")
    );
    assert_eq!(
        terminations(channel, "a").await,
        [pb::TerminationReason::Stuck]
    );
}

#[tokio::test]
async fn a_loop_whose_client_vanished_is_abandoned() {
    let server = Server::start(&[]);
    let channel = server.channel().await;
    let mut client = LoopServiceClient::new(channel.clone());
    let mut request = create("a");
    request.lease = prost_types::Duration::try_from(Duration::from_secs(1)).ok();
    client.create_loop(request).await.expect("created");
    let get = || pb::GetLoopRequest {
        loop_id: "a".into(),
    };
    loop {
        let view = client.get_loop(get()).await.expect("a view").into_inner();
        if view.r#loop.is_some_and(|view| view.terminated.is_some()) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(
        terminations(channel, "a").await,
        [pb::TerminationReason::Abandoned]
    );
    let status = client
        .get_loop(pb::GetLoopRequest {
            loop_id: "b".into(),
        })
        .await
        .expect_err("unknown");
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::NotFound, "LOOP_NOT_FOUND")
    );
}

struct Stream {
    asks: mpsc::Sender<pb::RunLoopRequest>,
    tells: Streaming<pb::RunLoopResponse>,
}

impl Stream {
    async fn open(client: &mut Client, first: Ask) -> Self {
        let (asks, receiver) = mpsc::channel(16);
        let message = |message| pb::RunLoopRequest {
            message_id: "first".into(),
            message: Some(message),
        };
        asks.send(message(first)).await.expect("sent");
        let tells = client
            .run_loop(ReceiverStream::new(receiver))
            .await
            .expect("a stream");
        Self {
            asks,
            tells: tells.into_inner(),
        }
    }

    async fn next(&mut self) -> Tell {
        let message = self
            .tells
            .message()
            .await
            .expect("no error")
            .expect("a message");
        message.message.expect("a message")
    }

    async fn ask(&mut self, ask: Ask) -> Tell {
        let message = pb::RunLoopRequest {
            message_id: "m".into(),
            message: Some(ask),
        };
        self.asks.send(message).await.expect("sent");
        self.next().await
    }

    async fn report(&mut self) -> pb::Verdict {
        match self.ask(Ask::Report(failed("", "make", "no rule"))).await {
            Tell::Report(answer) => answer.verdict.expect("a verdict"),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_whole_loop_runs_on_one_stream_and_is_resumed() {
    let server = Server::start(&[]);
    let channel = server.channel().await;
    let mut client = LoopServiceClient::new(channel.clone());
    let mut stream = Stream::open(&mut client, Ask::Create(create("a"))).await;
    assert!(matches!(stream.next().await, Tell::Created(_)));
    let first = stream.report().await;
    let second = stream.report().await;
    assert_eq!(second.decision(), pb::GuardDecision::Nudge);
    let refused = stream
        .ask(Ask::Report(failed("b", "make", "no rule")))
        .await;
    let Tell::Refused(refused) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(
        (refused.code, refused.reason.as_str()),
        (3, "INVALID_FIELD")
    );
    drop(stream);

    // The first verdict arrived, the second was lost.
    let resume = pb::ResumeLoop {
        loop_id: "a".into(),
        last_sequence: first.sequence,
    };
    let mut stream = Stream::open(&mut client, Ask::Resume(resume)).await;
    assert!(matches!(stream.next().await, Tell::Resumed(_)));
    assert_eq!(stream.next().await, Tell::Missed(second));
    assert_eq!(stream.report().await.decision(), pb::GuardDecision::Stop);
    let ended = stream
        .ask(Ask::Close(pb::CloseLoopRequest::default()))
        .await;
    assert!(matches!(ended, Tell::Ended(_)), "{ended:?}");
    assert!(stream.tells.message().await.expect("no error").is_none());
    assert_eq!(
        terminations(channel, "a").await,
        [pb::TerminationReason::Stuck]
    );
}

#[tokio::test]
async fn a_drain_tells_where_to_resume_and_leaves_the_loop_open() {
    let data = tempfile::tempdir().expect("temporary folder");
    let data_dir = data.path().to_str().expect("a path").to_owned();
    let mut server = Server::start(&["--data-dir", &data_dir]);
    let mut client = LoopServiceClient::new(server.channel().await);
    let mut stream = Stream::open(&mut client, Ask::Create(create("a"))).await;
    assert!(matches!(stream.next().await, Tell::Created(_)));
    let verdict = stream.report().await;
    server.signal("TERM");
    let closing = stream.next().await;
    let Tell::Closing(resume) = closing else {
        panic!("{closing:?}")
    };
    assert_eq!(
        (resume.loop_id.as_str(), resume.last_sequence),
        ("a", verdict.sequence)
    );
    let status = stream.tells.message().await.expect_err("closed");
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::Unavailable, "DRAINING")
    );
    assert!(server.wait().success());

    let server = Server::start(&["--data-dir", &data_dir]);
    let mut client = LoopServiceClient::new(server.channel().await);
    let mut stream = Stream::open(&mut client, Ask::Resume(resume)).await;
    assert!(matches!(stream.next().await, Tell::Resumed(_)));
    assert_eq!(stream.report().await.decision(), pb::GuardDecision::Nudge);
}
