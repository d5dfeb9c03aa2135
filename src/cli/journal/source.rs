//! Where entries come from: the data directory, or a running server.

use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use serde::Serialize;
use tonic::Streaming;
use tonic::transport::Channel;

use super::super::client;
use crate::config::Config;
use crate::grpc::pb::journal_service_client::JournalServiceClient;
use crate::grpc::pb::stream_events_response::Event;
use crate::grpc::{event_of, pb};
use crate::journal::{Filter, Journal, Listing, LoopEvent, Timestamp, Token};
use crate::store::Store;

/// Entries of one page of the data directory.
const PAGE: usize = 1_000;

/// How often the data directory is looked at for what is new.
const POLL: Duration = Duration::from_millis(500);

/// One entry as it is printed.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub sequence: u64,
    /// Token of its place.
    pub position: String,
    pub timestamp: Timestamp,
    pub loop_id: String,
    pub agent_id: String,
    pub iteration: u32,
    pub event: LoopEvent,
}

/// Where entries come from.
pub(super) enum Source {
    Folder(Journal),
    Server(JournalServiceClient<Channel>),
}

/// Entries as they come, oldest first.
pub(super) enum Lines {
    Folder {
        journal: Journal,
        filter: Filter,
        after: Option<Token>,
        follow: bool,
    },
    Server(Box<Streaming<pb::StreamEventsResponse>>),
}

impl Source {
    pub async fn open(server: Option<&str>, config: &Config) -> anyhow::Result<Self> {
        if let Some(server) = server {
            let client = JournalServiceClient::new(client::connect(server).await?);
            return Ok(Self::Server(client.max_decoding_message_size(64 << 20)));
        }
        let dir = config
            .store
            .data_dir
            .as_ref()
            .context("nothing to read: give --data-dir or --server, or set store.data_dir")?;
        Ok(Self::Folder(
            Journal::open_read_only(Store::open_read_only(dir)?).await?,
        ))
    }

    /// All entries from the first that is kept; with `follow` also what comes.
    pub async fn lines(&mut self, filter: Filter, follow: bool) -> anyhow::Result<Lines> {
        Ok(match self {
            Self::Folder(journal) => Lines::Folder {
                journal: journal.clone(),
                filter,
                after: None,
                follow,
            },
            Self::Server(client) => {
                let request = pb::StreamEventsRequest {
                    loop_id: filter.loop_id.unwrap_or_default(),
                    replay_only: !follow,
                    ..pb::StreamEventsRequest::default()
                };
                let stream = client.stream_events(request).await.map_err(told)?;
                Lines::Server(Box::new(stream.into_inner()))
            }
        })
    }
}

/// What comes next.
pub(super) enum Step {
    Lines(Vec<Line>),
    /// All that was stored has been told; with `follow`, more may come.
    CaughtUp,
    End,
}

impl Lines {
    pub async fn next(&mut self) -> anyhow::Result<Step> {
        match self {
            Self::Folder {
                journal,
                filter,
                after,
                follow,
            } => {
                let listing = journal.list(filter, after.as_ref(), PAGE).await?;
                *after = Some(listing.place());
                if !listing.entries.is_empty() {
                    return Ok(Step::Lines(lines_of(&listing)));
                }
                if listing.next.is_some() {
                    return Ok(Step::Lines(Vec::new()));
                }
                if !*follow {
                    return Ok(Step::End);
                }
                tokio::time::sleep(POLL).await;
                Ok(Step::CaughtUp)
            }
            Self::Server(stream) => match stream.message().await.map_err(told)? {
                None => Ok(Step::End),
                Some(message) => match message.event {
                    Some(Event::Events(batch)) => Ok(Step::Lines(
                        batch
                            .entries
                            .into_iter()
                            .map(line_from)
                            .collect::<Result<_, _>>()?,
                    )),
                    Some(Event::Heartbeat(_)) => Ok(Step::CaughtUp),
                    // The status that follows says why.
                    Some(Event::Closing(_)) | None => Ok(Step::Lines(Vec::new())),
                },
            },
        }
    }
}

fn lines_of(listing: &Listing) -> Vec<Line> {
    let line = |entry: &std::sync::Arc<crate::journal::Entry>| {
        let position = listing.token_after(entry).to_string();
        let crate::journal::Entry {
            sequence,
            timestamp,
            loop_id,
            agent_id,
            iteration,
            event,
            ..
        } = (**entry).clone();
        Line {
            sequence,
            position,
            timestamp,
            loop_id,
            agent_id,
            iteration,
            event,
        }
    };
    listing.entries.iter().map(line).collect()
}

fn line_from(entry: pb::JournalEntry) -> anyhow::Result<Line> {
    let time = entry.timestamp.unwrap_or_default();
    let Some(timestamp) = Timestamp::from_parts(time.seconds, time.nanos) else {
        bail!("an entry without a time came from the server");
    };
    Ok(Line {
        sequence: u64::try_from(entry.sequence)?,
        position: entry.position,
        timestamp,
        loop_id: entry.loop_id,
        agent_id: entry.agent_id,
        iteration: u32::try_from(entry.iteration)?,
        event: event_of(entry.event.unwrap_or_default())
            .map_err(|error| anyhow!("an event that this version does not know came: {error}"))?,
    })
}

pub(super) fn told(status: tonic::Status) -> anyhow::Error {
    anyhow!("{}: {}", status.code(), status.message())
}
