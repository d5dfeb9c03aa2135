//! Element-wise steps of the forward, fused, on the calling thread.
//!
//! On the CPU candle hands element-wise operations on 65,536 numbers and more to a pool of its
//! own: one thread for each core of the machine, which spin while they wait, behind one lock
//! for the process. That would make workers wait for each other and burn cores that a sidecar
//! does not have, so these steps run here, in place. On another device they are candle's.

use candle_core::{CpuStorage, InplaceOp2, InplaceOp3, Layout, Result, Tensor, bail, cpu::erf};

/// `x + bias`, for each row of `x` `[rows, width]`. `x` must own its memory.
pub(super) fn add_bias(x: Tensor, bias: &Tensor) -> Result<Tensor> {
    if !x.device().is_cpu() {
        return x.broadcast_add(bias);
    }
    x.inplace_op2(bias, &AddBias { gelu: false })?;
    Ok(x)
}

/// `gelu(x + bias)`, for each row, with the exact GELU by the error function.
pub(super) fn add_bias_gelu(x: Tensor, bias: &Tensor) -> Result<Tensor> {
    if !x.device().is_cpu() {
        return x.broadcast_add(bias)?.gelu_erf();
    }
    x.inplace_op2(bias, &AddBias { gelu: true })?;
    Ok(x)
}

/// `x + bias + residual`, where `residual` has the shape of `x`.
pub(super) fn add_bias_residual(x: Tensor, bias: &Tensor, residual: &Tensor) -> Result<Tensor> {
    if !x.device().is_cpu() {
        return x.broadcast_add(bias)? + residual;
    }
    x.inplace_op3(bias, residual, &AddBiasResidual)?;
    Ok(x)
}

/// `x += factor * y`, of equal shapes on the CPU.
pub(in crate::embed) fn add_scaled(x: &Tensor, y: &Tensor, factor: f32) -> Result<()> {
    if x.dims() != y.dims() {
        bail!("shapes {:?} and {:?} differ", x.dims(), y.dims());
    }
    x.inplace_op2(y, &AddScaled { factor })
}

struct AddBias {
    gelu: bool,
}

impl InplaceOp2 for AddBias {
    fn name(&self) -> &'static str {
        "add-bias"
    }

    fn cpu_fwd(&self, x: &mut CpuStorage, lx: &Layout, b: &CpuStorage, lb: &Layout) -> Result<()> {
        let (x, bias) = (write(x, lx)?, read(b, lb)?);
        for row in rows(x, bias.len())? {
            if self.gelu {
                row.iter_mut()
                    .zip(bias)
                    .for_each(|(x, b)| *x = gelu(*x + b));
            } else {
                row.iter_mut().zip(bias).for_each(|(x, b)| *x += b);
            }
        }
        Ok(())
    }
}

struct AddBiasResidual;

impl InplaceOp3 for AddBiasResidual {
    fn name(&self) -> &'static str {
        "add-bias-residual"
    }

    fn cpu_fwd(
        &self,
        x: &mut CpuStorage,
        lx: &Layout,
        b: &CpuStorage,
        lb: &Layout,
        r: &CpuStorage,
        lr: &Layout,
    ) -> Result<()> {
        let (x, bias, residual) = (write(x, lx)?, read(b, lb)?, read(r, lr)?);
        if residual.len() != x.len() {
            bail!("residual of {} numbers for {}", residual.len(), x.len());
        }
        let width = bias.len();
        for (row, residual) in rows(x, width)?.zip(residual.chunks_exact(width)) {
            for ((x, b), r) in row.iter_mut().zip(bias).zip(residual) {
                *x += b + r;
            }
        }
        Ok(())
    }
}

struct AddScaled {
    factor: f32,
}

impl InplaceOp2 for AddScaled {
    fn name(&self) -> &'static str {
        "add-scaled"
    }

    fn cpu_fwd(&self, x: &mut CpuStorage, lx: &Layout, y: &CpuStorage, ly: &Layout) -> Result<()> {
        let (x, y) = (write(x, lx)?, read(y, ly)?);
        x.iter_mut().zip(y).for_each(|(x, y)| *x += self.factor * y);
        Ok(())
    }
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf::erf_f32(x * std::f32::consts::FRAC_1_SQRT_2))
}

fn rows(x: &mut [f32], width: usize) -> Result<std::slice::ChunksExactMut<'_, f32>> {
    if width == 0 || !x.len().is_multiple_of(width) {
        bail!("{} numbers are no rows of {width}", x.len());
    }
    Ok(x.chunks_exact_mut(width))
}

fn read<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(numbers), Some((from, to))) => Ok(&numbers[from..to]),
        _ => bail!("expected contiguous F32"),
    }
}

fn write<'a>(storage: &'a mut CpuStorage, layout: &Layout) -> Result<&'a mut [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(numbers), Some((from, to))) => Ok(&mut numbers[from..to]),
        _ => bail!("expected contiguous F32"),
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    fn tensor(shape: (usize, usize), from: f32) -> Tensor {
        let numbers = (0..shape.0 * shape.1)
            .map(|n| from + n as f32 / 7.0)
            .collect();
        Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap()
    }

    fn flat(x: &Tensor) -> Vec<f32> {
        x.flatten_all().unwrap().to_vec1().unwrap()
    }

    // candle's own operations are the reference.
    #[test]
    fn the_fused_steps_agree_with_candles() {
        let (x, residual) = (tensor((5, 6), -3.0), tensor((5, 6), 0.25));
        let bias = Tensor::new(&[0.5f32, -1.0, 0.0, 2.0, 1.0, -0.25], &Device::Cpu).unwrap();
        let wanted = x.broadcast_add(&bias).unwrap();
        assert_eq!(
            flat(&add_bias(x.copy().unwrap(), &bias).unwrap()),
            flat(&wanted)
        );

        let found = flat(&add_bias_gelu(x.copy().unwrap(), &bias).unwrap());
        for (found, wanted) in found.iter().zip(flat(&wanted.gelu_erf().unwrap())) {
            assert!((found - wanted).abs() < 1e-6, "{found} for {wanted}");
        }

        let found = flat(&add_bias_residual(x.copy().unwrap(), &bias, &residual).unwrap());
        for (found, wanted) in found.iter().zip(flat(&(wanted + residual).unwrap())) {
            assert!((found - wanted).abs() < 1e-6, "{found} for {wanted}");
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_errors() {
        let x = tensor((2, 6), 0.0);
        let short = tensor((1, 4), 0.0).flatten_all().unwrap();
        let wide = tensor((1, 5), 0.0).flatten_all().unwrap();
        assert!(add_bias(x.copy().unwrap(), &wide).is_err());
        let bias = tensor((1, 6), 0.0).flatten_all().unwrap();
        assert!(add_bias_residual(x.copy().unwrap(), &bias, &short).is_err());
        assert!(add_scaled(&x, &short, 1.0).is_err());
    }
}
