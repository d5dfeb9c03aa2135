//! Model files: read whole, and only if they are the ones the manifest names.
//!
//! The digest is taken over the very bytes that are handed out, so a file that changes
//! between a check and its use is still refused.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use super::manifest::{FileSpec, ModelSpec, Variant};

/// Bytes read and digested at a time.
const CHUNK: usize = 1 << 20;

/// Why a model file is refused.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is not there.
    #[error(
        "{path}: missing; expected {expected} bytes with sha256 {sha256} (run `make models`, or \
         `signalbox models pull`)",
        path = path.display()
    )]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
        /// Bytes it should have.
        expected: u64,
        /// Its digest.
        sha256: String,
    },
    /// It has another size.
    #[error("{path}: expected {expected} bytes, found {found}", path = path.display())]
    Size {
        /// The file.
        path: PathBuf,
        /// Bytes it should have.
        expected: u64,
        /// Bytes it has.
        found: u64,
    },
    /// It has other contents.
    #[error("{path}: expected sha256 {expected}, found {found}", path = path.display())]
    Digest {
        /// The file.
        path: PathBuf,
        /// The digest it should have.
        expected: String,
        /// The digest it has.
        found: String,
    },
    /// No variant of the model has files of these sizes.
    #[error("{folder} holds no variant of the model:{problems}", folder = folder.display())]
    NoVariant {
        /// The model's folder.
        folder: PathBuf,
        /// For each variant its id and the first file that is missing or different.
        problems: String,
    },
    /// It cannot be read.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// The variant of `model` whose files, by their sizes, lie in `folder`. Their contents are
/// checked when they are read.
///
/// # Errors
/// Says for each variant which file is missing or has another size. The model's only variant
/// gives that file's error itself.
pub fn locate<'a>(model: &'a ModelSpec, folder: &Path) -> Result<&'a Variant, FileError> {
    let mut problems = Vec::new();
    for variant in &model.variants {
        let wrong = variant
            .files
            .iter()
            .find_map(|file| check_metadata(&folder.join(&file.name), file).err());
        match wrong {
            None => return Ok(variant),
            Some(error) => problems.push((&variant.id, error)),
        }
    }
    if let [_] = model.variants.as_slice()
        && let Some((_, error)) = problems.pop()
    {
        return Err(error);
    }
    let problems = problems
        .iter()
        .map(|(id, error)| format!("\n  variant {id}: {error}"));
    Err(FileError::NoVariant {
        folder: folder.into(),
        problems: problems.collect(),
    })
}

/// Reads the file at `path`, which must be the one that `spec` describes.
///
/// # Errors
/// Names the file, what was expected and what was found.
pub fn read_verified(path: &Path, spec: &FileSpec) -> Result<Vec<u8>, FileError> {
    let mut file = open(path, spec)?;
    // The file has this size, so a wrong manifest cannot ask for more memory than the disk holds.
    let mut bytes = Vec::with_capacity(usize::try_from(spec.size).unwrap_or(0));
    let mut digest = Sha256::new();
    loop {
        let before = bytes.len();
        let chunk = (&mut file).take(CHUNK as u64).read_to_end(&mut bytes);
        let read = chunk.map_err(|source| io_error(path, source))?;
        if read == 0 {
            break;
        }
        digest.update(&bytes[before..]);
        // Grew since it was opened.
        check_size(path, spec, (bytes.len() as u64).max(spec.size))?;
    }
    check_size(path, spec, bytes.len() as u64)?;
    check_digest(path, spec, digest)?;
    Ok(bytes)
}

/// Checks the file at `path` without keeping its bytes.
///
/// # Errors
/// As [`read_verified`].
pub fn verify(path: &Path, spec: &FileSpec) -> Result<(), FileError> {
    let mut file = open(path, spec)?;
    let mut chunk = vec![0; CHUNK];
    let mut digest = Sha256::new();
    let mut total = 0;
    loop {
        let read = file
            .read(&mut chunk)
            .map_err(|source| io_error(path, source))?;
        if read == 0 {
            break;
        }
        total += read as u64;
        digest.update(&chunk[..read]);
        check_size(path, spec, total.max(spec.size))?;
    }
    check_size(path, spec, total)?;
    check_digest(path, spec, digest)
}

fn open(path: &Path, spec: &FileSpec) -> Result<File, FileError> {
    check_metadata(path, spec)?;
    File::open(path).map_err(|source| io_error(path, source))
}

// A plain file of the right size; opening a pipe in its place would block for ever.
fn check_metadata(path: &Path, spec: &FileSpec) -> Result<(), FileError> {
    let metadata = fs::metadata(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => FileError::Missing {
            path: path.into(),
            expected: spec.size,
            sha256: spec.sha256.clone(),
        },
        _ => io_error(path, source),
    })?;
    if !metadata.is_file() {
        return Err(io_error(path, io::Error::other("expected a plain file")));
    }
    check_size(path, spec, metadata.len())
}

fn check_size(path: &Path, spec: &FileSpec, found: u64) -> Result<(), FileError> {
    if found == spec.size {
        return Ok(());
    }
    Err(FileError::Size {
        path: path.into(),
        expected: spec.size,
        found,
    })
}

fn check_digest(path: &Path, spec: &FileSpec, digest: Sha256) -> Result<(), FileError> {
    let found = hex(&digest.finalize());
    if found == spec.sha256 {
        return Ok(());
    }
    Err(FileError::Digest {
        path: path.into(),
        expected: spec.sha256.clone(),
        found,
    })
}

fn io_error(path: &Path, source: io::Error) -> FileError {
    FileError::Io {
        path: path.into(),
        source,
    }
}

/// Lowercase hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // sha256 of "hello model".
    fn spec() -> FileSpec {
        FileSpec {
            name: "model.safetensors".into(),
            sha256: hex(&Sha256::digest("hello model")),
            size: 11,
        }
    }

    fn file(contents: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.safetensors");
        fs::write(&path, contents).unwrap();
        (dir, path)
    }

    #[test]
    fn the_right_file_is_read() {
        let (_dir, path) = file("hello model");
        assert_eq!(read_verified(&path, &spec()).unwrap(), b"hello model");
        verify(&path, &spec()).unwrap();
    }

    #[test]
    fn one_changed_byte_is_refused_with_both_digests() {
        let (_dir, path) = file("hello m0del");
        let wanted = spec().sha256;
        let found = hex(&Sha256::digest("hello m0del"));
        for error in [
            read_verified(&path, &spec()).unwrap_err(),
            verify(&path, &spec()).unwrap_err(),
        ] {
            let text = error.to_string();
            assert!(matches!(error, FileError::Digest { .. }), "{text}");
            for part in [path.to_str().unwrap(), &wanted, &found] {
                assert!(text.contains(part), "{text}");
            }
        }
    }

    #[test]
    fn a_wrong_size_is_refused_with_both_sizes() {
        let (_dir, path) = file("hello");
        let error = read_verified(&path, &spec()).unwrap_err();
        assert!(
            error.to_string().ends_with("expected 11 bytes, found 5"),
            "{error}"
        );
    }

    #[test]
    fn a_missing_file_says_how_to_get_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.safetensors");
        let error = read_verified(&path, &spec()).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, FileError::Missing { .. }), "{text}");
        assert!(
            text.contains("make models") && text.contains(path.to_str().unwrap()),
            "{text}"
        );
    }

    #[test]
    fn a_folder_in_its_place_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let error = read_verified(dir.path(), &spec()).unwrap_err();
        assert!(error.to_string().contains("plain file"), "{error}");
    }

    #[test]
    fn more_than_one_chunk_is_digested() {
        let contents = "x".repeat(2 * CHUNK + 1);
        let (_dir, path) = file(&contents);
        let spec = FileSpec {
            name: "model.safetensors".into(),
            sha256: hex(&Sha256::digest(&contents)),
            size: contents.len() as u64,
        };
        assert_eq!(read_verified(&path, &spec).unwrap().len(), contents.len());
        verify(&path, &spec).unwrap();
    }

    fn two_variants() -> ModelSpec {
        let manifest = crate::embed::manifest().unwrap();
        let model = manifest
            .models
            .iter()
            .find(|model| model.variants.len() == 2);
        let mut model = model.unwrap().clone();
        for (at, variant) in model.variants.iter_mut().enumerate() {
            for file in &mut variant.files {
                file.size = 3 + at as u64;
            }
        }
        model
    }

    #[test]
    fn the_variant_is_told_by_its_sizes() {
        let dir = tempfile::tempdir().unwrap();
        let model = two_variants();
        for file in &model.variants[1].files {
            fs::write(dir.path().join(&file.name), "four").unwrap();
        }
        assert_eq!(locate(&model, dir.path()).unwrap().id, model.variants[1].id);
        // A mixture is neither.
        fs::write(dir.path().join("model.safetensors"), "six").unwrap();
        let error = locate(&model, dir.path()).unwrap_err().to_string();
        for part in [
            &format!("variant {}: ", model.variants[0].id),
            "config.json: expected 3 bytes, found 4",
            &format!("variant {}: ", model.variants[1].id),
            "model.safetensors: expected 4 bytes, found 3",
        ] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn an_empty_folder_names_the_first_file_and_the_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let mut model = two_variants();
        let error = locate(&model, dir.path()).unwrap_err().to_string();
        assert!(
            error.contains("config.json: missing") && error.contains("make models"),
            "{error}"
        );
        model.variants.truncate(1);
        assert!(matches!(
            locate(&model, dir.path()),
            Err(FileError::Missing { .. })
        ));
    }
}
