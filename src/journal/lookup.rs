//! Looking for single things: the newest entries, open loops, a route.

use std::sync::Arc;

use rusqlite::Connection;

use super::event::{Entry, EventType, LoopEvent};
use super::reader::{Filter, SCANNED, Source};
use super::record::{COLUMNS, Names, State, Stored, unsigned};
use super::{Journal, JournalError};
use crate::store::StoreError;

/// A loop that has no `Terminated` yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenLoop {
    /// The loop.
    pub loop_id: String,
    /// Sequence of its newest event.
    pub last_sequence: u64,
    /// Sequence of the newest event that is not kept any more; 0 where all are.
    pub purged_sequence: u64,
}

impl Journal {
    /// The newest entries that a filter lets through, oldest first; looks at a bounded number
    /// of entries, so it may find fewer than there are.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub async fn newest(
        &self,
        filter: &Filter,
        count: usize,
    ) -> Result<Vec<Arc<Entry>>, JournalError> {
        let filter = filter.clone();
        let found = self
            .shared
            .store
            .read(move |conn| newest(conn, &filter, count));
        Ok(found.await?)
    }

    /// Loops that have no `Terminated` yet, oldest first.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub async fn open_loops(&self) -> Result<Vec<OpenLoop>, JournalError> {
        let found = self.shared.store.read(|conn| {
            let mut query = conn.prepare_cached(
                "SELECT loop_id, last_sequence, purged_sequence FROM journal_loops
                 WHERE ended = 0 ORDER BY id",
            )?;
            let rows = query.query_map([], |row| {
                Ok(OpenLoop {
                    loop_id: row.get(0)?,
                    last_sequence: unsigned(row, 1)?,
                    purged_sequence: unsigned(row, 2)?,
                })
            })?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        });
        Ok(found.await?)
    }
}

fn newest(conn: &Connection, filter: &Filter, count: usize) -> Result<Vec<Arc<Entry>>, StoreError> {
    let state = State::require(conn)?;
    let Some(source) = Source::find(conn, &state, filter)? else {
        return Ok(Vec::new());
    };
    let condition = if source.id.is_some() {
        "loop = ?1"
    } else {
        "?1 IS NULL"
    };
    let mut query = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM journal_events
         WHERE {condition} ORDER BY position DESC LIMIT ?2"
    ))?;
    let mut names = Names::default();
    let mut rows = query.query((source.id, i64::try_from(SCANNED).unwrap_or(i64::MAX)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if found.len() >= count {
            break;
        }
        let stored = Stored::read(conn, row, &mut names)?;
        if filter.allows_stored(&stored) {
            let entry = stored.entry()?;
            if filter.allows(&entry) {
                found.push(Arc::new(entry));
            }
        }
    }
    found.reverse();
    Ok(found)
}

/// Looks for the newest decision with a route id.
pub(super) fn find_route(
    conn: &Connection,
    route_id: &str,
    before: u64,
) -> Result<Result<Option<Arc<Entry>>, u64>, StoreError> {
    let mut query = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM journal_events
         WHERE position < ?1 ORDER BY position DESC LIMIT ?2"
    ))?;
    let limit = i64::try_from(SCANNED).unwrap_or(i64::MAX);
    let mut names = Names::default();
    let mut rows = query.query((before.cast_signed(), limit))?;
    let (mut scanned, mut oldest) = (0, before);
    while let Some(row) = rows.next()? {
        let stored = Stored::read(conn, row, &mut names)?;
        (scanned, oldest) = (scanned + 1, stored.position);
        if stored.event_type != EventType::RouteDecided.number() {
            continue;
        }
        let entry = stored.entry()?;
        if matches!(&entry.event, LoopEvent::RouteDecided(decided) if decided.route_id == route_id)
        {
            return Ok(Ok(Some(Arc::new(entry))));
        }
    }
    Ok(if scanned < SCANNED {
        Ok(None)
    } else {
        Err(oldest)
    })
}
