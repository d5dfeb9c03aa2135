//! Sentence encoders: from text to unit vectors.
//!
//! [`Embedder`] is the handle that everything else holds. A vector it returns has
//! [`ModelInfo::dimensions`] finite numbers, and the same text gives the same bits on the same
//! machine, whatever else is queued.
//!
//! | module | owns |
//! |---|---|
//! | `types` | what callers see: roles, results, states, errors, settings |
//! | `embedder` | the handle and its threads |
//! | `queue` | the bounded line in front of the encoder |
//! | `cache` | vectors of recent queries |
//! | `encoder` | a loaded model: prefix, tokenizer, forward |
//! | `pair` | two models as one: the second reads English |
//! | `language` | which language a prompt is in, from the states of the middle layer |
//! | `tokenizer` | ids within the model's limit, and counts of whole texts |
//! | `bert` | the forward through candle, pooling, length 1 |
//! | `adapter` | low-rank changes merged into the weights |
//! | `adapter_file` | adapter files of the user's own, and the key that says where they fit |
//! | `sources` | which files and adapters make up the model that is asked for |
//! | `halves` | a model cut in two, for training its upper half |
//! | `manifest` | the models and the exact bytes accepted for them |
//! | `files` | finding and checking a model's files |
//! | `hub` | fetching them (feature `hub`) |

mod adapter;
mod adapter_file;
mod bert;
mod cache;
mod embedder;
mod encoder;
mod files;
mod halves;
#[cfg(feature = "hub")]
mod hub;
mod language;
mod manifest;
mod pair;
mod queue;
mod sources;
mod tokenizer;
mod types;

#[cfg(test)]
mod tests;

pub(crate) use adapter_file::AdapterFile;
pub use adapter_file::AdapterKey;
pub use embedder::Embedder;
pub use files::{FileError, locate, read_verified, verify};
pub(crate) use halves::{Halves, Upper};
#[cfg(feature = "hub")]
pub use hub::{HubError, HubOptions, pull};
pub use manifest::{
    AdapterSpec, Checked, FileSpec, HubSource, Manifest, ManifestError, ModelSpec, Pooling,
    PypiSource, TrainingData, Variant, manifest,
};
pub use types::{
    DeviceChoice, EmbedConfig, EmbedError, Embedded, Language, ModelInfo, ModelState, Priority,
    TextRole,
};
