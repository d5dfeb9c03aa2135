//! The documents say what the code does: every error has its page, every key its row, every
//! command its manual page.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{run, stdout};
use signalbox::config::Config;
use signalbox::grpc::error::{Fault, Reason};
use tonic::{Code, Status};

fn document(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// INVALID_ARGUMENT for `InvalidArgument`.
fn screaming(code: Code) -> String {
    let mut name = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_uppercase());
    }
    name
}

#[test]
fn every_error_has_a_page_that_names_its_code() {
    let index = document("docs/errors/README.md");
    let mut pages = 0;
    for reason in (1..).map_while(|number| Reason::try_from(number).ok()) {
        let name = reason.as_str_name().trim_start_matches("ERROR_REASON_");
        let file = format!("{}.md", name.to_lowercase().replace('_', "-"));
        let row = format!("| [{name}]({file}) |");
        let row = index
            .lines()
            .find(|line| line.starts_with(&row))
            .unwrap_or_else(|| panic!("no {row} in the index"));
        let page = document(&format!("docs/errors/{file}"));
        assert!(page.starts_with(&format!("# {name}\n")), "{file}");
        for part in ["**Code**", "**When**", "**Metadata**", "**Caller**"] {
            assert!(page.contains(part), "{file} has no {part}");
        }
        if reason != Reason::Transport {
            let code = screaming(Status::from(Fault::new(reason, "")).code());
            assert!(row.contains(&code), "{row}: {code}");
            let line = page.lines().find(|line| line.contains("**Code**"));
            assert!(
                line.is_some_and(|line| line.contains(&code)),
                "{file}: {code}"
            );
        }
        pages += 1;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/errors");
    let files = fs::read_dir(folder).expect("the folder").count();
    assert_eq!(files, pages + 1, "a page without a reason");
}

#[test]
fn every_key_of_the_configuration_has_its_row() {
    let page = document("docs/configuration.md");
    let config: toml::Table = toml::from_str(&Config::default().dump()).expect("TOML");
    for (section, keys) in &config {
        let title = format!("## `[{section}]`");
        let start = page.find(&title).unwrap_or_else(|| panic!("no {title}"));
        let rest = &page[start + title.len()..];
        let part = &rest[..rest.find("\n## ").unwrap_or(rest.len())];
        for (key, value) in keys.as_table().expect("a section") {
            let rows: Vec<String> = match value.as_table() {
                Some(inner) => inner
                    .keys()
                    .map(|name| format!("| `{key}.{name}` |"))
                    .collect(),
                None => vec![format!("| `{key}` |")],
            };
            for row in rows {
                assert!(part.contains(&row), "no row {row} under {title}");
            }
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let page = stdout(&run(&["man"]));
    for part in [
        ".TH",
        "EXIT STATUS",
        "SIGNALS",
        "CONFIGURATION",
        "serve",
        "healthcheck",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let folder = tempfile::tempdir().expect("temporary folder");
    let out = folder.path().join("man1");
    let written = run(&["man", "--out", out.to_str().expect("path")]);
    assert_eq!(written.status.code(), Some(0));
    for name in [
        "signalbox",
        "signalbox-serve",
        "signalbox-models-pull",
        "signalbox-journal-tail",
    ] {
        let page = fs::read_to_string(out.join(format!("{name}.1"))).expect(name);
        assert!(page.contains(&format!(".TH {name} ")), "{name}: {page}");
    }
    let serve = fs::read_to_string(out.join("signalbox-serve.1")).expect("page");
    assert!(serve.contains("listen") && !serve.contains("EXIT STATUS"));
    // A real reader of such pages, where there is one.
    let rendered = Command::new("man")
        .args(["--warnings", "-l"])
        .arg(out.join("signalbox.1"))
        .env("MANPAGER", "cat")
        .output();
    if let Ok(rendered) = rendered {
        let text = stdout(&rendered);
        assert!(
            text.contains("EXIT STATUS"),
            "{}",
            common::stderr(&rendered)
        );
        assert_eq!(common::stderr(&rendered), "");
    }
}

#[test]
fn completions_are_scripts_of_their_shells() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&["completions", shell]);
        assert_eq!(script.status.code(), Some(0), "{shell}");
        assert!(stdout(&script).contains("healthcheck"), "{shell}");
    }
    let script = run(&["completions", "bash"]).stdout;
    let mut bash = Command::new("bash")
        .arg("-n")
        .stdin(Stdio::piped())
        .spawn()
        .expect("bash runs");
    let mut stdin = bash.stdin.take().expect("piped");
    std::io::Write::write_all(&mut stdin, &script).expect("written");
    drop(stdin);
    assert!(bash.wait().expect("ends").success());
    assert_eq!(run(&["completions", "tcsh"]).status.code(), Some(64));
}
