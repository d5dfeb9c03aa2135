//! Tests of the importers, one module for each reader.

#![allow(clippy::unwrap_used)]

use super::*;

mod document;
mod injection;
mod load;
mod robustness;
mod sections;
mod skill_md;

/// Defaults with source `test`.
fn defaults() -> Defaults {
    Defaults {
        kind: None,
        source: "test".into(),
    }
}

fn read(text: &str, format: Format) -> Imported {
    import(text.as_bytes(), "doc", format, &defaults()).unwrap()
}

fn refuse(text: &str, format: Format) -> ImportError {
    import(text.as_bytes(), "doc", format, &defaults()).unwrap_err()
}

/// Reads a skill in folder `pdf`.
fn skill(text: &str) -> Imported {
    import(
        text.as_bytes(),
        "skills/pdf/SKILL.md",
        Format::SkillMd,
        &defaults(),
    )
    .unwrap()
}

fn codes(imported: &Imported) -> Vec<&'static str> {
    imported
        .diagnostics
        .iter()
        .map(|found| found.code)
        .collect()
}
