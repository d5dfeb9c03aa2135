//! Facts and conventions, against the real binary and real files.

mod common;

use common::Server;
use signalbox::grpc::pb;
use signalbox::grpc::pb::knowledge_service_client::KnowledgeServiceClient;
use signalbox::grpc::pb::recalled_item::Item;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_types::StatusExt;

type Client = KnowledgeServiceClient<Channel>;

fn reason(status: &Status) -> String {
    status.get_details_error_info().expect("ErrorInfo").reason
}

async fn upsert(
    client: &mut Client,
    directory: Option<&str>,
    language: &str,
    content: &str,
) -> pb::Convention {
    let convention = pb::Convention {
        directory: directory.map(str::to_owned),
        language: language.into(),
        content: content.into(),
        ..pb::Convention::default()
    };
    let request = pb::UpsertConventionRequest {
        convention: Some(convention),
    };
    let stored = client.upsert_convention(request).await.expect("stored");
    stored.into_inner().convention.expect("a convention")
}

fn contents(recalled: &pb::RecallKnowledgeResponse) -> Vec<&str> {
    let items = recalled.items.iter().filter_map(|item| item.item.as_ref());
    items
        .map(|item| match item {
            Item::Fact(fact) => fact.object.as_str(),
            Item::Convention(convention) => convention.content.as_str(),
        })
        .collect()
}

#[tokio::test]
async fn knowledge_outlives_a_kill() {
    let data = tempfile::tempdir().expect("temporary folder");
    let data_dir = data.path().to_str().expect("a path").to_owned();
    let server = Server::start(&["--data-dir", &data_dir]);
    let mut client = KnowledgeServiceClient::new(server.channel().await);
    let store = pb::StoreKnowledgeRequest {
        subject: "the build".into(),
        predicate: "needs".into(),
        object: "Rust 1.95".into(),
        agent_id: "a1".into(),
        ..pb::StoreKnowledgeRequest::default()
    };
    let stored = client
        .store_knowledge(store)
        .await
        .expect("stored")
        .into_inner();
    let fact = stored.fact.expect("a fact");
    assert!((fact.confidence - 0.8).abs() < 1e-9 && fact.stored_at.is_some());
    upsert(
        &mut client,
        Some("src/api"),
        "Rust",
        "Validate every request.",
    )
    .await;
    server.signal("KILL");
    drop(server);

    let server = Server::start(&["--data-dir", &data_dir]);
    let mut client = KnowledgeServiceClient::new(server.channel().await);
    let recall = pb::RecallKnowledgeRequest {
        query: "what does the build need".into(),
        ..pb::RecallKnowledgeRequest::default()
    };
    let recalled = client
        .recall_knowledge(recall)
        .await
        .expect("recalled")
        .into_inner();
    assert_eq!(contents(&recalled), ["Rust 1.95"]);
    assert!(recalled.message.starts_with("[KNOWLEDGE_CONTEXT]"));
    assert_eq!(recalled.token_counter, "estimate");
    assert_eq!(recalled.degraded.len(), 1);
    let recall = pb::RecallKnowledgeRequest {
        query: "rust".into(),
        directory: Some("src/api/v1".into()),
        scope: "conventions".into(),
        ..pb::RecallKnowledgeRequest::default()
    };
    let recalled = client
        .recall_knowledge(recall)
        .await
        .expect("recalled")
        .into_inner();
    assert_eq!(contents(&recalled), ["Validate every request."]);
    assert_eq!(recalled.items[0].scope(), pb::RecallScope::Directory);
    assert_eq!(recalled.items[0].levels_up, 1);
}

#[tokio::test]
async fn conventions_are_listed_in_pages_and_deleted() {
    let server = Server::start(&[]);
    let mut client = KnowledgeServiceClient::new(server.channel().await);
    let mut ids = Vec::new();
    for n in 0..5 {
        let content = format!("Rule {n}.");
        ids.push(upsert(&mut client, Some("src"), "", &content).await.id);
    }
    upsert(&mut client, Some("src-b"), "", "Another folder.").await;
    let mut seen = Vec::new();
    let mut page_token = String::new();
    loop {
        let request = pb::ListConventionsRequest {
            directory: Some("src".into()),
            recursive: true,
            page_size: 2,
            page_token,
            ..pb::ListConventionsRequest::default()
        };
        let page = client
            .list_conventions(request)
            .await
            .expect("a page")
            .into_inner();
        seen.extend(page.conventions.into_iter().map(|convention| convention.id));
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    ids.sort();
    assert_eq!(seen, ids);
    let delete = |allow_missing| pb::DeleteConventionRequest {
        id: ids[0].clone(),
        allow_missing,
    };
    client
        .delete_convention(delete(false))
        .await
        .expect("deleted");
    client
        .delete_convention(delete(true))
        .await
        .expect("gone already");
    let status = client
        .delete_convention(delete(false))
        .await
        .expect_err("gone");
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::NotFound, "CONVENTION_NOT_FOUND")
    );
}

#[tokio::test]
async fn bad_requests_name_their_fields() {
    let server = Server::start(&[]);
    let mut client = KnowledgeServiceClient::new(server.channel().await);
    let fields = |status: Status| -> Vec<String> {
        assert_eq!(status.code(), Code::InvalidArgument);
        let details = status.get_error_details();
        let violations = &details.bad_request().expect("BadRequest").field_violations;
        violations.iter().map(|found| found.field.clone()).collect()
    };
    let recall = pb::RecallKnowledgeRequest {
        scope: "conventions".into(),
        limit: Some(-1),
        ..pb::RecallKnowledgeRequest::default()
    };
    let status = client
        .recall_knowledge(recall.clone())
        .await
        .expect_err("refused");
    assert_eq!(fields(status), ["limit"]);
    let recall = pb::RecallKnowledgeRequest {
        limit: None,
        ..recall
    };
    let status = client.recall_knowledge(recall).await.expect_err("refused");
    assert_eq!(fields(status), ["directory"]);
    let bad = pb::UpsertConventionRequest {
        convention: Some(pb::Convention {
            directory: Some("../x".into()),
            ..pb::Convention::default()
        }),
    };
    let status = client.upsert_convention(bad).await.expect_err("refused");
    assert_eq!(
        fields(status),
        ["convention.directory", "convention.content"]
    );
    let list = pb::ListConventionsRequest {
        page_token: "xyz".into(),
        ..pb::ListConventionsRequest::default()
    };
    let status = client.list_conventions(list).await.expect_err("refused");
    assert_eq!(fields(status), ["page_token"]);
}

#[tokio::test]
async fn conventions_of_the_workspace_are_resolved_and_read_again() {
    let files = tempfile::tempdir().expect("temporary folder");
    let repo = files.path().join("repo");
    std::fs::create_dir_all(repo.join("src/api")).expect("folders");
    let write = |path: &str, text: &str| std::fs::write(repo.join(path), text).expect("written");
    write("AGENTS.md", "Root rules.");
    write("src/api/AGENTS.md", "API rules.");
    let config = files.path().join("signalbox.toml");
    std::fs::write(&config, format!("[knowledge]\nworkspace = {repo:?}\n")).expect("written");
    let server = Server::start(&["--config", config.to_str().expect("a path")]);
    let mut client = KnowledgeServiceClient::new(server.channel().await);
    upsert(&mut client, Some("src"), "rust", "Stored rules.").await;
    let request = || pb::ResolveConventionsRequest {
        paths: vec!["src/api/a.rs".into()],
        ..pb::ResolveConventionsRequest::default()
    };
    let resolved = client
        .resolve_conventions(request())
        .await
        .expect("resolved")
        .into_inner();
    let read: Vec<_> = resolved
        .conventions
        .iter()
        .map(|item| (item.content.as_str(), item.kind(), item.depth))
        .collect();
    assert_eq!(
        read,
        [
            ("Root rules.", pb::ConventionSource::Agents, 0),
            ("Stored rules.", pb::ConventionSource::Stored, 1),
            ("API rules.", pb::ConventionSource::Agents, 2),
        ]
    );
    assert!(resolved.message.contains("API rules.") && !resolved.cut);
    write("src/api/AGENTS.md", "New API rules.");
    let resolved = client
        .resolve_conventions(request())
        .await
        .expect("resolved")
        .into_inner();
    assert_eq!(resolved.conventions[2].content, "New API rules.");
    let mut small = request();
    small.max_context_tokens = Some(25);
    let resolved = client
        .resolve_conventions(small)
        .await
        .expect("resolved")
        .into_inner();
    assert!(resolved.token_count <= 25 && !resolved.dropped.is_empty());
    assert_eq!(resolved.dropped[0].source, "AGENTS.md");
}

#[tokio::test]
async fn a_models_json_is_carried_out_or_explained() {
    let server = Server::start(&[]);
    let mut client = KnowledgeServiceClient::new(server.channel().await);
    let mut call = async |name: &str, arguments: &str| {
        let request = pb::CallKnowledgeToolRequest {
            name: name.into(),
            arguments: arguments.into(),
            agent_id: "a1".into(),
        };
        client
            .call_knowledge_tool(request)
            .await
            .expect("an answer")
            .into_inner()
    };
    let stored = call(
        "store_knowledge",
        r#"{"subject": "tests", "predicate": "run with", "object": "cargo test"}"#,
    )
    .await;
    assert!(!stored.is_error);
    let recalled = call("recall_knowledge", r#"{"query": "how do tests run"}"#).await;
    assert!(recalled.content.contains("tests run with cargo test"));
    let broken = call("recall_knowledge", "{\"query\": ").await;
    assert!(
        broken.is_error && broken.content.contains("no JSON"),
        "{}",
        broken.content
    );
}

/// In this process, because a server would have to fetch its catalogue's vectors first.
mod with_the_model {
    use std::path::Path;
    use std::time::{Duration, Instant};

    use signalbox::app;
    use signalbox::config::ModelConfig;
    use signalbox::embed::{Embedder, ModelState};
    use signalbox::hydrate::file::Files;
    use signalbox::hydrate::{BUILTIN_FILE, Counter, Hydrator, Job, Options};
    use signalbox::knowledge::{Fact, Knowledge, Recall, RecalledItem, keep};
    use signalbox::session::config::PreHydration;
    use tokio::sync::mpsc;

    async fn embedder() -> Embedder {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/weights");
        let config = ModelConfig {
            dir,
            ..ModelConfig::default()
        };
        let embedder = app::embedder(&config);
        let state = embedder.loaded().await;
        assert!(
            matches!(state, ModelState::Ready(_)),
            "{state:?}; run `make models`"
        );
        embedder
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_question_in_another_language_finds_the_fact() {
        let knowledge = Knowledge::open(None, embedder().await, keep::Options::default());
        let knowledge = knowledge.await.expect("opens");
        for (subject, predicate, object) in [
            ("the database", "is backed up", "every night at two o'clock"),
            ("releases", "are announced", "in the team channel"),
            ("the cafeteria", "serves", "soup on Mondays"),
        ] {
            let fact = Fact::new(subject, predicate, object, 0.8, "");
            knowledge.store_fact(fact).await.expect("stored");
        }
        let recall = Recall {
            query: "Wann werden die Daten gesichert?".into(),
            limit: Some(1),
            ..Recall::default()
        };
        let patience = Instant::now() + Duration::from_secs(120);
        let recalled = loop {
            let recalled = knowledge.recall(&recall).await.expect("recalled");
            if recalled.degraded.is_empty() {
                break recalled;
            }
            assert!(Instant::now() < patience, "{:?}", recalled.degraded);
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        let RecalledItem::Fact(fact) = &recalled.items[0].item else {
            panic!("{recalled:?}")
        };
        assert_eq!(fact.subject, "the database");
        assert_eq!(recalled.context.counter, "multilingual-e5-small");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn case_18_holds_with_the_models_own_tokenizer() {
        let embedder = embedder().await;
        let dir = tempfile::tempdir().expect("temporary folder");
        for (name, text) in [
            ("three.txt", "語".repeat(20_000)),
            ("two.txt", "é".repeat(30_001)),
            ("mixed.txt", "naïve 語 🦀\u{301} \t zebra ".repeat(2_000)),
        ] {
            std::fs::write(dir.path().join(name), text).expect("written");
        }
        let options = Options {
            files: Files {
                roots: vec![dir.path().to_owned()],
                max_bytes: 1 << 20,
            },
            ..Options::default()
        };
        let hydrator = Hydrator::new(options, embedder.clone());
        let counter = Counter::of(&embedder);
        for text in [
            "three.txt",
            "two.txt",
            "mixed.txt",
            "three.txt two.txt mixed.txt",
        ] {
            for budget in [100, 333] {
                let tools = [("file".to_owned(), BUILTIN_FILE.to_owned())];
                let job = Job {
                    text: text.into(),
                    config: PreHydration {
                        resolution_tools: tools.into(),
                        max_context_tokens: budget,
                        ..PreHydration::default()
                    },
                    ..Job::default()
                };
                let (calls, _) = mpsc::channel(1);
                let hydrated = hydrator.hydrate(job, "", calls).await.expect("valid");
                let tokens = counter.count(&hydrated.message);
                assert_eq!(tokens, hydrated.tokens, "{text}");
                assert!(
                    tokens <= budget as usize && tokens > 60,
                    "{text}: {tokens} of {budget}"
                );
                assert_eq!(hydrated.counter, "multilingual-e5-small");
                assert!(hydrated.message.starts_with("[PRE_HYDRATED_CONTEXT]"));
                assert!(hydrated.resolved() >= 1);
            }
        }
    }
}
