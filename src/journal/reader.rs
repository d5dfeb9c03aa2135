//! Reading what is stored, page by page.
//!
//! Nothing is skipped silently: positions follow each other without a gap where nothing was
//! purged, and so do the sequences of a loop. A gap is damage, and so is a row whose checksum
//! is wrong.

use std::sync::Arc;

use rusqlite::Connection;

use super::event::Entry;
use super::record::{COLUMNS, LoopState, Names, ROW_BYTES, State, Stored, TypeSet, damaged};
use super::retention::last_before;
use super::time::Timestamp;
use super::token::{Token, scope_of};
use super::{Journal, JournalError};
use crate::store::StoreError;

/// Rows that one page looks at, at most: some 50 ms of work. A page that finds little among
/// them ends early.
pub(super) const SCANNED: usize = 50_000;

/// Bytes of events in one page, from which on it ends.
const PAGE_BYTES: usize = 1 << 20;

/// Which entries are wanted; all that is set has to fit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter {
    /// Entries of this loop.
    pub loop_id: Option<String>,
    /// Entries that this agent reported.
    pub agent_id: Option<String>,
    /// Entries of these types; empty means all.
    pub types: TypeSet,
    /// Entries of this time or later.
    pub from: Option<Timestamp>,
    /// Entries before this time.
    pub until: Option<Timestamp>,
}

impl Filter {
    /// Entries of one loop.
    pub fn of_loop(loop_id: impl Into<String>) -> Self {
        Self {
            loop_id: Some(loop_id.into()),
            ..Self::default()
        }
    }

    /// Whether it lets an entry through.
    pub fn allows(&self, entry: &Entry) -> bool {
        self.loop_id
            .as_ref()
            .is_none_or(|loop_id| *loop_id == entry.loop_id)
            && self
                .agent_id
                .as_ref()
                .is_none_or(|agent| *agent == entry.agent_id)
            && self.types.allows(entry.event.event_type().number())
            && self.from.is_none_or(|from| entry.timestamp >= from)
            && self.until.is_none_or(|until| entry.timestamp < until)
    }

    pub(super) fn allows_stored(&self, stored: &Stored<'_>) -> bool {
        self.agent_id
            .as_ref()
            .is_none_or(|agent| agent == stored.agent_id)
            && self.types.allows(stored.event_type)
            && self.from.is_none_or(|from| stored.time >= from.as_micros())
    }
}

/// Where a page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// With the first entry that is kept.
    Earliest,
    /// Behind a position; what was purged up to the horizon is not missed.
    After { position: u64, horizon: u64 },
    /// Behind a position, with whatever is kept of what follows.
    Kept(u64),
}

/// Some entries, in the order of their positions.
#[derive(Debug)]
pub(super) struct Page {
    pub entries: Vec<Arc<Entry>>,
    /// Everything up to here has been looked at.
    pub through: u64,
    /// What was purged up to here was gone when the reader began.
    pub horizon: u64,
    /// Whether nothing followed when it was read.
    pub is_last: bool,
}

/// The answer to [`Journal::list`].
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// Entries, in the order of their positions.
    pub entries: Vec<Arc<Entry>>,
    /// Where the next page begins; none on the last. A page may be empty and not the last.
    pub next: Option<Token>,
    /// Its position is that of no entry.
    place: Token,
}

impl Listing {
    /// Token of the place up to which this page has looked, also where it is the last.
    pub fn place(&self) -> Token {
        self.place
    }

    /// Token of the place behind one of the entries.
    pub fn token_after(&self, entry: &Entry) -> Token {
        Token {
            position: entry.position,
            ..self.place
        }
    }
}

impl Journal {
    /// One page of the entries that a filter lets through; `after` is the `next` of the page
    /// before. What is purged between two pages is missing from the later one.
    ///
    /// # Errors
    ///
    /// [`JournalError::ForeignToken`] and [`JournalError::OutOfRange`] for a token of another
    /// loop or journal, and storage errors; damage is [`StoreError::Corrupt`].
    pub async fn list(
        &self,
        filter: &Filter,
        after: Option<&Token>,
        size: usize,
    ) -> Result<Listing, JournalError> {
        let start = match after {
            Some(token) => self.admit(token, filter.loop_id.as_deref()).await?,
            None => 0,
        };
        let page = self.page(filter, Start::Kept(start), size).await?;
        let scope = filter.loop_id.as_deref().map(scope_of);
        let place = self.token(page.through, page.horizon, scope);
        Ok(Listing {
            entries: page.entries,
            next: (!page.is_last).then_some(place),
            place,
        })
    }

    /// One page.
    pub(super) async fn page(
        &self,
        filter: &Filter,
        start: Start,
        size: usize,
    ) -> Result<Page, JournalError> {
        let filter = filter.clone();
        let scope = filter.loop_id.as_deref().map(scope_of);
        // Never closed.
        let _turn = self.shared.pages.acquire().await;
        let read = self
            .shared
            .store
            .read(move |conn| read_page(conn, &filter, start, size));
        read.await?.map_err(|gone| JournalError::OutOfRange {
            why: gone.why,
            earliest: self.token(gone.earliest, gone.horizon, scope),
        })
    }

    /// The position of a token, if it belongs to this journal and to the loop.
    pub(super) async fn admit(
        &self,
        token: &Token,
        loop_id: Option<&str>,
    ) -> Result<u64, JournalError> {
        let scope = loop_id.map(scope_of);
        // A token for all loops tells nothing about one that its owner could not ask for.
        if token.scope.is_some() && token.scope != scope {
            return Err(JournalError::ForeignToken);
        }
        if token.epoch == self.shared.epoch {
            return Ok(token.position);
        }
        let (earliest, horizon) = self
            .shared
            .store
            .read(|conn| Ok((first_kept(conn)?, State::require(conn)?.purged_position)))
            .await?;
        Err(JournalError::OutOfRange {
            why: "it belongs to an older journal, or to another one",
            earliest: self.token(earliest, horizon, scope),
        })
    }
}

/// Why there is no page.
pub(super) struct Gone {
    why: &'static str,
    earliest: u64,
    horizon: u64,
}

/// What is read of: all of the journal or one loop, and what is known of it.
pub(super) struct Source {
    /// Row of the loop.
    pub id: Option<i64>,
    /// Position of the newest entry.
    last: u64,
    /// Largest position that was purged.
    purged: u64,
    /// Sequence that the first kept entry of the loop has.
    first_sequence: u64,
}

impl Source {
    /// None where nothing is known of the loop.
    pub fn find(
        conn: &Connection,
        state: &State,
        filter: &Filter,
    ) -> Result<Option<Self>, StoreError> {
        let Some(loop_id) = &filter.loop_id else {
            return Ok(Some(Self {
                id: None,
                last: state.last_position,
                purged: state.purged_position,
                first_sequence: 0,
            }));
        };
        Ok(LoopState::load(conn, loop_id)?.map(|found| Self {
            id: Some(found.id),
            last: found.last_position,
            purged: found.purged_position,
            first_sequence: found.purged_sequence + 1,
        }))
    }
}

pub(super) fn read_page(
    conn: &Connection,
    filter: &Filter,
    start: Start,
    size: usize,
) -> Result<Result<Page, Gone>, StoreError> {
    let state = State::require(conn)?;
    let source = Source::find(conn, &state, filter)?;
    // Of a loop that was forgotten, everything up to the journal's own mark may be gone.
    let purged = source
        .as_ref()
        .map_or(state.purged_position, |source| source.purged);
    let (after, horizon) = match start {
        Start::Earliest => (0, purged),
        Start::Kept(position) => (position, purged),
        Start::After { position, horizon } => {
            let why = if position > state.last_position {
                Some("it lies beyond the newest entry")
            } else if purged > position.max(horizon) {
                Some("entries that follow it were purged")
            } else {
                None
            };
            if let Some(why) = why {
                return Ok(Err(Gone {
                    why,
                    earliest: first_kept(conn)?,
                    horizon: purged,
                }));
            }
            (position, horizon)
        }
    };
    let empty = |through| Page {
        entries: Vec::new(),
        through,
        horizon,
        is_last: true,
    };
    let Some(source) = source else {
        return Ok(Ok(empty(state.last_position.max(after))));
    };
    let mut scan = Scan {
        filter,
        source: &source,
        size,
        page: empty(after),
        bytes: 0,
        sequence: 0,
    };
    if let Some(from) = filter.from {
        let skipped = last_before(conn, from)?;
        if skipped > scan.page.through {
            scan.page.through = skipped;
        }
    }
    scan.run(conn, state.last_position)?;
    Ok(Ok(scan.page))
}

/// A position right before everything that is kept.
fn first_kept(conn: &Connection) -> Result<u64, StoreError> {
    let first: Option<i64> =
        conn.query_row("SELECT min(position) FROM journal_events", [], |row| {
            row.get(0)
        })?;
    let state = State::require(conn)?;
    Ok(first.map_or(state.last_position, |first| {
        first.cast_unsigned().saturating_sub(1)
    }))
}

/// A page in the making.
struct Scan<'a> {
    filter: &'a Filter,
    source: &'a Source,
    size: usize,
    page: Page,
    bytes: usize,
    /// Sequence of the last row, of a loop; 0 before the first.
    sequence: u64,
}

impl Scan<'_> {
    fn run(&mut self, conn: &Connection, newest: u64) -> Result<(), StoreError> {
        let condition = if self.source.id.is_some() {
            "loop = ?2 AND"
        } else {
            "?2 IS NULL AND"
        };
        let mut query = conn.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM journal_events
             WHERE {condition} position > ?1 ORDER BY position LIMIT ?3"
        ))?;
        let limit = i64::try_from(SCANNED).unwrap_or(i64::MAX);
        let mut names = Names::default();
        let mut rows = query.query((self.page.through.cast_signed(), self.source.id, limit))?;
        let mut scanned = 0;
        while let Some(row) = rows.next()? {
            let stored = Stored::read(conn, row, &mut names)?;
            self.check_place(&stored)?;
            if self
                .filter
                .until
                .is_some_and(|until| stored.time >= until.as_micros())
            {
                // Nothing that follows is older.
                return Ok(());
            }
            self.page.through = stored.position;
            self.sequence = stored.sequence;
            if self.filter.allows_stored(&stored) {
                self.bytes += stored.event.len() + ROW_BYTES as usize;
                self.page.entries.push(Arc::new(stored.entry()?));
            }
            scanned += 1;
            if self.page.entries.len() >= self.size
                || self.bytes >= PAGE_BYTES
                || scanned >= SCANNED
            {
                self.page.is_last = self.page.through >= self.source.last;
                break;
            }
        }
        if self.page.is_last {
            if self.page.through < self.source.last && self.source.last > self.source.purged {
                let last = self.source.last.cast_signed();
                return Err(damaged(last, "it and what stands before it is missing"));
            }
            self.page.through = self.page.through.max(newest);
        }
        Ok(())
    }

    /// Refuses a row in front of which one is missing.
    fn check_place(&self, stored: &Stored<'_>) -> Result<(), StoreError> {
        let follows = if self.source.id.is_none() {
            // Within what was purged, loops may have gone that stood between.
            stored.position == self.page.through + 1 || stored.position - 1 <= self.source.purged
        } else if self.sequence > 0 {
            stored.sequence == self.sequence + 1
        } else {
            // Behind a place in the middle, the sequence before is not known.
            self.page.through > self.source.purged || stored.sequence == self.source.first_sequence
        };
        match follows {
            true => Ok(()),
            false => Err(damaged(
                stored.position.cast_signed(),
                "the entry before it is missing",
            )),
        }
    }
}
