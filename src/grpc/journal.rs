//! `JournalService`.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

use super::Domain;
use super::convert::{journal_entry_to, large, new_event_from, time_from, time_to, types_from};
use super::error::{Fault, Reason, status};
use super::pb;
use super::pb::journal_service_server::JournalService;
use super::pb::stream_events_response::Event;
use crate::error::Violations;
use crate::journal::{
    Append, Entry, Filter, Follow, Followed, From, Journal, JournalError, Purge, RESERVED_PREFIX,
    Timestamp, Token, check_optional_id,
};

const DEFAULT_PAGE: usize = 100;
const MAX_PAGE: usize = 1_000;

/// Entries and bytes of one message of a stream.
const BATCH: usize = 512;
const BATCH_BYTES: usize = 512 << 10;

/// Messages that wait for a follower. What comes then is kept by the journal's tail, up to its
/// own limit.
const STREAM_BUFFER: usize = 4;

/// Implements the service.
pub(super) struct Service {
    domain: Domain,
}

impl Service {
    pub(super) fn new(domain: Domain) -> Self {
        Self { domain }
    }

    fn journal(&self) -> &Journal {
        &self.domain.journal
    }
}

#[tonic::async_trait]
impl JournalService for Service {
    async fn append_events(
        &self,
        request: Request<pb::AppendEventsRequest>,
    ) -> Result<Response<pb::AppendEventsResponse>, Status> {
        let request = request.into_inner();
        let mut violations = Violations::default();
        if request.loop_id.starts_with(RESERVED_PREFIX) {
            let text = format!("must not begin with {RESERVED_PREFIX:?}, which is the server's");
            violations.add("loop_id", text);
        }
        let expected_sequence = request.expected_sequence.and_then(|expected| {
            let read = u64::try_from(expected).ok();
            if read.is_none() {
                violations.add("expected_sequence", "must be at least 1");
            }
            read
        });
        // More are refused by the journal; reading them all would only cost time.
        let events = request
            .events
            .into_iter()
            .take(crate::journal::MAX_BATCH + 1)
            .enumerate();
        let events = events
            .filter_map(|(at, event)| {
                new_event_from(event, &format!("events[{at}]."), &mut violations)
            })
            .collect();
        violations.into_result().map_err(status)?;
        let append = Append {
            loop_id: request.loop_id,
            agent_id: request.agent_id,
            request_id: request.request_id,
            expected_sequence,
            events,
        };
        let loop_id = append.loop_id.clone();
        let appended = self.journal().append(append).await.map_err(status)?;
        Ok(Response::new(pb::AppendEventsResponse {
            first_sequence: large(appended.first_sequence),
            last_sequence: large(appended.last_sequence),
            position: self.journal().token_after(&loop_id, &appended).to_string(),
            timestamp: Some(time_to(appended.timestamp)),
            repeated_request: appended.repeated,
        }))
    }

    async fn list_events(
        &self,
        request: Request<pb::ListEventsRequest>,
    ) -> Result<Response<pb::ListEventsResponse>, Status> {
        let request = request.into_inner();
        let mut violations = Violations::default();
        let size = match usize::try_from(request.page_size) {
            Ok(0) => DEFAULT_PAGE,
            Ok(size) if size <= MAX_PAGE => size,
            _ => {
                let text = format!("{} is not within 0 to {MAX_PAGE}", request.page_size);
                violations.add("page_size", text);
                0
            }
        };
        let after = token_from("page_token", &request.page_token, &mut violations);
        let mut filter = filter_from(
            request.loop_id,
            request.agent_id,
            &request.types,
            &mut violations,
        );
        filter.from = time_from("start_time", request.start_time, &mut violations);
        filter.until = time_from("end_time", request.end_time, &mut violations);
        violations.into_result().map_err(status)?;

        let mut listing = self
            .journal()
            .list(&filter, after.as_ref(), size)
            .await
            .map_err(status)?;
        let mut next = listing.next;
        let mut bytes = 0;
        let mut entries = Vec::with_capacity(listing.entries.len());
        for entry in std::mem::take(&mut listing.entries) {
            let token = listing.token_after(&entry);
            let message = journal_entry_to(entry, token);
            bytes += prost::Message::encoded_len(&message);
            if !entries.is_empty() && bytes > self.domain.limits.max_message_bytes / 2 {
                next = entries.last().map(|(token, _)| *token);
                break;
            }
            entries.push((token, message));
        }
        Ok(Response::new(pb::ListEventsResponse {
            entries: entries.into_iter().map(|(_, message)| message).collect(),
            next_page_token: next.map(|token| token.to_string()).unwrap_or_default(),
        }))
    }

    async fn purge_events(
        &self,
        request: Request<pb::PurgeEventsRequest>,
    ) -> Result<Response<pb::PurgeEventsResponse>, Status> {
        let request = request.into_inner();
        let mut violations = Violations::default();
        check_optional_id("loop_id", &request.loop_id, &mut violations);
        let purge = Purge {
            loop_id: Some(request.loop_id).filter(|loop_id| !loop_id.is_empty()),
            before: time_from("before_time", request.before_time, &mut violations),
            through: token_from(
                "through_position",
                &request.through_position,
                &mut violations,
            ),
        };
        if purge == Purge::default() && violations.as_slice().is_empty() {
            let text = "one of loop_id, before_time and through_position has to be set";
            violations.add("loop_id", text);
        }
        violations.into_result().map_err(status)?;
        let journal = self.journal();
        let purged = match request.force {
            true => journal.purge(&purge).await,
            false => journal.plan_purge(&purge).await,
        }
        .map_err(status)?;
        if request.force {
            tracing::info!(
                events = purged.events,
                ?purge,
                "journal entries were purged"
            );
        }
        Ok(Response::new(pb::PurgeEventsResponse {
            purge_count: large(purged.events),
            purge_bytes: large(purged.bytes),
            purged: request.force,
        }))
    }

    type StreamEventsStream =
        Pin<Box<dyn Stream<Item = Result<pb::StreamEventsResponse, Status>> + Send>>;

    async fn stream_events(
        &self,
        request: Request<pb::StreamEventsRequest>,
    ) -> Result<Response<Self::StreamEventsStream>, Status> {
        let request = request.into_inner();
        let mut violations = Violations::default();
        let after = token_from("position", &request.position, &mut violations);
        let from = match (after, pb::StreamOrigin::try_from(request.origin)) {
            (_, Err(_)) => {
                let text = format!("{} is no origin: one of EARLIEST, NOW", request.origin);
                violations.add("origin", text);
                From::Earliest
            }
            (Some(token), _) => From::After(token),
            (None, Ok(pb::StreamOrigin::Now)) => From::Now,
            (None, Ok(_)) => From::Earliest,
        };
        let heartbeat = match request.heartbeat_interval.map(Duration::try_from) {
            None => self.domain.heartbeat,
            Some(Ok(every)) if (1..=3_600).contains(&every.as_secs()) => every,
            Some(_) => {
                violations.add("heartbeat_interval", "is not within 1 s to 1 h");
                self.domain.heartbeat
            }
        };
        let filter = filter_from(
            request.loop_id,
            request.agent_id,
            &request.types,
            &mut violations,
        );
        violations.into_result().map_err(status)?;

        let follow = self.journal().follow(filter, from).await.map_err(status)?;
        let (messages, receiver) = mpsc::channel(STREAM_BUFFER);
        let stream = Outgoing {
            follow,
            messages,
            heartbeat,
            replay_only: request.replay_only,
            draining: self.domain.draining.clone(),
        };
        tokio::spawn(async move {
            // A follower that has gone needs no closing words.
            let _ = stream.run().await;
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }
}

/// A stream on its way to one follower.
struct Outgoing {
    follow: Follow,
    messages: mpsc::Sender<Result<pb::StreamEventsResponse, Status>>,
    heartbeat: Duration,
    replay_only: bool,
    draining: CancellationToken,
}

/// The follower has gone.
struct Gone;

impl Outgoing {
    /// Sends until the follower goes, falls behind, or the server drains.
    async fn run(mut self) -> Result<(), Gone> {
        let mut quiet_until = Instant::now() + self.heartbeat;
        let fault = loop {
            let followed = tokio::select! {
                biased;
                () = self.draining.cancelled() => {
                    break Fault::new(Reason::Draining, "the server is shutting down");
                }
                () = self.messages.closed() => return Err(Gone),
                followed = self.follow.next() => followed,
                () = sleep_until(quiet_until) => Ok(Followed::CaughtUp),
            };
            match followed {
                Ok(Followed::Entries(entries)) => self.tell(entries).await?,
                Ok(Followed::CaughtUp) if self.replay_only => return Ok(()),
                Ok(Followed::CaughtUp) => {
                    let heartbeat = pb::Heartbeat {
                        timestamp: Some(time_to(Timestamp::now())),
                    };
                    self.send(self.follow.token(), Event::Heartbeat(heartbeat))
                        .await?;
                }
                Ok(Followed::Behind) => {
                    break Fault::new(Reason::SlowConsumer, "the reader fell too far behind");
                }
                Err(JournalError::Closed) => {
                    break Fault::new(Reason::Draining, "the server is shutting down");
                }
                Err(error) => break error.into(),
            }
            quiet_until = Instant::now() + self.heartbeat;
        };
        let Self {
            follow, messages, ..
        } = self;
        let token = follow.token();
        // Nothing is kept for a follower that is told to go.
        drop(follow);
        let fault = fault.with("resume_token", token);
        let closing = pb::StreamClosing {
            reason: fault.message().to_owned(),
        };
        let message = message(token, Event::Closing(closing));
        messages.send(Ok(message)).await.map_err(|_| Gone)?;
        messages.send(Err(fault.into())).await.map_err(|_| Gone)
    }

    /// Sends entries in messages of bounded size.
    async fn tell(&self, entries: Vec<Arc<Entry>>) -> Result<(), Gone> {
        let mut batch = Vec::with_capacity(entries.len().min(BATCH));
        let (mut bytes, mut last) = (0, self.follow.token());
        for entry in entries {
            let token = self.follow.token_after(&entry);
            let entry = journal_entry_to(entry, token);
            let size = prost::Message::encoded_len(&entry);
            if !batch.is_empty() && (batch.len() >= BATCH || bytes + size > BATCH_BYTES) {
                let entries = std::mem::take(&mut batch);
                self.send(last, Event::Events(pb::EventBatch { entries }))
                    .await?;
                bytes = 0;
            }
            bytes += size;
            last = token;
            batch.push(entry);
        }
        if batch.is_empty() {
            return Ok(());
        }
        // Behind the last one, the journal may have passed over others that do not fit.
        let token = self.follow.token();
        self.send(token, Event::Events(pb::EventBatch { entries: batch }))
            .await
    }

    async fn send(&self, token: Token, event: Event) -> Result<(), Gone> {
        self.messages
            .send(Ok(message(token, event)))
            .await
            .map_err(|_| Gone)
    }
}

fn message(token: Token, event: Event) -> pb::StreamEventsResponse {
    pb::StreamEventsResponse {
        resume_token: token.to_string(),
        event: Some(event),
    }
}

fn filter_from(
    loop_id: String,
    agent_id: String,
    types: &[i32],
    violations: &mut Violations,
) -> Filter {
    check_optional_id("loop_id", &loop_id, violations);
    check_optional_id("agent_id", &agent_id, violations);
    Filter {
        loop_id: Some(loop_id).filter(|loop_id| !loop_id.is_empty()),
        agent_id: Some(agent_id).filter(|agent_id| !agent_id.is_empty()),
        types: types_from(types, violations),
        ..Filter::default()
    }
}

fn token_from(field: &str, text: &str, violations: &mut Violations) -> Option<Token> {
    if text.is_empty() {
        return None;
    }
    text.parse()
        .map_err(|message: String| violations.add(field, message))
        .ok()
}
