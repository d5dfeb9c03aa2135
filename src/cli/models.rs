//! `signalbox models`.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use super::args::{ModelsArgs, ModelsCommand};
use super::{Failure, print_result};
use crate::config::Config;
use crate::embed::{ManifestError, ModelSpec, locate, manifest, verify};

pub(super) fn run(args: &ModelsArgs, config: &Config) -> Result<ExitCode, Failure> {
    let dir = &config.model.dir;
    match &args.command {
        ModelsCommand::Pull { id } => {
            let specs: Vec<&ModelSpec> = wanted(id.as_deref(), config)
                .into_iter()
                .map(find)
                .collect::<Result<_, _>>()?;
            pull(&specs, dir, config)
        }
        ModelsCommand::Verify { id } => verify_all(&specs(id.as_deref())?, dir),
        ModelsCommand::List => print_result(&list(dir)?),
    }
}

/// The models to fetch: the one named, else all that the configuration loads.
fn wanted<'a>(id: Option<&'a str>, config: &'a Config) -> Vec<&'a str> {
    match id {
        Some(id) => vec![id],
        None => std::iter::once(config.model.id.as_str())
            .chain(config.model.english())
            .collect(),
    }
}

fn find(id: &str) -> Result<&'static ModelSpec, Failure> {
    manifest()
        .and_then(|manifest| manifest.find(id))
        .map_err(usage)
}

fn specs(id: Option<&str>) -> Result<Vec<&'static ModelSpec>, Failure> {
    match id {
        Some(id) => Ok(vec![find(id)?]),
        None => Ok(manifest().map_err(usage)?.models.iter().collect()),
    }
}

fn usage(error: ManifestError) -> Failure {
    Failure::Usage(error.into())
}

#[cfg(feature = "hub")]
fn pull(specs: &[&ModelSpec], dir: &Path, config: &Config) -> Result<ExitCode, Failure> {
    use crate::config::Secret;
    use crate::embed::{HubOptions, pull};

    let options = HubOptions {
        endpoint: config.hub.endpoint.clone(),
        token: config
            .hub
            .token
            .as_ref()
            .map(Secret::reveal)
            .map(str::to_owned),
        ..HubOptions::default()
    };
    let mut out = String::new();
    for spec in specs {
        let fetched = pull(spec, dir, &options).map_err(|error| Failure::Work(error.into()))?;
        for path in &fetched {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "fetched and verified {}", path.display());
        }
        if fetched.is_empty() {
            let _ = writeln!(out, "{} is there already and verified", spec.id);
        }
    }
    print_result(&out)
}

#[cfg(not(feature = "hub"))]
fn pull(_specs: &[&ModelSpec], _dir: &Path, _config: &Config) -> Result<ExitCode, Failure> {
    let error = anyhow::anyhow!("this build has no hub client; use `python3 models/fetch.py`");
    Err(Failure::Work(error))
}

fn verify_all(specs: &[&ModelSpec], dir: &Path) -> Result<ExitCode, Failure> {
    let mut out = String::new();
    let mut wrong = 0;
    for spec in specs {
        let folder = dir.join(&spec.id);
        let checked = locate(spec, &folder).and_then(|variant| {
            variant
                .files
                .iter()
                .try_for_each(|file| verify(&folder.join(&file.name), file))
        });
        // Writing to a string cannot fail.
        let _ = match checked {
            Ok(()) => writeln!(out, "{}: verified", spec.id),
            Err(error) => {
                wrong += 1;
                writeln!(out, "{}: {error}", spec.id)
            }
        };
    }
    print_result(&out)?;
    Ok(if wrong == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn list(dir: &Path) -> Result<String, Failure> {
    let mut out = String::new();
    for spec in &manifest().map_err(usage)?.models {
        let there = if locate(spec, &dir.join(&spec.id)).is_ok() {
            "present"
        } else {
            "missing"
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:<24} {there:<8} {} layers, {} dimensions, {} tokens, {}",
            spec.id, spec.layers, spec.hidden, spec.max_tokens, spec.license
        );
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_models_that_are_loaded_are_fetched() {
        let mut config = Config::default();
        assert_eq!(
            wanted(None, &config),
            ["multilingual-e5-small", "all-minilm-l6-v2"]
        );
        assert_eq!(
            wanted(Some("multilingual-e5-small"), &config),
            ["multilingual-e5-small"]
        );
        config.model.english = "none".into();
        assert_eq!(wanted(None, &config), ["multilingual-e5-small"]);
        config.model.id = "all-minilm-l6-v2".into();
        config.model.english = "all-minilm-l6-v2".into();
        assert_eq!(wanted(None, &config), ["all-minilm-l6-v2"]);
    }
}
