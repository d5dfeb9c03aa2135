//! `[catalog]`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where entries are read from at the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CatalogConfig {
    /// Files and folders, read in this order.
    pub paths: Vec<PathBuf>,
}

impl Default for CatalogConfig {
    fn default() -> Self {
        Self {
            paths: vec!["catalogs/starter".into()],
        }
    }
}
