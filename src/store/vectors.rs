//! Vectors keyed by what was embedded, so that a restart embeds nothing twice.
//!
//! A vector belongs to (model, role, hash of the text). It is a cache: whatever cannot be
//! read back whole counts as missing and is embedded anew, and the oldest may be pruned.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rusqlite::{CachedStatement, Connection, OptionalExtension};
use sha2::{Digest, Sha256};

use super::{Store, StoreError};

/// Vectors of one write job: short enough (under 1 MiB) that other writers get their turn.
const CHUNK: usize = 500;

/// Seconds of a day.
const DAY: u64 = 24 * 60 * 60;

/// What a text was embedded as. Some encoders treat a question and what it searches
/// differently, so their vectors are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Text that searches: a prompt.
    Query,
    /// Text that is found: a line of an entry.
    Passage,
}

impl Role {
    /// Lower-case name, as it stands in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Query => "query",
            Role::Passage => "passage",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which text a vector stands for, within one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VectorKey {
    /// What the text was embedded as.
    pub role: Role,
    /// SHA-256 of the text's UTF-8 bytes.
    pub text_hash: [u8; 32],
}

impl VectorKey {
    /// The key of `text`, which is hashed as it is: normalise it first, if at all.
    pub fn new(role: Role, text: &str) -> Self {
        Self {
            role,
            text_hash: Sha256::digest(text).into(),
        }
    }
}

impl Store {
    /// The stored vectors of `model` among `keys`. A key without one is absent, as is one
    /// whose vector has the wrong length or holds a number that is not finite.
    ///
    /// Those found count as used today. That is noted at most once a day and vector, and a
    /// failure to note it is no failure to load.
    ///
    /// # Errors
    ///
    /// Those of [`Store::read`].
    pub async fn load_vectors(
        &self,
        model: &str,
        keys: Vec<VectorKey>,
    ) -> Result<HashMap<VectorKey, Arc<[f32]>>, StoreError> {
        let today = today();
        let model = model.to_owned();
        let (found, stale) = self
            .read(move |conn| find(conn, &model, &keys, today))
            .await?;
        for ids in stale.chunks(CHUNK) {
            let ids = ids.to_vec();
            let noted = self.write(move |tx| {
                let mut touch =
                    tx.prepare_cached("UPDATE vectors SET last_used = ?2 WHERE id = ?1")?;
                for id in ids {
                    touch.execute((id, today))?;
                }
                Ok(())
            });
            if let Err(error) = noted.await {
                tracing::debug!(%error, "the use of vectors was not noted");
                break;
            }
        }
        Ok(found)
    }

    /// Stores vectors of `model`, replacing those of the same keys. An empty vector, or one
    /// with a number that is not finite, is left out: it would not be loaded either.
    ///
    /// Large calls are written in several commits, so that other writers get their turn: on
    /// an error, some may be stored.
    ///
    /// # Errors
    ///
    /// Those of [`Store::write`].
    pub async fn save_vectors(
        &self,
        model: &str,
        vectors: Vec<(VectorKey, Arc<[f32]>)>,
    ) -> Result<(), StoreError> {
        let today = today();
        let model: Arc<str> = model.into();
        for chunk in vectors.chunks(CHUNK) {
            let chunk = chunk.to_vec();
            let model = Arc::clone(&model);
            self.write(move |tx| {
                let mut upsert = tx.prepare_cached(
                    "INSERT INTO vectors (model, role, text_hash, dimensions, vector, last_used)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                     ON CONFLICT (model, role, text_hash) DO UPDATE SET
                         dimensions = excluded.dimensions,
                         vector = excluded.vector,
                         last_used = excluded.last_used",
                )?;
                for (key, vector) in chunk.iter().filter(|(_, vector)| is_sound(vector)) {
                    let role = key.role.as_str();
                    let length = i64::try_from(vector.len()).unwrap_or(i64::MAX);
                    let bytes = to_bytes(vector);
                    upsert.execute((&*model, role, key.text_hash, length, bytes, today))?;
                }
                Ok(())
            })
            .await?;
        }
        Ok(())
    }

    /// Keeps the `keep_newest` vectors that were used last (of one day: stored last), over
    /// all models, and returns how many were removed. Their space is reused.
    ///
    /// # Errors
    ///
    /// Those of [`Store::write`]; what was removed before stays removed.
    pub async fn prune_vectors(&self, keep_newest: usize) -> Result<usize, StoreError> {
        let keep = i64::try_from(keep_newest).unwrap_or(i64::MAX);
        let mut removed = 0;
        loop {
            let count = self
                .write(move |tx| {
                    let stored: i64 = tx
                        .prepare_cached("SELECT count(*) FROM vectors")?
                        .query_row([], |row| row.get(0))?;
                    let surplus = stored.saturating_sub(keep).clamp(0, CHUNK as i64);
                    let removed = tx
                        .prepare_cached(
                            "DELETE FROM vectors WHERE id IN
                             (SELECT id FROM vectors ORDER BY last_used, id LIMIT ?1)",
                        )?
                        .execute([surplus])?;
                    Ok(removed)
                })
                .await?;
            removed += count;
            if count < CHUNK {
                return Ok(removed);
            }
        }
    }
}

type Found = (HashMap<VectorKey, Arc<[f32]>>, Vec<i64>);

/// The sound vectors among `keys`, and the ids of those not yet used today.
fn find(
    conn: &Connection,
    model: &str,
    keys: &[VectorKey],
    today: i64,
) -> Result<Found, StoreError> {
    let mut query = conn.prepare_cached(
        "SELECT id, dimensions, vector, last_used FROM vectors
         WHERE model = ?1 AND role = ?2 AND text_hash = ?3",
    )?;
    let mut found = HashMap::with_capacity(keys.len());
    let mut stale = Vec::new();
    for key in keys {
        let Some(stored) = look_up(&mut query, model, key)? else {
            continue;
        };
        // A clock that was set back must not make a vector look old.
        if stored.last_used < today && !found.contains_key(key) {
            stale.push(stored.id);
        }
        found.insert(*key, stored.vector);
    }
    Ok((found, stale))
}

/// A row whose vector is sound.
struct Stored {
    id: i64,
    vector: Arc<[f32]>,
    last_used: i64,
}

fn look_up(
    query: &mut CachedStatement<'_>,
    model: &str,
    key: &VectorKey,
) -> rusqlite::Result<Option<Stored>> {
    let row = query.query_row((model, key.role.as_str(), key.text_hash), |row| {
        let vector = match (row.get_ref(1)?.as_i64(), row.get_ref(2)?.as_blob()) {
            (Ok(dimensions), Ok(bytes)) => from_bytes(dimensions, bytes),
            _ => None,
        };
        let (id, last_used) = (row.get(0)?, row.get(3)?);
        Ok(vector.map(|vector| Stored {
            id,
            vector,
            last_used,
        }))
    });
    Ok(row.optional()?.flatten())
}

fn is_sound(vector: &[f32]) -> bool {
    !vector.is_empty() && vector.iter().all(|number| number.is_finite())
}

fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn from_bytes(dimensions: i64, bytes: &[u8]) -> Option<Arc<[f32]>> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() || i64::try_from(numbers.len()) != Ok(dimensions) {
        return None;
    }
    let vector: Arc<[f32]> = numbers.iter().map(|n| f32::from_le_bytes(*n)).collect();
    is_sound(&vector).then_some(vector)
}

/// Days since 1970 (UTC).
fn today() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let days = since.unwrap_or(Duration::ZERO).as_secs() / DAY;
    i64::try_from(days).unwrap_or(i64::MAX)
}
