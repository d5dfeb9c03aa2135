//! Fetching a model's files from the Hugging Face hub, at the revision the manifest pins.
//!
//! A file is downloaded into a staging folder beside the model's, checked against the
//! manifest, and only then renamed to its place: what lies in a model's folder is always
//! whole. Nothing here runs while serving; `signalbox models pull` calls it.

use std::{
    fmt, fs, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use hf_hub::{
    Cache, Repo, RepoType,
    api::{
        Progress,
        sync::{ApiBuilder, ApiError, ApiRepo},
    },
};

use super::{
    files::{self, FileError},
    manifest::{FileSpec, HubSource, ModelSpec, Variant},
};

/// Where and how patiently to fetch.
#[derive(Clone)]
pub struct HubOptions {
    /// Address of the hub or a mirror (as `HF_ENDPOINT`); `None` is `https://huggingface.co`.
    pub endpoint: Option<String>,
    /// Sent as a bearer token to that address only; the models here need none, a mirror may.
    pub token: Option<String>,
    /// A download that receives nothing for this long is given up. hf-hub itself would wait
    /// for ever.
    pub stall: Duration,
}

impl Default for HubOptions {
    fn default() -> Self {
        Self {
            endpoint: None,
            token: None,
            stall: Duration::from_secs(30),
        }
    }
}

// By hand, so that no log shows the token.
impl fmt::Debug for HubOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubOptions")
            .field("endpoint", &self.endpoint)
            .field("token", &self.token.as_ref().map(|_| "redacted"))
            .field("stall", &self.stall)
            .finish()
    }
}

/// Why a file could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// The manifest names no repository that holds this model.
    #[error("{model} is on no hub; run `make models`")]
    NoSource {
        /// The model's id.
        model: String,
    },
    /// The hub could not be reached or refused.
    #[error("cannot fetch {url}: {source}")]
    Request {
        /// What was asked for.
        url: String,
        /// What hf-hub says.
        source: Box<ApiError>,
    },
    /// The hub's answer cannot be right.
    #[error("cannot fetch {url}: {why}")]
    Answer {
        /// What was asked for.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The file that arrived is not the one the manifest names.
    #[error("the hub sent a wrong file: {0}")]
    File(#[from] FileError),
    /// The folder cannot be written.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Makes `dir/<model id>/` hold one whole variant of `model`, and returns the files that were
/// fetched: none where it holds one already, else those of the first variant that is on a hub.
/// Blocks; call it outside an async runtime's threads.
///
/// # Errors
/// Names the address or file and what is wrong. The folder stays as it was, and a download
/// that broke off is resumed by the next call.
pub fn pull(model: &ModelSpec, dir: &Path, options: &HubOptions) -> Result<Vec<PathBuf>, HubError> {
    let folder = dir.join(&model.id);
    let whole = |variant: &Variant| {
        variant
            .files
            .iter()
            .all(|file| files::verify(&folder.join(&file.name), file).is_ok())
    };
    if files::locate(model, &folder).is_ok_and(whole) {
        return Ok(Vec::new());
    }
    let (variant, source) = model
        .variants
        .iter()
        .find_map(|variant| Some((variant, variant.hub.as_ref()?)))
        .ok_or_else(|| HubError::NoSource {
            model: model.id.clone(),
        })?;
    create_dir(&folder)?;
    let staging = dir.join(format!(".pull-{}", model.id));
    create_dir(&staging)?;
    let mut arrived = Vec::new();
    for file in &variant.files {
        let target = folder.join(&file.name);
        if files::verify(&target, file).is_ok() {
            continue;
        }
        let path = download(source, file, &staging, options)?;
        if let Err(error) = files::verify(&path, file) {
            // Resuming or reusing a wrong file would fail for ever.
            let _ = fs::remove_dir_all(&staging);
            return Err(error.into());
        }
        arrived.push((path, target));
    }
    // Only now, so that a failed download cannot leave files of two variants.
    let mut fetched = Vec::new();
    for (path, target) in arrived {
        fs::rename(&path, &target).map_err(|source| HubError::Io {
            path: target.clone(),
            source,
        })?;
        fetched.push(target);
    }
    // Links and locks of hf-hub; what is left behind costs nothing.
    let _ = fs::remove_dir_all(&staging);
    Ok(fetched)
}

fn create_dir(path: &Path) -> Result<(), HubError> {
    fs::create_dir_all(path).map_err(|source| HubError::Io {
        path: path.into(),
        source,
    })
}

// Runs the download on a thread of its own and watches that bytes keep coming.
fn download(
    source: &HubSource,
    file: &FileSpec,
    staging: &Path,
    options: &HubOptions,
) -> Result<PathBuf, HubError> {
    // The cache and the token are given, so that none is looked up in the home folder.
    let cache = Cache::new(staging.join("hub"));
    let mut builder = ApiBuilder::from_cache(cache)
        .with_progress(false)
        .with_token(options.token.clone());
    if let Some(endpoint) = &options.endpoint {
        builder = builder.with_endpoint(endpoint.trim_end_matches('/').to_owned());
    }
    let api = builder.build().map_err(|error| HubError::Request {
        url: source.repo.clone(),
        source: Box::new(error),
    })?;
    let repo = api.repo(Repo::with_revision(
        source.repo.clone(),
        RepoType::Model,
        source.revision.clone(),
    ));
    let url = repo.url(&file.name);
    let beats = Arc::new(AtomicU64::new(0));
    let (sender, receiver) = mpsc::sync_channel(1);
    let worker = {
        let (file, url, beat) = (file.clone(), url.clone(), Beat(Arc::clone(&beats)));
        move || {
            let run = || fetch(&api, &repo, &file, &url, beat);
            // hf-hub asserts and unwraps on answers it does not expect.
            let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
                Err(HubError::Answer {
                    url,
                    why: "hf-hub panicked on the answer".into(),
                })
            });
            // The watcher may have given up.
            let _ = sender.send(result);
        }
    };
    thread::Builder::new()
        .name("hub-pull".into())
        .spawn(worker)
        .map_err(|source| HubError::Io {
            path: staging.into(),
            source,
        })?;
    let mut seen = 0;
    loop {
        match receiver.recv_timeout(options.stall) {
            Ok(result) => return result,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let now = beats.load(Ordering::Relaxed);
                if now == seen {
                    // The thread stays behind; it can write into the staging folder only.
                    let why = format!("nothing received for {:?}", options.stall);
                    return Err(HubError::Answer { url, why });
                }
                seen = now;
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(HubError::Answer {
                    url,
                    why: "the download thread ended".into(),
                });
            }
        }
    }
}

fn fetch(
    api: &hf_hub::api::sync::Api,
    repo: &ApiRepo,
    file: &FileSpec,
    url: &str,
    beat: Beat,
) -> Result<PathBuf, HubError> {
    let request = |error| HubError::Request {
        url: url.into(),
        source: Box::new(error),
    };
    let metadata = api.metadata(url).map_err(request)?;
    if metadata.size() as u64 != file.size {
        let why = format!(
            "expected {} bytes, the hub has {}",
            file.size,
            metadata.size()
        );
        return Err(HubError::Answer {
            url: url.into(),
            why,
        });
    }
    // hf-hub makes file names of these.
    for name in [metadata.etag(), metadata.commit_hash()] {
        if !is_plain_name(name) {
            let why = format!("{name:?} is no etag or commit");
            return Err(HubError::Answer {
                url: url.into(),
                why,
            });
        }
    }
    let link = repo
        .download_with_progress(&file.name, beat)
        .map_err(request)?;
    // The cache holds a link; what is renamed later must be the file.
    fs::canonicalize(&link).map_err(|source| HubError::Io { path: link, source })
}

fn is_plain_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.len() <= 128 && name.chars().all(plain)
}

// Counts signs of life of a download.
struct Beat(Arc<AtomicU64>);

impl Progress for Beat {
    fn init(&mut self, _size: usize, _filename: &str) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn update(&mut self, _size: usize) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn finish(&mut self) {}
}

#[cfg(test)]
mod tests;
