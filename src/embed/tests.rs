//! The handle, queue and workers together, with a fake encoder in place of a model.

use std::{
    sync::{Arc, Condvar, Mutex, mpsc},
    time::{Duration, Instant},
};

use super::{
    embedder::{Encode, Loaded},
    *,
};

/// Encodes a text to its length, once its gate is open; remembers what reached it.
struct Fake {
    seen: Mutex<Vec<String>>,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Fake {
    fn new(open: bool) -> Arc<Self> {
        Arc::new(Self {
            seen: Mutex::default(),
            open: Mutex::new(open),
            opened: Condvar::new(),
        })
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    fn wait_for(&self, count: usize) {
        until(|| self.seen.lock().unwrap().len() >= count);
    }
}

impl Encode for Fake {
    fn encode(&self, _role: TextRole, text: &str) -> Result<Embedded, String> {
        self.seen.lock().unwrap().push(text.to_owned());
        let open = self.open.lock().unwrap();
        drop(self.opened.wait_while(open, |open| !*open).unwrap());
        match text {
            "panic" => panic!("the fake model panics"),
            "error" => Err("the fake model fails".into()),
            _ => Ok(Embedded {
                language: None,
                vector: vec![text.len() as f32].into(),
                tokens: 1,
                used_tokens: 1,
            }),
        }
    }

    fn count_tokens(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }

    fn token_ids(&self, _role: TextRole, _text: &str) -> Result<Vec<u32>, String> {
        Ok(Vec::new())
    }
}

fn info() -> ModelInfo {
    ModelInfo {
        id: "fake".into(),
        digest: "0".repeat(64),
        dimensions: 1,
        first: None,
        max_tokens: 8,
        device: "cpu",
        languages: vec!["en".into()],
    }
}

async fn ready(fake: &Arc<Fake>, threads: usize, limit: usize, cache: usize) -> Embedder {
    let encoder: Arc<dyn Encode> = fake.clone();
    let embedder = Embedder::spawn_with(threads, limit, cache, move || Ok((encoder, info())));
    assert!(matches!(embedder.loaded().await, ModelState::Ready(_)));
    embedder
}

// Polls a condition that another thread makes true.
fn until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "waited 10 s in vain");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

/// Starts a call and returns once its texts are queued (or its first bulk text waits).
fn start(
    embedder: &Embedder,
    priority: Priority,
    list: &[&str],
) -> tokio::task::JoinHandle<Result<Vec<Embedded>, EmbedError>> {
    let (embedder, texts) = (embedder.clone(), texts(list));
    tokio::spawn(async move { embedder.embed(TextRole::Passage, priority, texts).await })
}

// The outcome of a call that must not wait.
async fn at_once(embedder: &Embedder, list: &[&str]) -> Result<Vec<Embedded>, EmbedError> {
    let call = embedder.embed(TextRole::Query, Priority::Interactive, texts(list));
    tokio::time::timeout(Duration::from_secs(5), call)
        .await
        .expect("the call waits")
}

// Lets spawned tasks run up to where they wait (single-threaded test runtime).
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn vectors_come_in_the_order_of_their_texts() {
    let fake = Fake::new(true);
    let embedder = ready(&fake, 3, 100, 0).await;
    let list: Vec<String> = (1..=50).map(|n| "x".repeat(n)).collect();
    for priority in [Priority::Interactive, Priority::Bulk] {
        let found = embedder
            .embed(TextRole::Query, priority, list.clone())
            .await
            .unwrap();
        let lengths: Vec<f32> = found.iter().map(|embedded| embedded.vector[0]).collect();
        assert_eq!(lengths, (1..=50).map(|n| n as f32).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn no_texts_give_no_vectors_in_every_state() {
    let fake = Fake::new(true);
    for embedder in [Embedder::disabled(), ready(&fake, 1, 1, 0).await] {
        let found = embedder
            .embed(TextRole::Query, Priority::Interactive, Vec::new())
            .await;
        assert_eq!(found, Ok(Vec::new()));
    }
}

#[tokio::test]
async fn a_cancelled_text_never_reaches_the_model() {
    let fake = Fake::new(false);
    let embedder = ready(&fake, 1, 10, 0).await;
    let running = start(&embedder, Priority::Interactive, &["running"]);
    settle().await;
    fake.wait_for(1);
    let cancelled = start(
        &embedder,
        Priority::Interactive,
        &["cancelled", "cancelled too"],
    );
    let bulk = start(&embedder, Priority::Bulk, &["cancelled bulk"]);
    let kept = start(&embedder, Priority::Interactive, &["kept"]);
    settle().await;
    cancelled.abort();
    bulk.abort();
    settle().await;
    fake.open();
    kept.await.unwrap().unwrap();
    running.await.unwrap().unwrap();
    // One more round trip, so that the worker has passed the bulk lane too.
    start(&embedder, Priority::Bulk, &["last"])
        .await
        .unwrap()
        .unwrap();
    assert_eq!(fake.seen(), ["running", "kept", "last"]);
}

#[tokio::test]
async fn overload_is_refused_at_once() {
    let fake = Fake::new(false);
    let embedder = ready(&fake, 1, 2, 0).await;
    let running = start(&embedder, Priority::Interactive, &["running"]);
    settle().await;
    fake.wait_for(1);
    let waiting = start(&embedder, Priority::Interactive, &["a"]);
    settle().await;
    // One place is left: a call of two gets neither, a call of one fits.
    let refused = at_once(&embedder, &["b", "c"]).await;
    assert_eq!(
        refused,
        Err(EmbedError::Overloaded {
            queued: 1,
            limit: 2
        })
    );
    let fits = start(&embedder, Priority::Interactive, &["d"]);
    settle().await;
    let refused = at_once(&embedder, &["e"]).await;
    assert_eq!(
        refused,
        Err(EmbedError::Overloaded {
            queued: 2,
            limit: 2
        })
    );
    fake.open();
    for call in [running, waiting, fits] {
        call.await.unwrap().unwrap();
    }
    assert_eq!(fake.seen(), ["running", "a", "d"]);
}

#[tokio::test]
async fn texts_that_were_given_up_leave_room() {
    let fake = Fake::new(false);
    let embedder = ready(&fake, 1, 2, 0).await;
    let running = start(&embedder, Priority::Interactive, &["running"]);
    settle().await;
    fake.wait_for(1);
    let gone = start(&embedder, Priority::Interactive, &["gone", "gone too"]);
    settle().await;
    gone.abort();
    settle().await;
    let fits = start(&embedder, Priority::Interactive, &["a", "b"]);
    settle().await;
    fake.open();
    fits.await.unwrap().unwrap();
    running.await.unwrap().unwrap();
    assert_eq!(fake.seen(), ["running", "a", "b"]);
}

#[tokio::test]
async fn bulk_waits_for_room_and_interactive_goes_first() {
    let fake = Fake::new(false);
    let embedder = ready(&fake, 1, 2, 0).await;
    let bulk = start(
        &embedder,
        Priority::Bulk,
        &["b1", "b2", "b3", "b4", "b5", "b6"],
    );
    settle().await;
    fake.wait_for(1);
    // b1 runs, two wait in the lane, three have no room yet; prompts have room all the same.
    settle().await;
    let prompts = start(&embedder, Priority::Interactive, &["p1", "p2"]);
    settle().await;
    fake.open();
    prompts.await.unwrap().unwrap();
    assert_eq!(bulk.await.unwrap().unwrap().len(), 6);
    assert_eq!(
        fake.seen(),
        ["b1", "p1", "p2", "b2", "b3", "b4", "b5", "b6"]
    );
}

#[tokio::test]
async fn a_panic_or_error_fails_its_own_text_only() {
    let fake = Fake::new(true);
    let embedder = ready(&fake, 1, 10, 0).await;
    for (text, wanted) in [
        ("panic", "the fake model panics"),
        ("error", "the fake model fails"),
    ] {
        let outcome = start(&embedder, Priority::Interactive, &[text])
            .await
            .unwrap();
        let Err(EmbedError::Failed(why)) = outcome else {
            panic!("{outcome:?}")
        };
        assert!(why.contains(wanted), "{why}");
        start(&embedder, Priority::Interactive, &["fine"])
            .await
            .unwrap()
            .unwrap();
    }
    assert!(matches!(embedder.state(), ModelState::Ready(_)));
}

#[tokio::test]
async fn the_last_handle_ends_the_threads() {
    let fake = Fake::new(true);
    let embedder = ready(&fake, 3, 10, 0).await;
    let other = embedder.clone();
    drop(embedder);
    start(&other, Priority::Interactive, &["still served"])
        .await
        .unwrap()
        .unwrap();
    drop(other);
    // Every worker holds the encoder for as long as it lives.
    until(|| Arc::strong_count(&fake) == 1);
}

#[tokio::test]
async fn dropping_while_loading_ends_the_loader() {
    let fake = Fake::new(true);
    let encoder: Arc<dyn Encode> = fake.clone();
    let (go, wait) = mpsc::sync_channel::<()>(0);
    let embedder = Embedder::spawn_with(2, 1, 0, move || {
        wait.recv().map_err(|error| error.to_string())?;
        Ok((encoder, info()))
    });
    let refused = embedder
        .embed(TextRole::Query, Priority::Bulk, texts(&["a"]))
        .await;
    assert_eq!(refused, Err(EmbedError::Loading));
    assert_eq!(embedder.count_tokens("a"), None);
    drop(embedder);
    go.send(()).unwrap();
    until(|| Arc::strong_count(&fake) == 1);
}

#[tokio::test]
async fn a_load_that_fails_or_panics_becomes_the_state() {
    let loads: [fn() -> Loaded; 2] = [
        || Err("no such file".into()),
        || panic!("the loader panics"),
    ];
    for (load, wanted) in loads.into_iter().zip(["no such file", "the loader panics"]) {
        let embedder = Embedder::spawn_with(1, 1, 0, load);
        let ModelState::Failed(why) = embedder.loaded().await else {
            panic!("not failed")
        };
        assert!(why.contains(wanted), "{why}");
        let refused = embedder
            .embed(TextRole::Query, Priority::Interactive, texts(&["a"]))
            .await;
        assert_eq!(refused, Err(EmbedError::Failed(why)));
    }
}

#[tokio::test]
async fn a_missing_model_is_named_in_the_state() {
    let dir = tempfile::tempdir().unwrap();
    let config = EmbedConfig {
        model: "all-minilm-l6-v2".into(),
        dir: dir.path().into(),
        device: DeviceChoice::Cpu,
        threads: 0,
        max_queued_texts: 0,
        cache_entries: 0,
        adapter: true,
        adapters: Vec::new(),
        english: None,
    };
    let state = Embedder::spawn(config.clone()).loaded().await;
    let ModelState::Failed(why) = state else {
        panic!("{state:?}")
    };
    assert!(
        why.contains("config.json") && why.contains("make models"),
        "{why}"
    );
    let state = Embedder::spawn(EmbedConfig {
        model: "gpt".into(),
        ..config
    })
    .loaded()
    .await;
    let ModelState::Failed(why) = state else {
        panic!("{state:?}")
    };
    assert!(
        why.contains("\"gpt\"") && why.contains("all-minilm-l6-v2"),
        "{why}"
    );
}

#[tokio::test]
async fn a_disabled_embedder_says_so() {
    let embedder = Embedder::disabled();
    assert!(matches!(embedder.loaded().await, ModelState::Disabled));
    let refused = embedder
        .embed(TextRole::Query, Priority::Interactive, texts(&["a"]))
        .await;
    assert_eq!(refused, Err(EmbedError::Disabled));
    assert_eq!(embedder.cached(TextRole::Query, "a"), None);
    assert_eq!(embedder.count_tokens("a"), None);
}

#[tokio::test]
async fn a_repeated_query_comes_from_the_cache() {
    let fake = Fake::new(true);
    let embedder = ready(&fake, 1, 1, 10).await;
    assert_eq!(embedder.count_tokens("two words"), Some(2));
    let query = |list: &[&str]| {
        let list = texts(list);
        let embedder = embedder.clone();
        async move {
            embedder
                .embed(TextRole::Query, Priority::Interactive, list)
                .await
                .unwrap()
        }
    };
    let first = query(&["aa"]).await;
    assert_eq!(
        embedder.cached(TextRole::Query, "aa").as_ref(),
        Some(&first[0])
    );
    // Hits need no place in the queue, which has one; their order is kept.
    let lengths: Vec<f32> = query(&["aa", "b", "aa"])
        .await
        .iter()
        .map(|embedded| embedded.vector[0])
        .collect();
    assert_eq!(lengths, [2.0, 1.0, 2.0]);
    assert_eq!(fake.seen(), ["aa", "b"]);
}

#[tokio::test]
async fn a_callers_future_can_move_between_threads() {
    fn assert_send<T: Send>(value: T) -> T {
        value
    }
    let embedder = Embedder::disabled();
    assert_send(embedder.loaded()).await;
    let call = embedder.embed(TextRole::Query, Priority::Bulk, texts(&["a"]));
    assert!(assert_send(call).await.is_err());
}
