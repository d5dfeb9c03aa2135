//! The command line.
//!
//! Exit codes: 0 done (also "no match"), 1 the work failed or the server could not start,
//! 64 the command line or the configuration is wrong.

mod adapt;
mod args;
mod calibrate;
mod client;
mod eval;
mod journal;
mod models;
mod pages;
mod render;
mod route;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::app;
use crate::config::{Config, ConfigError, ENV_FILE, Overrides};
use crate::telemetry::{Telemetry, start_log};

use args::{Cli, Command, EvalCommand};

/// Exit code for a wrong command line or configuration (`EX_USAGE` of sysexits.h).
const USAGE: u8 = 64;

/// Why a command ended without its work done.
pub(crate) enum Failure {
    /// The command line or the configuration is wrong.
    Usage(anyhow::Error),
    /// The work failed.
    Work(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure::Work(error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Failure::Usage(error.into())
    }
}

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, not errors; a closed pipe is nobody's fault.
            let _ = error.print();
            return if error.use_stderr() {
                ExitCode::from(USAGE)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    match dispatch(cli) {
        Ok(code) => code,
        Err(Failure::Usage(error)) => {
            eprintln!("signalbox: {error:#}");
            ExitCode::from(USAGE)
        }
        Err(Failure::Work(error)) => {
            eprintln!("signalbox: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(cli: Cli) -> Result<ExitCode, Failure> {
    let file = cli
        .config
        .clone()
        .or_else(|| std::env::var_os(ENV_FILE).map(PathBuf::from));
    let load = |overrides: Overrides| Config::load(file.as_deref(), overrides);
    match cli.command {
        Command::Serve(args) => {
            let config = load(args.engine.overrides(args.overrides()))?;
            let announce = |line| {
                let mut out = io::stdout();
                // Whoever reads the lines may have gone; the server goes on.
                let _ = writeln!(out, "{line}").and_then(|()| out.flush());
            };
            let runtime = runtime()?;
            let served = runtime.block_on(async {
                let telemetry = Telemetry::start(&config.telemetry, &config.log)?;
                app::serve(config, telemetry, announce).await
            });
            // A look-up of a name that nobody waits for any more must not hold up the end.
            runtime.shutdown_background();
            served?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Route(args) => {
            let config = load(args.engine.overrides(Overrides::new()))?;
            start_log(&config.log, "warn");
            runtime()?.block_on(route::run(&args, config))
        }
        Command::Eval(args) => match (args.command, args.routing) {
            (Some(EvalCommand::Loops(args)), _) => eval::run_loops(&args),
            (Some(EvalCommand::Plans(args)), _) => {
                let config = load(args.engine.overrides(Overrides::new()))?;
                start_log(&config.log, "warn");
                runtime()?.block_on(eval::run_plans(&args, config))
            }
            (None, Some(args)) => {
                let config = load(args.overrides())?;
                start_log(&config.log, "warn");
                runtime()?.block_on(eval::run(&args, config))
            }
            (None, None) => {
                let message = "eval needs --catalog and --queries, or a subcommand";
                Err(Failure::Usage(anyhow::anyhow!(message)))
            }
        },
        Command::Adapt(args) => {
            let config = load(args.overrides())?;
            start_log(&config.log, "warn");
            adapt::run(&args, &config)
        }
        Command::Calibrate(args) => {
            let config = load(args.engine.overrides(Overrides::new()))?;
            start_log(&config.log, "warn");
            runtime()?.block_on(calibrate::run(&args, config))
        }
        Command::Models(args) => {
            let config = load(args.overrides())?;
            start_log(&config.log, "warn");
            models::run(&args, &config)
        }
        Command::Journal(args) => {
            let config = load(args.overrides())?;
            start_log(&config.log, "warn");
            runtime()?.block_on(journal::run(&args, config))
        }
        Command::CheckConfig(args) => {
            let config = load(Overrides::new())?;
            match args.dump {
                true => print!("{}", config.dump()),
                false => println!("the configuration is valid"),
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Completions(args) => print_result(&pages::completions(args.shell)),
        Command::Man(args) => pages::man(&args),
        Command::Healthcheck(args) => runtime()?.block_on(client::healthcheck(&args)),
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Work(error.into()))
}

/// Writes a command's result; a reader that has closed the pipe has seen enough.
fn print_result(text: &str) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Work(error.into())),
        _ => Ok(ExitCode::SUCCESS),
    }
}
