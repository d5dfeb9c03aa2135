//! What is removed, and when.
//!
//! What is kept of a loop is always its end, so its sequences stay without gaps. Everything is
//! removed in small commits, so that appends get their turn, and each commit notes how far it
//! removed, so that a reader in the middle notices.

use std::sync::Weak;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension};
use tokio::time::{Instant, MissedTickBehavior};

use super::record::{LoopState, ROW_BYTES, State, unsigned};
use super::time::Timestamp;
use super::{Journal, JournalError, Shared};
use crate::store::StoreError;

/// Events removed by one commit.
const CHUNK: u64 = 2_000;
/// Pages given back to the disk by one commit (8 MiB).
const PAGES: i64 = 2_000;
/// An open loop of which nothing is kept and that is silent for so long is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(30 * 86_400);

/// What to remove. At least one of the fields has to be set; an event is removed where all
/// that are set fit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Purge {
    /// Events of this loop.
    pub loop_id: Option<String>,
    /// Events older than this.
    pub before: Option<Timestamp>,
    /// Events up to this place.
    pub through: Option<super::Token>,
}

/// What was removed, or would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Purged {
    /// Events.
    pub events: u64,
    /// Bytes of them as JSON.
    pub bytes: u64,
}

impl Journal {
    /// What a purge would remove.
    ///
    /// # Errors
    ///
    /// [`JournalError::OutOfRange`] where `through` belongs to another journal,
    /// [`JournalError::ForeignToken`] where it belongs to another loop, and storage errors.
    pub async fn plan_purge(&self, purge: &Purge) -> Result<Purged, JournalError> {
        let cut = self.cut_of(purge).await?;
        let loop_id = purge.loop_id.clone();
        let planned = self.shared.store.read(move |conn| {
            let Some(target) = Target::find(conn, loop_id.as_deref())? else {
                return Ok(Purged::default());
            };
            let (events, bytes) = conn
                .prepare_cached(&format!(
                    "SELECT count(*), coalesce(sum(octet_length(event)), 0)
                     FROM journal_events WHERE {}",
                    target.condition()
                ))?
                .query_row((cut.cast_signed(), target.id()), |row| {
                    Ok((unsigned(row, 0)?, unsigned(row, 1)?))
                })?;
            Ok(Purged { events, bytes })
        });
        Ok(planned.await?)
    }

    /// Removes it. If the call is dropped or fails, some may be removed.
    ///
    /// # Errors
    ///
    /// Those of [`Journal::plan_purge`].
    pub async fn purge(&self, purge: &Purge) -> Result<Purged, JournalError> {
        let cut = self.cut_of(purge).await?;
        self.remove(purge.loop_id.clone(), cut).await
    }

    async fn remove(&self, loop_id: Option<String>, cut: u64) -> Result<Purged, JournalError> {
        let mut all = Purged::default();
        loop {
            let loop_id = loop_id.clone();
            let part = self.shared.store.write(move |tx| {
                let mut state = State::require(tx)?;
                let Some(target) = Target::find(tx, loop_id.as_deref())? else {
                    return Ok(Purged::default());
                };
                let part = remove_chunk(tx, &mut state, target, cut, CHUNK)?;
                forget_loops(tx, state.last_time)?;
                state.save(tx)?;
                Ok(part)
            });
            let part = part.await?;
            all.events += part.events;
            all.bytes += part.bytes;
            if part.events < CHUNK {
                return Ok(all);
            }
        }
    }

    /// Largest position that a purge removes.
    async fn cut_of(&self, purge: &Purge) -> Result<u64, JournalError> {
        let mut cut = u64::MAX >> 1;
        if let Some(token) = purge.through {
            cut = self.admit(&token, purge.loop_id.as_deref()).await?;
        }
        if let Some(before) = purge.before {
            let until = move |conn: &Connection| last_before(conn, before);
            cut = cut.min(self.shared.store.read(until).await?);
        }
        Ok(cut)
    }

    /// Applies the limits once.
    pub(super) async fn retain(&self) -> Result<Purged, JournalError> {
        let options = &self.shared.options;
        let mut all = Purged::default();
        if let Some(age) = options.max_age {
            let before = options.clock.now().saturating_sub(age);
            let cut = self
                .cut_of(&Purge {
                    before: Some(before),
                    ..Purge::default()
                })
                .await?;
            let part = self.remove(None, cut).await?;
            all.events += part.events;
            all.bytes += part.bytes;
        }
        let (max_bytes, most) = (options.max_bytes, options.max_loop_events);
        for (loop_id, cut) in self.long_loops(most).await? {
            let part = self.remove(Some(loop_id), cut).await?;
            all.events += part.events;
            all.bytes += part.bytes;
        }
        loop {
            let trimmed = self.shared.store.write(move |tx| {
                let mut state = State::require(tx)?;
                let before = state;
                trim(tx, &mut state, u64::MAX, max_bytes)?;
                forget_loops(tx, state.last_time)?;
                state.save(tx)?;
                Ok(Purged {
                    events: before.events - state.events,
                    bytes: before.bytes - state.bytes,
                })
            });
            let part = trimmed.await?;
            all.events += part.events;
            all.bytes += part.bytes;
            if part.events == 0 {
                break;
            }
        }
        while self.shared.store.write(give_back).await? {}
        Ok(all)
    }

    /// Loops with more events than they may have, and up to where they lose them.
    async fn long_loops(&self, most: u64) -> Result<Vec<(String, u64)>, JournalError> {
        if most == 0 {
            return Ok(Vec::new());
        }
        let found = self.shared.store.read(move |conn| {
            let mut query = conn.prepare_cached(
                "SELECT l.loop_id, (SELECT e.position FROM journal_events e
                     WHERE e.loop = l.id ORDER BY e.position DESC LIMIT 1 OFFSET ?1)
                 FROM journal_loops l WHERE l.last_sequence - l.purged_sequence > ?1",
            )?;
            let rows = query.query_map([i64::try_from(most).unwrap_or(i64::MAX)], |row| {
                Ok((
                    row.get(0)?,
                    row.get::<_, Option<i64>>(1)?.unwrap_or(0).cast_unsigned(),
                ))
            })?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        });
        Ok(found.await?)
    }
}

/// Applies the limits again and again until the journal is dropped.
pub(super) async fn run(shared: Weak<Shared>, every: Duration) {
    // Not at once: a start has other things to do.
    let mut ticks = tokio::time::interval_at(Instant::now() + every, every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(shared) = shared.upgrade() else {
            return;
        };
        match (Journal { shared }).retain().await {
            Ok(Purged { events: 0, .. }) => {}
            Ok(Purged { events, bytes }) => {
                tracing::info!(events, bytes, "old journal entries were removed");
            }
            Err(JournalError::Closed) => return,
            Err(error) => tracing::warn!(%error, "the journal's retention failed; it goes on"),
        }
    }
}

/// Which events a removal is about.
#[derive(Clone, Copy)]
enum Target {
    All,
    Loop(i64),
}

impl Target {
    /// None where there is no such loop.
    fn find(conn: &Connection, loop_id: Option<&str>) -> Result<Option<Self>, StoreError> {
        Ok(match loop_id {
            None => Some(Self::All),
            Some(loop_id) => LoopState::load(conn, loop_id)?.map(|found| Self::Loop(found.id)),
        })
    }

    /// With the cut as first parameter and [`Target::id`] as second.
    fn condition(self) -> &'static str {
        match self {
            Self::All => "position <= ?1 AND ?2 IS NULL",
            Self::Loop(_) => "position <= ?1 AND loop = ?2",
        }
    }

    fn id(self) -> Option<i64> {
        match self {
            Self::All => None,
            Self::Loop(id) => Some(id),
        }
    }
}

/// Removes the oldest events of the target up to a position, at most `most` of them.
fn remove_chunk(
    conn: &Connection,
    state: &mut State,
    target: Target,
    cut: u64,
    most: u64,
) -> Result<Purged, StoreError> {
    let last: Option<i64> = conn
        .prepare_cached(&format!(
            "SELECT max(position) FROM (SELECT position FROM journal_events
             WHERE {} ORDER BY position LIMIT ?3)",
            target.condition()
        ))?
        .query_row(
            (cut.cast_signed(), target.id(), most.cast_signed()),
            |row| row.get(0),
        )?;
    let Some(last) = last else {
        return Ok(Purged::default());
    };
    let range = (last, target.id());

    let mut removed = Purged::default();
    let mut sums = conn.prepare_cached(&format!(
        "SELECT loop, max(sequence), max(position), count(*), sum(octet_length(event))
         FROM journal_events WHERE {} GROUP BY loop",
        target.condition()
    ))?;
    let mut note = conn.prepare_cached(
        "UPDATE journal_loops SET purged_sequence = ?2, purged_position = ?3 WHERE id = ?1",
    )?;
    let mut rows = sums.query(range)?;
    while let Some(row) = rows.next()? {
        let (id, sequence, position): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        note.execute((id, sequence, position))?;
        removed.events += unsigned(row, 3)?;
        removed.bytes += unsigned(row, 4)?;
    }
    conn.prepare_cached(&format!(
        "DELETE FROM journal_events WHERE {}",
        target.condition()
    ))?
    .execute(range)?;
    state.purged_position = state.purged_position.max(last.cast_unsigned());
    state.events = state.events.saturating_sub(removed.events);
    state.bytes = state
        .bytes
        .saturating_sub(removed.bytes + removed.events * ROW_BYTES);
    Ok(removed)
}

/// Removes the oldest events until the journal has no more than these many events and bytes,
/// but at most one chunk of them. Returns how many it removed.
pub(super) fn trim(
    conn: &Connection,
    state: &mut State,
    max_events: u64,
    max_bytes: u64,
) -> Result<u64, StoreError> {
    let mut surplus_events = state.events.saturating_sub(max_events);
    let mut surplus_bytes = state.bytes.saturating_sub(max_bytes);
    if surplus_events == 0 && surplus_bytes == 0 {
        return Ok(0);
    }
    let mut oldest = conn.prepare_cached(
        "SELECT octet_length(event) FROM journal_events ORDER BY position LIMIT ?1",
    )?;
    let mut rows = oldest.query([CHUNK.cast_signed()])?;
    let mut count = 0;
    while surplus_events > 0 || surplus_bytes > 0 {
        let Some(row) = rows.next()? else { break };
        surplus_bytes = surplus_bytes.saturating_sub(unsigned(row, 0)? + ROW_BYTES);
        surplus_events = surplus_events.saturating_sub(1);
        count += 1;
    }
    drop(rows);
    if count == 0 {
        return Ok(0);
    }
    let all = u64::MAX >> 1;
    Ok(remove_chunk(conn, state, Target::All, all, count)?.events)
}

/// Position of the last event before a time; where there is none, one below all events. Times
/// grow with positions, so it is searched for by halves.
pub(super) fn last_before(conn: &Connection, time: Timestamp) -> Result<u64, StoreError> {
    let bound = |order: &str| -> Result<Option<i64>, StoreError> {
        Ok(conn.query_row(
            &format!("SELECT {order}(position) FROM journal_events"),
            [],
            |row| row.get(0),
        )?)
    };
    let (Some(first), Some(last)) = (bound("min")?, bound("max")?) else {
        return Ok(0);
    };
    let mut at_or_after = conn.prepare_cached(
        "SELECT position, time FROM journal_events WHERE position >= ?1
         ORDER BY position LIMIT 1",
    )?;
    // Everything up to `low` is before; everything from `high` on is not.
    let (mut low, mut high) = (first - 1, last + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let found: Option<(i64, i64)> = at_or_after
            .query_row([middle], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match found {
            Some((position, at)) if at < time.as_micros() => low = position,
            // Nothing stands between the middle and what was found.
            _ => high = middle,
        }
    }
    Ok(low.cast_unsigned())
}

/// Removes what is known of loops that have no events left and will get none. Their ids begin
/// anew.
fn forget_loops(conn: &Connection, now: Timestamp) -> Result<(), StoreError> {
    conn.prepare_cached(
        "DELETE FROM journal_loops
         WHERE last_sequence = purged_sequence AND (ended = 1 OR last_time < ?1)",
    )?
    .execute([now.saturating_sub(FORGOTTEN_AFTER).as_micros()])?;
    Ok(())
}

/// Gives free pages back to the disk; says whether there may be more.
fn give_back(conn: &rusqlite::Transaction<'_>) -> Result<bool, StoreError> {
    let free: i64 = conn.query_row("PRAGMA freelist_count", [], |row| row.get(0))?;
    if free <= PAGES {
        // Few pages are soon used again.
        return Ok(false);
    }
    let mut vacuum = conn.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
    let mut rows = vacuum.query([])?;
    while rows.next()?.is_some() {}
    Ok(true)
}
