//! What callers of the encoder see: roles, priorities, results, states, errors, settings.

use std::{fmt, path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize};

/// What a text is to the encoder; chooses the prefix that the model was trained with.
///
/// A model without prefixes gives both roles the same vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextRole {
    /// A prompt that searches.
    Query,
    /// An entry that is searched.
    Passage,
}

/// Who waits for the vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Priority {
    /// A call with a deadline: goes before all bulk work, and is refused at once when the
    /// queue is full.
    Interactive,
    /// An import: waits for room, and runs only while nothing interactive waits.
    Bulk,
}

/// The vector of one text.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// [`ModelInfo::dimensions`] finite numbers of length 1 (L2).
    pub vector: Arc<[f32]>,
    /// Tokens of the whole text, with the prefix and the model's special tokens.
    pub tokens: u32,
    /// Tokens that the model read: `tokens`, or fewer where the text is longer than
    /// [`ModelInfo::max_tokens`].
    pub used_tokens: u32,
}

/// The model that is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// Its id in the manifest.
    pub id: String,
    /// 64 hexadecimal digits over everything that a vector depends on: the weights' sha256,
    /// every merged adapter's, and more (see [`ModelSpec::digest`](super::ModelSpec::digest)).
    /// Vectors of two digests must not be compared.
    pub digest: String,
    /// Numbers in a vector.
    pub dimensions: usize,
    /// Tokens that the model reads of one text, special tokens and prefix included.
    pub max_tokens: usize,
    /// Where it runs: `cpu` or `cuda`.
    pub device: &'static str,
    /// Languages it is meant for (BCP 47), as the manifest lists them.
    pub languages: Vec<String>,
}

/// Where the encoder stands.
#[derive(Debug, Clone)]
pub enum ModelState {
    /// None is configured.
    Disabled,
    /// Files are being read and checked.
    Loading,
    /// It answers.
    Ready(Arc<ModelInfo>),
    /// It could not be loaded, and why. Final: nothing tries again.
    Failed(Arc<str>),
}

/// Why there is no vector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// No encoder is configured.
    #[error("no sentence encoder is configured")]
    Disabled,
    /// The encoder is still being loaded.
    #[error("the sentence encoder is still loading")]
    Loading,
    /// The encoder could not be loaded, or could not encode this text.
    #[error("the sentence encoder failed: {0}")]
    Failed(Arc<str>),
    /// Too many interactive texts wait already.
    #[error("the sentence encoder is overloaded: {queued} texts wait, {limit} may")]
    Overloaded {
        /// Interactive texts that wait.
        queued: usize,
        /// Texts that may wait.
        limit: usize,
    },
    /// The encoder is shutting down.
    #[error("the sentence encoder is shutting down")]
    Closed,
}

/// Where the forward runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceChoice {
    /// The processor.
    #[default]
    Cpu,
    /// The first NVIDIA GPU; needs the `cuda` feature.
    Cuda,
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceChoice::Cpu => "cpu",
            DeviceChoice::Cuda => "cuda",
        })
    }
}

/// Settings of an [`Embedder`](super::Embedder).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedConfig {
    /// A model id of the manifest.
    pub model: String,
    /// The folder that holds one folder per model id.
    pub dir: PathBuf,
    /// Where the forward runs.
    pub device: DeviceChoice,
    /// Texts encoded at the same time, each on one thread of its own; 0 counts as 1.
    pub threads: usize,
    /// Texts that may wait, counted for each [`Priority`] by itself, so that an import cannot
    /// take a prompt's place; 0 counts as 1.
    pub max_queued_texts: usize,
    /// Query vectors kept (about); 0 keeps none.
    pub cache_entries: usize,
    /// Whether the manifest's adapters for this model are merged into its weights.
    pub adapter: bool,
    /// Adapter files of the user's own, merged after the manifest's, in this order.
    pub adapters: Vec<PathBuf>,
}
