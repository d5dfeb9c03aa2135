//! `[model]` and `[hub]`.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize, Serializer};

use super::within;
use crate::embed::{DeviceChoice, EmbedConfig, manifest};
use crate::error::Violations;

/// Files of `model.adapters`.
const MAX_ADAPTERS: usize = 8;

/// The encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// Id in the manifest, or "none" for routing by tokens alone.
    pub id: String,
    /// Model that reads English prompts beside it, or "none". Only beside a model that can tell
    /// English from other languages; beside another it does nothing.
    pub english: String,
    /// Folder that holds one folder of files for each model.
    pub dir: PathBuf,
    /// What it runs on.
    pub device: DeviceChoice,
    /// Threads that run it; 0 means one for each processor.
    pub threads: usize,
    /// Texts that may wait for it; one more prompt is answered from tokens alone.
    pub max_queued: usize,
    /// Prompts whose vectors are kept.
    pub cache_entries: usize,
    /// Whether the model's adapter, if it has one, is merged in.
    pub adapter: bool,
    /// Adapter files that `signalbox adapt` wrote, merged after the model's own, in this order.
    pub adapters: Vec<PathBuf>,
    /// Whether readiness needs the model; otherwise a model that cannot be loaded means
    /// degraded answers.
    pub required: bool,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            id: "multilingual-e5-small".into(),
            english: "all-minilm-l6-v2".into(),
            dir: "models/weights".into(),
            device: DeviceChoice::Cpu,
            threads: 0,
            max_queued: 256,
            cache_entries: 4_096,
            adapter: true,
            adapters: Vec::new(),
            required: false,
        }
    }
}

impl ModelConfig {
    /// Whether a model is wanted at all.
    pub fn is_enabled(&self) -> bool {
        self.id != "none"
    }

    /// Settings of the encoder that this describes.
    pub fn embed_config(&self) -> EmbedConfig {
        EmbedConfig {
            model: self.id.clone(),
            english: self.english().map(str::to_owned),
            dir: self.dir.clone(),
            device: self.device,
            threads: match self.threads {
                0 => std::thread::available_parallelism().map_or(1, usize::from),
                threads => threads,
            },
            max_queued_texts: self.max_queued,
            cache_entries: self.cache_entries,
            adapter: self.adapter,
            adapters: self.adapters.clone(),
        }
    }

    /// The second model, where there is one.
    pub fn english(&self) -> Option<&str> {
        let tells_languages =
            manifest().is_ok_and(|manifest| manifest.language_probe_of(&self.id).is_some());
        (tells_languages && self.english != "none").then_some(self.english.as_str())
    }

    pub(super) fn check(&self, violations: &mut Violations) {
        if self.is_enabled()
            && let Err(error) = manifest().and_then(|manifest| manifest.find(&self.id))
        {
            violations.add("model.id", format!("{error}; \"none\" turns the model off"));
        }
        if self.english != "none" {
            match manifest().and_then(|manifest| manifest.find(&self.english)) {
                Err(error) => {
                    let message = format!("{error}; \"none\" leaves English to model.id alone");
                    violations.add("model.english", message);
                }
                Ok(spec) if spec.languages != ["en"] => {
                    violations.add("model.english", "must be a model for English alone");
                }
                Ok(_) => {}
            }
        }
        if self.device == DeviceChoice::Cuda && !cfg!(feature = "cuda") {
            violations.add("model.device", "this build has no `cuda` feature");
        }
        if self.required && !self.is_enabled() {
            violations.add("model.required", "needs a model.id other than \"none\"");
        }
        if self.adapters.len() > MAX_ADAPTERS {
            violations.add(
                "model.adapters",
                format!(
                    "{} files exceed the limit of {MAX_ADAPTERS}",
                    self.adapters.len()
                ),
            );
        }
        if !self.adapters.is_empty() && !self.is_enabled() {
            violations.add("model.adapters", "needs a model.id other than \"none\"");
        }
        within(violations, "model.threads", self.threads, (0, 256));
        within(
            violations,
            "model.max_queued",
            self.max_queued,
            (1, 100_000),
        );
        within(
            violations,
            "model.cache_entries",
            self.cache_entries,
            (0, 1_000_000),
        );
    }
}

/// Where model files are fetched from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HubConfig {
    /// Address of the hub or a mirror; the public hub where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Token for a hub that asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Secret>,
}

/// Text that is never shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct Secret(String);

impl Secret {
    /// The text itself, for whoever has to present it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("[redacted]")
    }
}
