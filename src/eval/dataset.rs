//! Labelled prompts.

use serde::Deserialize;

/// One labelled prompt.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Query {
    /// The prompt.
    pub query: String,
    /// Language code; "und" where none is given.
    #[serde(default = "undetermined")]
    pub lang: String,
    /// Ids of the right entries; empty where the catalogue has none.
    #[serde(default)]
    pub gold: Vec<String>,
    /// Ids that take part; all where absent.
    #[serde(default)]
    pub candidates: Option<Vec<String>>,
    /// What kind of out of scope: `kind:detail`.
    #[serde(default, rename = "oos_kind")]
    kind: Option<String>,
    /// Line in the file, from 1.
    #[serde(skip)]
    pub line: usize,
}

fn undetermined() -> String {
    "und".to_owned()
}

impl Query {
    /// A prompt with the ids of its right entries.
    pub fn new(query: String, gold: Vec<String>) -> Self {
        Self {
            query,
            lang: undetermined(),
            gold,
            candidates: None,
            kind: None,
            line: 0,
        }
    }

    /// Kind of out of scope, without its detail.
    pub fn oos_kind(&self) -> &str {
        let kind = self.kind.as_deref().unwrap_or("unspecified");
        kind.split_once(':').map_or(kind, |(kind, _)| kind)
    }
}

/// Makes each entry of a JSON Lines catalogue its own source, named by its id: in a labelled
/// set ids are unique and names need not be. Kinds may be written in capitals. Lines that are no objects stay as they are, for
/// the importer to refuse.
pub fn with_ids_as_sources(catalogue: &str) -> String {
    let mut out = String::with_capacity(catalogue.len() + catalogue.len() / 8);
    for line in catalogue.lines() {
        match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(line) {
            Ok(mut entry) => {
                if let Some(serde_json::Value::String(kind)) = entry.get_mut("kind") {
                    kind.make_ascii_lowercase();
                }
                if let Some(id) = entry.get("id").cloned() {
                    entry.insert("source".to_owned(), id);
                }
                out.push_str(&serde_json::Value::Object(entry).to_string());
            }
            Err(_) => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// A line that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct QueryError {
    /// Line in the file, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Reads one prompt from each line of JSON; blank lines are passed over.
pub fn read_queries(text: &str) -> Result<Vec<Query>, QueryError> {
    let mut queries = Vec::new();
    for (at, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let error = |message: String| QueryError {
            line: at + 1,
            message,
        };
        let mut query: Query =
            serde_json::from_str(line).map_err(|cause| error(cause.to_string()))?;
        if query.query.trim().is_empty() {
            return Err(error("the query is blank".into()));
        }
        query.line = at + 1;
        queries.push(query);
    }
    Ok(queries)
}
