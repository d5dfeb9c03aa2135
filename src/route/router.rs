//! The pipeline.

use std::sync::Arc;

use super::confidence::{Calibration, Thresholds};
use super::exact::{self, Exact};
use super::lexical::{self, FieldWeights, LexicalScore};
use super::profile::{LEXICAL, Profile};
use super::request::{Mode, Request};
use super::result::{
    Decision, Degradation, DegradedReason, InputTruncation, Outcome, Ranked, RouteResult,
    ScoreParts, Stage, Warning,
};
use super::select::{Scored, rank, select};
use super::semantic::{self, Similarity};
use crate::embed::{EmbedError, Embedded, Embedder, ModelInfo, ModelState, Priority, TextRole};
use crate::index::{Index, IndexedEntry, Snapshot};
use crate::text::script::{ScriptGroup, script_group};
use crate::text::{distinct, tokenize};

/// Vectors from which a scan leaves the runtime's threads: 4,096 take about 0.5 ms.
const SCAN_INLINE_ROWS: usize = 4_096;

/// What an operator sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Weights of the lexical score.
    pub weights: FieldWeights,
    /// Strictly above it a match is accepted.
    pub accept_threshold: f64,
    /// Below it the router abstains.
    pub floor: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { weights: FieldWeights::default(), accept_threshold: 0.85, floor: 0.25 }
    }
}

/// Routes prompts against an index. Cheap to clone.
#[derive(Clone)]
pub struct Router {
    index: Arc<Index>,
    embedder: Embedder,
    settings: Settings,
}

/// A prompt's vector and the model that made it.
struct PromptVector {
    embedded: Embedded,
    model: Arc<ModelInfo>,
}

/// What the stages found, indexed by slot.
struct Evidence<'a> {
    snapshot: &'a Snapshot,
    tokens: &'a [String],
    group: ScriptGroup,
    lexical: &'a [LexicalScore],
    /// Present where the model took part.
    semantic: Option<(&'a [Similarity], &'static Profile)>,
}

impl Router {
    /// A router over an index and an encoder.
    pub fn new(index: Arc<Index>, embedder: Embedder, settings: Settings) -> Self {
        Self { index, embedder, settings }
    }

    /// Routes one prompt against the newest snapshot.
    pub async fn route(&self, request: &Request) -> RouteResult {
        self.route_at(&self.index.snapshot(), request, None).await
    }

    /// Routes one prompt and hands each stage to `observe` as soon as it is known.
    pub async fn route_in_stages(
        &self,
        request: &Request,
        observe: &mut (dyn FnMut(Stage) + Send),
    ) -> RouteResult {
        self.route_at(&self.index.snapshot(), request, Some(observe)).await
    }

    /// Routes several prompts against one snapshot; results in the order of the requests.
    pub async fn route_batch(&self, requests: &[Request]) -> (Vec<RouteResult>, String) {
        let snapshot = self.index.snapshot();
        let routes = requests.iter().map(|request| self.route_at(&snapshot, request, None));
        (futures_util::future::join_all(routes).await, snapshot.revision())
    }

    async fn route_at(
        &self,
        snapshot: &Arc<Snapshot>,
        request: &Request,
        mut observe: Option<&mut (dyn FnMut(Stage) + Send)>,
    ) -> RouteResult {
        if let Some(exact) = exact::find(snapshot, request) {
            let result = self.answer_exact(snapshot, request, exact);
            if let (Some(observe), Some(first)) = (observe, result.matches.first()) {
                observe(Stage::Exact(first.entry.clone()));
            }
            return result;
        }

        let tokens = distinct(tokenize(&request.prompt));
        let lexical = lexical::score(snapshot, &tokens, &self.settings.weights);
        let mut evidence = Evidence {
            snapshot,
            tokens: &tokens,
            group: script_group(&request.prompt),
            lexical: &lexical,
            semantic: None,
        };
        if let Some(observe) = observe.as_mut() {
            let ranked = evidence.rank(request, Mode::Lexical, &LEXICAL);
            observe(Stage::Lexical(self.describe(&evidence, &select(snapshot, &ranked, request))));
        }

        let mut degraded = Vec::new();
        let vector = match request.mode {
            Mode::Lexical => None,
            Mode::Semantic | Mode::Hybrid => match self.embed(&request.prompt).await {
                Ok(vector) => Some(vector),
                Err(error) => {
                    degraded.push(degradation_of(&error));
                    None
                }
            },
        };
        let similarities = match &vector {
            Some(vector) => scan(snapshot, &vector.embedded).await,
            None => Vec::new(),
        };

        let mut mode = if vector.is_some() { request.mode } else { Mode::Lexical };
        let mut calibration = &LEXICAL;
        let mut warnings = Vec::new();
        let mut truncated = None;
        if let Some(vector) = &vector {
            let profile = Profile::of(&vector.model.id);
            evidence.semantic = Some((&similarities, profile));
            let pending = snapshot.pending_vectors();
            if pending > 0 {
                let detail = format!("{pending} entries have no vectors yet");
                let reason = DegradedReason::VectorsPending;
                degraded.push(Degradation { reason, detail });
            }
            let Embedded { tokens, used_tokens, .. } = vector.embedded;
            if tokens > used_tokens {
                truncated = Some(InputTruncation { prompt_tokens: tokens, used_tokens });
            }
            if reads(&vector.model, evidence.group) {
                calibration = match mode {
                    Mode::Semantic => &profile.semantic,
                    _ => &profile.hybrid,
                };
            } else {
                // A vector of a text that the model cannot read is noise: tokens decide.
                warnings.push(Warning::LanguageUnsupported { model: vector.model.id.clone() });
                mode = Mode::Lexical;
            }
            if let Some(observe) = observe.as_mut() {
                let ranked = evidence.rank(request, Mode::Semantic, &profile.semantic);
                let matches = self.describe(&evidence, &select(snapshot, &ranked, request));
                observe(Stage::Semantic { matches, model: vector.model.id.clone() });
            }
        }

        let ranked = evidence.rank(request, mode, calibration);
        let decision = self.decide(&ranked, calibration);
        let matches = match decision.outcome {
            Outcome::Abstained => Vec::new(),
            _ => self.describe(&evidence, &select(snapshot, &ranked, request)),
        };
        RouteResult {
            decision,
            matches,
            nearest: self.describe(&evidence, &ranked[..ranked.len().min(request.nearest)]),
            revision: snapshot.revision(),
            mode,
            model: vector
                .filter(|_| mode != Mode::Lexical)
                .map(|vector| vector.model.id.clone()),
            degraded,
            warnings,
            truncated,
        }
    }

    async fn embed(&self, prompt: &str) -> Result<PromptVector, EmbedError> {
        let model = match self.embedder.state() {
            ModelState::Ready(model) => model,
            ModelState::Disabled => return Err(EmbedError::Disabled),
            ModelState::Loading => return Err(EmbedError::Loading),
            ModelState::Failed(why) => return Err(EmbedError::Failed(why)),
        };
        if let Some(embedded) = self.embedder.cached(TextRole::Query, prompt) {
            return Ok(PromptVector { embedded, model });
        }
        let texts = vec![prompt.to_owned()];
        let mut vectors =
            self.embedder.embed(TextRole::Query, Priority::Interactive, texts).await?;
        match vectors.pop() {
            Some(embedded) => Ok(PromptVector { embedded, model }),
            None => Err(EmbedError::Closed),
        }
    }

    fn decide(&self, ranked: &[Scored], calibration: &Calibration) -> Decision {
        let Settings { floor, accept_threshold, .. } = self.settings;
        let thresholds = Thresholds { floor, accept: accept_threshold };
        let Some(best) = ranked.first() else {
            return Decision {
                outcome: Outcome::Abstained,
                confidence: 0.0,
                floor,
                accept_threshold,
                reason: "no entry takes part or has anything in common with the prompt".into(),
                nearest_commands: Vec::new(),
            };
        };
        let second = ranked.get(1).map(|second| second.raw);
        let confidence = calibration.confidence(best.raw, second);
        let outcome = thresholds.decide(confidence);
        let reason = match outcome {
            Outcome::Accepted => {
                format!("confidence {confidence:.2} is above {accept_threshold:.2}")
            }
            Outcome::Abstained => {
                format!("confidence {confidence:.2} is below the floor of {floor:.2}")
            }
            _ => format!(
                "confidence {confidence:.2} lies between the floor of {floor:.2} and \
                 {accept_threshold:.2}"
            ),
        };
        Decision {
            outcome,
            confidence,
            floor,
            accept_threshold,
            reason,
            nearest_commands: Vec::new(),
        }
    }

    fn answer_exact(&self, snapshot: &Snapshot, request: &Request, exact: Exact) -> RouteResult {
        let Settings { floor, accept_threshold, weights } = self.settings;
        let (outcome, confidence, reason, slots, nearest_commands) = match exact {
            Exact::Found(slots) => {
                let reason = "the prompt names this command".to_owned();
                (Outcome::Accepted, 1.0, reason, slots, Vec::new())
            }
            Exact::Unknown { name, nearest } => {
                let reason = format!("no command is named {name:?}");
                (Outcome::UnknownCommand, 0.0, reason, Vec::new(), nearest)
            }
        };
        let tokens = distinct(tokenize(&request.prompt));
        let lexical = lexical::score(snapshot, &tokens, &weights);
        let group = script_group(&request.prompt);
        let evidence =
            Evidence { snapshot, tokens: &tokens, group, lexical: &lexical, semantic: None };
        let scored: Vec<Scored> = slots
            .into_iter()
            .take(request.limit)
            .map(|slot| Scored { slot, raw: 1.0, score: 1.0 })
            .collect();
        RouteResult {
            decision: Decision {
                outcome,
                confidence,
                floor,
                accept_threshold,
                reason,
                nearest_commands,
            },
            matches: self.describe(&evidence, &scored),
            nearest: Vec::new(),
            revision: snapshot.revision(),
            mode: request.mode,
            model: None,
            degraded: Vec::new(),
            warnings: Vec::new(),
            truncated: None,
        }
    }

    fn describe(&self, evidence: &Evidence<'_>, scored: &[Scored]) -> Vec<Ranked> {
        let describe = |scored: &Scored| {
            let indexed = evidence.snapshot.entry(scored.slot)?;
            Some(Ranked {
                entry: indexed.entry.clone(),
                score: scored.score,
                lexical_score: evidence.lexical[scored.slot as usize].share,
                matched: lexical::matched(indexed, evidence.tokens, &self.settings.weights),
                parts: evidence.parts(indexed, scored.raw),
            })
        };
        scored.iter().filter_map(describe).collect()
    }
}

impl Evidence<'_> {
    /// Entries that take part, best first. Without similarities, those without a token in
    /// common are left out.
    fn rank(&self, request: &Request, mode: Mode, calibration: &Calibration) -> Vec<Scored> {
        let mut scored: Vec<Scored> = self
            .snapshot
            .entries()
            .filter(|indexed| request.allows(&indexed.entry))
            .filter_map(|indexed| {
                let coverage = self.lexical[indexed.slot as usize].coverage;
                let raw = match (mode, self.semantic) {
                    (Mode::Lexical, _) | (_, None) if coverage <= 0.0 => return None,
                    (Mode::Lexical, _) | (_, None) => coverage,
                    (Mode::Semantic, Some(_)) => self.similarity(indexed),
                    (Mode::Hybrid, Some((_, profile))) => {
                        self.similarity(indexed) + profile.coverage * coverage
                    }
                };
                let score = calibration.score(raw);
                raw.is_finite().then_some(Scored { slot: indexed.slot, raw, score })
            })
            .collect();
        rank(self.snapshot, &mut scored);
        scored
    }

    fn similarity(&self, indexed: &IndexedEntry) -> f32 {
        match (self.semantic, &indexed.vectors) {
            (Some((similarities, profile)), Some(vectors)) => {
                similarities[indexed.slot as usize].combined(vectors, self.group, profile)
            }
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
        if let (Some((similarities, profile)), Some(vectors)) = (self.semantic, &indexed.vectors)
            && similarities[slot].is_known()
        {
            let similarity = similarities[slot];
            parts.similarity = Some(f64::from(similarity.text));
            parts.hub = f64::from(profile.hub * vectors.text_hub.of(self.group));
            parts.nearest_example = similarity.example.and_then(|(cosine, number)| {
                let example = indexed.entry.examples.get(usize::from(number))?;
                Some((f64::from(cosine), example.clone()))
            });
        }
        parts
    }
}

/// Whether a model was trained for a group of scripts.
fn reads(model: &ModelInfo, group: ScriptGroup) -> bool {
    let english_only = model.languages.len() == 1 && model.languages[0] == "en";
    !english_only || group == ScriptGroup::Latin
}

async fn scan(snapshot: &Arc<Snapshot>, embedded: &Embedded) -> Vec<Similarity> {
    if snapshot.matrix().rows() <= SCAN_INLINE_ROWS {
        return semantic::scan(snapshot, &embedded.vector);
    }
    let (shared, vector) = (snapshot.clone(), embedded.vector.clone());
    match tokio::task::spawn_blocking(move || semantic::scan(&shared, &vector)).await {
        Ok(found) => found,
        // Only a runtime that is shutting down cancels the task.
        Err(_) => semantic::scan(snapshot, &embedded.vector),
    }
}

/// Why a call without a vector is degraded.
pub fn degradation_of(error: &EmbedError) -> Degradation {
    let reason = match error {
        EmbedError::Disabled => DegradedReason::ModelDisabled,
        EmbedError::Loading => DegradedReason::ModelLoading,
        EmbedError::Overloaded { .. } => DegradedReason::ModelOverloaded,
        EmbedError::Failed(_) | EmbedError::Closed => DegradedReason::ModelFailed,
    };
    Degradation { reason, detail: error.to_string() }
}
