//! `[knowledge]`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::within;
use crate::error::Violations;
use crate::knowledge::Options;

/// What is known, and where conventions are read from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KnowledgeConfig {
    /// Folder of the code; without one no files are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// Facts and conventions together.
    pub max_items: usize,
    /// Tokens of a message where the caller says nothing.
    pub max_context_tokens: usize,
}

impl Default for KnowledgeConfig {
    fn default() -> Self {
        let Options {
            workspace,
            max_items,
            max_context_tokens,
        } = Options::default();
        Self {
            workspace,
            max_items,
            max_context_tokens,
        }
    }
}

impl KnowledgeConfig {
    /// The same for the domain; a relative workspace is one of the working folder.
    pub fn options(&self) -> Options {
        let absolute = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        Options {
            workspace: self.workspace.as_ref().map(absolute),
            max_items: self.max_items,
            max_context_tokens: self.max_context_tokens,
        }
    }

    pub(super) fn check(&self, violations: &mut Violations) {
        let items = (1, 1_000_000);
        within(violations, "knowledge.max_items", self.max_items, items);
        within(
            violations,
            "knowledge.max_context_tokens",
            self.max_context_tokens,
            (1, 1 << 20),
        );
    }
}
