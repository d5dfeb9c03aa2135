//! What the stages found about a prompt, and how it ranks the entries.

use super::confidence::Calibration;
use super::lexical::{self, FieldWeights, LexicalScore};
use super::profile::Profile;
use super::request::{Mode, Request};
use super::result::{Ranked, ScoreParts};
use super::select::{Scored, rank};
use super::semantic::Similarity;
use crate::embed::Language;
use crate::index::{IndexedEntry, PromptGroup, Snapshot};
use crate::text::script::{ScriptGroup, script_group};
use crate::text::{distinct, tokenize};

/// What the stages found, indexed by slot.
pub(super) struct Evidence<'a> {
    snapshot: &'a Snapshot,
    weights: FieldWeights,
    /// Distinct tokens of the prompt.
    tokens: Vec<String>,
    /// Scripts the prompt is written in.
    pub script: ScriptGroup,
    lexical: Vec<LexicalScore>,
    /// Present where the model took part.
    semantic: Option<Semantic>,
}

struct Semantic {
    similarities: Vec<Similarity>,
    profile: &'static Profile,
    group: PromptGroup,
}

impl<'a> Evidence<'a> {
    /// What the tokens of a prompt say.
    pub fn lexical(snapshot: &'a Snapshot, request: &Request, weights: FieldWeights) -> Self {
        let tokens = distinct(tokenize(&request.prompt));
        let lexical = lexical::score(snapshot, &tokens, &weights);
        let script = script_group(&request.prompt);
        Self {
            snapshot,
            weights,
            tokens,
            script,
            lexical,
            semantic: None,
        }
    }

    /// Adds what the model says; `language` is the prompt's, where the model can tell.
    pub fn add_semantic(
        &mut self,
        similarities: Vec<Similarity>,
        profile: &'static Profile,
        language: Option<Language>,
    ) -> PromptGroup {
        let group = group_of(language, self.script);
        self.semantic = Some(Semantic {
            similarities,
            profile,
            group,
        });
        group
    }

    /// What the model says of each entry, by slot; absent where it took no part.
    pub fn similarities(&self) -> Option<&[Similarity]> {
        Some(&self.semantic.as_ref()?.similarities)
    }

    /// Entries that take part, best first. Without similarities, those without a token in
    /// common are left out.
    pub fn rank(&self, request: &Request, mode: Mode, calibration: &Calibration) -> Vec<Scored> {
        let mut scored: Vec<Scored> = self
            .snapshot
            .entries()
            .filter(|indexed| request.allows(&indexed.entry))
            .filter_map(|indexed| {
                let coverage = self.lexical[indexed.slot as usize].coverage;
                let raw = match (mode, &self.semantic) {
                    (Mode::Lexical, _) | (_, None) if coverage <= 0.0 => return None,
                    (Mode::Lexical, _) | (_, None) => coverage,
                    (Mode::Semantic, Some(_)) => self.similarity(indexed),
                    (Mode::Hybrid, Some(Semantic { profile, group, .. })) => {
                        let weight = profile.weights(*group).coverage;
                        self.similarity(indexed) + weight * coverage
                    }
                };
                let score = calibration.probability(raw);
                raw.is_finite().then_some(Scored {
                    slot: indexed.slot,
                    raw,
                    score,
                })
            })
            .collect();
        rank(self.snapshot, &mut scored);
        scored
    }

    /// The entries with everything that is known of them.
    pub fn describe(&self, scored: &[Scored]) -> Vec<Ranked> {
        let describe = |scored: &Scored| {
            let indexed = self.snapshot.entry(scored.slot)?;
            Some(Ranked {
                entry: indexed.entry.clone(),
                score: scored.score,
                lexical_score: self.lexical[scored.slot as usize].share,
                matched: lexical::matched(indexed, &self.tokens, &self.weights),
                parts: self.parts(indexed, scored.raw),
            })
        };
        scored.iter().filter_map(describe).collect()
    }

    fn similarity(&self, indexed: &IndexedEntry) -> f32 {
        match (&self.semantic, &indexed.vectors) {
            (Some(semantic), Some(vectors)) => semantic.similarities[indexed.slot as usize]
                .combined(vectors, semantic.group, semantic.profile),
            _ => 0.0,
        }
    }

    fn parts(&self, indexed: &IndexedEntry, raw: f32) -> ScoreParts {
        let slot = indexed.slot as usize;
        let mut parts = ScoreParts {
            coverage: f64::from(self.lexical[slot].coverage),
            raw: f64::from(raw),
            ..ScoreParts::default()
        };
        if let (Some(semantic), Some(vectors)) = (&self.semantic, &indexed.vectors)
            && semantic.similarities[slot].is_known()
        {
            let similarity = semantic.similarities[slot];
            parts.similarity = Some(f64::from(similarity.text));
            parts.hub = f64::from(similarity.hub(vectors, semantic.group, semantic.profile));
            parts.nearest_example = similarity.example.and_then(|(cosine, number)| {
                let example = indexed.entry.examples.get(usize::from(number))?;
                Some((f64::from(cosine), example.clone()))
            });
        }
        parts
    }
}

/// The group of a prompt in a language, where a model can tell it, and a script.
pub(crate) fn group_of(language: Option<Language>, script: ScriptGroup) -> PromptGroup {
    match (language, script) {
        (Some(Language::ENGLISH), _) => PromptGroup::English,
        (_, ScriptGroup::Cjk) => PromptGroup::Cjk,
        (_, ScriptGroup::Latin | ScriptGroup::Other) => PromptGroup::Other,
    }
}
