//! Which language a prompt is in: a linear classifier over the encoder's own states.
//!
//! The lower half of a multilingual encoder keeps a text's language in plain sight, and that
//! half has run anyway, so this costs a few thousand multiplications. It is right more often
//! than detectors that count letters (docs/routing.md has the figures). Adapters change the
//! upper half only and leave it as it is.

use candle_core::safetensors::SliceSafetensors;
use safetensors::SafeTensors;

use super::types::Language;

/// Most languages a probe may tell apart.
const MAX_LANGUAGES: usize = 256;

/// The classifier.
#[derive(Debug)]
pub(super) struct LanguageProbe {
    languages: Vec<Language>,
    // A row for each language.
    weights: Vec<Vec<f32>>,
    biases: Vec<f32>,
}

impl LanguageProbe {
    /// Reads a safetensors file: `weight` `[languages, hidden]`, `bias` `[languages]`, and the
    /// codes, separated by commas, in its metadata as `languages`.
    ///
    /// # Errors
    /// Says what does not fit.
    pub(super) fn parse(file: &[u8]) -> Result<Self, String> {
        let invalid = |why: &str| format!("language probe: {why}");
        let (_, header) =
            SafeTensors::read_metadata(file).map_err(|error| invalid(&error.to_string()))?;
        let languages: Vec<Language> = header
            .metadata()
            .as_ref()
            .and_then(|metadata| metadata.get("languages"))
            .ok_or_else(|| invalid("no languages in its metadata"))?
            .split(',')
            .take(MAX_LANGUAGES)
            .map(|code| Language::from_code(code).ok_or_else(|| invalid("not a language code")))
            .collect::<Result<_, _>>()?;
        let tensors = SliceSafetensors::new(file).map_err(|error| invalid(&error.to_string()))?;
        let load = |name: &str| {
            tensors
                .load(name, &candle_core::Device::Cpu)
                .map_err(|error| invalid(&error.to_string()))
        };
        let weights: Vec<Vec<f32>> = load("weight")?
            .to_vec2()
            .map_err(|error| invalid(&error.to_string()))?;
        let biases: Vec<f32> = load("bias")?
            .to_vec1()
            .map_err(|error| invalid(&error.to_string()))?;
        if weights.len() != languages.len() || biases.len() != languages.len() {
            return Err(invalid("one row and one bias are needed for each language"));
        }
        Ok(Self {
            languages,
            weights,
            biases,
        })
    }

    /// The likeliest language of a text, from the mean of its middle states.
    pub(super) fn detect(&self, middle: &[f32]) -> Option<Language> {
        let score = |at: usize| -> f32 {
            let products = self.weights[at].iter().zip(middle).map(|(w, x)| w * x);
            self.biases[at] + products.sum::<f32>()
        };
        (0..self.languages.len())
            .max_by(|a, b| score(*a).total_cmp(&score(*b)))
            .map(|at| self.languages[at])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use candle_core::{Device, Tensor};
    use safetensors::serialize;

    use super::*;

    fn file(languages: &str) -> Vec<u8> {
        let weight = Tensor::new(&[[1.0f32, 0.0], [0.0, 1.0]], &Device::Cpu).unwrap();
        let bias = Tensor::new(&[0.0f32, 0.5], &Device::Cpu).unwrap();
        let metadata = HashMap::from([("languages".to_owned(), languages.to_owned())]);
        serialize([("weight", &weight), ("bias", &bias)], Some(metadata)).unwrap()
    }

    #[test]
    fn the_language_with_the_largest_score_is_found() {
        let probe = LanguageProbe::parse(&file("en,de")).unwrap();
        assert_eq!(probe.detect(&[2.0, 1.0]), Some(Language::ENGLISH));
        assert_eq!(probe.detect(&[1.0, 1.0]), Language::from_code("de"));
    }

    #[test]
    fn a_file_that_does_not_fit_is_refused() {
        for languages in ["en", "en,de,fr", "en,German"] {
            assert!(LanguageProbe::parse(&file(languages)).is_err());
        }
        assert!(LanguageProbe::parse(b"no file").is_err());
    }
}
