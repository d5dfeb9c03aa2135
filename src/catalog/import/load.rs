//! Files and folders of catalogues and skills.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::{
    Batch, Defaults, Diagnostic, Format, ImportError, Imported, MAX_DOCUMENT_BYTES, SKILL_SOURCE,
    Severity,
};

/// Name of the file that makes a folder a skill.
const SKILL_FILE: &str = "SKILL.md";

/// Reads files and folders, in the order given. A folder is walked with all below it, sorted
/// by path: `*.yaml`, `*.yml`, `*.json`, `*.jsonl`, and files named exactly `SKILL.md`; others
/// are not touched, nor are symbolic links followed inside it. What lies beside or below a
/// `SKILL.md` belongs to that skill and is not read as a catalogue.
///
/// The source of an entry is the item's, else the document's, else the name of the file
/// without its extension; of skills it is [`SKILL_SOURCE`].
///
/// # Errors
///
/// A path that is missing, unreadable or of no known format, what [`import`](super::import)
/// refuses, and a name twice in one source, within a file or across them.
pub fn load_paths(paths: &[PathBuf]) -> Result<Imported, ImportError> {
    let mut batch = Batch::default();
    for path in paths {
        let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        if metadata.is_dir() {
            for (file, format) in walk(path, &mut batch.imported.diagnostics)? {
                load_file(&mut batch, &file, format)?;
            }
        } else if !metadata.is_file() {
            return Err(error(path, "is neither a file nor a folder".into()));
        } else if let Some(format) = format_of(path) {
            load_file(&mut batch, path, format)?;
        } else {
            let message = "has no known format: .yaml, .yml, .json, .jsonl or SKILL.md";
            return Err(error(path, message.into()));
        }
    }
    Ok(batch.imported)
}

/// The files below a folder that are to be read, sorted by path.
fn walk(
    root: &Path,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<(PathBuf, Format)>, ImportError> {
    let mut files = Vec::new();
    let mut skills = HashSet::new();
    for item in WalkDir::new(root).sort_by_file_name() {
        let item = item.map_err(|cause| {
            let path = cause.path().unwrap_or(root).to_path_buf();
            error(&path, format!("cannot be read: {cause}"))
        })?;
        if !item.file_type().is_file() {
            continue;
        }
        let path = item.into_path();
        match format_of(&path) {
            Some(format) => {
                if format == Format::SkillMd {
                    skills.extend(path.parent().map(Path::to_path_buf));
                }
                files.push((path, format));
            }
            None => diagnostics.extend(misnamed(&path)),
        }
    }
    files.sort();
    files.retain(|(path, format)| {
        *format == Format::SkillMd
            || !path
                .ancestors()
                .skip(1)
                .any(|folder| skills.contains(folder))
    });
    Ok(files)
}

/// A finding where a file is almost named like a skill.
fn misnamed(path: &Path) -> Option<Diagnostic> {
    let name = path.file_name()?.to_str()?;
    name.eq_ignore_ascii_case(SKILL_FILE).then(|| Diagnostic {
        severity: Severity::Warning,
        code: "MISNAMED_SKILL",
        message: format!("is ignored: a skill's file is named exactly {SKILL_FILE}"),
        origin: path.display().to_string(),
        line: None,
        item: None,
    })
}

fn format_of(path: &Path) -> Option<Format> {
    if path.file_name().is_some_and(|name| name == SKILL_FILE) {
        return Some(Format::SkillMd);
    }
    match path.extension()?.to_str()? {
        "yaml" | "yml" => Some(Format::Yaml),
        "json" => Some(Format::Json),
        "jsonl" => Some(Format::Jsonl),
        _ => None,
    }
}

fn load_file(batch: &mut Batch, path: &Path, format: Format) -> Result<(), ImportError> {
    let mut text = Vec::new();
    File::open(path)
        // One byte past the limit is enough to be refused for its size.
        .and_then(|file| {
            file.take(MAX_DOCUMENT_BYTES as u64 + 1)
                .read_to_end(&mut text)
        })
        .map_err(|error| unreadable(path, &error))?;
    if text.len() > MAX_DOCUMENT_BYTES && format != Format::SkillMd {
        let message = format!("is larger than the limit of {MAX_DOCUMENT_BYTES} bytes");
        return Err(error(path, message));
    }
    let source = match format {
        Format::SkillMd => SKILL_SOURCE.to_owned(),
        _ => path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default(),
    };
    batch.read(
        &text,
        &path.display().to_string(),
        format,
        &Defaults { kind: None, source },
    )
}

fn unreadable(path: &Path, cause: &std::io::Error) -> ImportError {
    error(path, format!("cannot be read: {cause}"))
}

fn error(path: &Path, message: String) -> ImportError {
    ImportError::new(&path.display().to_string(), None, None, &message)
}
