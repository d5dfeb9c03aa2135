//! Ranks tools for a prompt by the words they share, rare ones first.
//!
//! The tools of one call are no catalogue: they have no vectors, and most are seen once. Their
//! words are enough to keep the right one when only a few may pass.

use std::collections::{HashMap, HashSet};

use crate::session::profile::Tool;
use crate::text::{distinct, tokenize};

/// Weight of a word in the name; in the description it counts once.
const NAME_WEIGHT: f64 = 2.0;

/// Bytes of a description that are read.
const READ_BYTES: usize = 4 << 10;

/// How rare each word of the prompt is among the tools.
pub(super) struct Ranking {
    rarity: HashMap<String, f64>,
}

impl Ranking {
    pub fn new(prompt: &str, tools: &[Tool]) -> Self {
        let prompt = distinct(tokenize(&prompt[..prompt.floor_char_boundary(READ_BYTES)]));
        let words: Vec<HashSet<String>> = tools
            .iter()
            .map(|tool| {
                name_words(tool)
                    .into_iter()
                    .chain(description_words(tool))
                    .collect()
            })
            .collect();
        let rarity = prompt
            .into_iter()
            .map(|word| {
                let seen = words.iter().filter(|words| words.contains(&word)).count() as f64;
                let count = words.len() as f64;
                // The idf of BM25, which is never below zero.
                let rarity = ((count - seen + 0.5) / (seen + 0.5)).ln_1p();
                (word, rarity)
            })
            .collect();
        Self { rarity }
    }

    /// The larger, the more of the prompt's rare words the tool holds.
    pub fn score(&self, tool: &Tool) -> f64 {
        let name: HashSet<String> = name_words(tool).into_iter().collect();
        let description: HashSet<String> = description_words(tool).into_iter().collect();
        self.rarity
            .iter()
            .map(|(word, rarity)| {
                let weight = match (name.contains(word), description.contains(word)) {
                    (true, _) => NAME_WEIGHT,
                    (false, true) => 1.0,
                    (false, false) => 0.0,
                };
                weight * rarity
            })
            .sum()
    }
}

fn name_words(tool: &Tool) -> Vec<String> {
    tokenize(&tool.name)
}

fn description_words(tool: &Tool) -> Vec<String> {
    let text = &tool.description;
    tokenize(&text[..text.floor_char_boundary(READ_BYTES)])
}
