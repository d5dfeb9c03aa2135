//! Flags of `signalbox journal`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::super::args::EngineArgs;
use crate::config::Overrides;

#[derive(Debug, Args)]
pub struct JournalArgs {
    #[command(subcommand)]
    pub command: JournalCommand,
    /// Ask a running server (HOST:PORT or unix:PATH) instead of reading the data directory
    #[arg(long, global = true, value_name = "ADDR")]
    pub server: Option<String>,
    #[command(flatten)]
    engine: JournalEngineArgs,
}

/// [`EngineArgs`], usable before and after the subcommand.
#[derive(Debug, Args)]
struct JournalEngineArgs {
    /// Folder of the database; it is only read, also while a server uses it
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Catalogue file or folder, for `replay`; may be given several times
    #[arg(long, global = true, value_name = "PATH")]
    catalog: Vec<PathBuf>,
    /// Model id, or "none" to route by tokens alone, for `replay`
    #[arg(long, global = true, value_name = "ID")]
    model: Option<String>,
    /// Folder that holds one folder of files for each model, for `replay`
    #[arg(long, global = true, value_name = "DIR")]
    models_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum JournalCommand {
    /// Print the newest entries, and follow
    Tail {
        /// Go on with what comes
        #[arg(long, short)]
        follow: bool,
        /// Only this loop
        #[arg(long = "loop", value_name = "ID")]
        loop_id: Option<String>,
        /// Entries to begin with
        #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = parse_lines)]
        lines: usize,
        /// Print JSON, one entry on a line
        #[arg(long)]
        json: bool,
    },
    /// Print every entry as JSON, one on a line
    Export {
        /// Only this loop
        #[arg(long = "loop", value_name = "ID")]
        loop_id: Option<String>,
    },
    /// Check every entry; exit code 1 where something is damaged or missing
    Verify {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Count the entries
    Stats {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Compute a journaled routing decision again; exit code 1 where it differs
    Replay {
        /// Id of the route, as its answer had it
        #[arg(value_name = "ROUTE_ID")]
        route_id: String,
    },
}

impl JournalArgs {
    /// Overrides of the configuration.
    pub fn overrides(&self) -> Overrides {
        let JournalEngineArgs {
            data_dir,
            catalog,
            model,
            models_dir,
        } = &self.engine;
        let engine = EngineArgs {
            catalog: catalog.clone(),
            model: model.clone(),
            models_dir: models_dir.clone(),
            data_dir: data_dir.clone(),
        };
        engine.overrides(Overrides::new())
    }
}

fn parse_lines(value: &str) -> Result<usize, String> {
    match value.parse() {
        Ok(lines) if lines <= 100_000 => Ok(lines),
        _ => Err("is not a number from 0 to 100000".to_owned()),
    }
}
