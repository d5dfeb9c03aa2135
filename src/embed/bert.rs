//! The forward: token ids to a unit vector, through candle.
//!
//! Everything runs in F32, whatever the file holds: with F16 arithmetic this model gives NaN.
//! A text is a forward of its own, without padding or neighbours, and on the CPU it runs on the
//! calling thread and its rayon pool alone; so its vector does not depend on what else is
//! queued: the same ids give the same bits.

mod layers;
mod ops;

use std::collections::HashMap;

use candle_core::{DType, Device, Tensor};
use candle_transformers::models::bert::{Config, HiddenAct};
use safetensors::SafeTensors;

use super::adapter::{self, Scale};
use layers::Embeddings;

pub(super) use layers::{Layer, Weights};
pub(super) use ops::add_scaled;

/// A BERT encoder, ready to run on its device.
pub(super) struct Bert {
    embeddings: Embeddings,
    layers: Vec<Layer>,
    device: Device,
    config: Config,
}

impl Bert {
    /// Builds the model from `config.json`, `model.safetensors` and any adapter files.
    ///
    /// `weights` is dropped as soon as its tensors are converted, before the model is built.
    ///
    /// # Errors
    /// Says which file and tensor is wrong.
    pub(super) fn load(
        config: &[u8],
        weights: Vec<u8>,
        adapters: &[(&[u8], Scale)],
        device: Device,
    ) -> Result<Self, String> {
        let (bert, _) = Self::load_lower(config, weights, adapters, device, usize::MAX)?;
        Ok(bert)
    }

    /// As [`Bert::load`], with at most the first `layers` layers; the second part are the
    /// weights that were not used (F32, on the CPU, adapters merged), by their names.
    ///
    /// # Errors
    /// As [`Bert::load`].
    pub(super) fn load_lower(
        config: &[u8],
        weights: Vec<u8>,
        adapters: &[(&[u8], Scale)],
        device: Device,
        layers: usize,
    ) -> Result<(Self, Weights), String> {
        let config: Config =
            serde_json::from_slice(config).map_err(|error| format!("config.json: {error}"))?;
        check(&config)?;
        let mut tensors =
            read_f32(&weights).map_err(|error| format!("model.safetensors: {error}"))?;
        drop(weights);
        for (file, scale) in adapters {
            adapter::merge(&tensors, file, *scale).map_err(|error| format!("adapter: {error}"))?;
        }
        let bert = Self::build(&mut tensors, config, device, layers)
            .map_err(|error| format!("model.safetensors: {error}"))?;
        Ok((bert, tensors))
    }

    fn build(
        tensors: &mut Weights,
        config: Config,
        device: Device,
        layers: usize,
    ) -> candle_core::Result<Self> {
        let mut embeddings = Embeddings::take(tensors, &config)?;
        embeddings.move_to(&device)?;
        let count = config.num_hidden_layers.min(layers);
        let mut layers = Vec::with_capacity(count);
        for at in 0..count {
            let mut layer = Layer::take(tensors, at, &config)?;
            layer.move_to(&device)?;
            layers.push(layer);
        }
        Ok(Self {
            embeddings,
            layers,
            device,
            config,
        })
    }

    /// Its architecture, as `config.json` says.
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// The vector of one text: the mean of its last hidden states over all tokens, special
    /// ones and prefix included (so both models were trained), scaled to length 1.
    ///
    /// # Errors
    /// Where `ids` is empty, too long or unknown, and where the result is not finite.
    #[cfg(test)]
    pub(super) fn forward(&self, ids: &[u32]) -> Result<Vec<f32>, String> {
        Ok(self.forward_with_middle(ids)?.0)
    }

    /// The vector of one text, and the mean of its states in the middle of the layers, as it
    /// is: what the lower half makes of a text is plain features such as its language.
    ///
    /// # Errors
    /// Like [`Bert::forward`].
    pub(super) fn forward_with_middle(&self, ids: &[u32]) -> Result<(Vec<f32>, Vec<f32>), String> {
        let embedded = self.embedded(&[ids])?;
        let run = || {
            let (lower, upper) = self.layers.split_at(self.layers.len() / 2);
            let lengths = [ids.len()];
            let hidden = through(lower, embedded, &lengths)?;
            let middle = hidden.mean(0)?.to_vec1()?;
            Ok((through(upper, hidden, &lengths)?, middle))
        };
        let (last, middle) = run().map_err(|error: candle_core::Error| error.to_string())?;
        Ok((mean_unit(&last)?, middle))
    }

    /// The hidden states after the last layer that was loaded, `[tokens, hidden]`: the rows of
    /// all `texts`, one after another.
    ///
    /// # Errors
    /// Where there are no texts, or the ids of one are none, too many or unknown.
    pub(super) fn hidden(&self, texts: &[&[u32]]) -> Result<Tensor, String> {
        let lengths: Vec<usize> = texts.iter().map(|ids| ids.len()).collect();
        through(&self.layers, self.embedded(texts)?, &lengths).map_err(|error| error.to_string())
    }

    fn embedded(&self, texts: &[&[u32]]) -> Result<Tensor, String> {
        let (vocab, positions) = (self.config.vocab_size, self.config.max_position_embeddings);
        for ids in texts {
            if ids.is_empty() || ids.len() > positions {
                return Err(format!("{} ids, expected 1 to {positions}", ids.len()));
            }
            // candle takes u32::MAX for "no row" and would give zeros.
            if let Some(id) = ids.iter().find(|id| **id as usize >= vocab) {
                return Err(format!("id {id} is not below {vocab}"));
            }
        }
        let embed = |ids: &&[u32]| self.embeddings.forward(&Tensor::new(*ids, &self.device)?);
        let embedded = texts
            .iter()
            .map(embed)
            .collect::<candle_core::Result<_>>()
            .and_then(joined);
        embedded.map_err(|error| error.to_string())
    }
}

/// Hidden states of texts of `lengths` tokens, one after another, after `layers`.
pub(super) fn through(
    layers: &[Layer],
    mut hidden: Tensor,
    lengths: &[usize],
) -> candle_core::Result<Tensor> {
    for layer in layers {
        hidden = layer.forward(&hidden, lengths)?;
    }
    Ok(hidden)
}

/// The rows of all parts; the only part as it is.
pub(super) fn joined(mut parts: Vec<Tensor>) -> candle_core::Result<Tensor> {
    match parts.pop() {
        Some(only) if parts.is_empty() => Ok(only),
        last => {
            parts.extend(last);
            Tensor::cat(&parts, 0)
        }
    }
}

/// The mean of hidden states, scaled to length 1.
///
/// # Errors
/// Where it is not finite.
pub(super) fn mean_unit(hidden: &Tensor) -> Result<Vec<f32>, String> {
    let mean = hidden.mean(0).and_then(|mean| mean.to_vec1());
    unit(mean.map_err(|error| error.to_string())?)
}

// The layers divide by the number of heads, and know one activation.
fn check(config: &Config) -> Result<(), String> {
    let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
    if heads == 0 || hidden == 0 || !hidden.is_multiple_of(heads) {
        return Err(format!(
            "config.json: hidden_size {hidden} is no multiple of {heads} heads"
        ));
    }
    if config.hidden_act != HiddenAct::Gelu {
        return Err(format!(
            "config.json: hidden_act {:?} is not supported",
            config.hidden_act
        ));
    }
    Ok(())
}

// All floating-point tensors of a safetensors file, as F32 on the CPU. Others, such as a
// stored `position_ids`, are not weights.
fn read_f32(file: &[u8]) -> Result<Weights, String> {
    let parsed = SafeTensors::deserialize(file).map_err(|error| error.to_string())?;
    let mut tensors = HashMap::new();
    for (name, view) in parsed.iter() {
        let dtype = match view.dtype() {
            safetensors::Dtype::F32 => DType::F32,
            safetensors::Dtype::F16 => DType::F16,
            safetensors::Dtype::BF16 => DType::BF16,
            _ => continue,
        };
        let tensor = Tensor::from_raw_buffer(view.data(), dtype, view.shape(), &Device::Cpu)
            .and_then(|tensor| tensor.to_dtype(DType::F32))
            .map_err(|error| format!("{name}: {error}"))?;
        tensors.insert(name.to_owned(), tensor);
    }
    Ok(tensors)
}

// Scaled to length 1; the length is summed in f64.
fn unit(mut vector: Vec<f32>) -> Result<Vec<f32>, String> {
    let squares: f64 = vector.iter().map(|x| f64::from(*x).powi(2)).sum();
    // Also false where one of the numbers is NaN or infinite.
    if !(squares.is_finite() && squares > f64::from(f32::MIN_POSITIVE)) {
        return Err("the model gave a vector without a finite length".into());
    }
    let length = squares.sqrt();
    for x in &mut vector {
        *x = (f64::from(*x) / length) as f32;
    }
    Ok(vector)
}

#[cfg(test)]
mod tests;
