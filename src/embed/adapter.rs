//! Low-rank adapters, merged into the weights when they are loaded.
//!
//! An adapter file holds, for a weight `NAME.weight` of shape `[out, in]`, the two factors
//! `NAME.lora_A` `[rank, in]` and `NAME.lora_B` `[out, rank]`. The merged weight is
//! `W + strength * (alpha / rank) * B A`, in F32: rounded to the coarse grid of a quantised
//! base the change would vanish. Once merged it costs nothing at run time.

use std::collections::HashMap;

use candle_core::{DType, Device, Tensor, safetensors};

use super::bert::add_scaled;

/// Scale of one adapter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    pub(super) rank: usize,
    pub(super) alpha: f64,
    pub(super) strength: f64,
}

/// Merges the adapter in `file` (safetensors) into `weights` (F32, on the CPU), in place.
///
/// # Errors
/// Names the tensor where a factor has no partner, no weight, or a shape that does not fit;
/// `weights` may be half merged then and must not be used.
pub(super) fn merge(
    weights: &HashMap<String, Tensor>,
    file: &[u8],
    scale: Scale,
) -> Result<(), String> {
    let mut factors = safetensors::load_buffer(file, &Device::Cpu).map_err(|e| e.to_string())?;
    let mut names: Vec<String> = factors
        .keys()
        .filter_map(|key| key.strip_suffix(".lora_A").map(str::to_owned))
        .collect();
    names.sort_unstable();
    if names.is_empty() {
        return Err("no tensor is named *.lora_A".into());
    }
    for name in names {
        let a = factors.remove(&format!("{name}.lora_A"));
        let b = factors.remove(&format!("{name}.lora_B"));
        let (Some(a), Some(b)) = (a, b) else {
            return Err(format!("{name}.lora_B is missing"));
        };
        let weight = weights
            .get(&format!("{name}.weight"))
            .ok_or_else(|| format!("the model has no {name}.weight"))?;
        add(weight, &a, &b, scale).map_err(|error| format!("{name}: {error}"))?;
    }
    match factors.keys().min() {
        Some(left) => Err(format!("{left} belongs to no pair of lora_A and lora_B")),
        None => Ok(()),
    }
}

fn add(weight: &Tensor, a: &Tensor, b: &Tensor, scale: Scale) -> candle_core::Result<()> {
    let (rank, _) = a.dims2()?;
    if rank != scale.rank {
        candle_core::bail!("expected rank {}, found {rank}", scale.rank);
    }
    let factor = scale.strength * scale.alpha / rank as f64;
    let (out, inner) = weight.dims2()?;
    if a.dims2()?.1 != inner || b.dims2()? != (out, rank) {
        candle_core::bail!(
            "factors of shapes {:?} and {:?} do not fit a weight of shape {:?}",
            a.dims(),
            b.dims(),
            weight.dims()
        );
    }
    let a = a.to_dtype(DType::F32)?;
    let b = b.to_dtype(DType::F32)?;
    let change = b.matmul(&a)?;
    // Zero times a number that is not finite is none either.
    if (&change * 0.0)?.sum_all()?.to_scalar::<f32>()? != 0.0 {
        candle_core::bail!("the product of the factors is not finite");
    }
    add_scaled(weight, &change, factor as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(tensors: &[(&str, &Tensor)]) -> Vec<u8> {
        let views: HashMap<&str, &Tensor> = tensors.iter().copied().collect();
        ::safetensors::serialize(views, None).unwrap()
    }

    fn tensor<const ROWS: usize>(rows: &[[f32; 2]; ROWS]) -> Tensor {
        Tensor::new(rows, &Device::Cpu).unwrap()
    }

    fn weights() -> HashMap<String, Tensor> {
        HashMap::from([
            (
                "layer.6.query.weight".to_owned(),
                tensor(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
            ),
            ("layer.5.query.weight".to_owned(), tensor(&[[1.0, 2.0]])),
        ])
    }

    const SCALE: Scale = Scale {
        rank: 2,
        alpha: 32.0,
        strength: 0.5,
    };

    // Rank 2: the factor is 0.5 * 32 / 2 = 8.
    fn factors() -> (Tensor, Tensor) {
        let a = tensor(&[[1.0, 0.0], [0.0, 0.5]]);
        let b = tensor(&[[1.0, 0.0], [0.0, 1.0], [0.25, 1.0]]);
        (
            a.to_dtype(DType::F16).unwrap(),
            b.to_dtype(DType::F16).unwrap(),
        )
    }

    #[test]
    fn the_product_is_added_to_its_own_weight_only() {
        let (a, b) = factors();
        let weights = weights();
        let file = file(&[("layer.6.query.lora_A", &a), ("layer.6.query.lora_B", &b)]);
        merge(&weights, &file, SCALE).unwrap();
        let merged = weights["layer.6.query.weight"].to_vec2::<f32>().unwrap();
        assert_eq!(merged, [[9.0, 2.0], [3.0, 8.0], [7.0, 10.0]]);
        let other = weights["layer.5.query.weight"].to_vec2::<f32>().unwrap();
        assert_eq!(other, [[1.0, 2.0]]);
    }

    #[test]
    fn factors_that_are_not_finite_are_refused() {
        let (a, _) = factors();
        let b = tensor(&[[1.0, 0.0], [0.0, f32::NAN], [0.25, 1.0]]);
        let file = file(&[("layer.6.query.lora_A", &a), ("layer.6.query.lora_B", &b)]);
        let error = merge(&weights(), &file, SCALE).unwrap_err();
        assert!(error.contains("not finite"), "{error}");
    }

    #[test]
    fn factors_that_do_not_fit_are_refused_by_name() {
        let (a, b) = factors();
        let cases: [(&[(&str, &Tensor)], &str); 5] = [
            (&[], "no tensor is named"),
            (
                &[("layer.6.query.lora_A", &a)],
                "layer.6.query.lora_B is missing",
            ),
            (
                &[("layer.7.query.lora_A", &a), ("layer.7.query.lora_B", &b)],
                "no layer.7.query.weight",
            ),
            (
                &[("layer.5.query.lora_A", &a), ("layer.5.query.lora_B", &b)],
                "layer.5.query: ",
            ),
            (
                &[
                    ("layer.6.query.lora_A", &a),
                    ("layer.6.query.lora_B", &b),
                    ("stray", &a),
                ],
                "stray belongs to no pair",
            ),
        ];
        for (tensors, wanted) in cases {
            let error = merge(&weights(), &file(tensors), SCALE).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
        let good = file(&[("layer.6.query.lora_A", &a), ("layer.6.query.lora_B", &b)]);
        let error = merge(&weights(), &good, Scale { rank: 16, ..SCALE }).unwrap_err();
        assert!(error.contains("expected rank 16, found 2"), "{error}");
        assert!(merge(&weights(), b"not a safetensors file", SCALE).is_err());
    }
}
