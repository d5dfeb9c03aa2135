//! A model cut in two, for training its upper half.
//!
//! The lower layers stay as they are, so what they make of a text is computed once. The upper
//! ones are handed out as raw weights to whoever trains a change to them, and can be run with
//! such a change merged, by the same code that serves.

use candle_core::Tensor;
use candle_transformers::models::bert::Config;

use super::{
    adapter::{self, Scale},
    adapter_file::AdapterFile,
    bert::{Bert, Layer, Weights, joined, mean_unit, through},
    encoder::{agree, open_device},
    sources::{Sources, shipped},
    tokenizer::TextTokenizer,
    types::{EmbedConfig, TextRole},
};

/// A model in two halves.
pub(crate) struct Halves {
    /// Id of the model.
    pub(crate) model: String,
    /// Digest of the whole model with its adapters.
    pub(crate) digest: String,
    tokenizer: TextTokenizer,
    lower: Bert,
    upper: Weights,
    query_prefix: String,
    passage_prefix: String,
}

/// The upper layers, ready to run.
pub(crate) struct Upper {
    layers: Vec<Layer>,
}

impl Halves {
    /// Loads the model that `config` names; texts are cut at `max_tokens`.
    ///
    /// # Errors
    /// Names the model or file and what is wrong with it.
    pub(crate) fn load(config: &EmbedConfig, max_tokens: usize) -> Result<Self, String> {
        let sources = Sources::find(config, &config.model)?;
        let spec = sources.spec;
        let (lower, upper) = Bert::load_lower(
            &sources.read("config.json")?,
            sources.read("model.safetensors")?,
            &sources.adapters(),
            open_device(config.device)?,
            spec.layers / 2,
        )?;
        let json = sources.read("tokenizer.json")?;
        let tokenizer = TextTokenizer::from_json(&json, spec.max_tokens.min(max_tokens))?;
        agree(spec, lower.config(), tokenizer.vocab_size())?;
        Ok(Self {
            model: spec.id.clone(),
            digest: sources.digest,
            tokenizer,
            lower,
            upper,
            query_prefix: spec.query_prefix.clone(),
            passage_prefix: spec.passage_prefix.clone(),
        })
    }

    /// A model out of the bytes of its files, for tests.
    #[cfg(test)]
    pub(crate) fn from_bytes(
        config: &[u8],
        weights: Vec<u8>,
        tokenizer: &[u8],
        max_tokens: usize,
    ) -> Result<Self, String> {
        let layers = serde_json::from_slice::<Config>(config)
            .map_err(|error| error.to_string())?
            .num_hidden_layers;
        let device = candle_core::Device::Cpu;
        let (lower, upper) = Bert::load_lower(config, weights, &[], device, layers / 2)?;
        Ok(Self {
            model: "toy".into(),
            digest: "0".repeat(64),
            tokenizer: TextTokenizer::from_json(tokenizer, max_tokens)?,
            lower,
            upper,
            query_prefix: String::new(),
            passage_prefix: String::new(),
        })
    }

    /// Its architecture.
    pub(crate) fn config(&self) -> &Config {
        self.lower.config()
    }

    /// Number of the first layer of the upper half.
    pub(crate) fn cut(&self) -> usize {
        self.config().num_hidden_layers / 2
    }

    /// Hidden states `[tokens, hidden]` of each text where the lower half ends. Texts are
    /// taken together: a weight that was read for one serves all.
    ///
    /// # Errors
    /// What the tokenizer or the model says.
    pub(crate) fn lower(&self, texts: &[(TextRole, &str)]) -> Result<Vec<Tensor>, String> {
        let ids = texts
            .iter()
            .map(|(role, text)| {
                let prefix = match role {
                    TextRole::Query | TextRole::Neutral => &self.query_prefix,
                    TextRole::Passage => &self.passage_prefix,
                };
                Ok(self.tokenizer.encode(prefix, text)?.ids)
            })
            .collect::<Result<Vec<_>, String>>()?;
        let ids: Vec<&[u32]> = ids.iter().map(Vec::as_slice).collect();
        let lengths: Vec<usize> = ids.iter().map(|ids| ids.len()).collect();
        parts(&self.lower.hidden(&ids)?, &lengths).map_err(|error| error.to_string())
    }

    /// A weight of the upper half, as the file names it.
    ///
    /// # Errors
    /// Where the file has none of this name.
    pub(crate) fn weight(&self, name: &str) -> Result<&Tensor, String> {
        self.upper
            .get(name)
            .ok_or_else(|| format!("model.safetensors: {name} is missing"))
    }

    /// The upper half, with `change` merged.
    ///
    /// # Errors
    /// Names the tensor where it does not fit.
    pub(crate) fn upper(&self, change: Option<&AdapterFile>) -> Result<Upper, String> {
        let change = change.map(|file| (file.bytes(), file.scale()));
        self.upper_with(change.as_slice())
    }

    /// The upper half with the adapters merged that are part of this binary.
    ///
    /// # Errors
    /// As [`Halves::upper`].
    pub(crate) fn upper_shipped(&self) -> Result<Upper, String> {
        self.upper_with(&shipped(&self.model)?)
    }

    fn upper_with(&self, changes: &[(&[u8], Scale)]) -> Result<Upper, String> {
        let mut weights = self.upper.clone();
        if !changes.is_empty() {
            // Merging writes into the tensors, and the halves must stay as they are.
            for weight in weights.values_mut() {
                *weight = weight.copy().map_err(|error| error.to_string())?;
            }
        }
        for (file, scale) in changes {
            adapter::merge(&weights, file, *scale)?;
        }
        let layers = (self.cut()..self.config().num_hidden_layers)
            .map(|at| Layer::take(&mut weights, at, self.config()))
            .collect::<candle_core::Result<_>>()
            .map_err(|error| format!("model.safetensors: {error}"))?;
        Ok(Upper { layers })
    }
}

impl Upper {
    /// The vectors, of length 1, of texts whose lower states are given.
    ///
    /// # Errors
    /// Where one is not finite.
    pub(crate) fn vectors(&self, texts: &[&Tensor]) -> Result<Vec<Vec<f32>>, String> {
        let run = || {
            let lengths = texts
                .iter()
                .map(|text| text.dim(0))
                .collect::<candle_core::Result<Vec<_>>>()?;
            let texts = texts.iter().copied().cloned().collect();
            parts(&through(&self.layers, joined(texts)?, &lengths)?, &lengths)
        };
        let states = run().map_err(|error: candle_core::Error| error.to_string())?;
        states.iter().map(mean_unit).collect()
    }
}

// Rows of several texts as those of each.
fn parts(hidden: &Tensor, lengths: &[usize]) -> candle_core::Result<Vec<Tensor>> {
    let mut from = 0;
    let part = |length: &usize| {
        let part = hidden.narrow(0, from, *length);
        from += length;
        part
    };
    lengths.iter().map(part).collect()
}
