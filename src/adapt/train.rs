//! The steps: forward, loss, backward, and AdamW with a learning rate that grows, then falls
//! along a cosine to nothing.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use candle_core::backprop::GradStore;
use candle_core::{Tensor, Var};
use candle_nn::{AdamW, Optimizer, ParamsAdamW};

use super::batch::{Batch, Pool, generator};
use super::mine::Nearest;
use super::model::Model;
use super::states::States;
use super::{AdaptError, Progress, Set, Settings, loss};
use crate::embed::Halves;

/// Length that the gradient of all factors together is cut to.
const MAX_GRADIENT: f64 = 1.0;

/// Trains, and gives the factors by their names in an adapter file.
pub(super) fn run(
    halves: &Halves,
    states: &States,
    sets: &[Set],
    plan: &[Batch],
    nearest: &Nearest,
    settings: &Settings,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<BTreeMap<String, Tensor>, AdaptError> {
    // Streams of the generator: 0 draws the prompts.
    let (mut start, mut draws) = (generator(settings.seed, 1), generator(settings.seed, 2));
    let model =
        Model::new(halves, settings.rank, settings.alpha, &mut start).map_err(AdaptError::Model)?;
    let vars = model.vars();
    let params = ParamsAdamW {
        lr: settings.learning_rate,
        weight_decay: settings.weight_decay,
        ..ParamsAdamW::default()
    };
    let mut optimizer = AdamW::new(vars.clone(), params)?;
    for (at, batch) in plan.iter().enumerate() {
        optimizer.set_learning_rate(settings.learning_rate * rate(at, settings));
        let pool = Pool::draw(batch, sets, |at| nearest.of(at), settings, &mut draws);
        let mut texts = Vec::new();
        for prompt in batch.prompts.iter().chain(&batch.outside) {
            texts.push(states.prompt(prompt)?);
        }
        let shown = pool.entries.iter();
        texts.extend(shown.map(|(set, entry, text)| states.entry(*set, *entry, *text)));
        let vectors = model.vectors(&texts)?;
        let (inside, outside) = (batch.prompts.len(), batch.outside.len());
        let prompts = vectors.narrow(0, 0, inside)?;
        let unserved = match outside {
            0 => None,
            _ => Some(vectors.narrow(0, inside, outside)?),
        };
        let entries = vectors.narrow(0, inside + outside, pool.entries.len())?;
        let loss = loss::of(&prompts, unserved.as_ref(), &entries, &pool, settings)?;
        let mut grads = loss.backward()?;
        let value: f32 = loss.to_scalar()?;
        if !value.is_finite() || !clip(&mut grads, &vars)? {
            return Err(AdaptError::Diverged(at + 1));
        }
        optimizer.step(&grads)?;
        progress(Progress::Step {
            step: at + 1,
            steps: plan.len(),
            loss: value,
        });
    }
    Ok(model.factors())
}

// Share of the largest learning rate.
fn rate(step: usize, settings: &Settings) -> f64 {
    let grown = match settings.warm_up {
        0 => 1.0,
        warm_up => ((step + 1) as f64 / warm_up as f64).min(1.0),
    };
    grown * 0.5 * (1.0 + (PI * step as f64 / settings.steps as f64).cos())
}

// False where the gradient is not finite.
fn clip(grads: &mut GradStore, vars: &[Var]) -> Result<bool, AdaptError> {
    let mut squares = 0.0;
    for var in vars {
        if let Some(grad) = grads.get(var) {
            squares += f64::from(grad.sqr()?.sum_all()?.to_scalar::<f32>()?);
        }
    }
    let length = squares.sqrt();
    if length > MAX_GRADIENT {
        for var in vars {
            if let Some(grad) = grads.remove(var) {
                grads.insert(var, (grad * (MAX_GRADIENT / length))?);
            }
        }
    }
    Ok(length.is_finite())
}
