//! A loaded model: tokenizer and forward joined, as the manifest describes them.

use std::sync::Arc;

use candle_core::Device;
use candle_transformers::models::bert::Config;

use super::{
    bert::Bert,
    embedder::{Encode, Loaded},
    language::LanguageProbe,
    manifest::{self, ModelSpec},
    pair::{self, Pair, WithLanguage},
    sources::Sources,
    tokenizer::{TextTokenizer, TokenIds},
    types::{DeviceChoice, EmbedConfig, Embedded, ModelInfo, TextRole},
};

pub(super) struct Encoder {
    tokenizer: TextTokenizer,
    bert: Bert,
    query_prefix: String,
    passage_prefix: String,
}

impl Encoder {
    /// Numbers in a vector.
    pub(super) fn dimensions(&self) -> usize {
        self.bert.config().hidden_size
    }

    fn tokenise(&self, role: TextRole, text: &str) -> Result<TokenIds, String> {
        let prefix = match role {
            TextRole::Query | TextRole::Neutral => &self.query_prefix,
            TextRole::Passage => &self.passage_prefix,
        };
        self.tokenizer.encode(prefix, text)
    }

    /// A text's vector, and the mean of its states in the middle of the layers.
    pub(super) fn encode_with_middle(
        &self,
        role: TextRole,
        text: &str,
    ) -> Result<(Embedded, Vec<f32>), String> {
        let tokens = self.tokenise(role, text)?;
        let (vector, middle) = self.bert.forward_with_middle(&tokens.ids)?;
        let embedded = Embedded {
            vector: vector.into(),
            language: None,
            tokens: u32::try_from(tokens.total).unwrap_or(u32::MAX),
            used_tokens: u32::try_from(tokens.ids.len()).unwrap_or(u32::MAX),
        };
        Ok((embedded, middle))
    }
}

impl Encode for Encoder {
    fn encode(&self, role: TextRole, text: &str) -> Result<Embedded, String> {
        Ok(self.encode_with_middle(role, text)?.0)
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.tokenizer.count(text)
    }

    fn token_ids(&self, role: TextRole, text: &str) -> Result<Vec<u32>, String> {
        Ok(self.tokenise(role, text)?.ids)
    }
}

/// Loads the model that `config` names, from its folder.
///
/// The weights come before the tokenizer, so that their raw bytes are freed by the time the
/// tokenizer (300 MB for 250,000 pieces) is built.
///
/// # Errors
/// A sentence that names the model or file and what is wrong with it.
pub(super) fn load(config: &EmbedConfig) -> Loaded {
    let (first, info) = load_one(config, &config.model)?;
    let manifest = manifest::manifest().map_err(|error| error.to_string())?;
    let probe = match manifest.language_probe_of(&config.model) {
        Some(spec) => Some(LanguageProbe::parse(
            spec.bytes().map_err(|error| error.to_string())?,
        )?),
        None => None,
    };
    let english = match &config.english {
        Some(id) => Some(load_one(config, id).map_err(|why| format!("{id}: {why}"))?),
        None => None,
    };
    match (probe, english) {
        (Some(probe), Some((english, english_info))) => {
            let info = pair::info(&info, &english_info);
            Ok((Arc::new(Pair::new(first, english, probe)), info))
        }
        (None, Some(_)) => Err(format!(
            "{} cannot tell English from other languages",
            info.id
        )),
        (Some(probe), None) => Ok((Arc::new(WithLanguage::new(first, probe)), info)),
        (None, None) => Ok((Arc::new(first), info)),
    }
}

fn load_one(config: &EmbedConfig, id: &str) -> Result<(Encoder, ModelInfo), String> {
    let device = open_device(config.device)?;
    let sources = Sources::find(config, id)?;
    let spec = sources.spec;
    let bert = Bert::load(
        &sources.read("config.json")?,
        sources.read("model.safetensors")?,
        &sources.adapters(),
        device,
    )?;
    let tokenizer = TextTokenizer::from_json(&sources.read("tokenizer.json")?, spec.max_tokens)?;
    agree(spec, bert.config(), tokenizer.vocab_size())?;

    let info = ModelInfo {
        id: spec.id.clone(),
        digest: sources.digest,
        dimensions: spec.hidden,
        first: None,
        max_tokens: spec.max_tokens,
        device: match config.device {
            DeviceChoice::Cpu => "cpu",
            DeviceChoice::Cuda => "cuda",
        },
        languages: spec.languages.clone(),
    };
    let encoder = Encoder {
        tokenizer,
        bert,
        query_prefix: spec.query_prefix.clone(),
        passage_prefix: spec.passage_prefix.clone(),
    };
    Ok((encoder, info))
}

pub(super) fn open_device(choice: DeviceChoice) -> Result<Device, String> {
    match choice {
        DeviceChoice::Cpu => Ok(Device::Cpu),
        #[cfg(feature = "cuda")]
        DeviceChoice::Cuda => {
            Device::new_cuda(0).map_err(|error| format!("cannot open the first GPU: {error}"))
        }
        #[cfg(not(feature = "cuda"))]
        DeviceChoice::Cuda => {
            Err("device is cuda, but this binary was built without the cuda feature".into())
        }
    }
}

// What would otherwise fail at the first long or rare text must fail while loading.
pub(super) fn agree(spec: &ModelSpec, config: &Config, token_ids: usize) -> Result<(), String> {
    let pairs = [
        ("layers", spec.layers, config.num_hidden_layers),
        ("hidden", spec.hidden, config.hidden_size),
        ("heads", spec.heads, config.num_attention_heads),
        ("intermediate", spec.intermediate, config.intermediate_size),
        ("vocab", spec.vocab, config.vocab_size),
        ("positions", spec.positions, config.max_position_embeddings),
    ];
    for (name, expected, found) in pairs {
        if expected != found {
            let id = &spec.id;
            return Err(format!(
                "{id}: expected {name} {expected}, config.json has {found}"
            ));
        }
    }
    if spec.max_tokens > spec.positions || token_ids > spec.vocab {
        return Err(format!(
            "{}: max_tokens {} must be within {} positions, and {token_ids} token ids within {} rows",
            spec.id, spec.max_tokens, spec.positions, spec.vocab
        ));
    }
    Ok(())
}

#[cfg(all(test, not(feature = "cuda")))]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_without_the_feature_is_a_clear_error() {
        let error = open_device(DeviceChoice::Cuda).unwrap_err();
        assert!(error.contains("without the cuda feature"), "{error}");
    }
}
