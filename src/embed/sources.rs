//! Which files and adapters make up the model that is asked for, and the digest of the sum.

use std::path::PathBuf;

use super::{
    adapter::Scale,
    adapter_file::AdapterFile,
    files::{locate, read_verified},
    manifest::{AdapterSpec, ModelSpec, Variant, manifest},
    types::EmbedConfig,
};

/// A model before its files are read. The adapters are in memory, and fit each other.
pub(super) struct Sources {
    pub(super) spec: &'static ModelSpec,
    /// See [`ModelInfo::digest`](super::ModelInfo::digest).
    pub(super) digest: String,
    variant: &'static Variant,
    folder: PathBuf,
    shipped: Vec<(&'static [u8], Scale)>,
    own: Vec<AdapterFile>,
}

impl Sources {
    /// Finds the files of the model `id` as `config` describes it, and reads its adapters. The
    /// user's own belong to the first model alone.
    ///
    /// # Errors
    /// Names the model or file and what is wrong with it.
    pub(super) fn find(config: &EmbedConfig, id: &str) -> Result<Self, String> {
        let manifest = manifest().map_err(|error| error.to_string())?;
        let spec = manifest.find(id).map_err(|error| error.to_string())?;
        let folder = config.dir.join(&spec.id);
        let variant = locate(spec, &folder).map_err(|error| error.to_string())?;
        let adapters = match config.adapter {
            true => manifest.adapters_of(&spec.id),
            false => Vec::new(),
        };
        let shipped = with_scales(&adapters)?;
        let mut digest = spec.digest(variant, &adapters);
        let mut own = Vec::new();
        for path in config.adapters.iter().filter(|_| id == config.model) {
            let named = |why: String| format!("{}: {why}", path.display());
            let file = AdapterFile::read(path).map_err(named)?;
            file.fits(&spec.id, &digest).map_err(named)?;
            digest = file.digest_on(&digest);
            own.push(file);
        }
        Ok(Self {
            spec,
            digest,
            variant,
            folder,
            shipped,
            own,
        })
    }

    /// All adapters, in the order in which they are merged.
    pub(super) fn adapters(&self) -> Vec<(&[u8], Scale)> {
        let own = self.own.iter().map(|file| (file.bytes(), file.scale()));
        self.shipped.iter().copied().chain(own).collect()
    }

    /// One of the model's files, if it is the one of the manifest.
    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let file = self
            .variant
            .file(name)
            .ok_or_else(|| format!("{}: no {name}", self.spec.id))?;
        read_verified(&self.folder.join(name), file).map_err(|error| error.to_string())
    }
}

/// The adapters that are part of this binary, for the model `id`.
pub(super) fn shipped(id: &str) -> Result<Vec<(&'static [u8], Scale)>, String> {
    let manifest = manifest().map_err(|error| error.to_string())?;
    with_scales(&manifest.adapters_of(id))
}

fn with_scales(adapters: &[&AdapterSpec]) -> Result<Vec<(&'static [u8], Scale)>, String> {
    let with_scale = |adapter: &&AdapterSpec| {
        let scale = Scale {
            rank: adapter.rank,
            alpha: adapter.alpha,
            strength: adapter.strength,
        };
        let bytes = adapter.bytes().map_err(|error| error.to_string())?;
        Ok((bytes, scale))
    };
    adapters.iter().map(with_scale).collect()
}
