//! Facts and conventions.

use rusqlite::Row;

use super::{Store, StoreError};
use crate::knowledge::{Convention, Directory, Fact};

impl Store {
    /// Every fact, ordered by id.
    ///
    /// # Errors
    ///
    /// Those of [`Store::read`], and [`StoreError::Corrupt`] naming what cannot be read.
    pub async fn load_facts(&self) -> Result<Vec<Fact>, StoreError> {
        self.read(|conn| {
            let mut query = conn.prepare_cached(
                "SELECT id, subject, predicate, object, confidence, agent_id, stored_at
                 FROM knowledge_facts ORDER BY id",
            )?;
            let rows = query.query_map([], |row| {
                Ok(Fact {
                    id: row.get(0)?,
                    subject: row.get(1)?,
                    predicate: row.get(2)?,
                    object: row.get(3)?,
                    confidence: row.get(4)?,
                    agent_id: row.get(5)?,
                    stored_at: row.get(6)?,
                })
            })?;
            rows.map(|row| {
                row.map_err(|error| StoreError::corrupt(format!("a fact cannot be read: {error}")))
            })
            .collect()
        })
        .await
    }

    /// Every convention, ordered by id.
    ///
    /// # Errors
    ///
    /// Those of [`Store::read`], and [`StoreError::Corrupt`] naming what cannot be read.
    pub async fn load_conventions(&self) -> Result<Vec<Convention>, StoreError> {
        self.read(|conn| {
            let mut query = conn.prepare_cached(
                "SELECT id, directory, language, content, updated_at
                 FROM knowledge_conventions ORDER BY id",
            )?;
            let mut rows = query.query([])?;
            let mut conventions = Vec::new();
            while let Some(row) = rows.next()? {
                conventions.push(convention_of(row)?);
            }
            Ok(conventions)
        })
        .await
    }

    /// Stores a fact, replacing the one of its id.
    ///
    /// # Errors
    ///
    /// Those of [`Store::write`].
    pub async fn save_fact(&self, fact: Fact) -> Result<(), StoreError> {
        self.write(move |tx| {
            let mut upsert = tx.prepare_cached(
                "INSERT INTO knowledge_facts
                     (id, subject, predicate, object, confidence, agent_id, stored_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (id) DO UPDATE SET confidence = excluded.confidence,
                     agent_id = excluded.agent_id, stored_at = excluded.stored_at",
            )?;
            upsert.execute((
                &fact.id,
                &fact.subject,
                &fact.predicate,
                &fact.object,
                fact.confidence,
                &fact.agent_id,
                fact.stored_at,
            ))?;
            Ok(())
        })
        .await
    }

    /// Stores a convention, replacing the one of its id.
    ///
    /// # Errors
    ///
    /// Those of [`Store::write`].
    pub async fn save_convention(&self, convention: Convention) -> Result<(), StoreError> {
        self.write(move |tx| {
            let mut upsert = tx.prepare_cached(
                "INSERT INTO knowledge_conventions (id, directory, language, content, updated_at)
                 VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (id) DO UPDATE SET directory = excluded.directory,
                     language = excluded.language, content = excluded.content,
                     updated_at = excluded.updated_at",
            )?;
            upsert.execute((
                &convention.id,
                convention.directory.as_ref().map(Directory::as_str),
                &convention.language,
                &convention.content,
                convention.updated_at,
            ))?;
            Ok(())
        })
        .await
    }

    /// Removes a convention, if it is there.
    ///
    /// # Errors
    ///
    /// Those of [`Store::write`].
    pub async fn remove_convention(&self, id: String) -> Result<(), StoreError> {
        self.write(move |tx| {
            tx.prepare_cached("DELETE FROM knowledge_conventions WHERE id = ?1")?
                .execute([id])?;
            Ok(())
        })
        .await
    }
}

fn convention_of(row: &Row<'_>) -> Result<Convention, StoreError> {
    let damaged = |error: &dyn std::fmt::Display| {
        StoreError::corrupt(format!("a convention cannot be read: {error}"))
    };
    let read = || -> Result<(String, Option<String>, String, String, i64), rusqlite::Error> {
        Ok((
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            row.get(3)?,
            row.get(4)?,
        ))
    };
    let (id, directory, language, content, updated_at) = read().map_err(|error| damaged(&error))?;
    let directory = directory
        .map(|path| Directory::parse(&path, None))
        .transpose()
        .map_err(|error| damaged(&error))?;
    Ok(Convention {
        id,
        directory,
        language,
        content,
        updated_at,
    })
}
