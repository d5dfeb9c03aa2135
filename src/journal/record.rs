//! Rows of the journal: how an event is stored, and how damage to it is noticed.
//!
//! SQLite notices damage to the structure of its file, not to the content of a row. So each
//! row carries a CRC-32 of everything in it, and is checked whenever it is read.

use rusqlite::{Connection, OptionalExtension, Row};

use super::event::{Entry, EventType, LoopEvent};
use super::time::Timestamp;
use crate::store::StoreError;

/// Bytes that a row takes beside its event, roughly: numbers, names, index.
pub(super) const ROW_BYTES: u64 = 100;

/// Columns of a row, in the order in which [`Stored::read`] takes them.
pub(super) const COLUMNS: &str =
    "position, sequence, time, loop, agent_id, iteration, type, checksum, event";

/// The one row of `journal_state`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    pub epoch: u64,
    pub last_position: u64,
    pub last_time: Timestamp,
    pub purged_position: u64,
    pub events: u64,
    pub bytes: u64,
}

impl State {
    /// Reads it; a journal that has none is new.
    pub fn load(conn: &Connection) -> Result<Option<Self>, StoreError> {
        let mut query = conn.prepare_cached(
            "SELECT epoch, last_position, last_time, purged_position, events, bytes
             FROM journal_state",
        )?;
        let state = query
            .query_row([], |row| {
                Ok(Self {
                    epoch: row.get::<_, i64>(0)?.cast_unsigned(),
                    last_position: unsigned(row, 1)?,
                    last_time: time(row, 2)?,
                    purged_position: unsigned(row, 3)?,
                    events: unsigned(row, 4)?,
                    bytes: unsigned(row, 5)?,
                })
            })
            .optional()?;
        Ok(state)
    }

    /// Reads the one that must be there.
    pub fn require(conn: &Connection) -> Result<Self, StoreError> {
        Self::load(conn)?.ok_or_else(|| StoreError::corrupt("the journal has lost its state"))
    }

    /// Writes it.
    pub fn save(&self, conn: &Connection) -> Result<(), StoreError> {
        conn.prepare_cached(
            "INSERT INTO journal_state VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (id) DO UPDATE SET last_position = ?2, last_time = ?3,
                 purged_position = ?4, events = ?5, bytes = ?6",
        )?
        .execute((
            self.epoch.cast_signed(),
            self.last_position.cast_signed(),
            self.last_time.as_micros(),
            self.purged_position.cast_signed(),
            self.events.cast_signed(),
            self.bytes.cast_signed(),
        ))?;
        Ok(())
    }
}

/// A row of `journal_loops`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LoopState {
    pub id: i64,
    pub last_sequence: u64,
    pub last_position: u64,
    pub purged_sequence: u64,
    pub purged_position: u64,
    pub ended: bool,
}

impl LoopState {
    pub fn load(conn: &Connection, loop_id: &str) -> Result<Option<Self>, StoreError> {
        let mut query = conn.prepare_cached(
            "SELECT id, last_sequence, last_position, purged_sequence, purged_position, ended
             FROM journal_loops WHERE loop_id = ?1",
        )?;
        let state = query
            .query_row([loop_id], |row| {
                Ok(Self {
                    id: row.get(0)?,
                    last_sequence: unsigned(row, 1)?,
                    last_position: unsigned(row, 2)?,
                    purged_sequence: unsigned(row, 3)?,
                    purged_position: unsigned(row, 4)?,
                    ended: row.get(5)?,
                })
            })
            .optional()?;
        Ok(state)
    }
}

/// A row as it stands in the file, checked. Borrowed, so that a row that a filter leaves out
/// costs no more than its check.
pub(super) struct Stored<'a> {
    pub position: u64,
    pub sequence: u64,
    pub time: i64,
    pub loop_id: &'a str,
    pub agent_id: &'a str,
    pub iteration: u32,
    pub event_type: u8,
    pub event: &'a [u8],
}

/// Names of loops by their rows. Entries of a loop often stand together, so remembering the
/// last one spares most lookups.
#[derive(Default)]
pub(super) struct Names {
    id: i64,
    name: Option<String>,
}

impl Names {
    /// None for a loop that is not known.
    fn get(&mut self, conn: &Connection, id: i64) -> Result<Option<&str>, StoreError> {
        if self.name.is_none() || self.id != id {
            let mut query =
                conn.prepare_cached("SELECT loop_id FROM journal_loops WHERE id = ?1")?;
            self.name = query.query_row([id], |row| row.get(0)).optional()?;
            self.id = id;
        }
        Ok(self.name.as_deref())
    }
}

impl<'a> Stored<'a> {
    /// Reads and checks a row with the [`COLUMNS`].
    pub fn read(
        conn: &Connection,
        row: &'a Row<'_>,
        names: &'a mut Names,
    ) -> Result<Self, StoreError> {
        let position: i64 = row.get(0)?;
        // Of a loop that is lost, the row must be seen, not skipped.
        let loop_id = names.get(conn, row.get(3)?)?;
        let read = || -> Option<(Self, u32)> {
            let stored = Self {
                position: u64::try_from(position).ok()?,
                sequence: u64::try_from(row.get::<_, i64>(1).ok()?).ok()?,
                time: row.get(2).ok()?,
                loop_id: loop_id?,
                agent_id: row.get_ref(4).ok()?.as_str().ok()?,
                iteration: row.get(5).ok()?,
                event_type: row.get(6).ok()?,
                // Not as text: what is no UTF-8 is for the checksum to notice.
                event: row.get_ref(8).ok()?.as_bytes().ok()?,
            };
            Some((stored, row.get(7).ok()?))
        };
        match read() {
            Some((stored, checksum)) if stored.checksum() == checksum => Ok(stored),
            _ => Err(damaged(position, "its checksum is not that of its content")),
        }
    }

    /// CRC-32 of everything in the row. Texts come with their lengths, so that no two rows
    /// have the same bytes.
    pub fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        let lengths = [self.loop_id.len() as u64, self.agent_id.len() as u64];
        for number in [self.position, self.sequence, self.time.cast_unsigned()]
            .into_iter()
            .chain(lengths)
            .chain([u64::from(self.iteration), u64::from(self.event_type)])
        {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(self.loop_id.as_bytes());
        hasher.update(self.agent_id.as_bytes());
        hasher.update(self.event);
        hasher.finalize()
    }

    /// The entry it holds.
    pub fn entry(&self) -> Result<Entry, StoreError> {
        let position = self.position.cast_signed();
        let event: LoopEvent = serde_json::from_slice(self.event)
            .map_err(|error| damaged(position, &format!("its event cannot be read: {error}")))?;
        if event.event_type().number() != self.event_type {
            return Err(damaged(position, "its type is not that of its event"));
        }
        let timestamp = Timestamp::from_micros(self.time)
            .ok_or_else(|| damaged(position, "its time is none"))?;
        Ok(Entry {
            sequence: self.sequence,
            position: self.position,
            timestamp,
            loop_id: self.loop_id.to_owned(),
            agent_id: self.agent_id.to_owned(),
            iteration: self.iteration,
            event,
        })
    }
}

/// The error for a row that is not what was written.
pub(super) fn damaged(position: i64, what: &str) -> StoreError {
    StoreError::corrupt(format!("journal entry {position}: {what}"))
}

/// A set of event types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TypeSet(u32);

impl TypeSet {
    /// Whether it holds a type; an empty set holds all of them.
    pub fn allows(self, number: u8) -> bool {
        self.0 == 0
            || 1u32
                .checked_shl(u32::from(number))
                .is_some_and(|bit| self.0 & bit != 0)
    }
}

impl FromIterator<EventType> for TypeSet {
    fn from_iter<I: IntoIterator<Item = EventType>>(types: I) -> Self {
        Self(
            types
                .into_iter()
                .fold(0, |set, one| set | 1 << one.number()),
        )
    }
}

/// A column that is never negative.
pub(super) fn unsigned(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(at)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(at, number))
}

fn time(row: &Row<'_>, at: usize) -> rusqlite::Result<Timestamp> {
    let micros: i64 = row.get(at)?;
    Timestamp::from_micros(micros).ok_or(rusqlite::Error::IntegralValueOutOfRange(at, micros))
}
