//! `signalbox adapt`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::Args;

use super::args::EngineArgs;
use super::eval::read_entries;
use super::{Failure, print_result, runtime};
use crate::adapt::{
    AdaptError, DataList, Holdout, Progress, Report, Scores, Set, Settings, measure, read_list,
    train,
};
use crate::config::{Config, Overrides};
use crate::embed::DeviceChoice;
use crate::eval::read_queries;

/// Share of the user's prompts that is kept back.
const HOLDOUT: f64 = 0.2;
/// Bytes of the prompts' file.
const MAX_BYTES: u64 = 64 << 20;
/// Steps between two lines of progress.
const LINE_EVERY: usize = 10;

/// Flags of `adapt`.
#[derive(Debug, Args)]
pub struct AdaptArgs {
    /// Labelled prompts (JSONL: query, gold by id or name of the entries)
    #[arg(value_name = "PROMPTS", required_unless_present = "data")]
    prompts: Option<PathBuf>,
    /// Where the adapter is written; name it in model.adapters
    #[arg(long, value_name = "FILE", required_unless_present = "measure")]
    out: Option<PathBuf>,
    /// Steps of the training, 1 to 1000
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// What every random choice follows from
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How much of the change is merged, 0.01 to 2
    #[arg(long, value_name = "X")]
    strength: Option<f64>,
    /// Start from the model without any adapter
    #[arg(long)]
    from_base: bool,
    /// Train on the sets of a list (TOML) instead, with its settings
    #[arg(long, value_name = "LIST", conflicts_with_all = ["prompts", "catalog"])]
    data: Option<PathBuf>,
    /// Only measure the prompts kept back, with the model as it is
    #[arg(long, conflicts_with = "out")]
    measure: bool,
    /// Write the adapter even if it did not help
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    engine: EngineArgs,
}

impl AdaptArgs {
    /// Overrides of the configuration.
    pub fn overrides(&self) -> Overrides {
        self.engine.overrides(Overrides::new())
    }
}

pub(super) fn run(args: &AdaptArgs, config: &Config) -> Result<ExitCode, Failure> {
    let (sets, mut settings) = read(args, config)?;
    settings.steps = args.steps.unwrap_or(settings.steps);
    settings.seed = args.seed.unwrap_or(settings.seed);
    settings.strength = args.strength.unwrap_or(settings.strength);
    if !config.model.is_enabled() {
        return Err(Failure::Usage(anyhow!(
            "there is no model to adapt: model.id is none"
        )));
    }
    let mut embed = config.model.embed_config();
    // The backward is written for the processor.
    embed.device = DeviceChoice::Cpu;
    if args.from_base {
        embed.adapter = false;
        embed.adapters.clear();
    }
    if args.measure {
        let (all, by_set) = measure(&embed, &sets, &settings, show).map_err(failure)?;
        return print_result(&match args.json {
            true => json(&serde_json::json!({"all": all, "by_set": by_set}))?,
            false => scores_table(&all, &by_set),
        });
    }
    let out = args.out.as_deref().unwrap_or(Path::new(""));
    // Known at once, and not after minutes.
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) || out.is_dir() {
        return Err(Failure::Usage(anyhow!(
            "cannot write {}: no such folder",
            out.display()
        )));
    }
    let trained = train(&embed, &sets, &settings, show).map_err(failure)?;
    let report = &trained.report;
    let mut text = match args.json {
        true => json(report)?,
        false => table(report),
    };
    let written = report.helped() || args.force;
    if written {
        std::fs::write(out, &trained.file)
            .with_context(|| format!("cannot write {}", out.display()))?;
    }
    if !args.json {
        // Writing to a string cannot fail.
        let _ = match (report.helped(), written) {
            (true, _) => writeln!(text, "it helped; written to {}", out.display()),
            (false, true) => {
                writeln!(
                    text,
                    "it did not help; written to {} all the same",
                    out.display()
                )
            }
            (false, false) => writeln!(text, "it did not help; nothing was written"),
        };
    }
    print_result(&text)?;
    Ok(match written {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn read(args: &AdaptArgs, config: &Config) -> Result<(Vec<Set>, Settings), Failure> {
    if let Some(list) = &args.data {
        let DataList { sets, settings } = read_list(list).map_err(|why| anyhow!(why))?;
        return Ok((sets, settings));
    }
    // Clap wants one of the two.
    let Some(prompts) = &args.prompts else {
        return Err(Failure::Usage(anyhow!("adapt needs PROMPTS or --data")));
    };
    let origin = prompts.display().to_string();
    let size = std::fs::metadata(prompts).with_context(|| format!("cannot read {origin}"))?;
    if size.len() > MAX_BYTES {
        let size = size.len();
        let message = format!("{origin}: {size} bytes exceed the limit of {MAX_BYTES}");
        return Err(anyhow!(message).into());
    }
    let text = std::fs::read_to_string(prompts).with_context(|| format!("cannot read {origin}"))?;
    let queries = read_queries(&text).with_context(|| origin.clone())?;
    let mut entries = Vec::new();
    for path in &config.catalog.paths {
        entries.extend(runtime()?.block_on(read_entries(path))?.entries);
    }
    let holdout = Holdout { share: HOLDOUT };
    let set = Set::new(&origin, 1.0, entries, &queries, holdout).map_err(|why| anyhow!(why))?;
    Ok((vec![set], Settings::default()))
}

fn failure(error: AdaptError) -> Failure {
    Failure::Work(error.into())
}

fn show(progress: Progress) {
    match progress {
        Progress::Reading { texts } => eprintln!("reading {texts} texts"),
        Progress::Mining => eprintln!("looking for the nearest wrong entries"),
        Progress::Step { step, steps, loss } if step % LINE_EVERY == 1 || step == steps => {
            eprintln!("step {step} of {steps}, loss {loss:.3}");
        }
        Progress::Step { .. } => {}
        Progress::Measuring => eprintln!("measuring"),
    }
}

fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).context("JSON")?;
    Ok(format!("{text}\n"))
}

const HEADER: &str = "                          n   oos   top1   ndcg  auroc";

fn line(name: &str, scores: &Scores) -> String {
    let auroc = scores.auroc.map_or("-".to_owned(), |v| format!("{v:.3}"));
    format!(
        "{name:<21}{:>6}{:>6}{:>7.3}{:>7.3}{auroc:>7}\n",
        scores.prompts, scores.outside, scores.top1, scores.ndcg_at_10
    )
}

fn scores_table(all: &Scores, by_set: &BTreeMap<String, Scores>) -> String {
    let mut out = format!("{HEADER}\n");
    if by_set.len() > 1 {
        by_set
            .iter()
            .for_each(|(name, scores)| out += &line(name, scores));
    }
    out + &line("all", all)
}

fn table(report: &Report) -> String {
    let mut out = format!("{HEADER}\n");
    if report.by_set.len() > 1 {
        for (name, compared) in &report.by_set {
            out += &line(name, &compared.before);
            out += &line("  after", &compared.after);
        }
    }
    out += &line("before", &report.all.before);
    out += &line("after", &report.all.after);
    if let Some(shipped) = &report.shipped {
        out += &line("shipped adapter", shipped);
    }
    let steps = report.key.steps;
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "{steps} steps on {} prompts: {:.0} s to prepare, {:.2} s a step\nsha256 {}",
        report.key.rows,
        report.preparing_seconds,
        report.training_seconds / steps as f64,
        report.sha256
    );
    out
}
