//! The upper half of the encoder with trainable factors beside its frozen matrices.
//!
//! Texts are taken in groups of like length, padded to their longest, and each group is a
//! forward of its own; so little is computed for padding, and a vector does not depend on its
//! group but for rounding.

use std::collections::BTreeMap;

use candle_core::{DType, Device, Result, Tensor, Var};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::ops::{Heads, adapted_linear, add_norm, attention, gelu};
use crate::embed::Halves;

/// Matrices of a layer that get factors, as the model's file names them.
const MODULES: [&str; 6] = [
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
];

/// Rows (tokens, padding included) of one group: enough for the matrix product to be busy,
/// little enough for its results to stay in the cache.
const GROUP_ROWS: usize = 768;

/// Added to the score of what must not be attended to.
const MASKED: f32 = -1e9;

/// The upper layers.
pub(super) struct Model {
    layers: Vec<Layer>,
    heads: usize,
    epsilon: f64,
}

struct Layer {
    linears: [Linear; 6],
    attended: (Tensor, Tensor),
    fed: (Tensor, Tensor),
}

struct Linear {
    // In the model's file, without ".weight".
    name: String,
    weight: Tensor,
    bias: Tensor,
    a: Var,
    b: Var,
    scale: f64,
}

impl Model {
    /// Factors that change nothing yet, beside the weights of `halves`.
    pub(super) fn new(
        halves: &Halves,
        rank: usize,
        alpha: f64,
        rng: &mut ChaCha8Rng,
    ) -> std::result::Result<Self, String> {
        let config = halves.config();
        let mut layers = Vec::new();
        for at in halves.cut()..config.num_hidden_layers {
            let mut linears = Vec::with_capacity(MODULES.len());
            for module in MODULES {
                let name = format!("encoder.layer.{at}.{module}");
                let weight = halves.weight(&format!("{name}.weight"))?.clone();
                let bias = halves.weight(&format!("{name}.bias"))?.clone();
                let linear = Linear::new(name, weight, bias, (rank, alpha), rng);
                linears.push(linear.map_err(|error| error.to_string())?);
            }
            let norm = |part: &str| -> std::result::Result<(Tensor, Tensor), String> {
                let name = format!("encoder.layer.{at}.{part}.LayerNorm");
                let weight = halves.weight(&format!("{name}.weight"))?.clone();
                Ok((weight, halves.weight(&format!("{name}.bias"))?.clone()))
            };
            layers.push(Layer {
                attended: norm("attention.output")?,
                fed: norm("output")?,
                linears: linears
                    .try_into()
                    .map_err(|_| "a layer has six matrices".to_owned())?,
            });
        }
        Ok(Self {
            layers,
            heads: config.num_attention_heads,
            epsilon: config.layer_norm_eps,
        })
    }

    /// Everything that is trained, in a fixed order.
    pub(super) fn vars(&self) -> Vec<Var> {
        let linears = self.layers.iter().flat_map(|layer| &layer.linears);
        linears
            .flat_map(|linear| [linear.a.clone(), linear.b.clone()])
            .collect()
    }

    /// The factors under the names of an adapter file.
    pub(super) fn factors(&self) -> BTreeMap<String, Tensor> {
        let linears = self.layers.iter().flat_map(|layer| &layer.linears);
        linears
            .flat_map(|linear| {
                let named = |part: &str| format!("{}.{part}", linear.name);
                [
                    (named("lora_A"), linear.a.as_detached_tensor()),
                    (named("lora_B"), linear.b.as_detached_tensor()),
                ]
            })
            .collect()
    }

    /// The vectors `[texts, hidden]`, each of length 1, of texts whose lower states are given,
    /// in their order.
    pub(super) fn vectors(&self, texts: &[&Tensor]) -> Result<Tensor> {
        let mut order: Vec<usize> = (0..texts.len()).collect();
        let tokens = |at: usize| texts[at].dim(0);
        let lengths = (0..texts.len()).map(tokens).collect::<Result<Vec<_>>>()?;
        order.sort_by_key(|at| lengths[*at]);
        let mut groups = Vec::new();
        let mut rest = order.as_slice();
        while !rest.is_empty() {
            // Sorted by length, so the last of a group is its longest.
            let fits = |count: &usize| lengths[rest[count - 1]] * count <= GROUP_ROWS;
            let count = (1..=rest.len()).take_while(fits).last().unwrap_or(1);
            let (group, after) = rest.split_at(count);
            let group: Vec<&Tensor> = group.iter().map(|at| texts[*at]).collect();
            groups.push(self.group(&group)?);
            rest = after;
        }
        let sorted = Tensor::cat(&groups, 0)?;
        let mut places = vec![0u32; order.len()];
        for (place, at) in order.into_iter().enumerate() {
            places[at] = place as u32;
        }
        sorted.index_select(&Tensor::new(places, &Device::Cpu)?, 0)
    }

    fn group(&self, texts: &[&Tensor]) -> Result<Tensor> {
        let lengths = texts
            .iter()
            .map(|text| text.dim(0))
            .collect::<Result<Vec<_>>>()?;
        let tokens = lengths.iter().copied().max().unwrap_or(0);
        let width = texts.first().map_or(Ok(0), |text| text.dim(1))?;
        let padded = texts
            .iter()
            .map(|text| text.pad_with_zeros(0, 0, tokens - text.dim(0)?))
            .collect::<Result<Vec<_>>>()?;
        let mut hidden = Tensor::cat(&padded, 0)?;
        let (mut masked, mut kept) = (Vec::new(), Vec::new());
        for length in &lengths {
            for at in 0..tokens {
                masked.push(if at < *length { 0.0 } else { MASKED });
                // The mean is over the text's own tokens.
                kept.push(if at < *length {
                    1.0 / *length as f32
                } else {
                    0.0
                });
            }
        }
        let shape = (texts.len(), 1, 1, tokens);
        let mask = match lengths.iter().all(|length| *length == tokens) {
            true => None,
            false => Some(Tensor::from_vec(masked, shape, &Device::Cpu)?),
        };
        let heads = Heads {
            texts: texts.len(),
            tokens,
            heads: self.heads,
        };
        for layer in &self.layers {
            hidden = layer.forward(&hidden, mask.as_ref(), heads, self.epsilon)?;
        }
        let kept = Tensor::from_vec(kept, (texts.len(), tokens, 1), &Device::Cpu)?;
        let mean = hidden
            .reshape((texts.len(), tokens, width))?
            .broadcast_mul(&kept)?
            .sum(1)?;
        let length = mean.sqr()?.sum_keepdim(1)?.sqrt()?;
        mean.broadcast_div(&length)
    }
}

impl Layer {
    fn forward(
        &self,
        hidden: &Tensor,
        mask: Option<&Tensor>,
        heads: Heads,
        epsilon: f64,
    ) -> Result<Tensor> {
        let [query, key, value, output, up, down] = &self.linears;
        let (q, k, v) = (
            query.forward(hidden)?,
            key.forward(hidden)?,
            value.forward(hidden)?,
        );
        let context = attention((&q, &k, &v), mask, heads)?;
        let norm = |(weight, bias): &(Tensor, Tensor), x: &Tensor, residual: &Tensor| {
            add_norm(x, residual, (weight, bias), epsilon)
        };
        let attended = norm(&self.attended, &output.forward(&context)?, hidden)?;
        let fed = down.forward(&gelu(&up.forward(&attended)?)?)?;
        norm(&self.fed, &fed, &attended)
    }
}

impl Linear {
    fn new(
        name: String,
        weight: Tensor,
        bias: Tensor,
        (rank, alpha): (usize, f64),
        rng: &mut ChaCha8Rng,
    ) -> Result<Self> {
        let (out, inner) = weight.dims2()?;
        // Variance 1 / in, so that the low-rank states are of the size of the states.
        let most = (3.0 / inner as f32).sqrt();
        let a: Vec<f32> = (0..rank * inner)
            .map(|_| rng.random_range(-most..most))
            .collect();
        let a = Tensor::from_vec(a, (rank, inner), &Device::Cpu)?;
        Ok(Self {
            name,
            weight,
            bias,
            a: Var::from_tensor(&a)?,
            b: Var::zeros((out, rank), DType::F32, &Device::Cpu)?,
            scale: alpha / rank as f64,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        adapted_linear(x, &self.weight, &self.bias, (&self.a, &self.b), self.scale)
    }
}
