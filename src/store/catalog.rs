//! The catalogue's changes: entries that were written through the API, and tombstones that
//! hide entries of the start-up files.

use rusqlite::Row;

use super::{Store, StoreError};
use crate::catalog::{Entry, EntryId};

impl Store {
    /// Every stored change, ordered by source and name; `None` is a tombstone.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] naming the first entry that cannot be read. It is not skipped:
    /// a catalogue that lacks an entry would route wrongly without a sign.
    pub async fn load_entries(&self) -> Result<Vec<(EntryId, Option<Entry>)>, StoreError> {
        self.read(|conn| {
            let mut query = conn
                .prepare_cached("SELECT source, name, entry FROM entries ORDER BY source, name")?;
            let mut rows = query.query([])?;
            let mut entries = Vec::new();
            while let Some(row) = rows.next()? {
                entries.push(read_row(row)?);
            }
            Ok(entries)
        })
        .await
    }

    /// Stores changes, all or none; `None` leaves a tombstone. Of two changes to one entry
    /// the later counts. The key is the identity, whatever the entry itself says.
    ///
    /// # Errors
    ///
    /// Those of [`Store::write`].
    pub async fn save_entries(
        &self,
        changes: Vec<(EntryId, Option<Entry>)>,
    ) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        self.write(move |tx| {
            let mut upsert = tx.prepare_cached(
                "INSERT INTO entries (source, name, entry) VALUES (?1, ?2, ?3)
                 ON CONFLICT (source, name) DO UPDATE SET entry = excluded.entry",
            )?;
            for (id, entry) in &changes {
                let json = entry.as_ref().map(serde_json::to_string).transpose();
                let json =
                    json.map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?;
                upsert.execute((&id.source, &id.name, json))?;
            }
            Ok(())
        })
        .await
    }
}

fn read_row(row: &Row<'_>) -> Result<(EntryId, Option<Entry>), StoreError> {
    let id = EntryId {
        source: row.get(0)?,
        name: row.get(1)?,
    };
    let damaged = |error: &dyn std::error::Error| {
        StoreError::corrupt(format!("entry {id} cannot be read: {error}"))
    };
    let json: Option<String> = row.get(2).map_err(|error| damaged(&error))?;
    let Some(json) = json else {
        return Ok((id, None));
    };
    let mut entry: Entry = serde_json::from_str(&json).map_err(|error| damaged(&error))?;
    entry.id = id.clone();
    Ok((id, Some(entry)))
}
