//! Fits floor and confidence to labelled prompts of one's own.
//!
//! A calibration fitted elsewhere is off by 0.13 and more; one fitted to a hundred prompts of
//! the same catalogue by a few hundredths. Each language that has prompts enough gets a fit of
//! its own, the rest share one. What is reported comes from cross-validation: no prompt is
//! judged by a fit that saw it.

mod examples;
mod fit;

use std::collections::BTreeMap;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::embed::Language;
use crate::eval::Detail;
use crate::route::{Calibration, Fit, MAX_GAPS};
pub use examples::{hold_out_examples, neutral};
use fit::{Observation, expected_calibration_error, fit_logistic};

/// Folds of the cross-validation.
const FOLDS: u8 = 5;

/// Prompts of one language from which it gets a fit of its own.
const OWN_FIT_FROM: usize = 40;

/// Prompts in all, below which nothing is fitted: two numbers need more than a handful.
pub const LEAST_PROMPTS: usize = 30;

/// What is fitted to.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The prompt; decides its fold.
    pub prompt: String,
    /// Its language, as the model sees it.
    pub language: Option<Language>,
    /// Whether any entry is right.
    pub in_scope: bool,
    /// The best sum; absent where no entry took part.
    pub best: Option<f32>,
    /// By how much it exceeds the sum of the right entry; absent out of scope.
    pub gap: Option<f32>,
}

impl Sample {
    /// What an answer says of its prompt. The ranking must hold all entries.
    pub fn of(detail: &Detail) -> Self {
        let sum = |at: usize| detail.ranking.get(at).map(|(_, raw)| *raw as f32);
        let best = sum(0);
        let right = detail
            .ranking
            .iter()
            .find(|(id, _)| detail.gold.contains(id))
            .map(|(_, raw)| *raw as f32);
        Self {
            prompt: detail.query.clone(),
            language: detail.language,
            in_scope: !detail.gold.is_empty(),
            best,
            gap: best.zip(right).map(|(best, right)| (best - right).max(0.0)),
        }
    }

    fn is_right(&self) -> bool {
        self.gap == Some(0.0)
    }

    fn observation(&self) -> Option<Observation> {
        Some(Observation {
            sum: f64::from(self.best?),
            right: self.is_right(),
        })
    }

    fn fold(&self) -> u8 {
        Sha256::digest(self.prompt.as_bytes())[0] % FOLDS
    }
}

/// Why nothing was fitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CalibrateError {
    /// Too few prompts.
    #[error(
        "{found} prompts, of which {in_scope} in scope; at least {LEAST_PROMPTS} in scope are needed"
    )]
    TooFew {
        /// Prompts in all.
        found: usize,
        /// Those that have a right entry.
        in_scope: usize,
    },
    /// All prompts are right, or none.
    #[error(
        "the best entry is right for {right} of {found} prompts; both right and wrong ones are needed: add prompts that no entry serves"
    )]
    OneSided {
        /// Prompts in all.
        found: usize,
        /// Those whose best entry is right.
        right: usize,
    },
}

/// What a fit is worth on prompts it did not see.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quality {
    /// Prompts in scope.
    pub in_scope: usize,
    /// Prompts out of scope.
    pub out_of_scope: usize,
    /// Expected calibration error, in ten bins of equal width.
    pub ece: f64,
    /// The same of the built-in calibration.
    pub ece_before: f64,
    /// Share of the prompts in scope below the floor.
    pub refused: f64,
    /// Share of the prompts out of scope at or above the floor; absent without any.
    pub passed: Option<f64>,
    /// Share of the prompts in scope whose right entry is in the smallest set that promises
    /// nine of ten; absent where the prompts are too few.
    pub coverage_at_90: Option<f64>,
}

/// Fits of one catalogue.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated {
    /// For languages without a fit of their own.
    pub all: Fit,
    /// By language.
    pub languages: BTreeMap<String, Fit>,
    /// What the fits are worth, by group, `all` over everything.
    pub quality: BTreeMap<String, Quality>,
}

/// Fits to samples, so that about `false_refusal` of the prompts in scope fall below the
/// floor. `built_in` is what a prompt of a language is judged by without a fit.
///
/// # Errors
/// Where there is too little to fit to.
pub fn calibrate(
    samples: &[Sample],
    false_refusal: f64,
    built_in: impl Fn(Option<Language>) -> Calibration,
) -> Result<Calibrated, CalibrateError> {
    let all: Vec<&Sample> = samples.iter().collect();
    let in_scope = all.iter().filter(|sample| sample.in_scope).count();
    if in_scope < LEAST_PROMPTS {
        return Err(CalibrateError::TooFew {
            found: all.len(),
            in_scope,
        });
    }
    let right = all.iter().filter(|sample| sample.is_right()).count();
    if right == 0 || right == all.len() {
        return Err(CalibrateError::OneSided {
            found: all.len(),
            right,
        });
    }
    let (fit_all, languages) = fit_groups(&all, false_refusal);
    let quality = cross_validate(&all, &languages, false_refusal, built_in);
    Ok(Calibrated {
        all: fit_all,
        languages,
        quality,
    })
}

fn fit_groups(samples: &[&Sample], false_refusal: f64) -> (Fit, BTreeMap<String, Fit>) {
    let all = fit_one(samples, false_refusal, None);
    let mut by_language: BTreeMap<String, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        if let Some(language) = sample.language {
            let group = by_language.entry(language.to_string()).or_default();
            group.push(sample);
        }
    }
    let languages = by_language
        .into_iter()
        .filter(|(_, group)| group.len() >= OWN_FIT_FROM && has_both(group))
        .map(|(language, group)| {
            let fit = fit_one(&group, false_refusal, Some(all.calibration));
            (language, fit)
        })
        .collect();
    (all, languages)
}

// A fit needs right and wrong ones, and a floor prompts in scope.
fn has_both(group: &[&Sample]) -> bool {
    let right = group.iter().filter(|sample| sample.is_right()).count();
    let in_scope = group.iter().filter(|sample| sample.in_scope).count();
    right >= 5 && group.len() - right >= 5 && in_scope >= LEAST_PROMPTS / 2
}

fn fit_one(samples: &[&Sample], false_refusal: f64, prior: Option<Calibration>) -> Fit {
    let observations: Vec<Observation> = samples
        .iter()
        .filter_map(|sample| sample.observation())
        .collect();
    let calibration = fit_logistic(&observations, prior);
    let mut confidences: Vec<f64> = samples
        .iter()
        .filter(|sample| sample.in_scope)
        .map(|sample| {
            sample
                .best
                .map_or(0.0, |best| calibration.probability(best))
        })
        .collect();
    confidences.sort_by(f64::total_cmp);
    // The first that passes: as many as may be refused lie before it.
    let refused = (confidences.len() as f64 * false_refusal).floor() as usize;
    let floor = confidences.get(refused).copied().unwrap_or(0.0);
    let mut gaps: Vec<f32> = samples
        .iter()
        .filter(|sample| sample.in_scope)
        .map(|sample| sample.gap.unwrap_or(f32::MAX))
        .collect();
    gaps.sort_by(f32::total_cmp);
    Fit {
        calibration,
        // Rounded down, so that the prompt it was taken from passes.
        floor: (floor * 1e4).floor() / 1e4,
        in_scope: gaps.len(),
        out_of_scope: samples.len() - gaps.len(),
        gaps: thin_out(gaps),
    }
}

// Keeps the larger of neighbours: a promise is kept rather than a set small.
fn thin_out(gaps: Vec<f32>) -> Vec<f32> {
    let step = gaps.len().div_ceil(MAX_GAPS).max(1);
    match step {
        1 => gaps,
        step => gaps
            .chunks(step)
            .filter_map(|chunk| chunk.last().copied())
            .collect(),
    }
}

fn cross_validate(
    samples: &[&Sample],
    languages: &BTreeMap<String, Fit>,
    false_refusal: f64,
    built_in: impl Fn(Option<Language>) -> Calibration,
) -> BTreeMap<String, Quality> {
    let mut judged: BTreeMap<String, Vec<Judged>> = BTreeMap::new();
    for fold in 0..FOLDS {
        let (inside, outside): (Vec<&Sample>, Vec<&Sample>) =
            samples.iter().partition(|sample| sample.fold() == fold);
        let (all, own) = fit_groups(&outside, false_refusal);
        for sample in inside {
            let language = sample.language.map(|language| language.to_string());
            let fit = language
                .as_ref()
                .and_then(|language| own.get(language))
                .unwrap_or(&all);
            let one = Judged::new(sample, fit, built_in(sample.language));
            if let Some(language) = language.filter(|language| languages.contains_key(language)) {
                judged.entry(language).or_default().push(one);
            }
            judged.entry("all".into()).or_default().push(one);
        }
    }
    judged
        .into_iter()
        .map(|(name, judged)| (name, quality_of(&judged)))
        .collect()
}

/// A prompt judged by a fit that did not see it.
#[derive(Debug, Clone, Copy)]
struct Judged {
    confidence: f64,
    before: f64,
    right: bool,
    in_scope: bool,
    refused: bool,
    /// Whether the right entry is in the set; absent where no set can be promised.
    covered: Option<bool>,
}

impl Judged {
    fn new(sample: &Sample, fit: &Fit, built_in: Calibration) -> Self {
        let by = |calibration: &Calibration| {
            sample
                .best
                .map_or(0.0, |best| calibration.probability(best))
        };
        let confidence = by(&fit.calibration);
        let gap = fit.gap(0.9);
        Self {
            confidence,
            before: by(&built_in),
            right: sample.is_right(),
            in_scope: sample.in_scope,
            refused: confidence < fit.floor,
            covered: gap
                .is_finite()
                .then(|| sample.gap.is_some_and(|own| own <= gap)),
        }
    }
}

fn quality_of(judged: &[Judged]) -> Quality {
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    let (inside, outside): (Vec<&Judged>, Vec<&Judged>) =
        judged.iter().partition(|judged| judged.in_scope);
    let ece = |confidence: fn(&Judged) -> f64| {
        let pairs = judged
            .iter()
            .map(|judged| (confidence(judged), judged.right));
        expected_calibration_error(&pairs.collect::<Vec<_>>())
    };
    let covered: Option<Vec<bool>> = inside.iter().map(|judged| judged.covered).collect();
    Quality {
        in_scope: inside.len(),
        out_of_scope: outside.len(),
        ece: ece(|judged| judged.confidence),
        ece_before: ece(|judged| judged.before),
        refused: share(
            inside.iter().filter(|judged| judged.refused).count(),
            inside.len(),
        ),
        passed: (!outside.is_empty()).then(|| {
            share(
                outside.iter().filter(|judged| !judged.refused).count(),
                outside.len(),
            )
        }),
        coverage_at_90: covered
            .filter(|covered| !covered.is_empty())
            .map(|covered| {
                share(
                    covered.iter().filter(|covered| **covered).count(),
                    covered.len(),
                )
            }),
    }
}

#[cfg(test)]
mod tests;
