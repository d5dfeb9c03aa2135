//! `[store]`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where changes are written down.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreConfig {
    /// Folder of the database; without one everything is kept in memory and lost at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_dir: Option<PathBuf>,
}
