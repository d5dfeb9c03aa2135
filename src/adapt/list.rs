//! A file that names several sets and how to train on them (`models/adapters/data.toml`).

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Holdout, Set, Settings};
use crate::catalog::import::{Defaults, Format, import};
use crate::eval::{read_queries, with_ids_as_sources};

/// Bytes of one file.
const MAX_BYTES: u64 = 64 << 20;
/// Sets of one list.
const MAX_SETS: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    schema: u32,
    holdout: f64,
    #[serde(default)]
    settings: Settings,
    sets: Vec<Named>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    // Relative to the list.
    catalogue: PathBuf,
    rows: PathBuf,
    weight: f64,
    // For whoever reads the list; here only so that a misspelt key is an error.
    #[serde(rename = "author")]
    _author: String,
    #[serde(rename = "license")]
    _license: String,
    #[serde(default, rename = "source")]
    _source: Option<String>,
}

/// The sets of a list, and the settings to train with.
pub struct DataList {
    /// The sets, in the order of the list.
    pub sets: Vec<Set>,
    /// The settings.
    pub settings: Settings,
}

/// Reads a list and everything that it names.
///
/// # Errors
/// Names the file and what is wrong with it.
pub fn read_list(path: &Path) -> Result<DataList, String> {
    let named = |why: String| format!("{}: {why}", path.display());
    let list: List = toml::from_str(&read_text(path)?).map_err(|error| named(error.to_string()))?;
    if list.schema != 1 {
        return Err(named(format!("schema is {}, expected 1", list.schema)));
    }
    if list.sets.is_empty() || list.sets.len() > MAX_SETS {
        let count = list.sets.len();
        return Err(named(format!(
            "{count} sets are not within 1 to {MAX_SETS}"
        )));
    }
    let holdout = holdout(list.holdout).map_err(named)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let sets = list
        .sets
        .iter()
        .map(|set| set.read(folder, holdout))
        .collect::<Result<_, _>>()?;
    Ok(DataList {
        sets,
        settings: list.settings,
    })
}

/// A share of prompts to keep back, if it makes sense.
fn holdout(share: f64) -> Result<Holdout, String> {
    // Written so that NaN is out.
    if share > 0.0 && share <= 0.5 {
        Ok(Holdout { share })
    } else {
        Err(format!("holdout {share} is not above 0 and at most 0.5"))
    }
}

impl Named {
    fn read(&self, folder: &Path, holdout: Holdout) -> Result<Set, String> {
        let catalogue = folder.join(&self.catalogue);
        let text = with_ids_as_sources(&read_text(&catalogue)?);
        let defaults = Defaults {
            kind: None,
            source: "adapt".to_owned(),
        };
        let origin = catalogue.display().to_string();
        let imported = import(text.as_bytes(), &origin, Format::Jsonl, &defaults)
            .map_err(|error| error.to_string())?;
        let rows = folder.join(&self.rows);
        let queries = read_queries(&read_text(&rows)?)
            .map_err(|error| format!("{}: {error}", rows.display()))?;
        Set::new(&self.name, self.weight, imported.entries, &queries, holdout)
    }
}

fn read_text(path: &Path) -> Result<String, String> {
    let named = |why: String| format!("{}: {why}", path.display());
    let meta = fs::metadata(path).map_err(|error| named(error.to_string()))?;
    if !meta.is_file() {
        return Err(named("expected a plain file".into()));
    }
    let file = fs::File::open(path).map_err(|error| named(error.to_string()))?;
    let mut text = String::new();
    file.take(MAX_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| named(error.to_string()))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(named(format!("it exceeds the limit of {MAX_BYTES} bytes")));
    }
    Ok(text)
}
