//! What tenants and users prefer.

use super::{Store, StoreError};
use crate::preferences::{Owner, Preferences};

impl Store {
    /// All preferences, ordered by tenant and user.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] naming the first that cannot be read: to pass over it could
    /// let a blocked entry back in.
    pub async fn load_preferences(&self) -> Result<Vec<(Owner, Preferences)>, StoreError> {
        self.read(|conn| {
            let mut query = conn.prepare_cached(
                "SELECT tenant, user, preferences FROM preferences ORDER BY tenant, user",
            )?;
            let mut rows = query.query([])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let owner = Owner {
                    tenant: row.get(0)?,
                    user: row.get(1)?,
                };
                let json: String = row.get(2)?;
                let preferences = serde_json::from_str(&json).map_err(|error| {
                    let Owner { tenant, user } = &owner;
                    StoreError::corrupt(format!(
                        "preferences of {tenant:?}, {user:?} cannot be read: {error}"
                    ))
                })?;
                found.push((owner, preferences));
            }
            Ok(found)
        })
        .await
    }

    /// Replaces the preferences of one owner; empty ones are removed.
    ///
    /// # Errors
    ///
    /// Those of [`Store::write`].
    pub async fn save_preferences(
        &self,
        owner: Owner,
        preferences: Preferences,
    ) -> Result<(), StoreError> {
        self.write(move |tx| {
            let Owner { tenant, user } = &owner;
            if preferences.is_empty() {
                tx.prepare_cached("DELETE FROM preferences WHERE tenant = ?1 AND user = ?2")?
                    .execute((tenant, user))?;
                return Ok(());
            }
            let json = serde_json::to_string(&preferences)
                .map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?;
            tx.prepare_cached(
                "INSERT INTO preferences (tenant, user, preferences) VALUES (?1, ?2, ?3)
                 ON CONFLICT (tenant, user) DO UPDATE SET preferences = excluded.preferences",
            )?
            .execute((tenant, user, json))?;
            Ok(())
        })
        .await
    }
}
