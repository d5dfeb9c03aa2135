//! Adapter files of the user's own: written by `signalbox adapt`, named by `model.adapters`.
//!
//! A file is safetensors with F16 factors, as [`adapter`](super::adapter) merges them. Its
//! metadata hold one JSON text, the [`AdapterKey`]: what the change is scaled by, and the
//! digest of the model that it was trained on. On another model the factors mean nothing, so a
//! file whose key does not fit is refused. Nothing in a file is trusted: its size is bounded,
//! and every number of the key has limits.

use std::{collections::BTreeMap, collections::HashMap, fs::File, io::Read, path::Path};

use candle_core::{DType, Tensor};
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{adapter::Scale, files::hex};

/// Version of the file's format.
const FORMAT: u32 = 1;
/// Name of the metadata that hold the key. One name only: safetensors writes metadata in no
/// fixed order, and equal trainings must give equal bytes.
const METADATA: &str = "signalbox.adapter";
/// Bytes of a file; rank 256 on every matrix of the largest model known is below it.
const MAX_BYTES: u64 = 64 << 20;
/// Rank of the factors.
const MAX_RANK: usize = 256;
/// `alpha`, and `strength` times a thousand: far above what is of use.
const MAX_ALPHA: f64 = 4_096.0;
const MAX_STRENGTH: f64 = 4.0;

/// What an adapter file says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdapterKey {
    /// Version of the format: 1.
    pub format: u32,
    /// Id of the model.
    pub model: String,
    /// Digest of the model that it was trained on, with every adapter merged before it.
    pub model_digest: String,
    /// Rank of its factors.
    pub rank: usize,
    /// The change is scaled by `strength * alpha / rank`.
    pub alpha: f64,
    /// See `alpha`.
    pub strength: f64,
    /// Revision of the catalogue that the prompts were labelled with.
    pub catalog_revision: String,
    /// Seed of the training.
    pub seed: u64,
    /// Its steps.
    pub steps: usize,
    /// Prompts that it learnt from.
    pub rows: usize,
}

/// A file that was read and checked, except for the shapes of its factors.
pub(crate) struct AdapterFile {
    key: AdapterKey,
    bytes: Vec<u8>,
    sha256: String,
}

impl AdapterFile {
    /// Reads the file at `path`.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let meta = std::fs::metadata(path).map_err(|error| error.to_string())?;
        // Opening a pipe would wait for its writer.
        if !meta.is_file() {
            return Err("expected a plain file".into());
        }
        let file = File::open(path).map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| error.to_string())?;
        Self::parse(bytes)
    }

    /// Checks the bytes of a file.
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Self, String> {
        if bytes.len() as u64 > MAX_BYTES {
            return Err(format!("it exceeds the limit of {MAX_BYTES} bytes"));
        }
        let (_, metadata) =
            SafeTensors::read_metadata(&bytes).map_err(|error| format!("no adapter: {error}"))?;
        let key = metadata
            .metadata()
            .as_ref()
            .and_then(|all| all.get(METADATA))
            .ok_or_else(|| format!("no adapter: its metadata have no {METADATA}"))?;
        let key: AdapterKey =
            serde_json::from_str(key).map_err(|error| format!("{METADATA}: {error}"))?;
        check(&key).map_err(|why| format!("{METADATA}: {why}"))?;
        let sha256 = hex(&Sha256::digest(&bytes));
        Ok(Self { key, bytes, sha256 })
    }

    /// Makes a file of `factors`, by their names; equal input gives equal bytes.
    pub(crate) fn make(
        key: AdapterKey,
        factors: &BTreeMap<String, Tensor>,
    ) -> Result<Self, String> {
        let halved: BTreeMap<&str, Tensor> = factors
            .iter()
            .map(|(name, factor)| Ok((name.as_str(), factor.to_dtype(DType::F16)?)))
            .collect::<candle_core::Result<_>>()
            .map_err(|error| error.to_string())?;
        let key = serde_json::to_string(&key).map_err(|error| error.to_string())?;
        let metadata = HashMap::from([(METADATA.to_owned(), key)]);
        let bytes = safetensors::serialize(&halved, Some(metadata));
        Self::parse(bytes.map_err(|error| error.to_string())?)
    }

    /// Whether it was trained on this model.
    pub(super) fn fits(&self, model: &str, digest: &str) -> Result<(), String> {
        if self.key.model != model {
            return Err(format!(
                "made for model {:?}, not {model:?}",
                self.key.model
            ));
        }
        if self.key.model_digest != digest {
            return Err(format!(
                "trained on a model of digest {}, but this one, with the adapters before it, has \
                 {digest}; run `signalbox adapt` again",
                self.key.model_digest
            ));
        }
        Ok(())
    }

    /// Digest of a model of digest `base` with this adapter merged.
    pub(super) fn digest_on(&self, base: &str) -> String {
        hex(&Sha256::digest(format!("{base} {}", self.sha256)))
    }

    /// What it says of itself.
    pub(crate) fn key(&self) -> &AdapterKey {
        &self.key
    }

    /// The whole file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Digest of the file.
    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }

    pub(super) fn scale(&self) -> Scale {
        Scale {
            rank: self.key.rank,
            alpha: self.key.alpha,
            strength: self.key.strength,
        }
    }
}

fn check(key: &AdapterKey) -> Result<(), String> {
    if key.format != FORMAT {
        return Err(format!("format is {}, expected {FORMAT}", key.format));
    }
    if !(1..=MAX_RANK).contains(&key.rank) {
        return Err(format!("rank {} is not within 1 to {MAX_RANK}", key.rank));
    }
    // Written so that NaN is out.
    for (name, value, most) in [
        ("alpha", key.alpha, MAX_ALPHA),
        ("strength", key.strength, MAX_STRENGTH),
    ] {
        if !(value > 0.0 && value <= most) {
            return Err(format!("{name} {value} is not above 0 and at most {most}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    fn key() -> AdapterKey {
        AdapterKey {
            format: FORMAT,
            model: "m".into(),
            model_digest: "d1".into(),
            rank: 2,
            alpha: 32.0,
            strength: 0.5,
            catalog_revision: "r".into(),
            seed: 7,
            steps: 9,
            rows: 100,
        }
    }

    fn factors() -> BTreeMap<String, Tensor> {
        let tensor = Tensor::new(&[[1.0f32, 2.0], [3.0, 4.0]], &Device::Cpu).unwrap();
        BTreeMap::from([
            ("x.lora_A".to_owned(), tensor.clone()),
            ("x.lora_B".to_owned(), tensor),
        ])
    }

    #[test]
    fn a_file_is_read_as_it_was_made_and_fits_its_model_alone() {
        let made = AdapterFile::make(key(), &factors()).unwrap();
        let again = AdapterFile::make(key(), &factors()).unwrap();
        assert_eq!(made.bytes(), again.bytes());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("own.safetensors");
        std::fs::write(&path, made.bytes()).unwrap();
        let read = AdapterFile::read(&path).unwrap();
        assert_eq!(read.key(), &key());
        read.fits("m", "d1").unwrap();
        assert!(read.fits("n", "d1").unwrap_err().contains("model \"m\""));
        assert!(read.fits("m", "d2").unwrap_err().contains("digest d1"));
        assert_ne!(read.digest_on("d1"), read.digest_on("d2"));
    }

    #[test]
    fn foreign_and_hostile_files_are_refused_with_a_reason() {
        let plain = safetensors::serialize(&factors(), None).unwrap();
        let with = |json: &str| {
            let metadata = HashMap::from([(METADATA.to_owned(), json.to_owned())]);
            safetensors::serialize(&factors(), Some(metadata)).unwrap()
        };
        let changed = |name: &str, value: serde_json::Value| {
            let mut json = serde_json::to_value(key()).unwrap();
            json[name] = value;
            with(&json.to_string())
        };
        let mut huge_header = plain.clone();
        huge_header[..8].copy_from_slice(&u64::MAX.to_le_bytes());
        for (bytes, wanted) in [
            (Vec::new(), "no adapter"),
            (b"{}".to_vec(), "no adapter"),
            (huge_header, "no adapter"),
            (plain[..plain.len() - 1].to_vec(), "no adapter"),
            (plain, "no signalbox.adapter"),
            (with("[]"), "signalbox.adapter"),
            (with("{}"), "missing field"),
            (changed("format", 2.into()), "format is 2"),
            (changed("rank", 0.into()), "rank 0"),
            (changed("rank", 100_000.into()), "rank 100000"),
            (changed("alpha", (-1.0).into()), "alpha -1"),
            (changed("strength", 1e300.into()), "strength"),
            (changed("surprise", 1.into()), "surprise"),
        ] {
            let error = AdapterFile::parse(bytes).err().unwrap();
            assert!(error.contains(wanted), "{wanted}: {error}");
        }
        let dir = tempfile::tempdir().unwrap();
        assert!(
            AdapterFile::read(dir.path())
                .err()
                .unwrap()
                .contains("plain file")
        );
    }
}
