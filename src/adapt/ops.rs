//! Steps of a layer as operations of candle's autograd, each with a backward of its own.
//!
//! candle's own matrix product works out the gradients of both of its sides; most weights here
//! are frozen and want none. And it has no backward for its fused normalisation and softmax.
//! So each step is one operation: its result is computed with candle's primitives outside the
//! graph, handed to the graph by [`Made`], and its backward is written with primitives too. No
//! loop over numbers stands here, so the speed does not depend on how this crate is optimised.

use std::sync::{Mutex, PoisonError};

use candle_core::{
    CpuStorage, CustomOp1, CustomOp2, CustomOp3, D, Layout, Result, Shape, Storage, Tensor, bail,
};
use candle_nn::ops::softmax_last_dim;

/// A result on its way into the graph.
struct Made(Mutex<Option<Tensor>>);

impl Made {
    fn new(result: Tensor) -> Self {
        Self(Mutex::new(Some(result)))
    }

    // The copy is what the graph keeps; the original is freed.
    fn take(&self) -> Result<(CpuStorage, Shape)> {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(result) = place.take() else {
            bail!("the result was taken already")
        };
        let result = result.contiguous()?;
        let (storage, layout) = result.storage_and_layout();
        match (&*storage, layout.contiguous_offsets()) {
            (Storage::Cpu(CpuStorage::F32(numbers)), Some((from, to))) => Ok((
                CpuStorage::F32(numbers[from..to].to_vec()),
                result.shape().clone(),
            )),
            _ => bail!("expected F32 on the CPU"),
        }
    }
}

/// `x W^T + bias + scale * (x A^T) B^T`: `x` is `[rows, in]`, the frozen `weight` `[out, in]`,
/// the factors `[rank, in]` and `[out, rank]`.
pub(super) fn adapted_linear(
    x: &Tensor,
    weight: &Tensor,
    bias: &Tensor,
    (a, b): (&Tensor, &Tensor),
    scale: f64,
) -> Result<Tensor> {
    let plain = x.detach();
    let low = plain.matmul(&a.detach().t()?)?;
    let change = (low.matmul(&b.detach().t()?)? * scale)?;
    let result = (plain.matmul(&weight.t()?)? + change)?.broadcast_add(bias)?;
    let op = AdaptedLinear {
        made: Made::new(result),
        weight: weight.clone(),
        low,
        scale,
        wants_input: x.track_op(),
    };
    x.apply_op3(a, b, op)
}

struct AdaptedLinear {
    made: Made,
    weight: Tensor,
    low: Tensor,
    scale: f64,
    wants_input: bool,
}

impl CustomOp3 for AdaptedLinear {
    fn name(&self) -> &'static str {
        "adapted-linear"
    }

    fn cpu_fwd(
        &self,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        self.made.take()
    }

    fn bwd(
        &self,
        x: &Tensor,
        a: &Tensor,
        b: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let (x, a, b) = (x.detach(), a.detach(), b.detach());
        let grad_low = (grad.matmul(&b)? * self.scale)?;
        let grad_x = match self.wants_input {
            true => Some((grad.matmul(&self.weight)? + grad_low.matmul(&a)?)?),
            false => None,
        };
        let grad_a = grad_low.t()?.matmul(&x)?;
        let grad_b = (grad.t()?.matmul(&self.low)? * self.scale)?;
        Ok((grad_x, Some(grad_a), Some(grad_b)))
    }
}

/// The normalisation of `x + residual` over the last dimension, `[rows, width]`; its weights
/// are frozen.
pub(super) fn add_norm(
    x: &Tensor,
    residual: &Tensor,
    (weight, bias): (&Tensor, &Tensor),
    epsilon: f64,
) -> Result<Tensor> {
    let sum = (x.detach() + residual.detach())?;
    let centred = sum.broadcast_sub(&sum.mean_keepdim(D::Minus1)?)?;
    let variance = centred.sqr()?.mean_keepdim(D::Minus1)?;
    let inverse = (variance + epsilon)?.sqrt()?.recip()?;
    let normal = centred.broadcast_mul(&inverse)?;
    let result = normal.broadcast_mul(weight)?.broadcast_add(bias)?;
    let op = AddNorm {
        made: Made::new(result),
        weight: weight.clone(),
        normal,
        inverse,
    };
    x.apply_op2(residual, op)
}

struct AddNorm {
    made: Made,
    weight: Tensor,
    normal: Tensor,
    // One over the standard deviation of each row.
    inverse: Tensor,
}

impl CustomOp2 for AddNorm {
    fn name(&self) -> &'static str {
        "add-norm"
    }

    fn cpu_fwd(
        &self,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        self.made.take()
    }

    fn bwd(
        &self,
        x: &Tensor,
        residual: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let grad = grad.broadcast_mul(&self.weight)?;
        let mean = grad.mean_keepdim(D::Minus1)?;
        let along = (&grad * &self.normal)?.mean_keepdim(D::Minus1)?;
        let grad = grad
            .broadcast_sub(&mean)?
            .sub(&self.normal.broadcast_mul(&along)?)?
            .broadcast_mul(&self.inverse)?;
        let wanted = |to: &Tensor| to.track_op().then(|| grad.clone());
        Ok((wanted(x), wanted(residual)))
    }
}

/// The exact GELU, by the error function.
pub(super) fn gelu(x: &Tensor) -> Result<Tensor> {
    let plain = x.detach();
    // The normal distribution's share below x.
    let below = (plain.affine(std::f64::consts::FRAC_1_SQRT_2, 0.0)?.erf()?).affine(0.5, 0.5)?;
    let op = Gelu {
        made: Made::new((&plain * &below)?),
        below,
    };
    x.apply_op1(op)
}

struct Gelu {
    made: Made,
    below: Tensor,
}

impl CustomOp1 for Gelu {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        self.made.take()
    }

    fn bwd(&self, x: &Tensor, _: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
        let x = x.detach();
        let density = x.sqr()?.affine(-0.5, 0.0)?.exp()?;
        // One over the root of two pi.
        let root = std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2 / 2.0;
        let slope = ((x * density)?.affine(root, 0.0)? + &self.below)?;
        Ok(Some((grad * slope)?))
    }
}

/// How rows `[texts * tokens, heads * width]` are texts of heads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heads {
    pub(super) texts: usize,
    pub(super) tokens: usize,
    pub(super) heads: usize,
}

impl Heads {
    // [texts, heads, tokens, width], contiguous.
    fn split(self, x: &Tensor) -> Result<Tensor> {
        let width = x.dim(D::Minus1)? / self.heads.max(1);
        x.reshape((self.texts, self.tokens, self.heads, width))?
            .transpose(1, 2)?
            .contiguous()
    }

    fn join(self, x: &Tensor) -> Result<Tensor> {
        let width = x.dim(D::Minus1)? * self.heads;
        x.transpose(1, 2)?
            .reshape((self.texts * self.tokens, width))
    }
}

/// Self-attention of each text with itself. `mask` `[texts, 1, 1, tokens]` is added to the
/// scores; absent where no text is padded.
pub(super) fn attention(
    (query, key, value): (&Tensor, &Tensor, &Tensor),
    mask: Option<&Tensor>,
    heads: Heads,
) -> Result<Tensor> {
    let q = heads.split(&query.detach())?;
    let k = heads.split(&key.detach())?;
    let v = heads.split(&value.detach())?;
    let scale = (q.dim(D::Minus1)? as f64).sqrt().recip();
    let mut scores = (q.matmul(&k.t()?)? * scale)?;
    if let Some(mask) = mask {
        scores = scores.broadcast_add(mask)?;
    }
    let weights = softmax_last_dim(&scores)?;
    let result = heads.join(&weights.matmul(&v)?)?;
    let op = Attention {
        made: Made::new(result),
        q,
        k,
        v,
        weights,
        scale,
        heads,
    };
    query.apply_op3(key, value, op)
}

struct Attention {
    made: Made,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    weights: Tensor,
    scale: f64,
    heads: Heads,
}

impl CustomOp3 for Attention {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn cpu_fwd(
        &self,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        self.made.take()
    }

    fn bwd(
        &self,
        _: &Tensor,
        _: &Tensor,
        _: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let grad = self.heads.split(grad)?;
        let grad_v = self.weights.t()?.matmul(&grad)?;
        let grad_weights = grad.matmul(&self.v.t()?)?;
        let along = (&grad_weights * &self.weights)?.sum_keepdim(D::Minus1)?;
        let grad_scores = (grad_weights.broadcast_sub(&along)?.mul(&self.weights)? * self.scale)?;
        let grad_q = grad_scores.matmul(&self.k)?;
        let grad_k = grad_scores.t()?.matmul(&self.q)?;
        Ok((
            Some(self.heads.join(&grad_q)?),
            Some(self.heads.join(&grad_k)?),
            Some(self.heads.join(&grad_v)?),
        ))
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::*;

    // Numbers without a pattern, within -0.75..0.75.
    fn numbers(shape: &[usize], seed: usize) -> Tensor {
        let value = |n: usize| {
            let bits = ((n + 1) * (seed + 7)).wrapping_mul(2_654_435_761) >> 9;
            ((bits % 97) as f32 - 48.0) / 64.0
        };
        let values: Vec<f32> = (0..shape.iter().product()).map(value).collect();
        Tensor::from_vec(values, shape, &Device::Cpu).unwrap()
    }

    // Compares the gradients of `sum(f(vars) * r)` with central differences, number by number.
    fn check(vars: &[Var], f: impl Fn(&[Var]) -> Tensor) {
        let probe = numbers(f(vars).dims(), 99);
        let loss = || (f(vars) * &probe).unwrap().sum_all().unwrap();
        let grads = loss().backward().unwrap();
        for (at, var) in vars.iter().enumerate() {
            let found = grads.get(var).expect("a gradient").flatten_all().unwrap();
            let found: Vec<f32> = found.to_vec1().unwrap();
            let start: Vec<f32> = var.flatten_all().unwrap().to_vec1().unwrap();
            let moved = |n: usize, by: f32| {
                let mut values = start.clone();
                values[n] += by;
                let tensor = Tensor::from_vec(values, var.shape(), &Device::Cpu).unwrap();
                var.set(&tensor).unwrap();
                let loss: f32 = loss().to_scalar().unwrap();
                f64::from(loss)
            };
            for (n, found) in found.iter().enumerate() {
                let step = 1e-2;
                let slope = (moved(n, step) - moved(n, -step)) / (2.0 * f64::from(step));
                let error = (f64::from(*found) - slope).abs();
                assert!(
                    error < 2e-3 + 0.01 * slope.abs(),
                    "{at}[{n}]: {found} for {slope}"
                );
            }
            moved(0, 0.0);
        }
    }

    fn vars(shapes: &[&[usize]]) -> Vec<Var> {
        let var = |(seed, shape): (usize, &&[usize])| Var::from_tensor(&numbers(shape, seed));
        shapes
            .iter()
            .enumerate()
            .map(|one| var(one).unwrap())
            .collect()
    }

    #[test]
    fn the_adapted_linear_has_the_right_gradients() {
        let (weight, bias) = (numbers(&[4, 3], 20), numbers(&[4], 21));
        check(&vars(&[&[5, 3], &[2, 3], &[4, 2]]), |v| {
            adapted_linear(&v[0], &weight, &bias, (&v[1], &v[2]), 2.0).unwrap()
        });
    }

    #[test]
    fn frozen_input_gets_no_gradient() {
        let (weight, bias) = (numbers(&[4, 3], 20), numbers(&[4], 21));
        let (x, v) = (numbers(&[5, 3], 1), vars(&[&[2, 3], &[4, 2]]));
        let y = adapted_linear(&x, &weight, &bias, (&v[0], &v[1]), 2.0).unwrap();
        let grads = y.sum_all().unwrap().backward().unwrap();
        assert!(grads.get(&x).is_none() && grads.get(&weight).is_none());
        assert!(grads.get(&v[0]).is_some() && grads.get(&v[1]).is_some());
    }

    #[test]
    fn the_normalisation_has_the_right_gradients() {
        let (weight, bias) = (numbers(&[6], 30), numbers(&[6], 31));
        check(&vars(&[&[3, 6], &[3, 6]]), |v| {
            add_norm(&v[0], &v[1], (&weight, &bias), 1e-5).unwrap()
        });
    }

    #[test]
    fn gelu_has_the_right_gradients_and_values() {
        let v = vars(&[&[4, 5]]);
        check(&v, |v| gelu(&v[0]).unwrap());
        let found: Vec<f32> = gelu(&v[0])
            .unwrap()
            .flatten_all()
            .unwrap()
            .to_vec1()
            .unwrap();
        let wanted = v[0].gelu_erf().unwrap().flatten_all().unwrap();
        for (found, wanted) in found.iter().zip(wanted.to_vec1::<f32>().unwrap()) {
            assert!((found - wanted).abs() < 1e-6, "{found} for {wanted}");
        }
    }

    #[test]
    fn attention_has_the_right_gradients_and_leaves_padding_out() {
        let heads = Heads {
            texts: 2,
            tokens: 3,
            heads: 2,
        };
        let shape: &[usize] = &[6, 8];
        let masked: Vec<f32> = vec![0.0, 0.0, 0.0, 0.0, 0.0, -1e9];
        let mask = Tensor::from_vec(masked, (2, 1, 1, 3), &Device::Cpu).unwrap();
        check(&vars(&[shape, shape, shape]), |v| {
            attention((&v[0], &v[1], &v[2]), Some(&mask), heads).unwrap()
        });
        // What stands in the padding is of no account for the rows before it.
        let v = vars(&[shape, shape, shape]);
        let result = |v: &[Var]| {
            let all = attention((&v[0], &v[1], &v[2]), Some(&mask), heads).unwrap();
            all.narrow(0, 0, 5).unwrap().to_vec2::<f32>().unwrap()
        };
        let before = result(&v);
        for var in &v[1..] {
            let last = numbers(&[1, 8], 77);
            let rows = Tensor::cat(&[var.narrow(0, 0, 5).unwrap(), last], 0).unwrap();
            var.set(&rows).unwrap();
        }
        assert_eq!(result(&v), before);
    }
}
