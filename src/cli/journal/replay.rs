//! `signalbox journal replay`: a journaled decision, computed again.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::{Context, anyhow};

use super::super::route::{answer, ask};
use super::super::{Failure, print_result};
use super::source::{Source, told};
use crate::app::{Engine, read_catalogue};
use crate::catalog::Kind;
use crate::config::Config;
use crate::grpc::{event_of, pb};
use crate::journal::event::{LoopEvent, RouteDecided};
use crate::journal::{EventType, ROUTES_LOOP, routes};
use crate::store::Store;

pub(super) async fn run(
    route_id: &str,
    server: Option<&str>,
    config: Config,
) -> Result<ExitCode, Failure> {
    let mut source = Source::open(server, &config).await?;
    let decided = find(&mut source, route_id)
        .await?
        .ok_or_else(|| anyhow!("no decision with the id {route_id:?} is in the journal"))?;
    let request = routes::request_of(&decided).map_err(|error| anyhow!(error))?;
    let again = match server {
        Some(server) => ask(server, &request, false).await?,
        None => {
            let mut config = config;
            if decided.model_id.is_empty() && decided.degraded.is_empty() {
                // No model took part, so none has to be loaded.
                config.model.id = "none".into();
            }
            route_here(&config, &request).await?
        }
    };
    let (then, now) = (facts_of(&decided), facts_of_response(&again));
    let differences: Vec<_> = differences(&then, &now).collect();
    if differences.is_empty() {
        print_result(&format!("identical: {} matches\n", decided.matches.len()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = String::from("different:\n");
    for (name, then, now) in differences {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {name}: {then} then, {now} now");
    }
    print_result(&out)?;
    Ok(ExitCode::FAILURE)
}

async fn find(source: &mut Source, route_id: &str) -> anyhow::Result<Option<RouteDecided>> {
    let found = match source {
        Source::Folder(journal) => journal
            .find_route(route_id)
            .await?
            .map(|entry| entry.event.clone()),
        Source::Server(client) => {
            let request = pb::StreamEventsRequest {
                loop_id: ROUTES_LOOP.to_owned(),
                types: vec![EventType::RouteDecided.number().into()],
                replay_only: true,
                ..pb::StreamEventsRequest::default()
            };
            let mut stream = client
                .stream_events(request)
                .await
                .map_err(told)?
                .into_inner();
            let mut newest = None;
            while let Some(message) = stream.message().await.map_err(told)? {
                let Some(pb::stream_events_response::Event::Events(batch)) = message.event else {
                    continue;
                };
                let events = batch.entries.into_iter().filter_map(|entry| entry.event);
                for event in events {
                    let is_it = matches!(
                        &event.event,
                        Some(pb::loop_event::Event::RouteDecided(decided))
                            if decided.route_id == route_id
                    );
                    if is_it {
                        newest = Some(event);
                    }
                }
            }
            newest
                .map(event_of)
                .transpose()
                .map_err(|error| anyhow!(error))?
        }
    };
    Ok(match found {
        Some(LoopEvent::RouteDecided(decided)) => Some(*decided),
        _ => None,
    })
}

/// Routes with the configured catalogue and the entries of the data directory, which is only
/// read.
async fn route_here(
    config: &Config,
    request: &crate::route::Request,
) -> anyhow::Result<pb::RouteResponse> {
    let store = match &config.store.data_dir {
        Some(dir) => Some(Store::open_read_only(dir)?),
        None => None,
    };
    let imported = read_catalogue(&config.catalog.paths).await?;
    let engine = Engine::over(config, imported, store)
        .await
        .context("the catalogue")?;
    engine.settled().await;
    let result = engine.router.route(request).await;
    engine.close().await;
    Ok(answer(&engine, request, result, false))
}

type Facts = Vec<(String, String)>;

/// What a decision comes to, with numbers in their exact form.
fn facts_of(decided: &RouteDecided) -> Facts {
    let mut facts = vec![
        ("catalogue".to_owned(), decided.catalog_revision.clone()),
        ("model".to_owned(), format!("{:?}", decided.model_id)),
        ("route id".to_owned(), decided.route_id.clone()),
        ("mode".to_owned(), decided.mode.clone()),
        ("outcome".to_owned(), decided.outcome.clone()),
        ("confidence".to_owned(), format!("{:?}", decided.confidence)),
        ("matches".to_owned(), decided.matches.len().to_string()),
    ];
    for (place, found) in (1..).zip(&decided.matches) {
        let text = match_fact(found.kind.as_str(), &found.source, &found.name)
            + &score_fact(found.score, found.lexical_score);
        facts.push((format!("match {place}"), text));
    }
    facts
}

fn facts_of_response(response: &pb::RouteResponse) -> Facts {
    let decision = response.decision.clone().unwrap_or_default();
    let name = |full: &str, prefix: &str| full.trim_start_matches(prefix).to_lowercase();
    let mut facts = vec![
        ("catalogue".to_owned(), response.catalog_revision.clone()),
        ("model".to_owned(), format!("{:?}", response.model_id)),
        ("route id".to_owned(), response.route_id.clone()),
        (
            "mode".to_owned(),
            name(response.mode().as_str_name(), "ROUTE_MODE_"),
        ),
        (
            "outcome".to_owned(),
            name(decision.outcome().as_str_name(), "OUTCOME_"),
        ),
        (
            "confidence".to_owned(),
            format!("{:?}", decision.confidence),
        ),
        ("matches".to_owned(), response.matches.len().to_string()),
    ];
    for (place, found) in (1..).zip(&response.matches) {
        let entry = found.entry.clone().unwrap_or_default();
        let kind = match entry.kind() {
            pb::EntryKind::Command => Kind::Command.as_str(),
            pb::EntryKind::Tool => Kind::Tool.as_str(),
            pb::EntryKind::Skill => Kind::Skill.as_str(),
            pb::EntryKind::Unspecified => "",
        };
        let text = match_fact(kind, &entry.source, &entry.name)
            + &score_fact(found.score, found.lexical_score);
        facts.push((format!("match {place}"), text));
    }
    facts
}

fn match_fact(kind: &str, source: &str, name: &str) -> String {
    format!("{kind} {source}/{name}")
}

fn score_fact(score: f64, lexical_score: f64) -> String {
    format!(" {score:?} {lexical_score:?}")
}

/// Facts that differ, and those that only one side has.
fn differences<'a>(
    then: &'a Facts,
    now: &'a Facts,
) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
    let of = |facts: &'a Facts, at: usize| facts.get(at).map_or("nothing", |(_, fact)| fact);
    (0..then.len().max(now.len())).filter_map(move |at| {
        let (name, _) = then.get(at).or_else(|| now.get(at))?;
        let (then, now) = (of(then, at), of(now, at));
        (then != now).then_some((name.as_str(), then, now))
    })
}
