//! Tuning the encoder on labelled prompts: what `signalbox adapt` does, and how the adapter
//! that is part of the binary was made.
//!
//! A training learns low-rank factors beside the matrices of the encoder's upper half, so that
//! prompts come to lie near the entries that serve them. It keeps some prompts back and
//! measures on them what the factors change, with the code that serves. The same data, seed
//! and machine give the same file, byte for byte.
//!
//! | module | owns |
//! |---|---|
//! | `settings` | every number of a training, and its limits |
//! | `data` | labelled prompts with their catalogues, and which prompts are kept back |
//! | `list` | several such sets, named by a file |
//! | `states` | texts to the states of the lower half, and on to vectors |
//! | `batch` | which prompts and entries meet in a step |
//! | `mine` | the wrong entries that are nearest to a prompt |
//! | `ops` | steps of a layer, with their backward |
//! | `model` | the upper half with trainable factors |
//! | `loss` | what is made small |
//! | `train` | the steps |
//! | `measure` | how often the right entry comes first |

mod batch;
mod data;
mod list;
mod loss;
mod measure;
mod mine;
mod model;
mod ops;
mod settings;
mod states;
mod train;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;

use crate::embed::{AdapterFile, AdapterKey, EmbedConfig, Halves, Upper};

pub use data::{Holdout, Set};
pub use list::{DataList, read_list};
pub use measure::Scores;
pub use settings::Settings;

use states::States;

/// Prompts that a training needs at least. With fewer, what is kept back says nothing.
pub const MIN_PROMPTS: usize = 50;

/// Why there is no adapter.
#[derive(Debug, thiserror::Error)]
pub enum AdaptError {
    /// The settings or the data cannot be used.
    #[error("{0}")]
    Unusable(String),
    /// The model cannot be loaded, or failed.
    #[error("{0}")]
    Model(String),
    /// The training gave no numbers.
    #[error("the training diverged at step {0}; a lower learning rate may help")]
    Diverged(usize),
}

impl From<candle_core::Error> for AdaptError {
    fn from(error: candle_core::Error) -> Self {
        AdaptError::Model(error.to_string())
    }
}

/// What a training is doing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// Texts go through the lower half.
    Reading {
        /// Texts in all.
        texts: usize,
    },
    /// Their vectors are measured and compared before the first step.
    Mining,
    /// A step is done.
    Step {
        /// Its number, from 1.
        step: usize,
        /// Steps in all.
        steps: usize,
        /// What it was to make small.
        loss: f32,
    },
    /// The result is being measured.
    Measuring,
}

/// Figures before and after, on the prompts that were kept back.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// With the model as it was.
    pub before: Scores,
    /// With the new adapter merged.
    pub after: Scores,
}

/// What came of a training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Over all prompts kept back.
    #[serde(flatten)]
    pub all: Comparison,
    /// With the adapters merged that are part of this binary; absent where the training started
    /// from these.
    pub shipped: Option<Scores>,
    /// The same for each set.
    pub by_set: BTreeMap<String, Comparison>,
    /// What the file says of itself.
    pub key: AdapterKey,
    /// Digest of the file.
    pub sha256: String,
    /// Seconds for the lower half, mining and the figures before.
    pub preparing_seconds: f64,
    /// Seconds of all steps.
    pub training_seconds: f64,
}

impl Report {
    /// Whether the adapter ranks the prompts that were kept back better than before.
    pub fn helped(&self) -> bool {
        self.all.after.ndcg_at_10 > self.all.before.ndcg_at_10
    }
}

/// A trained adapter.
pub struct Trained {
    /// The file that `model.adapters` may name.
    pub file: Vec<u8>,
    /// Its figures.
    pub report: Report,
}

/// Trains an adapter for the model of `config` on `sets`. Takes minutes, on
/// [`EmbedConfig::threads`] threads.
///
/// # Errors
/// Says what is wrong with the settings, the data or the model.
pub fn train(
    config: &EmbedConfig,
    sets: &[Set],
    settings: &Settings,
    mut progress: impl FnMut(Progress) + Send,
) -> Result<Trained, AdaptError> {
    check(sets, settings)?;
    let halves = Halves::load(config, settings.max_tokens).map_err(AdaptError::Model)?;
    in_pool(config.threads, || {
        let from_base = !config.adapter && config.adapters.is_empty();
        let threads = config.threads;
        train_halves(&halves, threads, sets, settings, from_base, &mut progress)
    })
}

/// Measures the model of `config` on the prompts that `sets` keep back.
///
/// # Errors
/// Says what is wrong with the data or the model.
pub fn measure(
    config: &EmbedConfig,
    sets: &[Set],
    settings: &Settings,
    mut progress: impl FnMut(Progress) + Send,
) -> Result<(Scores, BTreeMap<String, Scores>), AdaptError> {
    check(sets, settings)?;
    let halves = Halves::load(config, settings.max_tokens).map_err(AdaptError::Model)?;
    let states = States::read(&halves, config.threads, sets, &[], &mut progress)?;
    progress(Progress::Measuring);
    let upper = halves.upper(None).map_err(AdaptError::Model)?;
    let entries = states.entry_vectors(&upper)?;
    let scored = measure::score(&states, &upper, sets, &entries)?;
    Ok((measure::all(&scored), measure::by_set(&scored)))
}

fn train_halves(
    halves: &Halves,
    threads: usize,
    sets: &[Set],
    settings: &Settings,
    compare_shipped: bool,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Trained, AdaptError> {
    let began = Instant::now();
    let plan = batch::plan(sets, settings);
    let states = States::read(halves, threads, sets, &plan, progress)?;
    progress(Progress::Mining);
    let before = halves.upper(None).map_err(AdaptError::Model)?;
    let entries = states.entry_vectors(&before)?;
    let scored_before = measure::score(&states, &before, sets, &entries)?;
    let planned = plan.iter().flat_map(|batch| batch.prompts.iter().copied());
    let nearest = mine::nearest(&states, &before, sets, planned, &entries, settings.nearest)?;
    drop((before, entries));
    let preparing_seconds = began.elapsed().as_secs_f64();

    let began = Instant::now();
    let factors = train::run(halves, &states, sets, &plan, &nearest, settings, progress)?;
    let training_seconds = began.elapsed().as_secs_f64();

    let key = AdapterKey {
        format: 1,
        model: halves.model.clone(),
        model_digest: halves.digest.clone(),
        rank: settings.rank,
        alpha: settings.alpha,
        strength: settings.strength,
        catalog_revision: data::revision(sets),
        seed: settings.seed,
        steps: settings.steps,
        rows: sets.iter().map(|set| set.learnt().count()).sum(),
    };
    let file = AdapterFile::make(key, &factors).map_err(AdaptError::Model)?;
    progress(Progress::Measuring);
    let scored = |upper: &Upper| {
        let entries = states.entry_vectors(upper)?;
        measure::score(&states, upper, sets, &entries)
    };
    let scored_after = scored(&halves.upper(Some(&file)).map_err(AdaptError::Model)?)?;
    let shipped = match compare_shipped {
        true => Some(scored(&halves.upper_shipped().map_err(AdaptError::Model)?)?),
        false => None,
    };
    let mut afters = measure::by_set(&scored_after);
    let by_set = measure::by_set(&scored_before)
        .into_iter()
        .filter_map(|(name, before)| {
            let after = afters.remove(&name)?;
            Some((name, Comparison { before, after }))
        });
    Ok(Trained {
        report: Report {
            all: Comparison {
                before: measure::all(&scored_before),
                after: measure::all(&scored_after),
            },
            shipped: shipped.as_ref().map(measure::all),
            by_set: by_set.collect(),
            key: file.key().clone(),
            sha256: file.sha256().to_owned(),
            preparing_seconds,
            training_seconds,
        },
        file: file.bytes().to_vec(),
    })
}

fn check(sets: &[Set], settings: &Settings) -> Result<(), AdaptError> {
    settings
        .check()
        .into_result()
        .map_err(|violations| AdaptError::Unusable(violations.to_string()))?;
    data::check(sets).map_err(AdaptError::Unusable)
}

// candle's products run in the pool that they are called in.
fn in_pool<T: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<T, AdaptError> + Send,
) -> Result<T, AdaptError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.max(1))
        .thread_name(|n| format!("adapt-{n}"))
        .build()
        .map_err(|error| AdaptError::Model(format!("cannot start a thread: {error}")))?
        .install(work)
}
