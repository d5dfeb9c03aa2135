//! All references at once, each by its resolver and within its time.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use super::budget::Counter;
use super::extract::{FILE, Reference};
use super::file::Files;
use super::http::{Fetcher, HttpOptions};
use super::job::{
    BUILTIN_FILE, BUILTIN_HTTP, Failure, Hydrated, Job, MAX_NAMED, Outcome, Status, ToolAnswer,
    ToolCall,
};
use super::page::clean;
use super::render::{Section, fit};
use crate::embed::Embedder;
use crate::error::Violations;

/// Bytes of a text that are looked at on the runtime's threads: about half a millisecond.
const INLINE_BYTES: usize = 16 << 10;
/// Bytes of what a tool of the orchestrator's gave.
const MAX_CONTENT_BYTES: usize = 1 << 20;

/// Bytes of a content that are kept whatever the budget, and for each token of it: tokens have
/// four bytes on average, and hardly any has more than sixteen.
const LEAST_KEPT_BYTES: usize = 16 << 10;
const KEPT_BYTES_PER_TOKEN: usize = 16;
/// Characters of a tool's own explanation.
const MAX_DETAIL_CHARS: usize = 300;

/// What an operator sets.
#[derive(Clone)]
pub struct Options {
    /// `builtin:http`.
    pub http: HttpOptions,
    /// `builtin:file`.
    pub files: Files,
    /// Time for one reference.
    pub reference_timeout: Duration,
    /// References that the built-in resolvers work on at once, in all calls.
    pub max_concurrent: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            http: HttpOptions::default(),
            files: Files {
                roots: Vec::new(),
                max_bytes: 1 << 20,
            },
            reference_timeout: Duration::from_secs(10),
            max_concurrent: 64,
        }
    }
}

/// Hydrates. Cheap to clone.
#[derive(Clone)]
pub struct Hydrator {
    inner: Arc<Inner>,
}

struct Inner {
    fetcher: Fetcher,
    files: Files,
    reference_timeout: Duration,
    permits: Arc<Semaphore>,
    embedder: Embedder,
}

/// What a resolver gave.
struct Found {
    text: String,
    origin: String,
    /// Whether only the head of the text was kept.
    shortened: bool,
}

impl Found {
    fn new(text: String, origin: String) -> Self {
        Self {
            text,
            origin,
            shortened: false,
        }
    }

    /// Keeps no more than a budget can take: a thousand large texts must not wait in memory.
    fn shorten(mut self, budget: u32) -> Self {
        let most = LEAST_KEPT_BYTES + budget as usize * KEPT_BYTES_PER_TOKEN;
        if self.text.len() > most {
            self.text.truncate(self.text.floor_char_boundary(most));
            self.text.shrink_to_fit();
            self.shortened = true;
        }
        self
    }
}

/// One reference on its way.
struct Resolved {
    tool: String,
    outcome: Result<Found, (Status, String)>,
    took: Duration,
}

impl Hydrator {
    /// A hydrator that counts tokens as the encoder does.
    pub fn new(options: Options, embedder: Embedder) -> Self {
        let inner = Inner {
            fetcher: Fetcher::new(options.http),
            files: options.files,
            reference_timeout: options.reference_timeout,
            permits: Arc::new(Semaphore::new(options.max_concurrent)),
            embedder,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The references of a job's text.
    ///
    /// # Errors
    ///
    /// Values out of their limits, and patterns that are none.
    pub async fn extract(&self, job: &Job, path: &str) -> Result<Vec<Reference>, Violations> {
        job.check(path).into_result()?;
        let extract = |job: &Job, path: &str| {
            let extraction = job.extraction(path)?;
            Ok(extraction.references(&job.text))
        };
        if job.text.len() <= INLINE_BYTES && job.config.custom_patterns.is_empty() {
            return extract(job, path);
        }
        let (job, path) = (job.clone(), path.to_owned());
        let extracted = tokio::task::spawn_blocking(move || extract(&job, &path));
        extracted.await.unwrap_or_else(|_| Ok(Vec::new()))
    }

    /// Hydrates a job. References for the orchestrator's tools go to `calls`; where nobody
    /// takes them, they fail. `path` is prefixed to the fields of the job's configuration.
    ///
    /// # Errors
    ///
    /// Values out of their limits, and patterns that are none. Nothing else: what goes wrong
    /// with a reference is its status.
    pub async fn hydrate(
        &self,
        job: Job,
        path: &str,
        calls: mpsc::Sender<ToolCall>,
    ) -> Result<Hydrated, Violations> {
        let began = Instant::now();
        let mut references = self.extract(&job, path).await?;
        let found = references.len();
        references.truncate(MAX_NAMED);
        let deadline = began + job.config.timeout;
        let taken = (job.config.max_references as usize).min(references.len());
        let resolving = references[..taken]
            .iter()
            .enumerate()
            .map(|(number, reference)| self.resolve(&job, number, reference, deadline, &calls));
        let mut resolved = join_all(resolving).await;
        drop(calls);
        let most = job.config.max_references;
        resolved.extend(references[taken..].iter().map(|_| Resolved {
            tool: String::new(),
            outcome: Err((Status::OverBudget, format!("max_references is {most}"))),
            took: Duration::ZERO,
        }));
        let counter = Counter::of(&self.inner.embedder);
        let budget = job.config.max_context_tokens as usize;
        let render = move || render(references, resolved, budget, &counter);
        // Nothing panics in there; if it did, the call would end as one that found nothing.
        let mut hydrated = tokio::task::spawn_blocking(render)
            .await
            .unwrap_or_default();
        hydrated.found = found;
        hydrated.took = began.elapsed();
        Ok(hydrated)
    }

    async fn resolve(
        &self,
        job: &Job,
        number: usize,
        reference: &Reference,
        deadline: Instant,
        calls: &mpsc::Sender<ToolCall>,
    ) -> Resolved {
        let began = Instant::now();
        let resolved = |tool: &str, outcome| Resolved {
            tool: tool.to_owned(),
            outcome,
            took: began.elapsed(),
        };
        let Some(tool) = job.config.resolution_tools.get(&reference.ref_type) else {
            let why = format!("no tool resolves {:?}", reference.ref_type);
            return resolved("", Err((Status::NoResolver, why)));
        };
        if let Some(why) = job.denied.get(tool) {
            let status = Status::Failed(Failure::ToolExcluded);
            return resolved(tool, Err((status, why.clone())));
        }
        let mut time = self.inner.reference_timeout;
        if let Some(least) = job.tool_timeout {
            time = time.min(least);
        }
        let deadline = deadline.min(began + time);
        let work = async {
            match tool.as_str() {
                BUILTIN_HTTP => self.fetch(reference).await,
                BUILTIN_FILE => self.read(reference).await,
                tool => ask(number, reference, tool, deadline, calls).await,
            }
        };
        let outcome = match timeout_at(deadline, work).await {
            Ok(outcome) => outcome
                .map(|found| found.shorten(job.config.max_context_tokens))
                .map_err(|(failure, why)| (Status::Failed(failure), why)),
            Err(_) => {
                let seconds = began.elapsed().as_secs_f64();
                let why = format!("no answer within {seconds:.1} s");
                Err((Status::Failed(Failure::Timeout), why))
            }
        };
        resolved(tool, outcome)
    }

    async fn fetch(&self, reference: &Reference) -> Result<Found, (Failure, String)> {
        let _permit = self.inner.permits.acquire().await;
        let page = self.inner.fetcher.fetch(&reference.value).await?;
        Ok(Found::new(page.text, page.url))
    }

    async fn read(&self, reference: &Reference) -> Result<Found, (Failure, String)> {
        let permit = self.inner.permits.clone().acquire_owned().await;
        let (files, path, line) = (
            self.inner.files.clone(),
            reference.value.clone(),
            reference.line,
        );
        if reference.ref_type != FILE && path.contains("://") {
            return Err((Failure::Unsupported, "it is no path".into()));
        }
        let read = tokio::task::spawn_blocking(move || {
            let read = files.read(&path, line);
            drop(permit);
            read
        });
        let file = read
            .await
            .unwrap_or_else(|error| Err((Failure::NotFound, error.to_string())))?;
        Ok(Found::new(file.text, file.origin))
    }
}

/// Has the orchestrator resolve a reference.
async fn ask(
    number: usize,
    reference: &Reference,
    tool: &str,
    deadline: Instant,
    calls: &mpsc::Sender<ToolCall>,
) -> Result<Found, (Failure, String)> {
    let (reply, answer) = oneshot::channel();
    let call = ToolCall {
        number,
        reference: reference.clone(),
        tool: tool.to_owned(),
        timeout: deadline.saturating_duration_since(Instant::now()),
        reply,
    };
    let lost = || {
        (
            Failure::ToolFailed,
            "nobody answers for this tool".to_owned(),
        )
    };
    calls.send(call).await.map_err(|_| lost())?;
    match answer.await.map_err(|_| lost())? {
        ToolAnswer::Content(text) if text.len() > MAX_CONTENT_BYTES => {
            let why = format!(
                "{} bytes exceed the limit of {MAX_CONTENT_BYTES}",
                text.len()
            );
            Err((Failure::TooLarge, why))
        }
        ToolAnswer::Content(text) => Ok(Found::new(clean(&text), String::new())),
        ToolAnswer::Failed(why) => Err((Failure::ToolFailed, shortened(&why))),
        ToolAnswer::Denied(why) => Err((Failure::PolicyDenied, shortened(&why))),
    }
}

/// The first characters of what somebody else wrote.
fn shortened(text: &str) -> String {
    text.chars().take(MAX_DETAIL_CHARS).collect()
}

fn render(
    references: Vec<Reference>,
    resolved: Vec<Resolved>,
    budget: usize,
    counter: &Counter,
) -> Hydrated {
    let sections: Vec<Section> = references
        .iter()
        .zip(&resolved)
        .filter_map(|(reference, resolved)| {
            let found = resolved.outcome.as_ref().ok()?;
            let section = Section::new(&reference.to_string(), &found.text);
            Some(section.shortened(found.shortened))
        })
        .collect();
    // Types that nobody resolves are no reason for a message.
    let failed = resolved.iter().any(|resolved| {
        matches!(
            resolved.outcome,
            Err((Status::Failed(_) | Status::OverBudget, _))
        )
    });
    let unresolved = match sections.is_empty() && !failed {
        true => 0,
        false => resolved.len() - sections.len(),
    };
    let fitted = fit(&sections, unresolved, budget, counter);
    let mut rooms = fitted.rooms.into_iter();
    let outcomes = references
        .into_iter()
        .zip(resolved)
        .map(|(reference, resolved)| {
            let mut outcome = Outcome {
                reference,
                tool: resolved.tool,
                status: Status::Resolved,
                detail: String::new(),
                origin: String::new(),
                tokens: 0,
                cut: false,
                took: resolved.took,
            };
            match resolved.outcome {
                Err((status, why)) => (outcome.status, outcome.detail) = (status, why),
                Ok(found) => {
                    outcome.origin = found.origin;
                    match rooms.next().flatten() {
                        Some(room) => (outcome.tokens, outcome.cut) = (room.tokens, room.cut),
                        None => {
                            outcome.status = Status::OverBudget;
                            outcome.detail = format!("max_context_tokens is {budget}");
                        }
                    }
                }
            }
            outcome
        })
        .collect();
    Hydrated {
        message: fitted.message,
        tokens: fitted.tokens,
        counter: counter.name().to_owned(),
        outcomes,
        ..Hydrated::default()
    }
}
