//! The pipeline.

use std::sync::Arc;

use super::adjust::{Adjustments, admitted};
use super::asked::Asked;
use super::confidence::{Calibration, Thresholds};
use super::evidence::Evidence;
use super::exact::{self, Exact};
use super::explain;
use super::fitted::{Fit, Fitted, Key};
use super::lexical::FieldWeights;
use super::planning::{self, PartRanking, Whole};
use super::profile::{LEXICAL, Profile};
use super::request::{Mode, Request};
use super::result::{
    Decision, Degradation, DegradedReason, InputTruncation, Outcome, PredictionSet, Ranked,
    RouteResult, Stage, Unwanted, Warning,
};
use super::select::{Scored, select};
use super::semantic::{self, Similarity};
use crate::embed::{
    EmbedError, Embedded, Embedder, Language, ModelInfo, ModelState, Priority, TextRole,
};
use crate::index::{Index, Snapshot};
use crate::params::Clock;
use crate::telemetry::genai::Encoding;
use crate::text::script::ScriptGroup;

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
        Self {
            weights: FieldWeights::default(),
            accept_threshold: 0.85,
            floor: 0.15,
        }
    }
}

/// Routes prompts against an index. Cheap to clone.
#[derive(Clone)]
pub struct Router {
    index: Arc<Index>,
    embedder: Embedder,
    settings: Settings,
    fitted: Option<Arc<Fitted>>,
}

/// A prompt's vector and the model that made it.
struct PromptVector {
    embedded: Embedded,
    model: Arc<ModelInfo>,
}

impl Router {
    /// A router over an index and an encoder.
    pub fn new(index: Arc<Index>, embedder: Embedder, settings: Settings) -> Self {
        Self {
            index,
            embedder,
            settings,
            fitted: None,
        }
    }

    /// The same router with a calibration that was fitted to its catalogue.
    pub fn with_fitted(self, fitted: Fitted) -> Self {
        Self {
            fitted: Some(Arc::new(fitted)),
            ..self
        }
    }

    /// Whether the fitted calibration, if there is one, holds for this model and the newest
    /// catalogue.
    ///
    /// # Errors
    /// Says what has changed.
    pub fn check_fitted(&self, model: &ModelInfo) -> Result<(), Degradation> {
        let Some(fitted) = &self.fitted else {
            return Ok(());
        };
        let now = Key::of(model, &self.index.snapshot());
        fitted.key.check(&now).map_err(|detail| Degradation {
            reason: DegradedReason::CalibrationStale,
            detail,
        })
    }

    /// Routes one prompt against the newest snapshot.
    pub async fn route(&self, request: &Request) -> RouteResult {
        self.route_at(&self.index.snapshot(), request, None, None)
            .await
    }

    /// Routes one prompt and hands each stage to `observe` as soon as it is known.
    pub async fn route_in_stages(
        &self,
        request: &Request,
        observe: &mut (dyn FnMut(Stage) + Send),
    ) -> RouteResult {
        self.route_at(&self.index.snapshot(), request, None, Some(observe))
            .await
    }

    /// Routes several prompts against one snapshot; results in the order of the requests.
    pub async fn route_batch(&self, requests: &[Request]) -> (Vec<RouteResult>, String) {
        let snapshot = self.index.snapshot();
        // Embedded together and behind single prompts: a batch waits for room rather than
        // have some of its answers made from tokens alone.
        let asked: Vec<Asked> = requests.iter().map(Asked::of).collect();
        let prompts: Vec<String> = asked.iter().flat_map(Asked::texts).collect();
        let mut vectors = self
            .embed(Priority::Bulk, prompts)
            .await
            .map(Vec::into_iter);
        let mut results = Vec::with_capacity(requests.len());
        for (request, asked) in requests.iter().zip(asked) {
            let known = match &mut vectors {
                _ if request.mode == Mode::Lexical => None,
                Ok(vectors) => Some(Ok(vectors.take(asked.texts().len()).collect())),
                Err(error) => Some(Err(error.clone())),
            };
            results.push(self.route_at(&snapshot, request, known, None).await);
            // With its vectors at hand a batch would hold its thread to the end: others get
            // their turn between two prompts, and a caller that has gone is noticed.
            tokio::task::yield_now().await;
        }
        (results, snapshot.revision())
    }

    /// `known` are the vectors of the request's texts where they were made before; otherwise
    /// they are made, in one batch, when the stages before them are done.
    async fn route_at(
        &self,
        snapshot: &Arc<Snapshot>,
        request: &Request,
        known: Option<Result<Vec<PromptVector>, EmbedError>>,
        mut observe: Option<&mut (dyn FnMut(Stage) + Send)>,
    ) -> RouteResult {
        if let Some(exact) = exact::find(snapshot, request) {
            let result = self.answer_exact(snapshot, request, exact);
            if let (Some(observe), Some(first)) = (observe, result.matches.first()) {
                observe(Stage::Exact(first.entry.clone()));
            }
            return result;
        }

        let asked = Asked::of(request);
        let request = &asked.request;
        let mut evidence = Evidence::lexical(snapshot, request, self.settings.weights);
        if let Some(observe) = observe.as_mut() {
            let ranked = evidence.rank(request, Mode::Lexical, &LEXICAL);
            observe(Stage::Lexical(
                evidence.describe(&select(snapshot, &ranked, request)),
            ));
        }
        let vectors = match (request.mode, known) {
            (Mode::Lexical, _) => None,
            (_, Some(known)) => Some(known),
            (_, None) => Some(self.embed(Priority::Interactive, asked.texts()).await),
        };
        let mut sides: Vec<PromptVector> = Vec::new();
        let vector = vectors.map(|vectors| {
            let mut vectors = vectors?.into_iter();
            let first = vectors.next().ok_or(EmbedError::Closed)?;
            sides = vectors.collect();
            Ok(first)
        });

        let mut answer = Answer {
            mode: Mode::Lexical,
            ..Answer::default()
        };
        let mut calibration = &LEXICAL;
        let mut fit = None;
        let mut vector_of = None;
        match vector {
            None => {}
            Some(Err(error)) => answer.degraded.push(degradation_of(&error)),
            Some(Ok(PromptVector { embedded, model })) => {
                vector_of = Some(embedded.vector.clone());
                let profile = Profile::of(&model.id);
                let similarities = scan(snapshot, &embedded).await;
                let group = evidence.add_semantic(similarities, profile, embedded.language);
                let weights = profile.weights(group);
                if let Some(observe) = observe.as_mut() {
                    let ranked = evidence.rank(request, Mode::Semantic, &weights.semantic);
                    let matches = evidence.describe(&select(snapshot, &ranked, request));
                    observe(Stage::Semantic {
                        matches,
                        model: model.id.clone(),
                    });
                }
                answer.note(snapshot, &embedded);
                answer.language = embedded.language;
                if reads(&model, evidence.script) {
                    answer.mode = request.mode;
                    answer.model = Some(model.id.clone());
                    calibration = match request.mode {
                        Mode::Semantic => &weights.semantic,
                        Mode::Hybrid | Mode::Lexical => &weights.hybrid,
                    };
                    if request.mode == Mode::Hybrid {
                        fit = self.fit(snapshot, &model, embedded.language, &mut answer);
                    }
                } else {
                    // A vector of a text that the model cannot read is noise: tokens decide.
                    let model = model.id.clone();
                    answer.warnings.push(Warning::LanguageUnsupported { model });
                }
            }
        }

        let calibration = fit.map_or(calibration, |fit| &fit.calibration);
        let judge = Judge {
            calibration,
            thresholds: Thresholds {
                floor: fit.map_or(self.settings.floor, |fit| fit.floor),
                accept: self.settings.accept_threshold,
            },
        };
        // What the other texts of the call say. Vectors that the model could not make sense of
        // do not take part there, either.
        let mode = answer.mode;
        let sides = match mode {
            Mode::Lexical => Vec::new(),
            Mode::Semantic | Mode::Hybrid => sides,
        };
        let mut rankings: Vec<PartRanking<'_>> = Vec::new();
        for (at, text) in asked.texts_beside().into_iter().enumerate() {
            let vector = sides.get(at).map(|vector| &vector.embedded);
            let asked = asked.with_text(&text);
            rankings.push(
                self.rank_text(snapshot, &asked, vector, mode, calibration)
                    .await,
            );
        }

        let own = evidence.rank(request, mode, calibration);
        let side = Sides {
            asked: &asked,
            rankings: &rankings,
            judge,
        };
        let prompt = evidence.similarities().and(vector_of.as_deref());
        let (adjustments, unwanted) = self.adjust(snapshot, &evidence, &own, &side, prompt);
        let ranked = adjustments.apply(snapshot, &own, calibration);
        let mut decision = self.decide(&ranked, judge);
        if asked.nothing {
            decision.outcome = Outcome::Abstained;
            decision.reason = "the prompt only says what is not wanted".into();
        }
        if let Some(coverage) = request.coverage {
            answer.set = Some(self.set(snapshot, &ranked, fit, coverage));
        }
        let selected = match decision.outcome {
            Outcome::Abstained => Vec::new(),
            _ => select(snapshot, &ranked, request),
        };
        let describe = |scored: &[Scored]| describe(&evidence, &adjustments, request, scored);
        let matches = describe(&selected);
        let nearest = describe(&ranked[..ranked.len().min(request.nearest)]);
        let system = Clock::system();
        let clock = request.clock.as_ref().unwrap_or(&system);
        let mut result = answer.complete(snapshot, decision, matches, nearest);
        result.parameters = result.matches.first().map(|first| {
            let span = 0..asked.visible.len();
            planning::parameters(Some(first), &asked.visible, span, clock)
        });
        if request.plan {
            let parts = &rankings[asked.unwanted.len()..][..asked.parts.len()];
            let thresholds = judge.thresholds;
            let whole = Whole {
                ranked: &ranked,
                describe: &describe,
            };
            let plan = planning::plan(snapshot, &asked, whole, parts, thresholds, clock);
            result.plan = Some(plan);
        }
        if request.explain {
            let open = request.without_filters();
            let all = adjustments.apply(
                snapshot,
                &evidence.rank(&open, mode, calibration),
                calibration,
            );
            let outcome = result.decision.outcome;
            result.dropped =
                explain::dropped(snapshot, request, &all, &selected, &adjustments, outcome);
        }
        result.unwanted = unwanted;
        result
    }

    /// Ranks another text of the call.
    async fn rank_text<'a>(
        &self,
        snapshot: &'a Arc<Snapshot>,
        request: &Request,
        vector: Option<&Embedded>,
        mode: Mode,
        calibration: &Calibration,
    ) -> PartRanking<'a> {
        let mut evidence = Evidence::lexical(snapshot, request, self.settings.weights);
        if let (Some(embedded), ModelState::Ready(model)) = (vector, self.embedder.state()) {
            let profile = Profile::of(&model.id);
            let similarities = scan(snapshot, embedded).await;
            evidence.add_semantic(similarities, profile, embedded.language);
        }
        let ranked = evidence.rank(request, mode, calibration);
        PartRanking { evidence, ranked }
    }

    /// What changes the entries' sums, and what the prompt says is not wanted.
    fn adjust(
        &self,
        snapshot: &Snapshot,
        evidence: &Evidence<'_>,
        own: &[Scored],
        side: &Sides<'_>,
        prompt: Option<&[f32]>,
    ) -> (Adjustments, Vec<Unwanted>) {
        let Sides {
            asked,
            rankings,
            judge,
        } = side;
        let calibration = judge.calibration;
        let floor = judge.thresholds.floor;
        let mut adjustments = Adjustments::default();
        if let (Some(prompt), Some(similarities)) = (prompt, evidence.similarities()) {
            adjustments.not_when(snapshot, own, prompt, &|slot| {
                similarities
                    .get(slot as usize)
                    .filter(|own| own.is_known())
                    .map(Similarity::nearest)
            });
        }
        let mut unwanted = Vec::new();
        for (part, ranking) in asked.unwanted.iter().zip(rankings.iter()) {
            let part = &asked.reading.parts[*part];
            let wanted: &[Scored] = if asked.nothing { &[] } else { own };
            let slots = adjustments.refuse(&part.text, &ranking.ranked, wanted, calibration, floor);
            let entries = slots.iter().filter_map(|slot| snapshot.entry(*slot));
            unwanted.push(Unwanted {
                span: part.span.clone(),
                text: part.text.clone(),
                entries: entries.map(|indexed| indexed.entry.clone()).collect(),
            });
        }
        let request = &asked.request;
        if asked.context.is_some() || !request.preferences.is_empty() {
            let before = adjustments.apply(snapshot, own, calibration);
            let admitted = admitted(&before, floor);
            if asked.context.is_some()
                && let Some(ranking) = rankings.last()
            {
                adjustments.context(&admitted, &ranking.ranked, calibration);
            }
            let preferences = &request.preferences;
            adjustments.prefer(snapshot, &admitted, preferences, calibration);
        }
        (adjustments, unwanted)
    }

    async fn embed(
        &self,
        priority: Priority,
        prompts: Vec<String>,
    ) -> Result<Vec<PromptVector>, EmbedError> {
        let model = match self.embedder.state() {
            ModelState::Ready(model) => model,
            ModelState::Disabled => return Err(EmbedError::Disabled),
            ModelState::Loading => return Err(EmbedError::Loading),
            ModelState::Failed(why) => return Err(EmbedError::Failed(why)),
        };
        let encoding = Encoding::begin(&model.id, model.dimensions);
        let vectors = encoding
            .follow(self.embedder.embed(TextRole::Query, priority, prompts))
            .await;
        encoding.end(match &vectors {
            Ok(vectors) => Ok(vectors.iter().map(|each| each.used_tokens).sum()),
            Err(error) => Err(degradation_of(error).reason.as_str()),
        });
        let vectors = vectors?;
        let with_model = |embedded| PromptVector {
            embedded,
            model: model.clone(),
        };
        Ok(vectors.into_iter().map(with_model).collect())
    }

    /// The fitted calibration for a prompt; where there is one that does not hold here, the
    /// answer says why.
    fn fit(
        &self,
        snapshot: &Snapshot,
        model: &ModelInfo,
        language: Option<Language>,
        answer: &mut Answer,
    ) -> Option<&Fit> {
        let fitted = self.fitted.as_deref()?;
        match fitted.key.check(&Key::of(model, snapshot)) {
            Ok(()) => Some(fitted.of(language)),
            Err(detail) => {
                answer.degraded.push(Degradation {
                    reason: DegradedReason::CalibrationStale,
                    detail,
                });
                None
            }
        }
    }

    /// The entries near enough to the best.
    fn set(
        &self,
        snapshot: &Snapshot,
        ranked: &[Scored],
        fit: Option<&Fit>,
        coverage: f64,
    ) -> Result<PredictionSet, String> {
        let fit = fit.ok_or(
            "a set needs a calibration that holds for this model and catalogue, and HYBRID mode; \
             `signalbox calibrate` makes one",
        )?;
        let best = ranked.first().map_or(0.0, |best| best.raw);
        let gap = fit.gap(coverage);
        let entries = ranked
            .iter()
            .take_while(|scored| best - scored.raw <= gap)
            .filter_map(|scored| Some(snapshot.entry(scored.slot)?.entry.clone()))
            .collect();
        Ok(PredictionSet { coverage, entries })
    }

    fn decide(&self, ranked: &[Scored], judge: Judge<'_>) -> Decision {
        let Judge {
            calibration,
            thresholds,
        } = judge;
        let Thresholds {
            floor,
            accept: accept_threshold,
        } = thresholds;
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
        let confidence = calibration.probability(best.raw);
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
        let Settings {
            floor,
            accept_threshold,
            weights,
        } = self.settings;
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
        let evidence = Evidence::lexical(snapshot, request, weights);
        let scored: Vec<Scored> = slots
            .into_iter()
            .take(request.limit)
            .map(|slot| Scored {
                slot,
                raw: 1.0,
                score: 1.0,
            })
            .collect();
        let matches = evidence.describe(&scored);
        let words = request.prompt.trim_start();
        let offset = words.find(char::is_whitespace).unwrap_or(words.len());
        let offset = request.prompt.len() - words.len() + offset;
        let decision = Decision {
            outcome,
            confidence,
            floor,
            accept_threshold,
            reason,
            nearest_commands,
        };
        let answer = Answer {
            mode: request.mode,
            ..Answer::default()
        };
        let mut result = answer.complete(snapshot, decision, matches.clone(), matches);
        let system = Clock::system();
        let clock = request.clock.as_ref().unwrap_or(&system);
        // What follows the command's name are its parameters.
        result.parameters = result.matches.first().map(|first| {
            let span = offset..request.prompt.len();
            planning::parameters(Some(first), &request.prompt, span, clock)
        });
        if request.plan {
            result.plan = Some(planning::exact(request, &result));
        }
        result
    }
}

/// What is said of an answer besides its decision and entries.
#[derive(Default)]
struct Answer {
    mode: Mode,
    model: Option<String>,
    language: Option<Language>,
    set: Option<Result<PredictionSet, String>>,
    degraded: Vec<Degradation>,
    warnings: Vec<Warning>,
    truncated: Option<InputTruncation>,
}

impl Answer {
    /// Says what the vectors lack.
    fn note(&mut self, snapshot: &Snapshot, embedded: &Embedded) {
        let pending = snapshot.pending_vectors();
        if pending > 0 {
            let detail = format!("{pending} entries have no vectors yet");
            self.degraded.push(Degradation {
                reason: DegradedReason::VectorsPending,
                detail,
            });
        }
        let Embedded {
            tokens,
            used_tokens,
            ..
        } = *embedded;
        if tokens > used_tokens {
            self.truncated = Some(InputTruncation {
                prompt_tokens: tokens,
                used_tokens,
            });
        }
    }

    fn complete(
        self,
        snapshot: &Snapshot,
        decision: Decision,
        matches: Vec<Ranked>,
        nearest: Vec<Ranked>,
    ) -> RouteResult {
        RouteResult {
            decision,
            matches,
            nearest,
            revision: snapshot.revision(),
            mode: self.mode,
            model: self.model,
            language: self.language,
            set: self.set,
            degraded: self.degraded,
            warnings: self.warnings,
            truncated: self.truncated,
            unwanted: Vec::new(),
            parameters: None,
            plan: None,
            dropped: Vec::new(),
        }
    }
}

/// The rankings of a call's other texts, in the order of [`Asked::texts_beside`].
struct Sides<'a> {
    asked: &'a Asked,
    rankings: &'a [PartRanking<'a>],
    judge: Judge<'a>,
}

/// What makes a decision of a sum.
#[derive(Clone, Copy)]
struct Judge<'a> {
    calibration: &'a Calibration,
    thresholds: Thresholds,
}

/// The entries with everything that is known of them, adjustments included.
fn describe(
    evidence: &Evidence<'_>,
    adjustments: &Adjustments,
    request: &Request,
    scored: &[Scored],
) -> Vec<Ranked> {
    let mut described = evidence.describe(scored);
    for (ranked, scored) in described.iter_mut().zip(scored) {
        ranked.parts.adjustments = adjustments.of(scored.slot).to_vec();
        ranked.parts.negated = adjustments.negates(scored.slot);
        ranked.parts.pinned = request.preferences.pins(&ranked.entry.id);
    }
    described
}

/// Whether a model was trained for a group of scripts.
pub(crate) fn reads(model: &ModelInfo, group: ScriptGroup) -> bool {
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
    Degradation {
        reason,
        detail: error.to_string(),
    }
}
