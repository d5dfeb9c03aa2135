//! Measures the router on labelled prompts: how often the right entry comes first, and how
//! well the confidence tells prompts that have an entry from prompts that have none.

mod dataset;
pub mod loops;
mod metrics;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

use futures_util::StreamExt;
use serde::Serialize;

use crate::catalog::{Entry, EntryId};
use crate::index::Index;
use crate::route::{Mode, Request, Router};

pub use dataset::{Query, QueryError, read_queries, with_ids_as_sources};
pub use metrics::{Metrics, Scored};

/// Prompts routed at the same time.
const CONCURRENT: usize = 16;

/// Everything measured in one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Over all prompts.
    #[serde(flatten)]
    pub all: Metrics,
    /// The same for each language.
    pub by_language: BTreeMap<String, Metrics>,
    /// AUROC against the prompts out of scope of each kind.
    pub auroc_by_oos_kind: BTreeMap<String, f64>,
    /// Seconds that routing took.
    pub seconds: f64,
}

/// Routes all queries and measures the answers. `limit` is the depth of the ranking.
pub async fn run(
    router: &Router,
    index: &Index,
    queries: &[Query],
    mode: Mode,
    limit: usize,
) -> Result<Report, QueryError> {
    let ids = ids_of(index);
    let requests: Vec<Request> = queries
        .iter()
        .map(|query| request_of(query, &ids, mode, limit))
        .collect::<Result<_, _>>()?;
    let names: HashMap<&EntryId, &String> = ids.iter().map(|(id, entry)| (entry, id)).collect();
    let started = Instant::now();
    let results = futures_util::stream::iter(requests)
        .map(|request| async move { router.route(&request).await })
        .buffered(CONCURRENT)
        .collect::<Vec<_>>()
        .await;
    let seconds = started.elapsed().as_secs_f64();

    let scored: Vec<(&Query, Scored)> = queries
        .iter()
        .zip(results)
        .map(|(query, result)| {
            let name = |entry: &Entry| names.get(&entry.id).map(|name| (*name).clone());
            let ranking = result.nearest.iter().filter_map(|ranked| name(&ranked.entry));
            let confidence = result.decision.confidence;
            (query, Scored::new(&query.gold, ranking.collect(), confidence))
        })
        .collect();
    let select = |wanted: &dyn Fn(&Query) -> bool| -> Vec<&Scored> {
        scored.iter().filter(|(query, _)| wanted(query)).map(|(_, scored)| scored).collect()
    };
    let languages: HashSet<&String> = queries.iter().map(|query| &query.lang).collect();
    let kinds: HashSet<&str> =
        queries.iter().filter(|query| query.gold.is_empty()).map(Query::oos_kind).collect();
    Ok(Report {
        all: Metrics::of(&select(&|_| true)),
        by_language: languages
            .into_iter()
            .map(|lang| (lang.clone(), Metrics::of(&select(&|query| query.lang == *lang))))
            .collect(),
        auroc_by_oos_kind: kinds
            .into_iter()
            .filter_map(|kind| {
                let wanted = |query: &Query| !query.gold.is_empty() || query.oos_kind() == kind;
                Some((kind.to_owned(), Metrics::of(&select(&wanted)).auroc?))
            })
            .collect(),
        seconds,
    })
}

/// Ids of the data set: the one an entry was imported with, else its name.
fn ids_of(index: &Index) -> HashMap<String, EntryId> {
    index
        .snapshot()
        .entries()
        .map(|indexed| {
            let entry = &indexed.entry;
            let id = entry.annotations.get("id").unwrap_or(&entry.id.name);
            (id.clone(), entry.id.clone())
        })
        .collect()
}

fn request_of(
    query: &Query,
    ids: &HashMap<String, EntryId>,
    mode: Mode,
    limit: usize,
) -> Result<Request, QueryError> {
    let find = |id: &String| {
        ids.get(id).cloned().ok_or_else(|| QueryError {
            line: query.line,
            message: format!("the catalogue has no entry {id:?}"),
        })
    };
    query.gold.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let mut request = Request::new(query.query.clone());
    request.mode = mode;
    request.nearest = limit;
    if let Some(candidates) = &query.candidates {
        request.only = Some(candidates.iter().map(find).collect::<Result<_, _>>()?);
    }
    Ok(request)
}

#[cfg(test)]
mod tests;
