//! The tables, and how a file of an older version gets them.
//!
//! Migrations run forward only, each in a transaction of its own together with its number
//! in `PRAGMA user_version`, so a crash leaves a file at a known schema. A migration that
//! was released is never changed: a new one is added behind it.

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;

/// `PRAGMA application_id` of our files ("SGBX"), so that a database of another program is
/// refused before a table is added to it.
pub(super) const APPLICATION_ID: i32 = 0x5347_4258;

/// Migration `n` leads from schema `n` to `n + 1`.
///
/// No foreign key may be `DEFERRABLE INITIALLY DEFERRED`: its violation would appear at the
/// commit and fail every job of the group instead of the one that caused it.
const MIGRATIONS: &[&str] = &[
    // 1: catalogue and vectors.
    //
    // `entries.entry` is JSON; NULL is a tombstone, which hides an entry of the start-up
    // files. `vectors` has a rowid on purpose: a row of 1.5 KiB in a WITHOUT ROWID table
    // spills to an overflow page of its own (20,000 random ones: 4.8 against 2.2 kB each, and a
    // third of the insert speed), and the rowid orders rows that were used on the same day.
    "CREATE TABLE entries (
         source TEXT NOT NULL,
         name   TEXT NOT NULL,
         entry  TEXT,
         PRIMARY KEY (source, name)
     ) WITHOUT ROWID;

     CREATE TABLE vectors (
         id         INTEGER PRIMARY KEY,
         model      TEXT NOT NULL,
         role       TEXT NOT NULL,
         text_hash  BLOB NOT NULL,
         dimensions INTEGER NOT NULL,
         vector     BLOB NOT NULL,
         last_used  INTEGER NOT NULL,
         UNIQUE (model, role, text_hash)
     );
     CREATE INDEX vectors_by_use ON vectors (last_used);",
    // 2: the journal.
    //
    // `journal_state` has one row. `purged_*` is the largest position (and, of a loop,
    // sequence) that was ever removed, so that a reader knows whether something that follows
    // its place is gone; what is kept of a loop is always the end of it. Within a loop,
    // positions and sequences grow together, so the index on the loop alone (which SQLite
    // orders by rowid, the position) serves both. Times are microseconds since 1970.
    "CREATE TABLE journal_state (
         id              INTEGER PRIMARY KEY CHECK (id = 1),
         epoch           INTEGER NOT NULL,
         last_position   INTEGER NOT NULL,
         last_time       INTEGER NOT NULL,
         purged_position INTEGER NOT NULL,
         events          INTEGER NOT NULL,
         bytes           INTEGER NOT NULL
     );

     CREATE TABLE journal_loops (
         id              INTEGER PRIMARY KEY,
         loop_id         TEXT NOT NULL UNIQUE,
         last_sequence   INTEGER NOT NULL,
         last_position   INTEGER NOT NULL,
         last_time       INTEGER NOT NULL,
         purged_sequence INTEGER NOT NULL,
         purged_position INTEGER NOT NULL,
         ended           INTEGER NOT NULL
     );
     CREATE INDEX journal_loops_open ON journal_loops (id) WHERE ended = 0;
     CREATE INDEX journal_loops_empty ON journal_loops (id)
         WHERE last_sequence = purged_sequence;

     CREATE TABLE journal_events (
         position  INTEGER PRIMARY KEY,
         loop      INTEGER NOT NULL,
         sequence  INTEGER NOT NULL,
         time      INTEGER NOT NULL,
         agent_id  TEXT NOT NULL,
         iteration INTEGER NOT NULL,
         type      INTEGER NOT NULL,
         checksum  INTEGER NOT NULL,
         event     TEXT NOT NULL
     );
     CREATE INDEX journal_events_by_loop ON journal_events (loop);

     CREATE TABLE journal_requests (
         id             INTEGER PRIMARY KEY,
         loop_id        TEXT NOT NULL,
         request_id     TEXT NOT NULL,
         digest         BLOB NOT NULL,
         first_sequence INTEGER NOT NULL,
         last_sequence  INTEGER NOT NULL,
         last_position  INTEGER NOT NULL,
         time           INTEGER NOT NULL,
         UNIQUE (loop_id, request_id)
     );",
    // 3: knowledge.
    //
    // A convention without a directory holds for a whole language.
    "CREATE TABLE knowledge_facts (
         id         TEXT PRIMARY KEY,
         subject    TEXT NOT NULL,
         predicate  TEXT NOT NULL,
         object     TEXT NOT NULL,
         confidence REAL NOT NULL,
         agent_id   TEXT NOT NULL,
         stored_at  INTEGER NOT NULL
     ) WITHOUT ROWID;

     CREATE TABLE knowledge_conventions (
         id         TEXT PRIMARY KEY,
         directory  TEXT,
         language   TEXT NOT NULL,
         content    TEXT NOT NULL,
         updated_at INTEGER NOT NULL
     ) WITHOUT ROWID;",
    // 4: preferences of tenants and users, as JSON.
    "CREATE TABLE preferences (
         tenant      TEXT NOT NULL,
         user        TEXT NOT NULL,
         preferences TEXT NOT NULL,
         PRIMARY KEY (tenant, user)
     ) WITHOUT ROWID;",
];

/// Newest schema this version knows.
pub(super) const KNOWN: i64 = MIGRATIONS.len() as i64;

/// Brings the tables up to [`KNOWN`].
///
/// # Errors
///
/// [`StoreError::NewerSchema`] where the file is ahead of this version; it is left as it is.
pub(super) fn migrate(conn: &mut Connection) -> Result<(), StoreError> {
    let found: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let pending = usize::try_from(found)
        .ok()
        .and_then(|found| MIGRATIONS.get(found..))
        .ok_or(StoreError::NewerSchema {
            found,
            known: KNOWN,
        })?;
    for (number, sql) in (found + 1..).zip(pending) {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        tx.execute_batch(sql)?;
        tx.pragma_update(None, "user_version", number)?;
        tx.commit()?;
    }
    Ok(())
}
