//! Hydration against a real HTTP server and real files.

mod hostile;
mod server;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::address::AddressRules;
use super::file::Files;
use super::http::{Fetcher, HttpOptions};
use super::*;
use crate::embed::Embedder;
use crate::error::Violations;
use crate::session::config::{PreHydration, ReferencePattern};
use server::WebServer;

/// Options that let pass what the tests' own server needs, and nothing else.
pub(super) fn local() -> HttpOptions {
    HttpOptions {
        plain: true,
        addresses: AddressRules::allowing(vec!["127.0.0.1/32".parse().expect("a network")]),
        lookup: Arc::new(|name| match name {
            "docs.test" => Ok(vec![[127, 0, 0, 1].into()]),
            "private.test" => Ok(vec![[10, 0, 0, 7].into()]),
            "mapped.test" => Ok(vec!["::ffff:127.0.0.1".parse().expect("an address")]),
            // One public address does not make the other one public.
            "both.test" => Ok(vec![[10, 0, 0, 7].into(), [127, 0, 0, 1].into()]),
            "empty.test" => Ok(Vec::new()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        }),
        ..HttpOptions::default()
    }
}

async fn fetch(url: &str) -> Result<String, Failure> {
    let page = Fetcher::new(local()).fetch(url).await;
    page.map(|page| page.text).map_err(|(failure, _)| failure)
}

fn config(tools: &[(&str, &str)]) -> PreHydration {
    let tools = tools
        .iter()
        .map(|(kind, tool)| ((*kind).to_owned(), (*tool).to_owned()));
    PreHydration {
        resolution_tools: tools.collect::<BTreeMap<_, _>>(),
        ..PreHydration::default()
    }
}

fn job(text: &str, config: PreHydration) -> Job {
    Job {
        text: text.to_owned(),
        config,
        ..Job::default()
    }
}

/// Hydrates without anybody who answers for the orchestrator.
async fn hydrate(hydrator: &Hydrator, job: Job) -> Hydrated {
    let (calls, _) = mpsc::channel(1);
    hydrator
        .hydrate(job, "config.", calls)
        .await
        .expect("valid")
}

fn hydrator(options: Options) -> Hydrator {
    Hydrator::new(options, Embedder::disabled())
}

fn statuses(hydrated: &Hydrated) -> Vec<(String, Status)> {
    let outcomes = hydrated.outcomes.iter();
    outcomes
        .map(|outcome| (outcome.reference.value.clone(), outcome.status))
        .collect()
}

#[tokio::test]
async fn pages_are_fetched_and_redirects_followed() {
    let server = WebServer::start().await;
    let at = |path: &str| format!("http://127.0.0.1:{}{path}", server.port);
    assert_eq!(fetch(&at("/text?a=b#c")).await, Ok("text a=b".into()));
    let page = fetch(&at("/page")).await.expect("a page");
    assert!(
        page.contains("Readable") && !page.contains("script"),
        "{page}"
    );
    let named = format!("http://docs.test:{}/text?x", server.port);
    assert_eq!(fetch(&named).await, Ok("text x".into()));
    assert_eq!(fetch(&at("/redirect/3")).await, Ok("text end".into()));
    let page = Fetcher::new(local()).fetch(&at("/redirect/1")).await;
    assert!(page.expect("a page").url.ends_with("/text?end"));
    assert_eq!(
        fetch(&at("/redirect/4")).await,
        Err(Failure::TooManyRedirects)
    );
}

#[tokio::test]
async fn answers_that_are_no_page_say_why() {
    let server = WebServer::start().await;
    let at = |path: &str| format!("http://127.0.0.1:{}{path}", server.port);
    for (path, failure) in [
        ("/404", Failure::HttpStatus),
        ("/429", Failure::HttpStatus),
        ("/500", Failure::HttpStatus),
        ("/huge-said", Failure::TooLarge),
        ("/huge-streamed", Failure::TooLarge),
        ("/binary", Failure::NotText),
        ("/zeros", Failure::NotText),
        ("/gzip", Failure::NotText),
        ("/reset", Failure::Network),
        ("/headers", Failure::Network),
        ("/garbage", Failure::Network),
        ("/redirect-nowhere", Failure::HttpStatus),
    ] {
        assert_eq!(fetch(&at(path)).await, Err(failure), "{path}");
    }
    let limited = Fetcher::new(local())
        .fetch(&at("/429"))
        .await
        .expect_err("refused");
    assert_eq!(limited.1, "429 Too Many Requests, try again after 7");
    // Nobody listens there any more.
    drop(server);
    assert_eq!(fetch("http://empty.test/").await, Err(Failure::Network));
    assert_eq!(fetch("http://unknown.test/").await, Err(Failure::Network));
}

#[tokio::test]
async fn case_20_refused_are_addresses_schemes_and_redirects_to_them() {
    let server = WebServer::start().await;
    let port = server.port;
    let redirect = |to: &str| format!("http://127.0.0.1:{port}/redirect-to/{to}");
    for url in [
        "http://10.0.0.1/".to_owned(),
        "http://[::ffff:10.0.0.1]/".to_owned(),
        "http://[::1]/".to_owned(),
        format!("http://private.test:{port}/text"),
        format!("http://mapped.test:{port}/text"),
        redirect("http://169.254.169.254/latest/meta-data"),
        redirect("http://private.test/"),
        redirect("http://0x7f000002/"),
        redirect("//10.0.0.1/"),
    ] {
        assert_eq!(fetch(&url).await, Err(Failure::AddressRefused), "{url}");
    }
    for url in [
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        &redirect("file:///etc/passwd"),
    ] {
        assert_eq!(fetch(url).await, Err(Failure::SchemeRefused), "{url}");
    }
    // A name with a private and a public address is reached by the public one only.
    assert_eq!(
        fetch(&format!("http://both.test:{port}/text?b")).await,
        Ok("text b".into())
    );

    let strict = Fetcher::new(HttpOptions::default());
    let refused = async |url: String| strict.fetch(&url).await.expect_err("refused").0;
    assert_eq!(
        refused(format!("https://127.0.0.1:{port}/")).await,
        Failure::AddressRefused
    );
    assert_eq!(
        refused(format!("http://127.0.0.1:{port}/")).await,
        Failure::SchemeRefused
    );
    let off = Fetcher::new(HttpOptions {
        enabled: false,
        ..local()
    });
    let refused = off.fetch(&format!("http://127.0.0.1:{port}/text")).await;
    assert_eq!(refused.expect_err("refused").0, Failure::ToolExcluded);
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_looked_up_once_for_each_connection() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let server = WebServer::start().await;
    let lookups = Arc::new(AtomicUsize::new(0));
    let counted = lookups.clone();
    let options = HttpOptions {
        // Allowed at first, private from the second look-up on.
        lookup: Arc::new(move |_| {
            let first = counted.fetch_add(1, Ordering::SeqCst) == 0;
            let address: IpAddr = if first { [127, 0, 0, 1] } else { [10, 0, 0, 7] }.into();
            Ok(vec![address])
        }),
        ..local()
    };
    let fetcher = Fetcher::new(options);
    let url = format!("http://rebind.test:{}/text?once", server.port);
    assert_eq!(
        fetcher.fetch(&url).await.expect("fetched").text,
        "text once"
    );
    assert_eq!(lookups.load(Ordering::SeqCst), 1);
    let again = fetcher.fetch(&url).await.expect_err("refused");
    assert_eq!(again.0, Failure::AddressRefused);
}

#[tokio::test]
async fn tls_is_asked_for_and_checked() {
    let server = WebServer::start().await;
    // The server speaks no TLS at all; what matters is that nothing falls back to plain text.
    let url = format!("https://127.0.0.1:{}/text", server.port);
    assert_eq!(fetch(&url).await, Err(Failure::Network));
    assert_eq!(server.requests(), 0);
}

#[tokio::test(start_paused = true)]
async fn case_19_fast_files_are_there_although_a_url_sleeps() {
    let dir = tempfile::tempdir().expect("temporary folder");
    for name in ["a.rs", "b.rs", "c.rs"] {
        std::fs::write(dir.path().join(name), format!("// {name}")).expect("written");
    }
    let options = Options {
        files: Files {
            roots: vec![dir.path().to_owned()],
            max_bytes: 1 << 16,
        },
        ..Options::default()
    };
    let text = "./a.rs https://slow.test/x ./b.rs and ./c.rs";
    let config = config(&[("file", BUILTIN_FILE), ("url", "web_fetch")]);
    // The tool takes the call and never answers.
    let (calls, mut taken) = mpsc::channel(4);
    let silent = tokio::spawn(async move {
        let call = taken.recv().await.expect("a call");
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        drop(call);
    });
    let began = Instant::now();
    let hydrator = hydrator(options);
    let hydrated = hydrator
        .hydrate(job(text, config), "", calls)
        .await
        .expect("valid");
    silent.abort();
    assert_eq!(
        began.elapsed().as_secs(),
        10,
        "the reference's own time, not the whole"
    );
    let timeout = Status::Failed(Failure::Timeout);
    assert_eq!(
        statuses(&hydrated),
        [
            ("./a.rs".into(), Status::Resolved),
            ("https://slow.test/x".into(), timeout),
            ("./b.rs".into(), Status::Resolved),
            ("./c.rs".into(), Status::Resolved),
        ]
    );
    assert_eq!(
        (hydrated.found, hydrated.resolved(), hydrated.failed()),
        (4, 3, 1)
    );
    for part in ["// a.rs", "// b.rs", "// c.rs", "Unresolved references: 1"] {
        assert!(hydrated.message.contains(part), "{part}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_whole_timeout_bounds_every_reference() {
    let (calls, mut taken) = mpsc::channel(4);
    let held = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Some(call) = taken.recv().await {
            held.push(call);
        }
    });
    let config = PreHydration {
        timeout: Duration::from_secs(2),
        ..config(&[("issue", "issues")])
    };
    let began = Instant::now();
    let hydrator = hydrator(Options::default());
    let hydrated = hydrator.hydrate(job("#1 #2 #3", config), "", calls).await;
    assert_eq!(began.elapsed().as_secs(), 2);
    assert_eq!(hydrated.expect("valid").failed(), 3);
    held.abort();
}

#[tokio::test]
async fn case_19_order_of_appearance_decides_who_is_over_budget() {
    let urls: Vec<String> = (1..=12).map(|n| format!("https://x.dev/{n}")).collect();
    let text = format!("{} then ./a.rs", urls.join(" "));
    let hydrated = hydrate(&hydrator(Options::default()), job(&text, config(&[]))).await;
    assert_eq!(hydrated.found, 13);
    let statuses = statuses(&hydrated);
    assert!(
        statuses[..10]
            .iter()
            .all(|(_, status)| *status == Status::NoResolver)
    );
    assert!(
        statuses[10..]
            .iter()
            .all(|(_, status)| *status == Status::OverBudget)
    );
    assert_eq!(statuses[12].0, "./a.rs");
}

#[tokio::test]
async fn case_19_a_bad_pattern_is_named() {
    let mut config = config(&[("file", "builtin:ftp")]);
    config.custom_patterns.push(ReferencePattern {
        ref_type: "x".into(),
        pattern: "[".into(),
    });
    let (calls, _) = mpsc::channel(1);
    let refused = hydrator(Options::default())
        .hydrate(job("a", config), "config.", calls)
        .await;
    let violations: Violations = refused.expect_err("refused");
    let fields: Vec<_> = violations
        .as_slice()
        .iter()
        .map(|found| found.field.as_str())
        .collect();
    assert_eq!(
        fields,
        [
            "config.custom_patterns[0].pattern",
            "config.resolution_tools"
        ]
    );
    assert!(
        violations.as_slice()[0]
            .message
            .starts_with("\"[\" is no usable pattern")
    );
}

#[tokio::test]
async fn tools_of_the_orchestrator_answer_deny_and_fail() {
    let (calls, mut taken) = mpsc::channel::<ToolCall>(4);
    let orchestrator = tokio::spawn(async move {
        while let Some(call) = taken.recv().await {
            let answer = match call.reference.value.as_str() {
                "1" => ToolAnswer::Content("Issue one\r\n".into()),
                "2" => ToolAnswer::Failed("no such issue".into()),
                "3" => ToolAnswer::Denied("not today".into()),
                // Dropped without an answer.
                _ => continue,
            };
            let _ = call.reply.send(answer);
        }
    });
    let mut job = job(
        "#1 #2 #3 #4 PR #5 and https://a.com",
        config(&[("issue", "issues"), ("pr", "pulls")]),
    );
    job.denied.insert("pulls".into(), "excluded".into());
    let hydrator = hydrator(Options::default());
    let hydrated = hydrator.hydrate(job, "", calls).await.expect("valid");
    orchestrator.await.expect("ends with the calls");
    let read: Vec<Status> = statuses(&hydrated)
        .into_iter()
        .map(|(_, status)| status)
        .collect();
    assert_eq!(
        read,
        [
            Status::Resolved,
            Status::Failed(Failure::ToolFailed),
            Status::Failed(Failure::PolicyDenied),
            Status::Failed(Failure::ToolFailed),
            Status::Failed(Failure::ToolExcluded),
            Status::NoResolver,
        ]
    );
    let details: Vec<&str> = hydrated
        .outcomes
        .iter()
        .map(|o| o.detail.as_str())
        .collect();
    assert_eq!(details[1..3], ["no such issue", "not today"]);
    assert!(hydrated.message.contains("## issue 1\n```\nIssue one\n```"));
    assert!(hydrated.message.ends_with("Unresolved references: 5"));
    assert_eq!(hydrated.counter, "estimate");
}

#[tokio::test]
async fn nothing_resolved_and_nothing_failed_is_empty() {
    let hydrator = hydrator(Options::default());
    for text in ["no references", "", "https://a.com #1"] {
        let hydrated = hydrate(&hydrator, job(text, config(&[]))).await;
        assert_eq!(
            (hydrated.message.as_str(), hydrated.tokens),
            ("", 0),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_small_budget_leaves_the_last_out() {
    let dir = tempfile::tempdir().expect("temporary folder");
    for name in ["a.txt", "b.txt", "c.txt"] {
        std::fs::write(dir.path().join(name), "語".repeat(5_000)).expect("written");
    }
    let options = Options {
        files: Files {
            roots: vec![dir.path().to_owned()],
            max_bytes: 1 << 16,
        },
        ..Options::default()
    };
    let config = PreHydration {
        max_context_tokens: 70,
        ..config(&[("file", BUILTIN_FILE)])
    };
    let hydrated = hydrate(&hydrator(options), job("a.txt b.txt c.txt", config)).await;
    let over = hydrated
        .outcomes
        .iter()
        .filter(|o| o.status == Status::OverBudget)
        .count();
    assert!(hydrated.tokens <= 70 && over >= 1, "{hydrated:?}");
    assert!(hydrated.outcomes[0].cut && hydrated.outcomes[0].tokens > 16);
    assert_eq!(hydrated.outcomes[2].detail, "max_context_tokens is 70");
}

#[tokio::test]
async fn a_large_content_waits_as_its_head_only() {
    let (calls, mut taken) = mpsc::channel::<ToolCall>(4);
    tokio::spawn(async move {
        while let Some(call) = taken.recv().await {
            let size = if call.reference.value == "1" {
                1 << 20
            } else {
                (1 << 20) + 1
            };
            let _ = call.reply.send(ToolAnswer::Content("x".repeat(size)));
        }
    });
    let config = PreHydration {
        max_context_tokens: 100,
        ..config(&[("issue", "issues")])
    };
    let hydrator = hydrator(Options::default());
    let hydrated = hydrator
        .hydrate(job("#1 #2", config), "", calls)
        .await
        .expect("valid");
    assert!(hydrated.outcomes[0].cut && hydrated.tokens <= 100);
    assert_eq!(
        hydrated.outcomes[1].status,
        Status::Failed(Failure::TooLarge)
    );
}
