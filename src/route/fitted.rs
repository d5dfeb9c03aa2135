//! A calibration that was fitted to one model and one catalogue.
//!
//! `signalbox calibrate` makes it and the router reads it. It holds for the model and the
//! catalogue it was fitted on and for no others: its key says which, and where the key does
//! not fit, the built-in calibration is used and the answer says why.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::confidence::Calibration;
use super::profile::PROJECTION_VERSION;
use crate::embed::{Language, ModelInfo};
use crate::index::Snapshot;

/// Version of the file's format.
const FORMAT: u32 = 1;

/// Most gaps that a group keeps.
pub const MAX_GAPS: usize = 2_000;

/// Largest file that is read.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// A fitted calibration, for HYBRID mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fitted {
    /// Version of this format.
    pub format: u32,
    /// What it was fitted on.
    pub key: Key,
    /// For prompts in a language that has no fit of its own.
    pub all: Fit,
    /// By language (ISO 639-1), where there were prompts enough.
    pub languages: BTreeMap<String, Fit>,
}

/// What a calibration was fitted on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Digest of the model with its adapters.
    pub model: String,
    /// Revision of the catalogue.
    pub catalogue: String,
    /// Version of how entries become texts and sums.
    pub projection: u32,
}

/// What was fitted to one group of prompts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// Sums to probabilities.
    #[serde(flatten)]
    pub calibration: Calibration,
    /// Confidence below which the router abstains.
    pub floor: f64,
    /// Prompts that have a right entry.
    pub in_scope: usize,
    /// Prompts that have none.
    pub out_of_scope: usize,
    /// For prompts in scope, by how much the best sum exceeds that of the right entry; in
    /// ascending order, thinned out evenly to [`MAX_GAPS`].
    pub gaps: Vec<f32>,
}

impl Fitted {
    /// A calibration for the model and catalogue of that key.
    pub fn new(key: Key, all: Fit, languages: BTreeMap<String, Fit>) -> Self {
        Self {
            format: FORMAT,
            key,
            all,
            languages,
        }
    }

    /// Reads and checks a file's text.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fitted: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if fitted.format != FORMAT {
            return Err(format!(
                "format {} is not supported; this binary writes {FORMAT}",
                fitted.format
            ));
        }
        for (name, fit) in fitted.groups() {
            fit.check().map_err(|why| format!("{name}: {why}"))?;
        }
        Ok(fitted)
    }

    /// All groups by name.
    pub fn groups(&self) -> impl Iterator<Item = (&str, &Fit)> {
        let languages = self.languages.iter();
        std::iter::once(("all", &self.all))
            .chain(languages.map(|(language, fit)| (language.as_str(), fit)))
    }

    /// The fit for a prompt.
    pub fn of(&self, language: Option<Language>) -> &Fit {
        language
            .and_then(|language| self.languages.get(language.as_str()))
            .unwrap_or(&self.all)
    }
}

impl Key {
    /// The key of a model and a catalogue.
    pub fn of(model: &ModelInfo, snapshot: &Snapshot) -> Self {
        Self {
            model: model.digest.clone(),
            catalogue: snapshot.revision(),
            projection: PROJECTION_VERSION,
        }
    }

    /// Whether a calibration with this key holds where `now` is.
    ///
    /// # Errors
    /// Says what has changed.
    pub fn check(&self, now: &Self) -> Result<(), String> {
        let changed = if self.model != now.model {
            "another model or adapter"
        } else if self.projection != now.projection {
            "another version of signalbox, which ranks differently"
        } else if self.catalogue != now.catalogue {
            "another catalogue"
        } else {
            return Ok(());
        };
        Err(format!(
            "the calibration was fitted on {changed}; run `signalbox calibrate` again"
        ))
    }
}

impl Fit {
    fn check(&self) -> Result<(), String> {
        let Calibration { bias, slope } = self.calibration;
        if !(bias.is_finite() && slope.is_finite() && slope > 0.0) {
            return Err("bias must be finite and slope positive".into());
        }
        if !(0.0..=1.0).contains(&self.floor) {
            return Err(format!("floor {} is not within 0 to 1", self.floor));
        }
        let ascending = self.gaps.is_sorted_by(|a, b| a <= b);
        if self.gaps.len() > MAX_GAPS || !ascending || self.gaps.iter().any(|gap| *gap < 0.0) {
            return Err("gaps must be ascending, not negative, and no more than 2000".into());
        }
        Ok(())
    }

    /// The gap to the best sum within which the right entry lies with probability `coverage`
    /// (split conformal prediction: of n + 1 exchangeable gaps the new one is as likely to be
    /// any). Infinite where the prompts are too few for that.
    pub fn gap(&self, coverage: f64) -> f32 {
        let place = ((self.gaps.len() + 1) as f64 * coverage).ceil() as usize;
        match place {
            0 => 0.0,
            place => self.gaps.get(place - 1).copied().unwrap_or(f32::INFINITY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(gaps: Vec<f32>) -> Fit {
        Fit {
            calibration: Calibration {
                bias: -3.0,
                slope: 9.0,
            },
            floor: 0.1,
            in_scope: gaps.len(),
            out_of_scope: 0,
            gaps,
        }
    }

    fn key(catalogue: &str) -> Key {
        Key {
            model: "m".into(),
            catalogue: catalogue.into(),
            projection: PROJECTION_VERSION,
        }
    }

    #[test]
    fn the_gap_is_the_conformal_quantile() {
        let gaps: Vec<f32> = (0..9).map(|n| n as f32).collect();
        assert_eq!(fit(gaps.clone()).gap(0.5), 4.0);
        assert_eq!(fit(gaps.clone()).gap(0.9), 8.0);
        // Nine prompts cannot promise more than nine tenths.
        assert_eq!(fit(gaps).gap(0.95), f32::INFINITY);
    }

    #[test]
    fn a_written_calibration_is_read_back_and_a_bad_one_refused() {
        let fitted = Fitted::new(key("a"), fit(vec![0.0, 0.5]), BTreeMap::new());
        let text = serde_json::to_string(&fitted).unwrap();
        assert_eq!(Fitted::parse(&text).unwrap(), fitted);
        for (from, to) in [
            ("\"format\":1", "\"format\":2"),
            ("9.0", "-9.0"),
            ("\"floor\":0.1", "\"floor\":1.1"),
            ("[0.0,0.5]", "[0.5,0.0]"),
        ] {
            let bad = text.replace(from, to);
            assert_ne!(bad, text);
            assert!(Fitted::parse(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn another_catalogue_is_refused_by_name() {
        assert!(key("a").check(&key("a")).is_ok());
        let why = key("a").check(&key("b")).unwrap_err();
        assert!(why.contains("another catalogue"), "{why}");
    }
}
