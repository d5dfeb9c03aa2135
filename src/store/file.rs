//! The folder on disk: its lock, its file, and the connections to it.
//!
//! What always holds: `signalbox.db` appears under its name only once it is complete (it is
//! built beside and renamed), so a missing file is a new store and a file that is empty or
//! cut is damage. Whoever has a [`Lock`] is the only process in the folder.

use std::cmp::Ordering;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{StoreError, log, schema};

/// The database.
pub(super) const DB_FILE: &str = "signalbox.db";
const NEW_FILE: &str = "signalbox.db.new";
const LOCK_FILE: &str = "signalbox.lock";

/// How often the lock is tried, and the pause between. A store that was just dropped, or a
/// process that was just told to stop, needs a moment to let go; one second in all.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// How long a connection waits for a lock of another one, for example of a backup tool.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes the log is cut to after it was carried over into the file.
const LOG_BYTES: i64 = 64 * 1024 * 1024;

/// Files up to this size are walked whole when opened: under 0.1 s when cached. Damage in a
/// larger one is found when it is read.
const CHECKED_BYTES: u64 = 64 * 1024 * 1024;

/// Prepared statements kept by a connection.
const STATEMENTS: usize = 64;

/// The exclusive hold on a folder; dropping it, or the end of the process, lets go.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// Opens the folder's database as its only user, creating both where they are missing.
pub(super) fn open(dir: &Path) -> Result<(PathBuf, Lock, Connection), StoreError> {
    make_folder(dir).map_err(|error| refused(dir, error))?;
    let lock = claim(dir)?;
    let path = dir.join(DB_FILE);
    match fs::metadata(&path) {
        Ok(found) if found.len() == 0 => {
            return Err(StoreError::corrupt("the file is empty").at(&path));
        }
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => create(dir, &path)?,
        Err(error) => return Err(refused(&path, error)),
    }
    let conn = open_existing(&path).map_err(|error| error.opening(&path))?;
    Ok((path, lock, conn))
}

/// A connection with the settings every connection has.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    // No CREATE: see `create`. No mutex: each connection belongs to one thread.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    configure(&conn)?;
    Ok(conn)
}

/// A connection that cannot write.
pub(super) fn connect_reader(path: &Path) -> Result<Connection, StoreError> {
    let conn = connect(path)?;
    conn.pragma_update(None, "query_only", true)?;
    Ok(conn)
}

/// A connection to a file that may be another process's, and is never changed.
pub(super) fn connect_read_only(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    configure(&conn)?;
    check_owner(&conn, path)?;
    let found: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    match found.cmp(&schema::KNOWN) {
        Ordering::Equal => Ok(conn),
        Ordering::Greater => Err(StoreError::NewerSchema {
            found,
            known: schema::KNOWN,
        }),
        Ordering::Less => Err(StoreError::Open {
            path: path.to_owned(),
            reason: format!("it has the older schema {found}; a server brings it up to date"),
        }),
    }
}

/// A database that lives as long as its connection.
pub(super) fn in_memory() -> Result<Connection, StoreError> {
    let mut conn = Connection::open_in_memory()?;
    configure(&conn)?;
    schema::migrate(&mut conn)?;
    Ok(conn)
}

fn configure(conn: &Connection) -> Result<(), StoreError> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.pragma_update(None, "cell_size_check", true)?;
    // Containers often have no writable place for SQLite's temporary files.
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    // The writer carries the log over itself, after it has answered.
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    conn.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    Ok(())
}

fn open_existing(path: &Path) -> Result<Connection, StoreError> {
    let length = fs::metadata(path)
        .map_err(|error| refused(path, error))?
        .len();
    let log_is_empty = log_length(path) == 0;
    let unfinished = log::unfinished(&with_suffix(path, "-wal"))?;
    let mut conn = connect(path)?;
    check_owner(&conn, path)?;
    // SQLite would read the missing end of the last page as zeros. A crash while the log is
    // carried over may leave such a page too, but then the log has it whole.
    let page: i64 = conn.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    if log_is_empty && length % page.unsigned_abs() != 0 {
        return Err(StoreError::corrupt("the last page is cut"));
    }
    schema::migrate(&mut conn)?;
    write_ahead(&conn, path)?;
    if unfinished > 0 {
        // Nobody was told that it was done. Cut now, so that it is not told of again.
        super::writer::checkpoint(&conn, "TRUNCATE")?;
        tracing::warn!(
            bytes = unfinished,
            "the last process ended in the middle of a write, which was not acknowledged; \
             the end of the write-ahead log was cut"
        );
    }
    if length <= CHECKED_BYTES {
        let found: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if found != "ok" {
            return Err(StoreError::corrupt(found));
        }
    }
    Ok(conn)
}

/// Refuses the database of another program.
fn check_owner(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let id: i32 = conn.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if id == schema::APPLICATION_ID {
        return Ok(());
    }
    Err(StoreError::Open {
        path: path.to_owned(),
        reason: format!("it belongs to another program (application_id {id:#x})"),
    })
}

fn write_ahead(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let mode: String = conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode == "wal" {
        return Ok(());
    }
    Err(StoreError::Open {
        path: path.to_owned(),
        reason: format!("its file system allows no write-ahead log (mode {mode:?})"),
    })
}

/// Builds an empty database beside `path` and gives it its name once it is on disk.
fn create(dir: &Path, path: &Path) -> Result<(), StoreError> {
    if log_length(path) > 0 {
        // SQLite would replay the log of the lost file into the new one.
        let detail = "the file is missing, but its write-ahead log is there";
        return Err(StoreError::corrupt(detail).at(path));
    }
    let new = dir.join(NEW_FILE);
    for suffix in ["", "-wal", "-shm", "-journal"] {
        remove(&with_suffix(&new, suffix)).map_err(|error| refused(&new, error))?;
    }
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)
        .map_err(|error| refused(&new, error))?;
    build(&new).map_err(|error| error.opening(&new))?;
    File::open(&new)
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(&new, path))
        .and_then(|()| sync_folder(dir))
        .map_err(|error| refused(path, error))
}

fn build(path: &Path) -> Result<(), StoreError> {
    let mut conn = connect(path)?;
    // Can only be chosen before the first table; without it, retention could never give
    // space back to the disk.
    conn.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    write_ahead(&conn, path)?;
    conn.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
    schema::migrate(&mut conn)?;
    conn.close().map_err(|(_, error)| error.into())
}

fn claim(dir: &Path) -> Result<Lock, StoreError> {
    let path = dir.join(LOCK_FILE);
    // Never removed: a process that holds a removed lock file would not be seen.
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(|error| refused(&path, error))?;
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(error)) => return Err(refused(&path, error)),
        }
    }
    Err(StoreError::Locked { path })
}

/// Creates the folder, readable by its owner alone, and makes the new names durable.
fn make_folder(dir: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = dir
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .collect();
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    for folder in missing {
        match folder.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => sync_folder(parent)?,
            _ => sync_folder(Path::new("."))?,
        }
    }
    Ok(())
}

fn sync_folder(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Bytes in the write-ahead log of the file at `path`.
fn log_length(path: &Path) -> u64 {
    fs::metadata(with_suffix(path, "-wal")).map_or(0, |log| log.len())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn refused(path: &Path, error: io::Error) -> StoreError {
    match error.kind() {
        ErrorKind::StorageFull => StoreError::Full,
        _ => StoreError::Open {
            path: path.to_owned(),
            reason: error.to_string(),
        },
    }
}
