//! The manual pages and the shells' completions, made from the flags themselves.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::args::{Cli, ManArgs};
use super::{Failure, print_result};

/// What the flags do not say.
const SECTIONS: [(&str, &[&str]); 4] = [
    (
        "CONFIGURATION",
        &[
            "Defaults, then the file named by --config or SIGNALBOX_CONFIG, then variables \
             SIGNALBOX_SECTION__KEY, then flags; the later wins.",
            "signalbox check-config --dump shows the result.",
        ],
    ),
    (
        "EXIT STATUS",
        &[
            "0: done, also where nothing matches, or drained.",
            "1: the work failed, the server could not start, or is not SERVING.",
            "64: the command line or the configuration is wrong.",
            "130: a second signal stopped the server at once.",
        ],
    ),
    (
        "SIGNALS",
        &[
            "SIGTERM and SIGINT begin the drain: readiness goes, streams end with a token to \
             resume by, calls in flight go on for server.drain_seconds.",
            "A second one ends the process at once.",
        ],
    ),
    (
        "FILES",
        &[
            "signalbox.db in store.data_dir: changes of the catalogue, vectors, loops, journal.",
            "models/weights: the folder of model files unless model.dir says otherwise.",
        ],
    ),
];

/// The completions of a shell.
pub(super) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "signalbox", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Prints the manual page, or writes all of them.
pub(super) fn man(args: &ManArgs) -> Result<ExitCode, Failure> {
    let mut command = Cli::command();
    // Gives every command its full name (`signalbox-models-pull`).
    command.build();
    match &args.out {
        None => {
            let page = page(&command).context("the page cannot be made")?;
            print_result(&String::from_utf8_lossy(&page))
        }
        Some(dir) => {
            write_all(&command, dir)
                .with_context(|| format!("the pages cannot be written to {}", dir.display()))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn write_all(command: &clap::Command, dir: &Path) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    let name = command.get_display_name().unwrap_or(command.get_name());
    std::fs::write(dir.join(format!("{name}.1")), page(command)?)?;
    for each in command.get_subcommands() {
        if each.get_name() != "help" {
            write_all(each, dir)?;
        }
    }
    Ok(())
}

fn page(command: &clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    if command.get_display_name().unwrap_or("signalbox") == "signalbox" {
        let mut roff = Roff::new();
        for (title, paragraphs) in SECTIONS {
            roff.control("SH", [title]);
            for paragraph in paragraphs {
                roff.control("PP", []).text([roman(*paragraph)]);
            }
        }
        roff.to_writer(&mut page)?;
    }
    Ok(page)
}
