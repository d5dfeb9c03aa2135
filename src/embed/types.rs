//! What callers of the encoder see: roles, priorities, results, states, errors, settings.

use std::{fmt, path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize};

/// What a text is to the encoder; chooses the prefix that the model was trained with.
///
/// A model without prefixes gives all roles the same vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextRole {
    /// A prompt that searches.
    Query,
    /// An entry that is searched.
    Passage,
    /// A prompt that asks for nothing in particular: read like a query, but by the first
    /// encoder alone where there are two.
    Neutral,
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
    /// [`ModelInfo::dimensions`] finite numbers. Of length 1 (L2), except for prompts that a
    /// pair of encoders gives to its first alone: see [`ModelInfo::first`].
    pub vector: Arc<[f32]>,
    /// Language of a query, where the model can tell it.
    pub language: Option<Language>,
    /// Tokens of the whole text, with the prefix and the model's special tokens.
    pub tokens: u32,
    /// Tokens that the model read: `tokens`, or fewer where the text is longer than
    /// [`ModelInfo::max_tokens`].
    pub used_tokens: u32,
}

/// A language by its ISO 639-1 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Language([u8; 2]);

impl Language {
    /// English.
    pub const ENGLISH: Self = Self(*b"en");

    /// Reads a code of two lower-case letters.
    pub fn from_code(code: &str) -> Option<Self> {
        match *code.as_bytes() {
            [a, b] if a.is_ascii_lowercase() && b.is_ascii_lowercase() => Some(Self([a, b])),
            _ => None,
        }
    }

    /// The code.
    pub fn as_str(&self) -> &str {
        // Two ASCII letters, by construction.
        std::str::from_utf8(&self.0).unwrap_or("??")
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
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
    /// Of these, the ones that the first of two encoders made; `None` where there is one. A
    /// text read by both has a vector of length 1 over both parts; a prompt read by the first
    /// alone is scaled so that its dot product with an entry is the cosine of the first parts.
    pub first: Option<usize>,
    /// Tokens that the model reads of one text, special tokens and prefix included.
    pub max_tokens: usize,
    /// Where it runs: `cpu` or `cuda`.
    pub device: &'static str,
    /// Languages it is meant for (BCP 47), as the manifest lists them.
    pub languages: Vec<String>,
}

impl ModelInfo {
    /// Id of the model whose tokenizer counts: of two, the first.
    pub fn tokenizer(&self) -> &str {
        self.id.split('+').next().unwrap_or(&self.id)
    }
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
    /// A second model that reads English beside the first; see
    /// [`ModelInfo::first`].
    pub english: Option<String>,
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
