//! What can go wrong in the store.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::ErrorCode;

/// Why the store could not do what was asked.
///
/// Cheap to clone, because one failed commit is the answer to every job of its group.
/// Errors of SQLite are sorted on conversion, so that `?` inside a job already tells a full
/// disk ([`StoreError::Full`]) and damage ([`StoreError::Corrupt`]) from the rest.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The folder or the file cannot be used as a store.
    #[error("cannot open the store at {}: {reason}", path.display())]
    Open {
        /// The folder or file that was refused.
        path: PathBuf,
        /// Why, in words.
        reason: String,
    },
    /// Another process, or another handle of this one, holds the folder.
    #[error("the store at {} is in use by another process", path.display())]
    Locked {
        /// The lock file that is held.
        path: PathBuf,
    },
    /// What stands on disk is not what was written there. Never repaired silently.
    #[error("the store at {} is damaged: {detail}", path.display())]
    Corrupt {
        /// The damaged file; empty for a store in memory.
        path: PathBuf,
        /// What was found, and where.
        detail: String,
    },
    /// The disk is full. Nothing of the job was kept; it may succeed once there is space.
    #[error("the disk that holds the store is full")]
    Full,
    /// Any other error of SQLite.
    #[error("the store failed: {0}")]
    Sqlite(Arc<rusqlite::Error>),
    /// The file was written by a newer version, whose tables this one does not know.
    #[error("the store has schema {found}, and this version knows {known} at most")]
    NewerSchema {
        /// Schema number in the file.
        found: i64,
        /// Newest schema number this version writes.
        known: i64,
    },
    /// The store was closed before the job was taken.
    #[error("the store is closed")]
    Closed,
    /// The queue is full. Nothing of the job was done; try again later.
    #[error("the store has too many jobs waiting")]
    Overloaded,
    /// The job panicked. Its changes were rolled back.
    #[error("a job of the store panicked: {message}")]
    Panicked {
        /// The panic's message.
        message: String,
    },
    /// Another job ended the transaction that this one shared, so nothing was kept.
    #[error("the transaction was ended before its commit")]
    Aborted,
}

impl StoreError {
    /// Damage that was found in what was read, described for the operator. The path is
    /// filled in by the store.
    pub fn corrupt(detail: impl Into<String>) -> Self {
        Self::Corrupt {
            path: PathBuf::new(),
            detail: detail.into(),
        }
    }

    /// The error for a caught panic.
    pub(super) fn panicked(payload: Box<dyn Any + Send>) -> Self {
        let message = match payload.downcast::<String>() {
            Ok(text) => *text,
            Err(payload) => match payload.downcast::<&'static str>() {
                Ok(text) => (*text).to_owned(),
                Err(_) => "no message".to_owned(),
            },
        };
        Self::Panicked { message }
    }

    /// Names the damaged file where the place of the error did not know it.
    pub(super) fn at(self, file: &Path) -> Self {
        match self {
            Self::Corrupt { path, detail } if path.as_os_str().is_empty() => Self::Corrupt {
                path: file.to_owned(),
                detail,
            },
            other => other,
        }
    }

    /// The same while opening: what is not sorted further is [`StoreError::Open`].
    pub(super) fn opening(self, file: &Path) -> Self {
        match self {
            Self::Sqlite(error) => Self::Open {
                path: file.to_owned(),
                reason: error.to_string(),
            },
            other => other.at(file),
        }
    }

    /// Whether SQLite itself reported it, so that it explains a lost transaction.
    pub(super) fn is_from_sqlite(&self) -> bool {
        matches!(self, Self::Full | Self::Sqlite(_) | Self::Corrupt { .. })
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::corrupt(error.to_string())
            }
            // The shared-memory index beside the log could not grow: SQLite has no
            // "full" of its own for that file.
            Some(ErrorCode::SystemIoFailure)
                if error.sqlite_error().is_some_and(|error| {
                    error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE
                }) =>
            {
                Self::Full
            }
            _ => Self::Sqlite(Arc::new(error)),
        }
    }
}
