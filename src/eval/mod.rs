//! Measures the router on labelled prompts: how often the right entry comes first, and how
//! well the confidence tells prompts that have an entry from prompts that have none.

mod dataset;
pub mod loops;
mod metrics;
pub mod plans;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

use futures_util::StreamExt;
use serde::Serialize;

use crate::catalog::EntryId;
use crate::embed::Language;
use crate::index::Index;
use crate::route::{Mode, Ranked, Request, Router};

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

/// One prompt with its answer, for whoever wants to see which ones fail.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Detail {
    /// The prompt.
    pub query: String,
    /// Its language, as labelled.
    pub lang: String,
    /// Its language, as the model sees it.
    #[serde(skip)]
    pub language: Option<Language>,
    /// Right ids; empty out of scope.
    pub gold: Vec<String>,
    /// Kind of out of scope; absent in scope.
    pub oos_kind: Option<String>,
    /// Ids with the sums that ranked them, best first.
    pub ranking: Vec<(String, f64)>,
    /// Confidence in the first.
    pub confidence: f64,
    /// What was decided.
    pub outcome: &'static str,
}

/// Routes all queries and measures the answers. `limit` is the depth of the ranking.
pub async fn run(
    router: &Router,
    index: &Index,
    queries: &[Query],
    mode: Mode,
    limit: usize,
) -> Result<(Report, Vec<Detail>), QueryError> {
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

    let details: Vec<Detail> = queries
        .iter()
        .zip(results)
        .map(|(query, result)| {
            let name =
                |ranked: &Ranked| Some(((*names.get(&ranked.entry.id)?).clone(), ranked.parts.raw));
            Detail {
                query: query.query.clone(),
                lang: query.lang.clone(),
                language: result.language,
                gold: query.gold.clone(),
                oos_kind: query.gold.is_empty().then(|| query.oos_kind().to_owned()),
                ranking: result.nearest.iter().filter_map(name).collect(),
                confidence: result.decision.confidence,
                outcome: result.decision.outcome.as_str(),
            }
        })
        .collect();
    let scored: Vec<(&Query, Scored)> = queries
        .iter()
        .zip(&details)
        .map(|(query, detail)| {
            let ranking = detail.ranking.iter().map(|(id, _)| id.clone()).collect();
            (query, Scored::new(&query.gold, ranking, detail.confidence))
        })
        .collect();
    let select = |wanted: &dyn Fn(&Query) -> bool| -> Vec<&Scored> {
        scored
            .iter()
            .filter(|(query, _)| wanted(query))
            .map(|(_, scored)| scored)
            .collect()
    };
    let languages: HashSet<&String> = queries.iter().map(|query| &query.lang).collect();
    let kinds: HashSet<&str> = queries
        .iter()
        .filter(|query| query.gold.is_empty())
        .map(Query::oos_kind)
        .collect();
    let report = Report {
        all: Metrics::of(&select(&|_| true)),
        by_language: languages
            .into_iter()
            .map(|lang| {
                (
                    lang.clone(),
                    Metrics::of(&select(&|query| query.lang == *lang)),
                )
            })
            .collect(),
        auroc_by_oos_kind: kinds
            .into_iter()
            .filter_map(|kind| {
                let wanted = |query: &Query| !query.gold.is_empty() || query.oos_kind() == kind;
                Some((kind.to_owned(), Metrics::of(&select(&wanted)).auroc?))
            })
            .collect(),
        seconds,
    };
    Ok((report, details))
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
