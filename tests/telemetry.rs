//! What the server tells about itself: to a collector over OTLP, to Prometheus and to the
//! kubelet on the admin listener. The collector is a real OTLP receiver.

mod common;

use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Server, http, signalbox, value};
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use sha2::{Digest, Sha256};
use signalbox::grpc::pb;
use signalbox::grpc::pb::catalog_service_client::CatalogServiceClient;
use signalbox::grpc::pb::loop_service_client::LoopServiceClient;
use signalbox::grpc::pb::route_service_client::RouteServiceClient;
use tonic::transport::Channel;
use tonic::{Request, Response, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

const PROMPT: &str = "create a branch for the zebra crossing";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// Takes what a server sends.
#[derive(Clone, Default)]
struct Collector {
    traces: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
    metrics: Arc<Mutex<Vec<ExportMetricsServiceRequest>>>,
}

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.traces
            .lock()
            .expect("not poisoned")
            .push(request.into_inner());
        Ok(Response::new(Default::default()))
    }
}

#[tonic::async_trait]
impl MetricsService for Collector {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        self.metrics
            .lock()
            .expect("not poisoned")
            .push(request.into_inner());
        Ok(Response::new(Default::default()))
    }
}

impl Collector {
    /// Listens on a free port; answers its address.
    async fn start() -> (Self, String) {
        let collector = Self::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("listens");
        let address = format!("http://{}", listener.local_addr().expect("address"));
        let server = tonic::transport::Server::builder()
            .add_service(TraceServiceServer::new(collector.clone()))
            .add_service(MetricsServiceServer::new(collector.clone()))
            .serve_with_incoming(tokio_stream::wrappers::TcpListenerStream::new(listener));
        tokio::spawn(server);
        (collector, address)
    }

    fn spans(&self) -> Vec<Span> {
        let traces = self.traces.lock().expect("not poisoned");
        let resources = traces.iter().flat_map(|request| &request.resource_spans);
        let scopes = resources.flat_map(|resource| &resource.scope_spans);
        scopes.flat_map(|scope| scope.spans.clone()).collect()
    }

    fn span(&self, name: &str) -> Span {
        let spans = self.spans();
        let mut named = spans.iter().filter(|span| span.name == name);
        let span = named.next().unwrap_or_else(|| {
            let names: Vec<_> = spans.iter().map(|span| &span.name).collect();
            panic!("no {name:?} among {names:?}")
        });
        assert!(named.next().is_none(), "one {name}");
        span.clone()
    }

    fn metric_names(&self) -> Vec<String> {
        let metrics = self.metrics.lock().expect("not poisoned");
        let resources = metrics.iter().flat_map(|request| &request.resource_metrics);
        let scopes = resources.flat_map(|resource| &resource.scope_metrics);
        let metrics = scopes.flat_map(|scope| &scope.metrics);
        metrics.map(|metric| metric.name.clone()).collect()
    }
}

fn attributes(list: &[KeyValue]) -> HashMap<String, String> {
    let text = |value: &Option<AnyValue>| match value.as_ref().and_then(|it| it.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::DoubleValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    };
    list.iter()
        .map(|pair| (pair.key.clone(), text(&pair.value)))
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn route(prompt: &str) -> Request<pb::RouteRequest> {
    let mut request = Request::new(pb::RouteRequest {
        prompt: prompt.into(),
        ..pb::RouteRequest::default()
    });
    let parent = format!("00-{TRACE}-{CALLER}-01");
    request
        .metadata_mut()
        .insert("traceparent", parent.parse().expect("metadata"));
    request
}

async fn end(mut server: Server) {
    server.signal("TERM");
    let status = tokio::task::spawn_blocking(move || server.wait())
        .await
        .expect("ends");
    assert_eq!(status.code(), Some(0));
}

async fn get(server: &Server, path: &str) -> (u16, String) {
    let (address, request) = (server.admin.clone(), format!("GET {path}"));
    tokio::task::spawn_blocking(move || http(&address, &request))
        .await
        .expect("answers")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_continues_its_callers_trace_and_keeps_the_prompt_to_itself() {
    let (collector, address) = Collector::start().await;
    let server = Server::spawn_with(
        &["--model", "none"],
        &[("SIGNALBOX_TELEMETRY__OTLP_ENDPOINT", &address)],
    );
    let channel = server.channel().await;
    let mut client = RouteServiceClient::new(channel.clone());
    client.route(route(PROMPT)).await.expect("routes");
    client.route(route(" ")).await.expect_err("refused");
    let check = HealthCheckRequest::default();
    HealthClient::new(channel)
        .check(check)
        .await
        .expect("checks");
    end(server).await;

    let spans = collector.spans();
    let mut calls: Vec<_> = spans
        .iter()
        .filter(|span| hex(&span.parent_span_id) == CALLER)
        .collect();
    calls.sort_by_key(|span| span.start_time_unix_nano);
    assert_eq!(calls.len(), 2, "health is not traced: {spans:?}");
    for call in &calls {
        assert_eq!(hex(&call.trace_id), TRACE);
        assert_eq!(call.name, "signalbox.v1.RouteService/Route");
        assert_eq!(call.kind(), SpanKind::Server);
        let attributes = attributes(&call.attributes);
        assert_eq!(attributes["rpc.system.name"], "grpc");
        assert_eq!(attributes["rpc.method"], "signalbox.v1.RouteService/Route");
    }
    let answered = attributes(&calls[0].attributes);
    assert_eq!(answered["rpc.response.status_code"], "OK");
    let refused = attributes(&calls[1].attributes);
    assert_eq!(refused["rpc.response.status_code"], "INVALID_ARGUMENT");
    assert_eq!(refused["signalbox.reason"], "INVALID_FIELD");
    assert_eq!(
        calls[1].status.clone().unwrap_or_default().code,
        0,
        "a caller's mistake is no error of the server's"
    );

    let retrieval = collector.span("retrieval signalbox.catalog");
    assert_eq!(retrieval.parent_span_id, calls[0].span_id);
    let attributes = attributes(&retrieval.attributes);
    assert_eq!(attributes["gen_ai.operation.name"], "retrieval");
    assert_eq!(
        attributes["signalbox.prompt.length"],
        PROMPT.len().to_string()
    );
    let digest = hex(&Sha256::digest(PROMPT.as_bytes()));
    assert_eq!(attributes["signalbox.prompt.sha256"], digest);
    assert!(
        !format!("{spans:?}").contains("zebra"),
        "no text of a prompt"
    );

    let names = collector.metric_names();
    for name in ["rpc.server.call.duration", "signalbox.route.decisions"] {
        assert!(names.iter().any(|each| each == name), "{name} in {names:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_are_told_only_where_that_is_asked_for() {
    let (collector, address) = Collector::start().await;
    let server = Server::spawn_with(
        &["--model", "none"],
        &[
            ("SIGNALBOX_TELEMETRY__OTLP_ENDPOINT", &address),
            ("SIGNALBOX_TELEMETRY__PROMPTS", "true"),
            ("SIGNALBOX_TELEMETRY__METRICS", "false"),
            ("OTEL_RESOURCE_ATTRIBUTES", "k8s.pod.name=agent-0"),
        ],
    );
    let mut client = RouteServiceClient::new(server.channel().await);
    client.route(route(PROMPT)).await.expect("routes");
    let stream = pb::StreamRouteRequest {
        route: Some(route(PROMPT).into_inner()),
    };
    let mut stages = client
        .stream_route(stream)
        .await
        .expect("streams")
        .into_inner();
    while stages.message().await.expect("message").is_some() {}
    end(server).await;

    let told: Vec<_> = collector
        .spans()
        .iter()
        .filter_map(|span| attributes(&span.attributes).remove("gen_ai.retrieval.query.text"))
        .collect();
    assert_eq!(told, [PROMPT, PROMPT], "of the call and of the stream");
    assert!(collector.metric_names().is_empty());
    let traces = collector.traces.lock().expect("not poisoned");
    let resource = traces[0].resource_spans[0]
        .resource
        .clone()
        .expect("resource");
    let resource = attributes(&resource.attributes);
    assert_eq!(resource["service.name"], "signalbox");
    assert_eq!(resource["k8s.pod.name"], "agent-0");
}

#[tokio::test(flavor = "multi_thread")]
async fn encoding_a_prompt_is_a_span_below_its_retrieval() {
    let (collector, address) = Collector::start().await;
    let mut server = Server::spawn_with(
        &["--model", "all-minilm-l6-v2"],
        &[("SIGNALBOX_TELEMETRY__OTLP_ENDPOINT", &address)],
    );
    server.wait_for("ready");
    let mut client = RouteServiceClient::new(server.channel().await);
    client.route(route(PROMPT)).await.expect("routes");
    let (_, metrics) = get(&server, "/metrics").await;
    end(server).await;

    let embeddings = collector.span("embeddings all-minilm-l6-v2");
    let retrieval = collector.span("retrieval signalbox.catalog");
    assert_eq!(embeddings.parent_span_id, retrieval.span_id);
    let attributes = attributes(&embeddings.attributes);
    assert_eq!(attributes["gen_ai.operation.name"], "embeddings");
    assert_eq!(attributes["gen_ai.request.model"], "all-minilm-l6-v2");
    assert_eq!(attributes["gen_ai.embeddings.dimension.count"], "384");
    let tokens: u32 = attributes["gen_ai.usage.input_tokens"]
        .parse()
        .expect("a number");
    assert!(tokens > 7, "{tokens} tokens");
    let name = "gen_ai_server_request_duration_seconds_count";
    assert_eq!(value(&metrics, name, &["all-minilm-l6-v2"]), Some(1.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_collector_costs_nothing_but_a_late_end() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
    let address = format!("http://{}", listener.local_addr().expect("address"));
    drop(listener);
    let server = Server::spawn_with(
        &["--model", "none"],
        &[("SIGNALBOX_TELEMETRY__OTLP_ENDPOINT", &address)],
    );
    let mut client = RouteServiceClient::new(server.channel().await);
    client.route(route(PROMPT)).await.expect("routes");
    end(server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_count_calls_decisions_and_verdicts() {
    let server = Server::start(&[]);
    let channel = server.channel().await;
    let mut client = RouteServiceClient::new(channel.clone());
    client
        .route(route("/git-branch login"))
        .await
        .expect("routes");
    client.route(route(" ")).await.expect_err("refused");
    let mut loops = LoopServiceClient::new(channel.clone());
    let create = pb::CreateLoopRequest {
        loop_id: "l".into(),
        ..pb::CreateLoopRequest::default()
    };
    loops.create_loop(create).await.expect("created");
    let step = pb::ReportStepRequest {
        loop_id: "l".into(),
        report: Some(pb::report_step_request::Report::Step(
            pb::ReportedStep::default(),
        )),
        ..pb::ReportStepRequest::default()
    };
    loops.report_step(step).await.expect("reported");
    let watch = pb::WatchCatalogRequest::default();
    let mut catalog = CatalogServiceClient::new(channel);
    let mut changes = catalog
        .watch_catalog(watch)
        .await
        .expect("watches")
        .into_inner();
    changes.message().await.expect("a state");

    let (status, metrics) = get(&server, "/metrics").await;
    assert_eq!(status, 200);
    let route = "rpc_method=\"signalbox.v1.RouteService/Route\"";
    let calls = |code: &str| {
        let code = format!("rpc_response_status_code=\"{code}\"");
        value(
            &metrics,
            "rpc_server_call_duration_seconds_count",
            &[route, &code],
        )
    };
    assert_eq!(calls("OK"), Some(1.0), "{metrics}");
    assert_eq!(calls("INVALID_ARGUMENT"), Some(1.0));
    let one = |name: &str, labels: &[&str]| {
        assert_eq!(
            value(&metrics, name, labels),
            Some(1.0),
            "{name}: {metrics}"
        )
    };
    one(
        "signalbox_rpc_errors_total",
        &["signalbox_reason=\"INVALID_FIELD\""],
    );
    one(
        "signalbox_route_decisions_total",
        &["signalbox_outcome=\"accepted\""],
    );
    one(
        "signalbox_loop_verdicts_total",
        &["signalbox_decision=\"continue\""],
    );
    one("signalbox_loops_open", &[]);
    one("signalbox_ready", &[]);
    one("signalbox_model_state", &["signalbox_state=\"disabled\""]);
    one("signalbox_rpc_in_flight", &["signalbox_kind=\"streams\""]);
    assert_eq!(value(&metrics, "signalbox_catalog_entries", &[]), Some(4.0));
    assert!(value(&metrics, "process_resident_memory_bytes", &[]).is_some_and(|it| it > 1e6));

    // A caller that goes is told as cancelled.
    drop(changes);
    let watched = "rpc_method=\"signalbox.v1.CatalogService/WatchCatalog\"";
    let labels = [watched, "rpc_response_status_code=\"CANCELLED\""];
    for _ in 0..200 {
        let (_, metrics) = get(&server, "/metrics").await;
        if value(&metrics, "rpc_server_call_duration_seconds_count", &labels) == Some(1.0) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the cancelled stream was not told");
}

#[tokio::test(flavor = "multi_thread")]
async fn made_up_methods_make_no_series() {
    let server = Server::start(&[]);
    let channel = server.channel().await;
    for n in 0..50 {
        let mut grpc = tonic::client::Grpc::new(channel.clone());
        grpc.ready().await.expect("ready");
        let path = format!("/made.up/Method{n}").parse().expect("path");
        let codec = tonic_prost::ProstCodec::<HealthCheckRequest, HealthCheckRequest>::default();
        let asked = Request::new(HealthCheckRequest::default());
        grpc.unary(asked, path, codec).await.expect_err("unknown");
    }
    let (_, metrics) = get(&server, "/metrics").await;
    assert!(!metrics.contains("made.up"), "{metrics}");
    let labels = [
        "rpc_method=\"_OTHER\"",
        "rpc_response_status_code=\"UNIMPLEMENTED\"",
    ];
    let count = value(&metrics, "rpc_server_call_duration_seconds_count", &labels);
    assert_eq!(count, Some(50.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kubelet_asks_on_the_admin_port() {
    // A model that is required and not there: alive, never started, never ready.
    let empty = tempfile::tempdir().expect("temporary folder");
    let folder = empty.path().display().to_string();
    let server = Server::spawn_with(
        &["--models-dir", &folder],
        &[("SIGNALBOX_MODEL__REQUIRED", "true")],
    );
    let ask = async |server: &Server, service: &str| {
        let address = format!("http://{}", server.admin);
        let channel = Channel::from_shared(address)
            .expect("address")
            .connect()
            .await;
        let mut client = HealthClient::new(channel.expect("connects"));
        let service = service.to_owned();
        let answer = client.check(HealthCheckRequest { service }).await;
        answer.map(|answer| answer.into_inner().status())
    };
    assert_eq!(
        ask(&server, "liveness").await.expect("known"),
        ServingStatus::Serving
    );
    for name in ["startup", "readiness", ""] {
        assert_eq!(
            ask(&server, name).await.expect("known"),
            ServingStatus::NotServing,
            "{name}"
        );
    }
    let unknown = ask(&server, "nobody").await.expect_err("unknown");
    assert_eq!(unknown.code(), tonic::Code::NotFound);
    assert_eq!(get(&server, "/livez").await.0, 200);
    for path in ["/readyz", "/startupz"] {
        assert_eq!(
            get(&server, path).await,
            (503, "waiting for: model\n".to_owned()),
            "{path}"
        );
    }
    drop(server);

    let server = Server::start(&[]);
    for name in ["startup", "readiness", "liveness"] {
        // The server says it is ready just before health does.
        let mut status = ServingStatus::Unknown;
        for _ in 0..200 {
            status = ask(&server, name).await.expect("known");
            if status == ServingStatus::Serving {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(status, ServingStatus::Serving, "{name}");
    }
    assert_eq!(get(&server, "/readyz").await.0, 200);
    assert_eq!(get(&server, "/nothing").await.0, 404);
    let address = server.admin.clone();
    let refused = tokio::task::spawn_blocking(move || http(&address, "POST /metrics")).await;
    assert_eq!(refused.expect("answers").0, 405);
    end(server).await;
}

#[test]
fn an_admin_address_that_was_asked_for_has_to_be_free() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("listens");
    let address = taken.local_addr().expect("address").to_string();
    let output = signalbox()
        .args(["serve", "--listen", "127.0.0.1:0", "--model", "none"])
        .env("SIGNALBOX_ADMIN__LISTEN", &address)
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(1));
    let message = common::stderr(&output);
    assert!(
        message.contains("admin.listen") && message.contains(&address),
        "{message}"
    );
}
