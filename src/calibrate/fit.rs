//! The logistic fit and how far a set of probabilities is off.

use crate::route::Calibration;

/// Newton's steps; a fit of two numbers is done in about eight.
const STEPS: usize = 50;

/// How strongly a fit keeps to the slope it starts from, as a penalty on the square of the
/// slope's relative change: about what a dozen prompts weigh.
const PRIOR: f64 = 4.0;

/// Bins of the expected calibration error.
const BINS: usize = 10;

/// One prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Observation {
    /// The best sum.
    pub sum: f64,
    /// Whether its entry is right.
    pub right: bool,
}

/// Maximum likelihood of a logistic model, with Platt's smoothed targets, so that prompts that
/// separate cleanly do not drive the slope to infinity. With a `prior` the slope keeps near
/// it; the bias is always free.
pub(super) fn fit_logistic(
    observations: &[Observation],
    prior: Option<Calibration>,
) -> Calibration {
    let count = observations.len().max(1) as f64;
    let mean = observations.iter().map(|seen| seen.sum).sum::<f64>() / count;
    let variance = observations
        .iter()
        .map(|seen| (seen.sum - mean).powi(2))
        .sum::<f64>()
        / count;
    let spread = variance.sqrt().max(1e-6);
    let right = observations.iter().filter(|seen| seen.right).count() as f64;
    let wrong = count - right;
    let target = |seen: &Observation| match seen.right {
        true => (right + 1.0) / (right + 2.0),
        false => 1.0 / (wrong + 2.0),
    };
    // Sums in units of their spread, from their mean; `centre` and `slope` in these units.
    let wanted = prior.map_or(1.0, |prior| prior.slope * spread);
    let strength = match prior {
        Some(_) => PRIOR / (wanted * wanted).max(1e-6),
        None => 0.05,
    };
    let (mut centre, mut slope) = (((right + 1.0) / (wrong + 1.0)).ln(), wanted);
    for _ in 0..STEPS {
        let (mut g0, mut g1) = (0.0, strength * (slope - wanted));
        let (mut h00, mut h01, mut h11) = (1e-6, 0.0, strength);
        for seen in observations {
            let x = (seen.sum - mean) / spread;
            let p = 1.0 / (1.0 + (-(centre + slope * x)).exp());
            let (error, weight) = (p - target(seen), (p * (1.0 - p)).max(1e-9));
            g0 += error;
            g1 += error * x;
            h00 += weight;
            h01 += weight * x;
            h11 += weight * x * x;
        }
        let determinant = h00 * h11 - h01 * h01;
        let (step0, step1) = if determinant > 1e-12 {
            (
                (h11 * g0 - h01 * g1) / determinant,
                (h00 * g1 - h01 * g0) / determinant,
            )
        } else {
            (g0 / h00, 0.0)
        };
        // Newton's full step may overshoot far from the optimum.
        centre -= step0.clamp(-2.0, 2.0);
        slope -= step1.clamp(-2.0, 2.0);
        if step0.abs() + step1.abs() < 1e-10 {
            break;
        }
    }
    // More of what ranks is never less likely.
    let slope = (slope / spread).max(1e-3);
    Calibration {
        bias: centre - slope * mean,
        slope,
    }
}

/// Mean distance between probability and frequency, in ten bins of equal width.
pub(super) fn expected_calibration_error(judged: &[(f64, bool)]) -> f64 {
    let mut bins = [(0.0, 0.0, 0usize); BINS];
    for (probability, right) in judged {
        let at = ((probability * BINS as f64) as usize).min(BINS - 1);
        let (sum, hits, count) = &mut bins[at];
        *sum += probability;
        *hits += f64::from(u8::from(*right));
        *count += 1;
    }
    let off: f64 = bins.iter().map(|(sum, hits, _)| (sum - hits).abs()).sum();
    off / judged.len().max(1) as f64
}
