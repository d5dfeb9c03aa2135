//! One append: prepared outside of the writing thread, then stored by it.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};

use super::JournalError;
use super::check::{self, MAX_BATCH, MAX_EVENT_BYTES};
use super::event::{Entry, EventType, NewEvent};
use super::record::{LoopState, ROW_BYTES, State, Stored, unsigned};
use super::time::Timestamp;
use crate::error::Violations;
use crate::store::StoreError;

/// Events to append to one loop, all or none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Append {
    /// The loop; it begins with its first event.
    pub loop_id: String,
    /// Who reports; may be empty.
    pub agent_id: String,
    /// Makes the append idempotent: the same id with the same events answers what it answered
    /// before. Empty for none.
    pub request_id: String,
    /// Sequence that the first event has to get.
    pub expected_sequence: Option<u64>,
    /// 1 to 1,000 events.
    pub events: Vec<NewEvent>,
}

/// Where the events of an append stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Sequence of the first event.
    pub first_sequence: u64,
    /// Sequence of the last event.
    pub last_sequence: u64,
    /// Position of the last event.
    pub last_position: u64,
    /// Time that all of them got.
    pub timestamp: Timestamp,
    /// Whether an earlier call with the same request id had appended them.
    pub repeated: bool,
}

/// An append that is within its limits and encoded.
pub(super) struct Prepared {
    loop_id: String,
    agent_id: String,
    request_id: String,
    expected_sequence: Option<u64>,
    /// Of the request id's events; empty without a request id.
    digest: Vec<u8>,
    events: Vec<(NewEvent, String)>,
}

impl Prepared {
    /// Checks and encodes an append. `path` is prefixed to the fields of its events.
    pub fn new(append: Append) -> Result<Self, JournalError> {
        let mut violations = Violations::default();
        check::check_loop_id("loop_id", &append.loop_id, &mut violations);
        check::check_optional_id("agent_id", &append.agent_id, &mut violations);
        check::check_optional_id("request_id", &append.request_id, &mut violations);
        if append.expected_sequence == Some(0) {
            violations.add("expected_sequence", "must be at least 1");
        }
        let count = append.events.len();
        if count == 0 {
            violations.add("events", "must not be empty");
        } else if count > MAX_BATCH {
            violations.add("events", format!("{count} exceed the limit of {MAX_BATCH}"));
        } else {
            for (at, event) in append.events.iter().enumerate() {
                event.check(&format!("events[{at}]."), &mut violations);
            }
        }
        violations.into_result()?;

        let mut violations = Violations::default();
        let mut events = Vec::with_capacity(count);
        for (at, event) in append.events.into_iter().enumerate() {
            // A checked event holds nothing that JSON has no form for.
            let json = serde_json::to_string(&event.event).map_err(|error| {
                JournalError::from(StoreError::corrupt(format!("no JSON: {error}")))
            })?;
            if json.len() > MAX_EVENT_BYTES {
                let text = format!(
                    "{} bytes of JSON exceed the limit of {MAX_EVENT_BYTES}",
                    json.len()
                );
                violations.add(format!("events[{at}]"), text);
            }
            events.push((event, json));
        }
        violations.into_result()?;
        let mut prepared = Self {
            loop_id: append.loop_id,
            agent_id: append.agent_id,
            request_id: append.request_id,
            expected_sequence: append.expected_sequence,
            digest: Vec::new(),
            events,
        };
        if !prepared.request_id.is_empty() {
            prepared.digest = prepared.digest();
        }
        Ok(prepared)
    }

    fn digest(&self) -> Vec<u8> {
        let mut hasher = Sha256::new();
        hasher.update(self.agent_id.as_bytes());
        for (event, json) in &self.events {
            hasher.update(event.entry_iteration().to_le_bytes());
            hasher.update((json.len() as u64).to_le_bytes());
            hasher.update(json.as_bytes());
        }
        hasher.finalize()[..16].to_vec()
    }

    /// Stores the events in the transaction that `conn` is in. A refusal writes nothing.
    ///
    /// Returns the entries too, for those who follow; none where the append was a repetition.
    pub fn store(&self, conn: &Connection, state: &mut State) -> Result<Outcome, StoreError> {
        if let Some(earlier) = self.earlier(conn)? {
            return Ok(earlier.map(|appended| (appended, Vec::new())));
        }
        let found = LoopState::load(conn, &self.loop_id)?;
        let next = found.map_or(1, |found| found.last_sequence + 1);
        if let Some(expected) = self.expected_sequence
            && expected != next
        {
            let loop_id = self.loop_id.clone();
            return Ok(Err(JournalError::SequenceMismatch {
                loop_id,
                expected,
                actual: next,
            }));
        }
        let Some(ended) = self.end_after(found.is_some_and(|found| found.ended)) else {
            return Ok(Err(JournalError::LoopEnded {
                loop_id: self.loop_id.clone(),
            }));
        };

        let count = self.events.len() as u64;
        let appended = Appended {
            first_sequence: next,
            last_sequence: next + count - 1,
            last_position: state.last_position + count,
            timestamp: state.last_time,
            repeated: false,
        };
        let id = self.save_loop(conn, &appended, ended)?;
        let entries = self.insert(conn, id, state, &appended)?;
        if !self.request_id.is_empty() {
            self.save_request(conn, &appended)?;
        }
        Ok(Ok((appended, entries)))
    }

    /// What the same request id was answered before.
    fn earlier(&self, conn: &Connection) -> Result<Option<Earlier>, StoreError> {
        if self.request_id.is_empty() {
            return Ok(None);
        }
        let mut query = conn.prepare_cached(
            "SELECT digest, first_sequence, last_sequence, last_position, time
             FROM journal_requests WHERE loop_id = ?1 AND request_id = ?2",
        )?;
        let earlier = query.query_row((&self.loop_id, &self.request_id), |row| {
            let digest: Vec<u8> = row.get(0)?;
            let appended = Appended {
                first_sequence: unsigned(row, 1)?,
                last_sequence: unsigned(row, 2)?,
                last_position: unsigned(row, 3)?,
                timestamp: Timestamp::from_micros(row.get(4)?).unwrap_or_default(),
                repeated: true,
            };
            Ok((digest, appended))
        });
        Ok(earlier.optional()?.map(|(digest, appended)| {
            if digest == self.digest {
                Ok(appended)
            } else {
                Err(JournalError::RequestReused {
                    request_id: self.request_id.clone(),
                })
            }
        }))
    }

    /// Whether the loop has ended after these events; none where they may not be added.
    fn end_after(&self, mut ended: bool) -> Option<bool> {
        for (event, _) in &self.events {
            let event_type = event.event.event_type();
            if ended && !check::may_follow_the_end(event_type) {
                return None;
            }
            ended |= event_type == EventType::Terminated;
        }
        Some(ended)
    }

    fn save_loop(
        &self,
        conn: &Connection,
        appended: &Appended,
        ended: bool,
    ) -> Result<i64, StoreError> {
        let id = conn
            .prepare_cached(
                "INSERT INTO journal_loops (loop_id, last_sequence, last_position, last_time,
                     purged_sequence, purged_position, ended)
                 VALUES (?1, ?2, ?3, ?4, 0, 0, ?5)
                 ON CONFLICT (loop_id) DO UPDATE SET last_sequence = ?2, last_position = ?3,
                     last_time = ?4, ended = ?5
                 RETURNING id",
            )?
            .query_row(
                (
                    &self.loop_id,
                    appended.last_sequence.cast_signed(),
                    appended.last_position.cast_signed(),
                    appended.timestamp.as_micros(),
                    ended,
                ),
                |row| row.get(0),
            )?;
        Ok(id)
    }

    fn insert(
        &self,
        conn: &Connection,
        id: i64,
        state: &mut State,
        appended: &Appended,
    ) -> Result<Vec<Arc<Entry>>, StoreError> {
        let mut insert = conn.prepare_cached(
            "INSERT INTO journal_events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
        let mut entries = Vec::with_capacity(self.events.len());
        for ((event, json), sequence) in self.events.iter().zip(appended.first_sequence..) {
            state.last_position += 1;
            state.events += 1;
            state.bytes += json.len() as u64 + ROW_BYTES;
            let stored = Stored {
                position: state.last_position,
                sequence,
                time: appended.timestamp.as_micros(),
                loop_id: &self.loop_id,
                agent_id: &self.agent_id,
                iteration: event.entry_iteration(),
                event_type: event.event.event_type().number(),
                event: json.as_bytes(),
            };
            insert.execute((
                stored.position.cast_signed(),
                id,
                sequence.cast_signed(),
                stored.time,
                stored.agent_id,
                stored.iteration,
                stored.event_type,
                stored.checksum(),
                json,
            ))?;
            entries.push(Arc::new(Entry {
                sequence,
                position: stored.position,
                timestamp: appended.timestamp,
                loop_id: self.loop_id.clone(),
                agent_id: self.agent_id.clone(),
                iteration: stored.iteration,
                event: event.event.clone(),
            }));
        }
        Ok(entries)
    }

    fn save_request(&self, conn: &Connection, appended: &Appended) -> Result<(), StoreError> {
        conn.prepare_cached(
            "INSERT INTO journal_requests (loop_id, request_id, digest, first_sequence,
                 last_sequence, last_position, time)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute((
            &self.loop_id,
            &self.request_id,
            &self.digest,
            appended.first_sequence.cast_signed(),
            appended.last_sequence.cast_signed(),
            appended.last_position.cast_signed(),
            appended.timestamp.as_micros(),
        ))?;
        Ok(())
    }

    /// Bytes of its events.
    pub fn bytes(&self) -> usize {
        self.events.iter().map(|(_, json)| json.len()).sum()
    }
}

type Earlier = Result<Appended, JournalError>;

/// What became of an append that the store itself had no trouble with.
pub(super) type Outcome = Result<(Appended, Vec<Arc<Entry>>), JournalError>;
