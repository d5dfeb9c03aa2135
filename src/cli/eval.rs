//! `signalbox eval`.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use super::args::{EvalLoopsArgs, EvalPlansArgs, EvalRoutingArgs};
use super::route::open_store;
use super::{Failure, print_result};
use crate::app::{Engine, read_catalogue};
use crate::catalog::import::{Defaults, Format, Imported, import};
use crate::config::Config;
use crate::embed::ModelState;
use crate::eval::loops::{self, LoopReport, Row};
use crate::eval::plans::{self, PlanReport, PlanScore};
use crate::eval::{Metrics, Report, read_queries, run as measure, with_ids_as_sources};
use crate::route::Mode;
use crate::session::LoopRules;

pub(super) async fn run(args: &EvalRoutingArgs, mut config: Config) -> Result<ExitCode, Failure> {
    let mode = Mode::from(args.mode);
    if mode == Mode::Lexical {
        config.model.id = "none".into();
    }
    let path = args.queries.display();
    let text = tokio::fs::read_to_string(&args.queries)
        .await
        .with_context(|| format!("cannot read {path}"))?;
    let queries = read_queries(&text).with_context(|| path.to_string())?;
    let store = open_store(&config)?;
    let entries = read_entries(&args.catalog).await?;
    let engine = Engine::over(&config, entries, store).await?;
    if let ModelState::Failed(why) = engine.settled().await {
        // Figures of a router without its model would pass for those of one with it.
        return Err(anyhow::anyhow!("the model cannot be loaded: {why}").into());
    }
    let index = engine.registry.index();
    let (report, details) = measure(&engine.router, index, &queries, mode, args.limit)
        .await
        .with_context(|| path.to_string())?;
    engine.close().await;
    if let Some(file) = &args.details {
        let lines: Result<Vec<String>, _> = details.iter().map(serde_json::to_string).collect();
        let text = lines.context("JSON")?.join("\n") + "\n";
        let written = tokio::fs::write(file, text).await;
        written.with_context(|| format!("cannot write {}", file.display()))?;
    }
    print_result(&match args.json {
        true => format!(
            "{}\n",
            serde_json::to_string_pretty(&report).context("JSON")?
        ),
        false => table(&report),
    })
}

pub(super) async fn read_entries(path: &Path) -> anyhow::Result<Imported> {
    if path
        .extension()
        .is_none_or(|extension| extension != "jsonl")
    {
        return read_catalogue(&[path.to_owned()]).await;
    }
    let origin = path.display().to_string();
    let text = tokio::fs::read_to_string(path)
        .await
        .with_context(|| format!("cannot read {origin}"))?;
    let text = with_ids_as_sources(&text);
    let defaults = Defaults {
        kind: None,
        source: "eval".to_owned(),
    };
    Ok(import(text.as_bytes(), &origin, Format::Jsonl, &defaults)?)
}

fn table(report: &Report) -> String {
    let mut out =
        String::from("language        n   oos   top1    r@3    r@5   r@10   ndcg  auroc  fpr95\n");
    // Writing to a string cannot fail.
    for (language, metrics) in &report.by_language {
        let _ = writeln!(out, "{}", line(language, metrics));
    }
    let _ = writeln!(out, "{}", line("all", &report.all));
    for (kind, auroc) in &report.auroc_by_oos_kind {
        let _ = writeln!(out, "auroc against {kind}: {auroc:.3}");
    }
    let _ = writeln!(out, "{:.2} s", report.seconds);
    out
}

fn line(name: &str, metrics: &Metrics) -> String {
    let recall = |depth: &str| metrics.recall_at.get(depth).copied().unwrap_or_default();
    let optional = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.3}"));
    format!(
        "{name:<12}{:>5}{:>6}{:>7.3}{:>7.3}{:>7.3}{:>7.3}{:>7.3}{:>7}{:>7}",
        metrics.n,
        metrics.n_out_of_scope,
        metrics.top1,
        recall("3"),
        recall("5"),
        recall("10"),
        metrics.ndcg_at_10,
        optional(metrics.auroc),
        optional(metrics.fpr95),
    )
}

pub(super) fn run_loops(args: &EvalLoopsArgs) -> Result<ExitCode, Failure> {
    let path = args.runs.display();
    let text =
        std::fs::read_to_string(&args.runs).with_context(|| format!("cannot read {path}"))?;
    let runs = loops::read_runs(&text).with_context(|| path.to_string())?;
    let report = loops::measure(&runs, &LoopRules::default());
    print_result(&match args.json {
        true => format!(
            "{}\n",
            serde_json::to_string_pretty(&report).context("JSON")?
        ),
        false => loop_table(&report),
    })
}

pub(super) async fn run_plans(
    args: &EvalPlansArgs,
    mut config: Config,
) -> Result<ExitCode, Failure> {
    let mode = Mode::from(args.mode);
    if mode == Mode::Lexical {
        config.model.id = "none".into();
    }
    let path = args.prompts.display();
    let text = tokio::fs::read_to_string(&args.prompts)
        .await
        .with_context(|| format!("cannot read {path}"))?;
    let mut prompts = plans::read_plans(&text).with_context(|| path.to_string())?;
    if let Some(split) = &args.split {
        prompts.retain(|prompt| prompt.split == *split);
    }
    let store = open_store(&config)?;
    let entries = read_catalogue(&config.catalog.paths).await?;
    let engine = Engine::over(&config, entries, store).await?;
    if let ModelState::Failed(why) = engine.settled().await {
        return Err(anyhow::anyhow!("the model cannot be loaded: {why}").into());
    }
    let report = plans::measure(&engine.router, &prompts, mode).await;
    engine.close().await;
    print_result(&match args.json {
        true => format!(
            "{}\n",
            serde_json::to_string_pretty(&report).context("JSON")?
        ),
        false => plan_table(&report, args.wrong),
    })
}

fn plan_table(report: &PlanReport, wrong: bool) -> String {
    let line = |name: &str, score: &PlanScore| {
        format!(
            "{name:<12}{:>5}{:>8.3}{:>8.3}\n",
            score.n, score.exact, score.count
        )
    };
    let mut out = String::from("group           n   exact   count\n");
    for (group, score) in &report.by_group {
        out += &line(group, score);
    }
    out += &line("all", &report.all);
    if wrong {
        for plan in &report.wrong {
            let (wanted, found) = (plan.wanted.join(", "), plan.found.join(", "));
            // Writing to a string cannot fail.
            let _ = writeln!(
                out,
                "{}\n    wanted {wanted}\n    found  {found}",
                plan.prompt
            );
        }
    }
    out
}

fn loop_table(report: &LoopReport) -> String {
    let line = |name: &str, row: &Row| {
        let share = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.3}"));
        format!(
            "{name:<7}{:>12}{:>20}{:>18}{:>13}\n",
            share(row.stuck_recall),
            share(row.solved_false_alarm),
            row.first_alarm_turn
                .map_or("-".to_owned(), |turn| format!("{turn:.2}")),
            share(row.other_alarm),
        )
    };
    format!(
        "       stuck_recall  solved_false_alarm  first_alarm_turn  other_alarm\n{}{}\
         {} stuck, {} solved, {} other runs in {:.0} ms\n",
        line("nudge", &report.nudge),
        line("stop", &report.stop),
        report.stuck_runs,
        report.solved_runs,
        report.other_runs,
        report.milliseconds,
    )
}
