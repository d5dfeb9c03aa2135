//! What a training makes small.
//!
//! Three parts: each prompt is to find its entry among all of the step; each entry, with a
//! lower weight, its prompt; and a prompt that nothing serves is to be farther from every
//! entry than a prompt of the catalogue is from its own.

use candle_core::{D, Device, Result, Tensor};
use candle_nn::loss::cross_entropy;

use super::Settings;
use super::batch::Pool;

/// Added to what must not count as wrong: another right entry, or a prompt of the same one.
const MASKED: f32 = -1e4;

/// Cosines by which a prompt that nothing serves is to be farther.
const MARGIN: f64 = 0.05;

/// The loss of one step. The rows of `prompts`, `outside` and `entries` are vectors of length
/// 1; `pool` says which entry belongs to which prompt.
pub(super) fn of(
    prompts: &Tensor,
    outside: Option<&Tensor>,
    entries: &Tensor,
    pool: &Pool,
    settings: &Settings,
) -> Result<Tensor> {
    let count = pool.chosen.len();
    let places: Vec<u32> = pool.chosen.iter().map(|at| *at as u32).collect();
    let chosen = Tensor::new(places, &Device::Cpu)?;
    let sharp = 1.0 / settings.temperature;
    let scores = (prompts.matmul(&entries.t()?)? * sharp)?;

    let others = mask(count, entries.dim(0)?, |prompt, entry| {
        entry != pool.chosen[prompt] && pool.gold[prompt].contains(&entry)
    })?;
    let mut loss = cross_entropy(&(&scores + others)?, &chosen)?;

    let right = entries.index_select(&chosen, 0)?;
    let back = (right.matmul(&prompts.t()?)? * sharp)?;
    let same = mask(count, count, |entry, prompt| {
        entry != prompt && pool.gold[prompt].contains(&pool.chosen[entry])
    })?;
    let own = Tensor::arange(0, count as u32, &Device::Cpu)?;
    loss = (loss + (cross_entropy(&(back + same)?, &own)? * settings.reverse)?)?;

    if let Some(outside) = outside {
        // Within the temperature's limits the exponents stay far below what F32 holds.
        let nearest = (outside.matmul(&entries.t()?)? * sharp)?
            .exp()?
            .sum_keepdim(D::Minus1)?
            .log()?
            .affine(settings.temperature, 0.0)?;
        let own = (prompts * &right)?.sum_keepdim(D::Minus1)?.t()?;
        let closer = (nearest.broadcast_sub(&own)? * (1.0 / MARGIN))?;
        let soft = closer.exp()?.affine(1.0, 1.0)?.log()?.mean_all()?;
        loss = (loss + (soft * settings.outside)?)?;
    }
    Ok(loss)
}

fn mask(rows: usize, columns: usize, masked: impl Fn(usize, usize) -> bool) -> Result<Tensor> {
    let cell = |at: usize| match masked(at / columns, at % columns) {
        true => MASKED,
        false => 0.0,
    };
    let cells: Vec<f32> = (0..rows * columns).map(cell).collect();
    Tensor::from_vec(cells, (rows, columns), &Device::Cpu)
}
