//! `CatalogService`.

use std::pin::Pin;

use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};

use super::Domain;
use super::convert::{
    count, entry_from, entry_to, kind_filter_from, named_to, owner_from, preferences_from,
    preferences_to, reference_to, summary_to,
};
use super::error::{Fault, Reason, complete, invalid, status};
use super::pb;
use super::pb::catalog_service_server::CatalogService;
use super::pb::import_entries_request::Part;
use super::pb::watch_catalog_response::Event;
use crate::catalog::import::{self, Defaults, Diagnostic, Format, ImportError, Severity};
use crate::catalog::{Entry, EntryId, Kind};
use crate::error::Violations;
use crate::index::listing_key;
use crate::registry::{CatalogChange, ResumeToken, Watch, WatchEvent};

const DEFAULT_PAGE: usize = 100;
const MAX_PAGE: usize = 1_000;

/// Entries of one upsert.
const MAX_UPSERT: usize = 1_000;

/// References in one message of a watch; a change that names more comes in several.
const REFS_PER_MESSAGE: usize = 1_000;

/// Messages that wait for a watcher before it counts as slow.
const WATCH_BUFFER: usize = 16;

/// Implements the service.
pub(super) struct Service {
    domain: Domain,
}

impl Service {
    pub(super) fn new(domain: Domain) -> Self {
        Self { domain }
    }

    fn revision(&self) -> String {
        self.domain.registry.index().snapshot().revision()
    }

    fn kind_of(&self, id: &EntryId) -> Option<Kind> {
        self.domain.registry.get(id).ok().map(|entry| entry.kind)
    }

    async fn read_import(
        &self,
        mut parts: Streaming<pb::ImportEntriesRequest>,
    ) -> Result<(pb::ImportHeader, Vec<u8>), Status> {
        let limit = self.domain.limits.max_import_bytes;
        let mut header = None;
        let mut bytes = Vec::new();
        while let Some(message) = parts.message().await.map_err(complete)? {
            match (message.part, &header) {
                (Some(Part::Header(first)), None) => header = Some(first),
                (Some(Part::Header(_)), Some(_)) => {
                    return Err(invalid("header", "stands twice"));
                }
                (Some(Part::Chunk(_)), None) => {
                    return Err(invalid("header", "must be the first message"));
                }
                (Some(Part::Chunk(chunk)), Some(_)) => {
                    if bytes.len() + chunk.len() > limit {
                        let text = format!("the document exceeds the limit of {limit} bytes");
                        return Err(invalid("chunk", text));
                    }
                    bytes.extend_from_slice(&chunk);
                }
                (None, _) => return Err(invalid("part", "must be a header or a chunk")),
            }
        }
        match header {
            Some(header) => Ok((header, bytes)),
            None => Err(invalid("header", "is missing")),
        }
    }
}

#[tonic::async_trait]
impl CatalogService for Service {
    async fn get_entry(
        &self,
        request: Request<pb::GetEntryRequest>,
    ) -> Result<Response<pb::GetEntryResponse>, Status> {
        let request = request.into_inner();
        let id = id_from(&request.source, &request.name)?;
        let entry = self.domain.registry.get(&id).map_err(status)?;
        Ok(Response::new(pb::GetEntryResponse {
            entry: Some(entry_to(&entry)),
            catalog_revision: self.revision(),
        }))
    }

    async fn list_entries(
        &self,
        request: Request<pb::ListEntriesRequest>,
    ) -> Result<Response<pb::ListEntriesResponse>, Status> {
        let request = request.into_inner();
        let mut violations = Violations::default();
        let kind = kind_filter_from(request.kind, "kind", &mut violations);
        let size = match usize::try_from(request.page_size) {
            Ok(0) => DEFAULT_PAGE,
            Ok(size) if size <= MAX_PAGE => size,
            _ => {
                let text = format!("{} is not within 0 to {MAX_PAGE}", request.page_size);
                violations.add("page_size", text);
                0
            }
        };
        let after = match request.page_token.as_str() {
            "" => None,
            token => {
                let after = page_from(token);
                if after.is_none() {
                    violations.add("page_token", "is no token of an earlier page");
                }
                after
            }
        };
        violations.into_result().map_err(status)?;

        let snapshot = self.domain.registry.index().snapshot();
        let fits = |entry: &Entry| {
            kind.is_none_or(|kind| entry.kind == kind)
                && (request.source.is_empty() || entry.id.source == request.source)
        };
        let all: Vec<_> = snapshot
            .ordered()
            .iter()
            .filter_map(|slot| snapshot.entry(*slot))
            .filter(|indexed| fits(&indexed.entry))
            .collect();
        let start = after.as_ref().map_or(0, |(kind, name, source)| {
            all.partition_point(|indexed| {
                listing_key(indexed) <= (*kind, name.as_str(), source.as_str())
            })
        });
        // A page also ends before it outgrows what clients take by default (4 MiB).
        let mut bytes = 0;
        let page: Vec<pb::Entry> = all[start..]
            .iter()
            .take(size)
            .map(|indexed| entry_to(&indexed.entry))
            .take_while(|entry| {
                let first = bytes == 0;
                bytes += prost::Message::encoded_len(entry);
                first || bytes <= self.domain.limits.max_message_bytes / 2
            })
            .collect();
        let end = start + page.len();
        let next_page_token = match end.checked_sub(1) {
            Some(last) if end < all.len() => page_to(listing_key(all[last])),
            _ => String::new(),
        };
        Ok(Response::new(pb::ListEntriesResponse {
            entries: page,
            next_page_token,
            catalog_revision: snapshot.revision(),
            total_size: count(all.len()),
        }))
    }

    async fn upsert_entries(
        &self,
        request: Request<pb::UpsertEntriesRequest>,
    ) -> Result<Response<pb::UpsertEntriesResponse>, Status> {
        let messages = request.into_inner().entries;
        let mut violations = Violations::default();
        if messages.is_empty() {
            violations.add("entries", "must not be empty");
        } else if messages.len() > MAX_UPSERT {
            let text = format!("{} exceed the limit of {MAX_UPSERT}", messages.len());
            violations.add("entries", text);
        }
        violations.into_result().map_err(status)?;
        let mut violations = Violations::default();
        let entries = messages
            .into_iter()
            .enumerate()
            .filter_map(|(at, message)| {
                entry_from(message, &format!("entries[{at}]."), &mut violations)
            })
            .collect();
        violations.into_result().map_err(status)?;
        let summary = self
            .domain
            .registry
            .upsert("entries", entries)
            .await
            .map_err(status)?;
        Ok(Response::new(pb::UpsertEntriesResponse {
            summary: Some(summary_to(summary)),
        }))
    }

    async fn delete_entry(
        &self,
        request: Request<pb::DeleteEntryRequest>,
    ) -> Result<Response<pb::DeleteEntryResponse>, Status> {
        let request = request.into_inner();
        let id = id_from(&request.source, &request.name)?;
        let registry = &self.domain.registry;
        let summary = registry
            .delete(id, request.allow_missing)
            .await
            .map_err(status)?;
        Ok(Response::new(pb::DeleteEntryResponse {
            summary: Some(summary_to(summary)),
        }))
    }

    async fn import_entries(
        &self,
        request: Request<Streaming<pb::ImportEntriesRequest>>,
    ) -> Result<Response<pb::ImportEntriesResponse>, Status> {
        let (header, bytes) = self.read_import(request.into_inner()).await?;
        let mut violations = Violations::default();
        let kind = kind_filter_from(header.kind, "header.kind", &mut violations);
        let format = match pb::ImportFormat::try_from(header.format) {
            Ok(pb::ImportFormat::Yaml) => Format::Yaml,
            Ok(pb::ImportFormat::Json) => Format::Json,
            Ok(pb::ImportFormat::Jsonl) => Format::Jsonl,
            Ok(pb::ImportFormat::SkillMd) => Format::SkillMd,
            Ok(pb::ImportFormat::Unspecified) | Err(_) => {
                let text = format!("{} is no format", header.format);
                violations.add("header.format", text);
                Format::Yaml
            }
        };
        violations.into_result().map_err(status)?;

        let source = EntryId::new(&header.source, "").source;
        let defaults = Defaults {
            kind,
            source: source.clone(),
        };
        // Reading megabytes takes longer than a runtime's thread may be held.
        let read = tokio::task::spawn_blocking(move || {
            import::import(&bytes, "document", format, &defaults)
        });
        let imported = match read.await {
            Ok(imported) => imported.map_err(status)?,
            Err(_) => {
                return Err(Fault::new(Reason::Internal, "the document was not read").into());
            }
        };
        if let Some(rejected) = imported
            .diagnostics
            .iter()
            .find(|diagnostic| diagnostic.severity == Severity::Error)
        {
            return Err(status(rejected));
        }
        let registry = &self.domain.registry;
        let summary = if header.replace_source {
            registry
                .replace_source("document", source, imported.entries)
                .await
        } else {
            registry.upsert("document", imported.entries).await
        }
        .map_err(status)?;
        Ok(Response::new(pb::ImportEntriesResponse {
            summary: Some(summary_to(summary)),
            diagnostics: imported
                .diagnostics
                .into_iter()
                .map(diagnostic_to)
                .collect(),
        }))
    }

    async fn set_preferences(
        &self,
        request: Request<pb::SetPreferencesRequest>,
    ) -> Result<Response<pb::SetPreferencesResponse>, Status> {
        let request = request.into_inner();
        let owner = owner_from(request.tenant, request.user);
        let preferences = preferences_from(request.preferences.unwrap_or_default());
        let book = &self.domain.preferences;
        book.set(owner, preferences.clone()).await.map_err(status)?;
        let kind_of = |id: &EntryId| self.kind_of(id);
        let unknown = preferences.entries().filter(|id| kind_of(id).is_none());
        Ok(Response::new(pb::SetPreferencesResponse {
            unknown: unknown.map(|id| named_to(id, &kind_of)).collect(),
            preferences: Some(preferences_to(&preferences, &kind_of)),
        }))
    }

    async fn get_preferences(
        &self,
        request: Request<pb::GetPreferencesRequest>,
    ) -> Result<Response<pb::GetPreferencesResponse>, Status> {
        let request = request.into_inner();
        let owner = owner_from(request.tenant, request.user);
        let mut violations = Violations::default();
        owner.check("", &mut violations);
        violations.into_result().map_err(status)?;
        let book = &self.domain.preferences;
        let kind_of = |id: &EntryId| self.kind_of(id);
        let effective = book.effective(&owner).to_preferences();
        Ok(Response::new(pb::GetPreferencesResponse {
            preferences: Some(preferences_to(&book.get(&owner), &kind_of)),
            effective: Some(preferences_to(&effective, &kind_of)),
        }))
    }

    type WatchCatalogStream =
        Pin<Box<dyn Stream<Item = Result<pb::WatchCatalogResponse, Status>> + Send>>;

    async fn watch_catalog(
        &self,
        request: Request<pb::WatchCatalogRequest>,
    ) -> Result<Response<Self::WatchCatalogStream>, Status> {
        let token = request.into_inner().resume_token;
        let resume = match token.as_str() {
            "" => None,
            token => Some(
                token
                    .parse::<ResumeToken>()
                    .map_err(|text| invalid("resume_token", text))?,
            ),
        };
        let registry = &self.domain.registry;
        let watch = registry.watch(resume).map_err(status)?;
        let snapshot = registry.index().snapshot();
        let (messages, receiver) = mpsc::channel(WATCH_BUFFER);
        let state = pb::CatalogState {
            catalog_revision: snapshot.revision(),
            entry_count: count(snapshot.len()),
        };
        let draining = self.domain.draining.clone();
        tokio::spawn(async move {
            // A watcher that has gone needs no closing words.
            let _ = follow(watch, state, messages, draining).await;
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }
}

type Messages = mpsc::Sender<Result<pb::WatchCatalogResponse, Status>>;

/// Sends the state, then every change until the watcher goes, falls behind, or the server
/// drains.
async fn follow(
    mut watch: Watch,
    state: pb::CatalogState,
    messages: Messages,
    draining: CancellationToken,
) -> Result<(), mpsc::error::SendError<Result<pb::WatchCatalogResponse, Status>>> {
    let message = |token: ResumeToken, event| pb::WatchCatalogResponse {
        resume_token: token.to_string(),
        event: Some(event),
    };
    messages
        .send(Ok(message(watch.token(), Event::State(state))))
        .await?;
    let fault = loop {
        let before = watch.token();
        let event = tokio::select! {
            event = watch.next() => event,
            () = draining.cancelled() => WatchEvent::Closed,
            () = messages.closed() => return Ok(()),
        };
        match event {
            WatchEvent::Change(change) => {
                let parts = changes_to(&change);
                let last = parts.len().saturating_sub(1);
                for (at, part) in parts.into_iter().enumerate() {
                    // Only the last part counts as seen: a watcher that goes in between is
                    // told the whole change again.
                    let token = if at == last { watch.token() } else { before };
                    messages
                        .send(Ok(message(token, Event::Change(part))))
                        .await?;
                }
            }
            WatchEvent::Behind => {
                break Fault::new(Reason::SlowConsumer, "the watcher fell too far behind");
            }
            WatchEvent::Closed => {
                break Fault::new(Reason::Draining, "the server is shutting down");
            }
        }
    };
    let token = watch.token();
    let fault = fault.with("resume_token", token);
    let closing = pb::WatchClosing {
        reason: fault.message().to_owned(),
    };
    messages
        .send(Ok(message(token, Event::Closing(closing))))
        .await?;
    messages.send(Err(fault.into())).await
}

/// A change as messages of bounded size.
fn changes_to(change: &CatalogChange) -> Vec<pb::CatalogChange> {
    let refs = |list: &[(Kind, EntryId)]| -> Vec<pb::EntryRef> {
        list.iter()
            .map(|(kind, id)| reference_to(*kind, id))
            .collect()
    };
    let part = |upserted, deleted| pb::CatalogChange {
        catalog_revision: change.revision.clone(),
        upserted,
        deleted,
    };
    if change.upserted.len() + change.deleted.len() <= REFS_PER_MESSAGE {
        return vec![part(refs(&change.upserted), refs(&change.deleted))];
    }
    let upserted = change
        .upserted
        .chunks(REFS_PER_MESSAGE)
        .map(|list| part(refs(list), Vec::new()));
    let deleted = change
        .deleted
        .chunks(REFS_PER_MESSAGE)
        .map(|list| part(Vec::new(), refs(list)));
    upserted.chain(deleted).collect()
}

fn id_from(source: &str, name: &str) -> Result<EntryId, Status> {
    if name.is_empty() {
        return Err(invalid("name", "must not be empty"));
    }
    Ok(EntryId::new(source, name))
}

/// A page token is the last entry's key as JSON in hex: opaque, and valid whatever changes
/// between the pages.
fn page_to(key: (Kind, &str, &str)) -> String {
    let json = serde_json::to_vec(&key).unwrap_or_default();
    json.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn page_from(token: &str) -> Option<(Kind, String, String)> {
    let bytes: Option<Vec<u8>> = (0..token.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(token.get(at..at + 2)?, 16).ok())
        .collect();
    serde_json::from_slice(&bytes?).ok()
}

fn diagnostic_to(diagnostic: Diagnostic) -> pb::ImportDiagnostic {
    pb::ImportDiagnostic {
        code: diagnostic.code.to_owned(),
        message: diagnostic.message,
        line: diagnostic
            .line
            .map_or(0, |line| i32::try_from(line).unwrap_or(i32::MAX)),
    }
}

fn rejection(message: String, line: Option<u32>, item: Option<&String>) -> Fault {
    let mut fault = Fault::new(Reason::ImportRejected, &message).with("message", message);
    if let Some(line) = line {
        fault = fault.with("line", line);
    }
    if let Some(item) = item {
        fault = fault.with("item", item);
    }
    fault
}

impl From<ImportError> for Fault {
    fn from(error: ImportError) -> Self {
        rejection(error.to_string(), error.line, error.item.as_ref())
    }
}

impl From<&Diagnostic> for Fault {
    fn from(diagnostic: &Diagnostic) -> Self {
        let message = format!("{}: {}", diagnostic.code, diagnostic.message);
        rejection(message, diagnostic.line, diagnostic.item.as_ref()).with("code", diagnostic.code)
    }
}
