//! Counting and checking the whole journal.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde::Serialize;

use super::event::EventType;
use super::reader::{Filter, Start};
use super::record::{State, damaged, unsigned};
use super::time::Timestamp;
use super::{Journal, JournalError};
use crate::store::StoreError;

/// Entries that are checked by one read, so that the log can be reused between them.
const PAGE: usize = 10_000;

/// What is in the journal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    /// Entries that are kept.
    pub events: u64,
    /// Bytes that they take, roughly.
    pub bytes: u64,
    /// Loops that are known.
    pub loops: u64,
    /// Of those, loops without a `Terminated`.
    pub open_loops: u64,
    /// Request ids that are kept.
    pub request_ids: u64,
    /// Position of the first entry that is kept; 0 where there is none.
    pub first_position: u64,
    /// Position of the newest entry; 0 where there never was one.
    pub last_position: u64,
    /// Time of the first entry that is kept.
    pub first_time: Option<Timestamp>,
    /// Time of the newest entry.
    pub last_time: Option<Timestamp>,
    /// Entries of each type.
    pub by_type: BTreeMap<String, u64>,
}

/// A journal that was checked, entry by entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Entries that were read and found whole.
    pub events: u64,
    /// Loops whose sequences have no gap.
    pub loops: u64,
}

impl Journal {
    /// Counts what is in the journal.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub async fn stats(&self) -> Result<Stats, JournalError> {
        Ok(self.shared.store.read(count).await?)
    }

    /// Reads every entry and checks its checksum, that no position and no sequence is missing,
    /// and that the counters are right.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] for the first damage that is found, and other storage errors.
    pub async fn verify(&self) -> Result<Verified, JournalError> {
        let integrity = |conn: &Connection| {
            let found: String =
                conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
            match found.as_str() {
                "ok" => Ok(()),
                _ => Err(StoreError::corrupt(found)),
            }
        };
        self.shared.store.read(integrity).await?;
        let mut last: BTreeMap<String, u64> = BTreeMap::new();
        let (mut start, mut events) = (Start::Earliest, 0);
        loop {
            let page = self.page(&Filter::default(), start, PAGE).await?;
            for entry in &page.entries {
                if let Some(before) = last.get_mut(&entry.loop_id) {
                    if entry.sequence != *before + 1 {
                        let what = format!("it has sequence {} after {before}", entry.sequence);
                        return Err(damaged(entry.position.cast_signed(), &what).into());
                    }
                    *before = entry.sequence;
                } else {
                    last.insert(entry.loop_id.clone(), entry.sequence);
                }
            }
            events += page.entries.len() as u64;
            if page.is_last {
                break;
            }
            start = Start::After {
                position: page.through,
                horizon: page.horizon,
            };
        }
        let loops = last.len() as u64;
        self.shared.store.read(check_counters).await?;
        Ok(Verified { events, loops })
    }
}

fn count(conn: &Connection) -> Result<Stats, StoreError> {
    let state = State::require(conn)?;
    let number = |sql: &str| conn.query_row(sql, [], |row| unsigned(row, 0));
    let first: Option<(i64, i64)> = conn.query_row(
        "SELECT position, time FROM (SELECT 1) LEFT JOIN
             (SELECT position, time FROM journal_events ORDER BY position LIMIT 1)",
        [],
        |row| Ok(row.get::<_, Option<i64>>(0)?.zip(row.get(1)?)),
    )?;
    let mut by_type = BTreeMap::new();
    let mut query =
        conn.prepare_cached("SELECT type, count(*) FROM journal_events GROUP BY type")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let number: u8 = row.get(0)?;
        let known = EventType::ALL
            .into_iter()
            .find(|kind| kind.number() == number);
        let name = known.map_or_else(|| format!("unknown {number}"), |kind| kind.to_string());
        by_type.insert(name, unsigned(row, 1)?);
    }
    Ok(Stats {
        events: state.events,
        bytes: state.bytes,
        loops: number("SELECT count(*) FROM journal_loops")?,
        open_loops: number("SELECT count(*) FROM journal_loops WHERE ended = 0")?,
        request_ids: number("SELECT count(*) FROM journal_requests")?,
        first_position: first.map_or(0, |(position, _)| position.cast_unsigned()),
        last_position: state.last_position,
        first_time: first.and_then(|(_, time)| Timestamp::from_micros(time)),
        last_time: (state.last_position > 0).then_some(state.last_time),
        by_type,
    })
}

/// What the writer counts along has to be what is there.
fn check_counters(conn: &Connection) -> Result<(), StoreError> {
    let state = State::require(conn)?;
    let stored = conn.query_row("SELECT count(*) FROM journal_events", [], |row| {
        unsigned(row, 0)
    })?;
    if stored != state.events {
        let what = format!(
            "the journal has {stored} entries and counts {}",
            state.events
        );
        return Err(StoreError::corrupt(what));
    }
    let wrong: Option<String> = conn.query_row(
        "SELECT max(l.loop_id) FROM journal_loops l WHERE l.last_sequence - l.purged_sequence !=
             (SELECT count(*) FROM journal_events e WHERE e.loop = l.id)",
        [],
        |row| row.get(0),
    )?;
    match wrong {
        Some(loop_id) => {
            let what = format!("entries of loop {loop_id:?} are missing from the journal");
            Err(StoreError::corrupt(what))
        }
        None => Ok(()),
    }
}
