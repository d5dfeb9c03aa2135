//! Text as the domain sees it: tokens, scripts, nearest names, globs, similarity.
//!
//! Everything here is a pure function of its input, so equal texts always give equal tokens.

pub mod glob;
pub mod script;
pub mod similarity;
pub mod tokens;

pub use tokens::{distinct, tokenize};

/// Names nearest to `wanted` by edit distance, nearest first, ties by name; at most `limit`,
/// and none that differs in more than half of its characters.
pub fn nearest_names<'a>(
    wanted: &str,
    names: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let mut scored: Vec<(usize, &str)> = names
        .into_iter()
        .map(|name| (strsim::osa_distance(&wanted, &name.to_lowercase()), name))
        .filter(|(distance, name)| distance * 2 <= name.chars().count().max(wanted.chars().count()))
        .collect();
    scored.sort_unstable();
    scored.dedup();
    scored
        .into_iter()
        .take(limit)
        .map(|(_, name)| name.to_owned())
        .collect()
}

#[cfg(test)]
mod tests;
