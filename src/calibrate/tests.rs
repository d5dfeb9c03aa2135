use super::fit::{Observation, expected_calibration_error, fit_logistic};
use super::*;

// Uniform numbers in 0 to 1 that look random: the fractional parts of multiples of the golden
// ratio's inverse and of the plastic number's.
fn uniform(n: usize) -> (f64, f64) {
    let n = n as f64;
    (
        (n * 0.618_033_988_749_895).fract(),
        (n * 0.754_877_666_246_693).fract(),
    )
}

fn probability(sum: f64) -> f64 {
    1.0 / (1.0 + (-(-4.0 + 10.0 * sum)).exp())
}

fn samples(count: usize, language: &str, shift: f64) -> Vec<Sample> {
    (0..count)
        .map(|n| {
            let (sum, luck) = uniform(n);
            let right = luck < probability(sum);
            let in_scope = right || n % 3 > 0;
            Sample {
                prompt: format!("{language} {n}"),
                language: Language::from_code(language),
                in_scope,
                best: Some((sum + shift) as f32),
                gap: in_scope.then_some(if right { 0.0 } else { luck as f32 / 10.0 }),
            }
        })
        .collect()
}

fn built_in(_: Option<Language>) -> Calibration {
    Calibration {
        bias: 0.0,
        slope: 1.0,
    }
}

#[test]
fn a_known_curve_is_found_again() {
    let observations: Vec<Observation> = (0..4_000)
        .map(|n| {
            let (sum, luck) = uniform(n);
            let right = luck < probability(sum);
            Observation { sum, right }
        })
        .collect();
    let found = fit_logistic(&observations, None);
    assert!((found.bias + 4.0).abs() < 0.3, "{found:?}");
    assert!((found.slope - 10.0).abs() < 0.6, "{found:?}");
}

#[test]
fn prompts_that_separate_cleanly_give_a_finite_slope() {
    let observations: Vec<Observation> = (0..40)
        .map(|n| Observation {
            sum: f64::from(n),
            right: n >= 20,
        })
        .collect();
    let found = fit_logistic(&observations, None);
    assert!(found.slope.is_finite() && found.slope > 0.0, "{found:?}");
    assert!(found.probability(39.0) > 0.9 && found.probability(0.0) < 0.1);
}

#[test]
fn the_error_is_the_distance_between_probability_and_frequency() {
    let exact: Vec<(f64, bool)> = (0..10).map(|n| (0.3, n < 3)).collect();
    assert!(expected_calibration_error(&exact) < 1e-9);
    let off: Vec<(f64, bool)> = (0..10).map(|n| (0.8, n < 3)).collect();
    assert!((expected_calibration_error(&off) - 0.5).abs() < 1e-9);
}

#[test]
fn languages_that_score_higher_get_a_fit_of_their_own() {
    let mut all = samples(400, "en", 0.0);
    all.extend(samples(400, "de", 0.4));
    all.extend(samples(10, "fr", 0.0));
    let calibrated = calibrate(&all, 0.05, built_in).unwrap();
    let languages: Vec<&String> = calibrated.languages.keys().collect();
    assert_eq!(languages, ["de", "en"]);
    // What 0.5 means in English, 0.9 means in German.
    let [en, de] = ["en", "de"].map(|language| calibrated.languages[language].calibration);
    assert!((en.probability(0.5) - de.probability(0.9)).abs() < 0.05);
    for quality in calibrated.quality.values() {
        assert!(
            quality.ece < 0.08 && quality.ece < quality.ece_before,
            "{quality:?}"
        );
        assert!((quality.refused - 0.05).abs() < 0.03, "{quality:?}");
        let covered = quality.coverage_at_90.unwrap();
        assert!((covered - 0.9).abs() < 0.04, "{quality:?}");
    }
}

#[test]
fn too_little_is_refused_with_the_numbers() {
    let error = calibrate(&samples(20, "en", 0.0), 0.05, built_in).unwrap_err();
    assert!(error.to_string().contains("20 prompts"), "{error}");
    let mut right = samples(100, "en", 0.0);
    for sample in &mut right {
        (sample.in_scope, sample.gap) = (true, Some(0.0));
    }
    let error = calibrate(&right, 0.05, built_in).unwrap_err();
    assert!(error.to_string().contains("100 of 100"), "{error}");
}

#[test]
fn many_gaps_are_thinned_out_without_breaking_a_promise() {
    let gaps: Vec<f32> = (0..5_000).map(|n| n as f32).collect();
    let thinned = thin_out(gaps);
    assert!(thinned.len() <= MAX_GAPS);
    assert_eq!(thinned.last(), Some(&4_999.0));
    assert!(thinned[thinned.len() / 2] >= 2_500.0);
}
