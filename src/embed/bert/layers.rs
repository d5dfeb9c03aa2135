//! One transformer layer, with its weights laid out for short texts.
//!
//! candle's own `BertModel` multiplies by each weight `[out, in]` transposed; the product then
//! packs the whole weight anew in every call, which for a prompt of 16 tokens is nearly half
//! of the time. Here a weight is transposed once, when it is loaded, so that it is used as it
//! lies. Query, key and value are one product, and the scale of the scores is part of the
//! query's weight.

use std::collections::HashMap;

use candle_core::{D, Result, Tensor, bail};
use candle_nn::ops::{layer_norm, softmax_last_dim};
use candle_transformers::models::bert::Config;

use super::ops::{add_bias, add_bias_gelu, add_bias_residual};

/// Weights by name, as read from the file; F32 on the CPU.
pub(in crate::embed) type Weights = HashMap<String, Tensor>;

/// Word, position and type embeddings.
pub(super) struct Embeddings {
    words: Tensor,
    positions: Tensor,
    // Row 0 of the type table: a single text has type 0 throughout.
    kind: Tensor,
    norm: Norm,
}

impl Embeddings {
    pub(super) fn take(weights: &mut Weights, config: &Config) -> Result<Self> {
        let hidden = config.hidden_size;
        let mut table = |name: &str, rows| {
            take(
                weights,
                &format!("embeddings.{name}_embeddings.weight"),
                &[rows, hidden],
            )
        };
        let words = table("word", config.vocab_size)?;
        let positions = table("position", config.max_position_embeddings)?;
        let kind = table("token_type", config.type_vocab_size)?
            .get(0)?
            .copy()?;
        let norm = Norm::take(weights, "embeddings.LayerNorm", config)?;
        Ok(Self {
            words,
            positions,
            kind,
            norm,
        })
    }

    /// Ids `[tokens]` to hidden states `[tokens, hidden]`.
    pub(super) fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        let words = self.words.index_select(ids, 0)?;
        let positions = self.positions.narrow(0, 0, ids.dim(0)?)?;
        self.norm
            .forward(&add_bias_residual(words, &self.kind, &positions)?)
    }

    pub(super) fn move_to(&mut self, device: &candle_core::Device) -> Result<()> {
        for tensor in [&mut self.words, &mut self.positions, &mut self.kind] {
            *tensor = tensor.to_device(device)?;
        }
        self.norm.move_to(device)
    }
}

/// Self-attention and feed-forward, each followed by residual and normalisation.
pub(in crate::embed) struct Layer {
    qkv: Linear,
    output: Linear,
    attended: Norm,
    up: Linear,
    down: Linear,
    fed: Norm,
    heads: usize,
}

impl Layer {
    pub(in crate::embed) fn take(
        weights: &mut Weights,
        at: usize,
        config: &Config,
    ) -> Result<Self> {
        let (hidden, inner) = (config.hidden_size, config.intermediate_size);
        let heads = config.num_attention_heads;
        let prefix = format!("encoder.layer.{at}");
        let name = |part: &str| format!("{prefix}.{part}");
        let mut matrices = Vec::new();
        let mut biases = Vec::new();
        for part in ["query", "key", "value"] {
            let part = name(&format!("attention.self.{part}"));
            matrices.push(take(weights, &format!("{part}.weight"), &[hidden, hidden])?);
            biases.push(take(weights, &format!("{part}.bias"), &[hidden])?);
        }
        // Scores are divided by the root of a head's width.
        let scale = ((hidden / heads) as f64).sqrt().recip();
        matrices[0] = scaled(&matrices[0], scale)?;
        biases[0] = scaled(&biases[0], scale)?;
        let qkv = Linear::new(&Tensor::cat(&matrices, 0)?, Tensor::cat(&biases, 0)?)?;
        drop(matrices);
        Ok(Self {
            qkv,
            output: Linear::take(weights, &name("attention.output.dense"), hidden, hidden)?,
            attended: Norm::take(weights, &name("attention.output.LayerNorm"), config)?,
            up: Linear::take(weights, &name("intermediate.dense"), inner, hidden)?,
            down: Linear::take(weights, &name("output.dense"), hidden, inner)?,
            fed: Norm::take(weights, &name("output.LayerNorm"), config)?,
            heads,
        })
    }

    /// Hidden states `[tokens, hidden]` to those of the next layer. The rows are those of one
    /// or more texts, one after another, of `lengths` tokens.
    pub(super) fn forward(&self, hidden: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        let context = self.attend(hidden, lengths)?;
        let output = self.output.product(&context)?;
        let attended =
            self.attended
                .forward(&add_bias_residual(output, &self.output.bias, hidden)?)?;
        let up = add_bias_gelu(self.up.product(&attended)?, &self.up.bias)?;
        let down = self.down.product(&up)?;
        self.fed
            .forward(&add_bias_residual(down, &self.down.bias, &attended)?)
    }

    // The heads' contexts side by side, [tokens, hidden]; each text attends to itself alone.
    fn attend(&self, hidden: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        let qkv = add_bias(self.qkv.product(hidden)?, &self.qkv.bias)?;
        if let [_] = lengths {
            return self.attend_one(&qkv);
        }
        let mut contexts = Vec::with_capacity(lengths.len());
        let mut from = 0;
        for length in lengths {
            contexts.push(self.attend_one(&qkv.narrow(0, from, *length)?)?);
            from += length;
        }
        Tensor::cat(&contexts, 0)
    }

    fn attend_one(&self, qkv: &Tensor) -> Result<Tensor> {
        let (tokens, width) = qkv.dims2()?;
        let width = width / 3;
        // Views of [heads, tokens, width / heads]; nothing is copied.
        let qkv = qkv
            .reshape((tokens, 3, self.heads, width / self.heads))?
            .permute((1, 2, 0, 3))?;
        let (query, key, value) = (qkv.get(0)?, qkv.get(1)?, qkv.get(2)?);
        let scores = query.matmul(&key.transpose(D::Minus2, D::Minus1)?)?;
        let context = softmax_last_dim(&scores)?.matmul(&value)?;
        context.transpose(0, 1)?.reshape((tokens, width))
    }

    pub(super) fn move_to(&mut self, device: &candle_core::Device) -> Result<()> {
        for linear in [
            &mut self.qkv,
            &mut self.output,
            &mut self.up,
            &mut self.down,
        ] {
            linear.weight = linear.weight.to_device(device)?;
            linear.bias = linear.bias.to_device(device)?;
        }
        self.attended.move_to(device)?;
        self.fed.move_to(device)
    }
}

struct Linear {
    // [in, out].
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    // From a weight of the file, [out, in].
    fn new(weight: &Tensor, bias: Tensor) -> Result<Self> {
        Ok(Self {
            weight: weight.t()?.contiguous()?,
            bias,
        })
    }

    fn take(weights: &mut Weights, name: &str, out: usize, inner: usize) -> Result<Self> {
        let weight = take(weights, &format!("{name}.weight"), &[out, inner])?;
        Self::new(&weight, take(weights, &format!("{name}.bias"), &[out])?)
    }

    // Without the bias, which is added together with what follows.
    fn product(&self, x: &Tensor) -> Result<Tensor> {
        x.matmul(&self.weight)
    }
}

struct Norm {
    weight: Tensor,
    bias: Tensor,
    epsilon: f32,
}

impl Norm {
    fn take(weights: &mut Weights, name: &str, config: &Config) -> Result<Self> {
        let shape = [config.hidden_size];
        Ok(Self {
            weight: take(weights, &format!("{name}.weight"), &shape)?,
            bias: take(weights, &format!("{name}.bias"), &shape)?,
            epsilon: config.layer_norm_eps as f32,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        layer_norm(x, &self.weight, &self.bias, self.epsilon)
    }

    fn move_to(&mut self, device: &candle_core::Device) -> Result<()> {
        self.weight = self.weight.to_device(device)?;
        self.bias = self.bias.to_device(device)?;
        Ok(())
    }
}

// Takes a tensor out of the map, so that it is freed once it has been laid out anew.
fn take(weights: &mut Weights, name: &str, shape: &[usize]) -> Result<Tensor> {
    let Some(tensor) = weights.remove(name) else {
        bail!("{name} is missing")
    };
    if tensor.dims() != shape {
        bail!(
            "{name}: expected shape {shape:?}, found {:?}",
            tensor.dims()
        );
    }
    Ok(tensor)
}

// By hand: candle would start its pool for a multiplication of this size.
fn scaled(tensor: &Tensor, factor: f64) -> Result<Tensor> {
    let numbers: Vec<f32> = tensor.flatten_all()?.to_vec1()?;
    let numbers = numbers
        .into_iter()
        .map(|x| (f64::from(x) * factor) as f32)
        .collect();
    Tensor::from_vec(numbers, tensor.shape(), tensor.device())
}
