//! Flags.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::Overrides;
use crate::route::{DEFAULT_LIMIT, Mode};

/// Routes prompts to commands, tools and skills.
#[derive(Debug, Parser)]
#[command(name = "signalbox", version, arg_required_else_help = true)]
pub struct Cli {
    /// Configuration file (TOML); also SIGNALBOX_CONFIG
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the gRPC services
    Serve(ServeArgs),
    /// Route one prompt and print the matches
    Route(RouteArgs),
    /// Measure routing on labelled prompts, or the loop guard on labelled runs
    Eval(EvalArgs),
    /// Tune the model on labelled prompts
    Adapt(super::adapt::AdaptArgs),
    /// Fit floor and confidence to labelled prompts
    Calibrate(CalibrateArgs),
    /// Fetch and verify model files
    Models(ModelsArgs),
    /// Read the journal
    Journal(super::journal::JournalArgs),
    /// Check the configuration without starting anything
    CheckConfig(CheckConfigArgs),
    /// Ask a running server for its health; exit code 0 means SERVING
    Healthcheck(HealthcheckArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each command
    Man(ManArgs),
}

/// Flags of every command that routes.
#[derive(Debug, Args)]
pub struct EngineArgs {
    /// Catalogue file or folder; may be given several times
    #[arg(long, value_name = "PATH")]
    pub catalog: Vec<PathBuf>,
    /// Model id, or "none" to route by tokens alone
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// Folder that holds one folder of files for each model
    #[arg(long, value_name = "DIR")]
    pub models_dir: Option<PathBuf>,
    /// Folder of the database
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
}

impl EngineArgs {
    /// Adds what is given to the overrides of the configuration.
    pub fn overrides(&self, mut overrides: Overrides) -> Overrides {
        if !self.catalog.is_empty() {
            let paths = self.catalog.iter().map(|path| text(path).into()).collect();
            set(
                &mut overrides,
                "catalog",
                "paths",
                toml::Value::Array(paths),
            );
        }
        if let Some(model) = &self.model {
            set(&mut overrides, "model", "id", model.clone());
        }
        if let Some(dir) = &self.models_dir {
            set(&mut overrides, "model", "dir", text(dir));
        }
        if let Some(dir) = &self.data_dir {
            set(&mut overrides, "store", "data_dir", text(dir));
        }
        overrides
    }
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// TCP address; "" for none
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Path of a Unix socket to listen on
    #[arg(long, value_name = "PATH")]
    uds: Option<PathBuf>,
    #[command(flatten)]
    pub engine: EngineArgs,
}

impl ServeArgs {
    /// Overrides of the configuration.
    pub fn overrides(&self) -> Overrides {
        let mut overrides = Overrides::new();
        if let Some(listen) = &self.listen {
            set(&mut overrides, "server", "listen", listen.clone());
        }
        if let Some(uds) = &self.uds {
            set(&mut overrides, "server", "uds", text(uds));
        }
        overrides
    }
}

#[derive(Debug, Args)]
pub struct RouteArgs {
    /// The prompt
    pub prompt: String,
    /// Most matches to print, 0 to 1000
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT, value_parser = parse_limit)]
    pub limit: usize,
    /// Leave out matches whose score is below, 0 to 1
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = parse_share)]
    pub min_score: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Leave tools out
    #[arg(long)]
    pub no_tools: bool,
    /// Leave commands out
    #[arg(long)]
    pub no_commands: bool,
    /// Leave skills out
    #[arg(long)]
    pub no_skills: bool,
    /// What ranks
    #[arg(long, value_enum, default_value_t = ModeArg::Hybrid)]
    pub mode: ModeArg,
    /// Show what each score is made of, and what was dropped and why
    #[arg(long)]
    pub explain: bool,
    /// Also print the smallest set that holds the right entry with this probability
    #[arg(long, value_name = "P", value_parser = parse_probability)]
    pub coverage: Option<f64>,
    /// Print the steps of a prompt that asks for several things
    #[arg(long)]
    pub plan: bool,
    /// What was said before; may be given several times, oldest first
    #[arg(long, value_name = "TEXT")]
    pub context: Vec<String>,
    /// Whose preferences count
    #[arg(long, value_name = "NAME", default_value = "")]
    pub tenant: String,
    /// The user of the tenant
    #[arg(long, value_name = "NAME", default_value = "")]
    pub user: String,
    /// Moment that "tomorrow" is relative to (RFC 3339); now where absent
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    pub now: Option<jiff::Timestamp>,
    /// Zone that dates and times are meant in (IANA name); UTC where absent
    #[arg(long, value_name = "ZONE", value_parser = parse_zone)]
    pub time_zone: Option<jiff::tz::TimeZone>,
    /// Ask a running server (HOST:PORT or unix:PATH) instead of routing here
    #[arg(long, value_name = "ADDR")]
    pub server: Option<String>,
    #[command(flatten)]
    pub engine: EngineArgs,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct EvalArgs {
    #[command(subcommand)]
    pub command: Option<EvalCommand>,
    #[command(flatten)]
    pub routing: Option<EvalRoutingArgs>,
}

#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// Measure the loop guard on labelled runs
    Loops(EvalLoopsArgs),
    /// Measure plans on prompts with their steps
    Plans(EvalPlansArgs),
}

#[derive(Debug, Args)]
pub struct EvalPlansArgs {
    /// Prompts with their steps (JSONL: prompt, lang, kind, split, steps)
    #[arg(value_name = "FILE")]
    pub prompts: PathBuf,
    /// Only prompts of this split
    #[arg(long, value_name = "NAME")]
    pub split: Option<String>,
    /// What ranks
    #[arg(long, value_enum, default_value_t = ModeArg::Hybrid)]
    pub mode: ModeArg,
    /// Print the prompts whose plan is wrong
    #[arg(long)]
    pub wrong: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub engine: EngineArgs,
}

#[derive(Debug, Args)]
pub struct EvalLoopsArgs {
    /// Labelled runs (JSONL: steps of action, output and valid; weak_label)
    #[arg(long, value_name = "FILE")]
    pub runs: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `eval` without a subcommand.
#[derive(Debug, Args)]
pub struct EvalRoutingArgs {
    /// Catalogue (JSONL, JSON or YAML)
    #[arg(long, value_name = "FILE")]
    pub catalog: PathBuf,
    /// Labelled prompts (JSONL: query, lang, gold, candidates, oos_kind)
    #[arg(long, value_name = "FILE")]
    pub queries: PathBuf,
    /// What ranks
    #[arg(long, value_enum, default_value_t = ModeArg::Hybrid)]
    pub mode: ModeArg,
    /// Write each prompt with its ranking to a file (JSONL)
    #[arg(long, value_name = "FILE")]
    pub details: Option<PathBuf>,
    /// Depth of the ranking that is measured
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT, value_parser = parse_limit)]
    pub limit: usize,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Model id, or "none" to route by tokens alone
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// Folder that holds one folder of files for each model
    #[arg(long, value_name = "DIR")]
    pub models_dir: Option<PathBuf>,
    /// Folder of the database that keeps vectors between runs
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
}

impl EvalRoutingArgs {
    /// Overrides of the configuration.
    pub fn overrides(&self) -> Overrides {
        let engine = EngineArgs {
            catalog: vec![self.catalog.clone()],
            model: self.model.clone(),
            models_dir: self.models_dir.clone(),
            data_dir: self.data_dir.clone(),
        };
        engine.overrides(Overrides::new())
    }
}

#[derive(Debug, Args)]
pub struct CalibrateArgs {
    /// Labelled prompts (JSONL: query, gold); without them the entries' examples are used
    #[arg(value_name = "PROMPTS")]
    pub prompts: Option<PathBuf>,
    /// Where the calibration is written
    #[arg(long, value_name = "FILE", default_value = "calibration.json")]
    pub out: PathBuf,
    /// Share of the prompts in scope that may be refused, 0 to 1
    #[arg(long, value_name = "X", default_value_t = 0.05, value_parser = parse_share)]
    pub false_refusal: f64,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub engine: EngineArgs,
}

#[derive(Debug, Args)]
pub struct ModelsArgs {
    #[command(subcommand)]
    pub command: ModelsCommand,
    /// Folder that holds one folder of files for each model
    #[arg(long, global = true, value_name = "DIR")]
    models_dir: Option<PathBuf>,
}

impl ModelsArgs {
    /// Overrides of the configuration.
    pub fn overrides(&self) -> Overrides {
        let mut overrides = Overrides::new();
        if let Some(dir) = &self.models_dir {
            set(&mut overrides, "model", "dir", text(dir));
        }
        overrides
    }
}

#[derive(Debug, Subcommand)]
pub enum ModelsCommand {
    /// Fetch a model's files from the hub and verify them
    Pull {
        /// Model id; those that the configuration loads where absent
        id: Option<String>,
    },
    /// Verify the files that are there against the manifest
    Verify {
        /// Model id; all where absent
        id: Option<String>,
    },
    /// List the models of the manifest
    List,
}

#[derive(Debug, Args)]
pub struct CheckConfigArgs {
    /// Print the whole configuration, secrets redacted
    #[arg(long)]
    pub dump: bool,
}

#[derive(Debug, Args)]
pub struct HealthcheckArgs {
    /// Server to ask (HOST:PORT or unix:PATH)
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:50051")]
    pub server: String,
    /// Health name, for example readiness or signalbox.v1.RouteService
    #[arg(long, value_name = "NAME", default_value = "")]
    pub service: String,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write signalbox.1 and a page for each command into this folder, instead of printing
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// A mode as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    Lexical,
    Semantic,
    Hybrid,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Lexical => Mode::Lexical,
            ModeArg::Semantic => Mode::Semantic,
            ModeArg::Hybrid => Mode::Hybrid,
        }
    }
}

fn parse_limit(value: &str) -> Result<usize, String> {
    match value.parse() {
        Ok(limit) if limit <= crate::route::MAX_LIMIT => Ok(limit),
        _ => Err(format!(
            "is not a number from 0 to {}",
            crate::route::MAX_LIMIT
        )),
    }
}

fn parse_probability(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("must lie between 0 and 1".into()),
    }
}

fn parse_moment(value: &str) -> Result<jiff::Timestamp, String> {
    value
        .parse()
        .map_err(|_| "is no time like 2026-11-30T09:00:00Z".to_owned())
}

fn parse_zone(value: &str) -> Result<jiff::tz::TimeZone, String> {
    jiff::tz::TimeZone::get(value).map_err(|_| "is no IANA name like Europe/Berlin".to_owned())
}

fn parse_share(value: &str) -> Result<f64, String> {
    match value.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("is not a number from 0 to 1".to_owned()),
    }
}

fn set(overrides: &mut Overrides, section: &str, key: &str, value: impl Into<toml::Value>) {
    let section = overrides
        .entry(section)
        .or_insert_with(|| toml::Value::Table(toml::Table::new()));
    if let toml::Value::Table(table) = section {
        table.insert(key.to_owned(), value.into());
    }
}

fn text(path: &std::path::Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, clap::Error> {
        Cli::try_parse_from(line.split(' ')).map(|cli| cli.command)
    }

    #[test]
    fn eval_measures_routing_or_loops() {
        let Ok(Command::Eval(args)) = parse("signalbox eval --catalog c --queries q") else {
            panic!("routing")
        };
        assert!(args.command.is_none() && args.routing.is_some_and(|routing| routing.limit == 10));
        let Ok(Command::Eval(args)) = parse("signalbox eval loops --runs r --json") else {
            panic!("loops")
        };
        assert!(matches!(
            args.command,
            Some(EvalCommand::Loops(EvalLoopsArgs { json: true, .. }))
        ));
        for line in [
            "signalbox eval",
            "signalbox eval --catalog c",
            "signalbox eval loops",
            "signalbox eval --catalog c --queries q loops --runs r",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
