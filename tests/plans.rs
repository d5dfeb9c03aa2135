//! Plans, parameters, preferences and context as callers see them: the real binary over real
//! sockets.

mod common;

use common::Server;
use signalbox::grpc::pb;
use signalbox::grpc::pb::catalog_service_client::CatalogServiceClient;
use signalbox::grpc::pb::route_service_client::RouteServiceClient;
use tonic::Code;
use tonic::transport::Channel;
use tonic_types::StatusExt;

fn entry(kind: pb::EntryKind, name: &str, responsibility: &str) -> pb::Entry {
    pb::Entry {
        kind: kind.into(),
        source: "t".into(),
        name: name.into(),
        responsibility: responsibility.into(),
        ..pb::Entry::default()
    }
}

fn skills() -> Vec<pb::Entry> {
    let skill = pb::EntryKind::Skill;
    vec![
        entry(
            skill,
            "hiring-scorecard",
            "Create a scorecard to rate candidates",
        ),
        entry(
            skill,
            "product-brief",
            "Write a product requirements document",
        ),
        entry(skill, "code-review", "Review code changes"),
    ]
}

async fn fill(channel: &Channel, entries: Vec<pb::Entry>) {
    CatalogServiceClient::new(channel.clone())
        .upsert_entries(pb::UpsertEntriesRequest { entries })
        .await
        .expect("upsert");
}

fn request(prompt: &str) -> pb::RouteRequest {
    pb::RouteRequest {
        prompt: prompt.into(),
        ..pb::RouteRequest::default()
    }
}

fn names(plan: &pb::Plan) -> Vec<String> {
    let name = |step: &pb::PlanStep| match &step.r#match {
        Some(found) => found.entry.clone().unwrap_or_default().name,
        None => "MISSING".to_owned(),
    };
    plan.steps.iter().map(name).collect()
}

async fn plan(client: &mut RouteServiceClient<Channel>, prompt: &str) -> pb::Plan {
    let asked = pb::PlanRouteRequest {
        route: Some(request(prompt)),
    };
    let answer = client
        .plan_route(asked)
        .await
        .expect("answers")
        .into_inner();
    answer.plan.expect("a plan")
}

#[tokio::test]
async fn a_compound_prompt_is_a_plan_and_what_no_entry_does_is_missing() {
    let server = Server::start(&[]);
    let channel = server.channel().await;
    fill(&channel, skills()).await;
    let mut client = RouteServiceClient::new(channel.clone());
    let prompt = "Create a hiring scorecard and a product requirements document";
    let full = plan(&mut client, prompt).await;
    assert_eq!(names(&full), ["hiring-scorecard", "product-brief"]);
    let span = full.steps[1].span.unwrap_or_default();
    let own = &prompt[span.start as usize..span.end as usize];
    assert_eq!(own, "a product requirements document");

    let gone = pb::DeleteEntryRequest {
        source: "t".into(),
        name: "product-brief".into(),
        ..pb::DeleteEntryRequest::default()
    };
    CatalogServiceClient::new(channel)
        .delete_entry(gone)
        .await
        .expect("deletes");
    let less = plan(&mut client, prompt).await;
    assert_eq!(names(&less), ["hiring-scorecard", "MISSING"]);
    assert_eq!(less.steps[1].fit(), pb::StepFit::Missing);

    // On request, an answer carries the same plan.
    let mut with_plan = request(prompt);
    with_plan.plan = true;
    let answer = client.route(with_plan).await.expect("answers").into_inner();
    assert_eq!(answer.plan, Some(less));
    let answer = client
        .route(request(prompt))
        .await
        .expect("answers")
        .into_inner();
    assert_eq!(answer.plan, None);
}

#[tokio::test]
async fn a_circle_of_dependencies_is_an_error_that_names_it() {
    let server = Server::start(&[]);
    let channel = server.channel().await;
    let mut entries = skills();
    entries[0].depends_on = vec!["product-brief".into()];
    entries[1].depends_on = vec!["hiring-scorecard".into()];
    fill(&channel, entries).await;
    let mut client = RouteServiceClient::new(channel);
    let prompt = "Create a hiring scorecard and a product requirements document";
    let asked = pb::PlanRouteRequest {
        route: Some(request(prompt)),
    };
    let status = client.plan_route(asked).await.expect_err("refused");
    assert_eq!(status.code(), Code::FailedPrecondition);
    let info = status.get_details_error_info().expect("ErrorInfo");
    assert_eq!(info.reason, "DEPENDENCY_CYCLE");
    let cycle = "t/hiring-scorecard -> t/product-brief -> t/hiring-scorecard";
    assert_eq!(info.metadata.get("cycle").map(String::as_str), Some(cycle));
    let mut with_plan = request(prompt);
    with_plan.plan = true;
    let answer = client.route(with_plan).await.expect("answers").into_inner();
    let plan = answer.plan.expect("a plan");
    assert_eq!(plan.cycle.len(), 2);
    assert_eq!(names(&plan), ["hiring-scorecard", "product-brief"]);
}

#[tokio::test]
async fn parameters_follow_the_callers_clock_and_carry_their_bytes() {
    let server = Server::start(&[]);
    let channel = server.channel().await;
    let mut reminder = entry(
        pb::EntryKind::Tool,
        "reminder-set",
        "Set a reminder for later",
    );
    reminder.input_schema = r#"{
        "type": "object", "required": ["text", "time"],
        "properties": {"text": {"type": "string"},
                       "time": {"type": "string", "format": "date-time"}}}"#
        .into();
    fill(&channel, vec![reminder]).await;
    let mut client = RouteServiceClient::new(channel);
    let prompt = "Ändere nichts – set a reminder for tomorrow at 7 am";
    let mut asked = request(prompt);
    asked.now = Some(prost_types::Timestamp {
        seconds: 1_796_083_200, // 2026-12-01T00:00:00Z
        nanos: 0,
    });
    asked.time_zone = "America/New_York".into();
    let answer = client.route(asked).await.expect("answers").into_inner();
    assert_eq!(answer.missing_parameters, ["text"]);
    let [time] = answer.parameters.as_slice() else {
        panic!("{:?}", answer.parameters)
    };
    let value = time.value.clone().and_then(|value| value.kind);
    // In New York it is still the evening before.
    let wanted = prost_types::value::Kind::StringValue("2026-12-01T07:00:00".into());
    assert_eq!(value, Some(wanted));
    let span = time.span.unwrap_or_default();
    assert_eq!(
        &prompt[span.start as usize..span.end as usize],
        "tomorrow at 7 am"
    );

    let mut wrong = request(prompt);
    wrong.time_zone = "Mars/Olympus".into();
    wrong.tenant = "x".repeat(200);
    let status = client.route(wrong).await.expect_err("refused");
    let fields: Vec<String> = status
        .get_details_bad_request()
        .expect("BadRequest")
        .field_violations
        .into_iter()
        .map(|violation| violation.field)
        .collect();
    assert_eq!(fields, ["time_zone", "tenant"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn preferences_hold_for_their_owner_and_outlive_the_process() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let data = dir.path().join("data");
    let args = ["--data-dir", data.to_str().expect("path")];
    let reference = |name: &str| pb::EntryRef {
        source: "t".into(),
        name: name.into(),
        ..pb::EntryRef::default()
    };
    {
        let mut server = Server::start(&args);
        let channel = server.channel().await;
        fill(&channel, skills()).await;
        let mut catalogue = CatalogServiceClient::new(channel);
        let set = pb::SetPreferencesRequest {
            tenant: "acme".into(),
            user: "eve".into(),
            preferences: Some(pb::Preferences {
                blocked: vec![reference("code-review")],
                pinned: vec![reference("product-brief"), reference("nowhere")],
                ..pb::Preferences::default()
            }),
        };
        let answer = catalogue
            .set_preferences(set)
            .await
            .expect("sets")
            .into_inner();
        let unknown: Vec<String> = answer.unknown.into_iter().map(|entry| entry.name).collect();
        assert_eq!(unknown, ["nowhere"]);
        // An open connection would have the drain wait for it.
        drop(catalogue);
        server.signal("TERM");
        assert!(server.wait().success());
    }
    let server = Server::start(&args);
    let channel = server.channel().await;
    let mut client = RouteServiceClient::new(channel.clone());
    let mut route = async |user: &str| -> Vec<String> {
        let mut asked = request("Review code changes, create a scorecard to rate candidates");
        (asked.tenant, asked.user) = ("acme".into(), user.into());
        let answer = client.route(asked).await.expect("answers").into_inner();
        let name = |found: pb::Match| found.entry.unwrap_or_default().name;
        answer.matches.into_iter().map(name).collect()
    };
    assert!(route("bob").await.contains(&"code-review".to_owned()));
    assert!(!route("eve").await.contains(&"code-review".to_owned()));
    let asked = pb::GetPreferencesRequest {
        tenant: "acme".into(),
        user: "eve".into(),
    };
    let kept = CatalogServiceClient::new(channel)
        .get_preferences(asked)
        .await
        .expect("answers");
    let blocked = kept.into_inner().effective.unwrap_or_default().blocked;
    assert_eq!(blocked[0].name, "code-review");
    assert_eq!(blocked[0].kind(), pb::EntryKind::Skill);
}

#[tokio::test]
async fn context_is_bounded_and_a_full_view_says_what_was_dropped() {
    let server = Server::start(&[]);
    let channel = server.channel().await;
    fill(&channel, skills()).await;
    let mut client = RouteServiceClient::new(channel);
    let mut asked = request("Not a code review; create a scorecard to rate candidates");
    asked.view = pb::RouteView::Full.into();
    let answer = client.route(asked).await.expect("answers").into_inner();
    let negated = answer
        .dropped
        .iter()
        .find(|dropped| dropped.reason() == pb::DropReason::Negated);
    let name = negated
        .and_then(|dropped| dropped.entry.clone())
        .unwrap_or_default()
        .name;
    assert_eq!(name, "code-review");
    assert_eq!(answer.unwanted[0].entries[0].name, "code-review");

    let mut asked = request("create a scorecard");
    asked.context = Some(pb::ConversationContext {
        turns: vec![pb::ConversationTurn::default(); 65],
        ..pb::ConversationContext::default()
    });
    let status = client.route(asked).await.expect_err("refused");
    let violations = status
        .get_details_bad_request()
        .expect("BadRequest")
        .field_violations;
    assert_eq!(violations[0].field, "context.turns");
}
