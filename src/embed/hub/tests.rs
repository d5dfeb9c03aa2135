use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::Mutex,
};

use sha2::{Digest, Sha256};

use super::*;

const REVISION: &str = "0123456789abcdef0123456789abcdef01234567";
const GOOD: &str = "these are the weights";

/// A hub on loopback: serves `files` of one repository at one revision, in ranges.
struct FakeHub {
    endpoint: String,
    /// Header lines of all requests, in lower case.
    heard: Arc<Mutex<Vec<String>>>,
}

impl FakeHub {
    fn serving(files: &[(&str, &str)]) -> Self {
        Self::with_etag(files, "\"abc123\"")
    }

    fn with_etag(files: &[(&str, &str)], etag: &str) -> Self {
        let files: HashMap<String, String> = files
            .iter()
            .map(|(name, body)| {
                (
                    format!("/team/model/resolve/{REVISION}/{name}"),
                    (*body).to_owned(),
                )
            })
            .collect();
        let etag = etag.to_owned();
        Self::answering(move |path, from, to| match files.get(path) {
            None => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n".into(),
            Some(body) => {
                let to = to.unwrap_or(body.len() - 1).min(body.len() - 1);
                let part = &body[from..=to];
                format!(
                    "HTTP/1.1 206 Partial Content\r\nETag: {etag}\r\n\
                     X-Repo-Commit: {REVISION}\r\nContent-Range: bytes {from}-{to}/{}\r\n\
                     Content-Length: {}\r\nConnection: close\r\n\r\n{part}",
                    body.len(),
                    part.len()
                )
            }
        })
    }

    fn answering(answer: impl Fn(&str, usize, Option<usize>) -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&heard);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let (path, from, to) = read_request(&stream, &mut all.lock().unwrap());
                let mut answer = answer(&path, from, to);
                if !answer.contains("\r\n\r\n") {
                    answer.push_str("Connection: close\r\n\r\n");
                }
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        Self { endpoint, heard }
    }

    fn options(&self) -> HubOptions {
        options(&self.endpoint)
    }
}

// The path and the range ("bytes=FROM-TO" or "bytes=FROM-") of a request.
fn read_request(stream: &TcpStream, heard: &mut Vec<String>) -> (String, usize, Option<usize>) {
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let path = lines.next().unwrap().split(' ').nth(1).unwrap().to_owned();
    let mut range = (0, None);
    for line in lines.take_while(|line| !line.is_empty()) {
        let line = line.to_lowercase();
        if let Some(bytes) = line.strip_prefix("range: bytes=") {
            let (from, to) = bytes.split_once('-').unwrap();
            range = (from.parse().unwrap(), to.parse().ok());
        }
        heard.push(line);
    }
    (path, range.0, range.1)
}

// A model of one file; the manifest's own rule that there are three is not ours here.
fn spec() -> ModelSpec {
    let mut model = crate::embed::manifest().unwrap().models[0].clone();
    model.variants.truncate(1);
    model.variants[0].hub = Some(HubSource {
        repo: "team/model".into(),
        revision: REVISION.into(),
    });
    model.variants[0].files = vec![FileSpec {
        name: "model.safetensors".into(),
        sha256: files::hex(&Sha256::digest(GOOD)),
        size: GOOD.len() as u64,
    }];
    model
}

fn options(endpoint: &str) -> HubOptions {
    let stall = Duration::from_secs(5);
    HubOptions {
        endpoint: Some(endpoint.into()),
        stall,
        ..HubOptions::default()
    }
}

fn target(dir: &Path) -> PathBuf {
    dir.join(spec().id).join("model.safetensors")
}

#[test]
fn the_right_file_arrives_once() {
    let hub = FakeHub::serving(&[("model.safetensors", GOOD)]);
    let dir = tempfile::tempdir().unwrap();
    let fetched = pull(&spec(), dir.path(), &hub.options()).unwrap();
    assert_eq!(fetched, [target(dir.path())]);
    assert_eq!(fs::read_to_string(&fetched[0]).unwrap(), GOOD);
    assert!(fs::symlink_metadata(&fetched[0]).unwrap().is_file());
    // Nothing else is left, and a second pull asks for nothing.
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    assert!(
        pull(&spec(), dir.path(), &options("http://127.0.0.1:1"))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_wrong_file_of_the_right_size_never_reaches_the_folder() {
    let hub = FakeHub::serving(&[("model.safetensors", &GOOD.replace('w', "v"))]);
    let dir = tempfile::tempdir().unwrap();
    let error = pull(&spec(), dir.path(), &hub.options()).unwrap_err();
    assert!(
        matches!(&error, HubError::File(FileError::Digest { .. })),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains(&spec().variants[0].files[0].sha256),
        "{error}"
    );
    assert!(!target(dir.path()).exists());
    // The wrong bytes are gone too: the next pull starts anew and succeeds.
    let right = FakeHub::serving(&[("model.safetensors", GOOD)]);
    assert_eq!(
        pull(&spec(), dir.path(), &right.options()).unwrap().len(),
        1
    );
}

#[test]
fn a_wrong_local_file_is_replaced() {
    let hub = FakeHub::serving(&[("model.safetensors", GOOD)]);
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(target(dir.path()).parent().unwrap()).unwrap();
    fs::write(target(dir.path()), "old").unwrap();
    pull(&spec(), dir.path(), &hub.options()).unwrap();
    assert_eq!(fs::read_to_string(target(dir.path())).unwrap(), GOOD);
}

#[test]
fn a_wrong_size_is_refused_before_the_download() {
    let hub = FakeHub::serving(&[("model.safetensors", "short")]);
    let dir = tempfile::tempdir().unwrap();
    let error = pull(&spec(), dir.path(), &hub.options())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("expected 21 bytes, the hub has 5"),
        "{error}"
    );
}

#[test]
fn an_etag_cannot_name_a_path() {
    let hub = FakeHub::with_etag(&[("model.safetensors", GOOD)], "\"../../escape\"");
    let dir = tempfile::tempdir().unwrap();
    let error = pull(&spec(), dir.path(), &hub.options())
        .unwrap_err()
        .to_string();
    assert!(error.contains("is no etag"), "{error}");
}

#[test]
fn an_unreachable_hub_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let dir = tempfile::tempdir().unwrap();
    let error = pull(&spec(), dir.path(), &options(&endpoint)).unwrap_err();
    assert!(matches!(error, HubError::Request { .. }), "{error}");
    let url = format!("{endpoint}/team/model/resolve/{REVISION}/model.safetensors");
    assert!(error.to_string().contains(&url), "{error}");
    assert!(!target(dir.path()).exists());
}

#[test]
fn a_missing_file_and_a_panicking_answer_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let hub = FakeHub::serving(&[]);
    let error = pull(&spec(), dir.path(), &hub.options())
        .unwrap_err()
        .to_string();
    assert!(error.contains("404"), "{error}");
    // hf-hub expects a location in every redirect, and panics without.
    let hub = FakeHub::answering(|_, _, _| {
        format!(
            "HTTP/1.1 302 Found\r\nETag: \"a\"\r\nX-Repo-Commit: {REVISION}\r\n\
                 Content-Length: 0\r\n"
        )
    });
    let error = pull(&spec(), dir.path(), &hub.options())
        .unwrap_err()
        .to_string();
    assert!(error.contains("panicked"), "{error}");
}

#[test]
fn a_silent_hub_is_given_up() {
    // Accepts connections and never answers.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let options = HubOptions {
        stall: Duration::from_millis(200),
        ..options(&endpoint)
    };
    let dir = tempfile::tempdir().unwrap();
    let error = pull(&spec(), dir.path(), &options).unwrap_err().to_string();
    assert!(error.contains("nothing received for 200ms"), "{error}");
}

#[test]
fn the_token_is_sent_but_never_shown() {
    let dir = tempfile::tempdir().unwrap();
    let hub = FakeHub::serving(&[("model.safetensors", GOOD)]);
    let options = HubOptions {
        token: Some("hf_secret".into()),
        ..hub.options()
    };
    pull(&spec(), dir.path(), &options).unwrap();
    let heard = hub.heard.lock().unwrap();
    assert!(
        heard
            .iter()
            .any(|line| line == "authorization: bearer hf_secret"),
        "{heard:?}"
    );
    assert!(!format!("{options:?}").contains("secret"));
}

#[test]
fn a_model_without_a_repository_points_to_make() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = spec();
    spec.variants[0].hub = None;
    let error = pull(&spec, dir.path(), &HubOptions::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("make models"), "{error}");
}
