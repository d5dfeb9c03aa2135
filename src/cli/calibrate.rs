//! `signalbox calibrate`.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Context;

use super::args::CalibrateArgs;
use super::route::open_store;
use super::{Failure, print_result};
use crate::app::{Engine, read_catalogue};
use crate::calibrate::{Calibrated, Quality, Sample, calibrate, hold_out_examples, neutral};
use crate::catalog::import::Imported;
use crate::config::Config;
use crate::embed::{Language, ModelInfo, ModelState};
use crate::eval::{Query, read_queries, run as measure};
use crate::index::PromptGroup;
use crate::route::profile::Profile;
use crate::route::{Calibration, Fitted, Key, Mode};
use crate::store::Store;

pub(super) async fn run(args: &CalibrateArgs, mut config: Config) -> Result<ExitCode, Failure> {
    // What is being replaced has no say.
    config.route.calibration = None;
    let store = open_store(&config)?;
    let entries = read_catalogue(&config.catalog.paths).await?;
    let (samples, key, model) = match &args.prompts {
        Some(path) => {
            let shown = path.display();
            let text = tokio::fs::read_to_string(path)
                .await
                .with_context(|| format!("cannot read {shown}"))?;
            let queries = read_queries(&text).with_context(|| shown.to_string())?;
            sample(&config, entries, store, queries).await?
        }
        None => {
            // Each example is judged by a catalogue that does not hold it.
            let mut samples = Vec::new();
            for fold in 0..2 {
                let (part, mut queries) = hold_out_examples(&entries.entries, fold);
                if fold == 0 {
                    queries.extend(neutral());
                }
                let part = Imported {
                    entries: part,
                    diagnostics: Vec::new(),
                };
                let (part, ..) = sample(&config, part, store.clone(), queries).await?;
                samples.extend(part);
            }
            let (_, key, model) = sample(&config, entries, store, Vec::new()).await?;
            (samples, key, model)
        }
    };
    let profile = Profile::of(&model.id);
    let built_in = |language: Option<Language>| -> Calibration {
        let group = match language {
            Some(Language::ENGLISH) => PromptGroup::English,
            _ => PromptGroup::Other,
        };
        profile.weights(group).hybrid
    };
    let calibrated = calibrate(&samples, args.false_refusal, built_in)
        .map_err(|error| Failure::Work(error.into()))?;
    let report = match args.json {
        true => format!(
            "{}\n",
            serde_json::to_string_pretty(&calibrated.quality).context("JSON")?
        ),
        false => table(&calibrated),
    };
    let Calibrated { all, languages, .. } = calibrated;
    let text = serde_json::to_string(&Fitted::new(key, all, languages)).context("JSON")?;
    let out = args.out.display();
    tokio::fs::write(&args.out, text + "\n")
        .await
        .with_context(|| format!("cannot write {out}"))?;
    let code = print_result(&report)?;
    eprintln!("signalbox: written to {out}; use it with route.calibration = {out:?}");
    Ok(code)
}

async fn sample(
    config: &Config,
    entries: Imported,
    store: Option<Store>,
    queries: Vec<Query>,
) -> anyhow::Result<(Vec<Sample>, Key, std::sync::Arc<ModelInfo>)> {
    let engine = Engine::over(config, entries, store).await?;
    let ModelState::Ready(model) = engine.settled().await else {
        anyhow::bail!("a calibration is fitted to a model, and none could be loaded");
    };
    let index = engine.registry.index();
    let (_, details) = measure(&engine.router, index, &queries, Mode::Hybrid, usize::MAX).await?;
    let samples = details.iter().map(Sample::of).collect();
    let key = Key::of(&model, &index.snapshot());
    Ok((samples, key, model))
}

fn table(calibrated: &Calibrated) -> String {
    let mut out = String::from(
        "             prompts   none fits     floor   refused    passed  cal. error  (before)  set of 90 %\n",
    );
    let share = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.3}"));
    for (name, quality) in &calibrated.quality {
        let fit = calibrated.languages.get(name).unwrap_or(&calibrated.all);
        let Quality {
            in_scope,
            out_of_scope,
            ece,
            ece_before,
            refused,
            passed,
            coverage_at_90,
        } = quality;
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{name:<10}{:>10}{out_of_scope:>12}{:>10.3}{refused:>10.3}{:>10}{ece:>12.3}{:>10}{:>13}",
            in_scope + out_of_scope,
            fit.floor,
            share(*passed),
            format!("({ece_before:.3})"),
            share(*coverage_at_90),
        );
    }
    out.push_str(
        "refused: prompts with an entry that fall below the floor; passed: prompts without one \
         that do not.\nAll but the floor by five-fold cross-validation.\n",
    );
    out
}
