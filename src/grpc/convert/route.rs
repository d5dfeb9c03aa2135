//! Requests to route, and what is answered.

use super::entry::reference_to;
use super::plan::{adjustment_to, dropped_to, parameters_to, plan_to, unwanted_to};
use super::preferences::owner_from;
use crate::error::Violations;
use crate::grpc::pb;
use crate::grpc::pb::stream_route_response::Stage as PbStage;
use crate::index::Field;
use crate::params::Clock;
use crate::route::{
    Band, Conversation, DEFAULT_LIMIT, Decision, Degradation, DegradedReason, KindFilter, Mode,
    Outcome, PredictionSet, Ranked, Request, RouteResult, ScoreParts, Stage, Warning,
};

/// Reads a request; `path` is prefixed to the fields of its violations.
pub fn request_from(
    message: pb::RouteRequest,
    path: &str,
    max_prompt_bytes: usize,
    violations: &mut Violations,
) -> Request {
    let mut request = Request::new(message.prompt);
    request.min_score = message.min_score;
    request.coverage = message.coverage;
    request.kinds = KindFilter {
        no_commands: message.no_commands,
        no_tools: message.no_tools,
        no_skills: message.no_skills,
    };
    match message.limit.map(usize::try_from) {
        None => request.limit = DEFAULT_LIMIT,
        Some(Ok(limit)) => request.limit = limit,
        Some(Err(_)) => violations.add(format!("{path}limit"), "must not be negative"),
    }
    match mode_from(message.mode) {
        Some(mode) => request.mode = mode,
        None => violations.add(
            format!("{path}mode"),
            format!(
                "{} is no mode: one of LEXICAL, SEMANTIC, HYBRID",
                message.mode
            ),
        ),
    }
    if pb::RouteView::try_from(message.view).is_err() {
        let text = format!("{} is no view: one of BASIC, FULL", message.view);
        violations.add(format!("{path}view"), text);
    }
    if let Some(context) = message.context {
        request.conversation = Conversation {
            turns: context.turns.into_iter().map(|turn| turn.text).collect(),
            summary: context.summary,
        };
    }
    request.owner = owner_from(message.tenant, message.user);
    request.plan = message.plan;
    request.explain = wants_full(message.view);
    request.clock = clock_from(message.now, &message.time_zone, path, violations);
    request.check(path, max_prompt_bytes, violations);
    request
}

/// The clock of a request; `None` where it names neither a moment nor a zone.
fn clock_from(
    now: Option<prost_types::Timestamp>,
    zone: &str,
    path: &str,
    violations: &mut Violations,
) -> Option<Clock> {
    let mut clock = Clock::system();
    let named = now.is_some() || !zone.is_empty();
    if let Some(now) = now {
        match jiff::Timestamp::new(now.seconds, now.nanos) {
            Ok(now) => clock.now = now,
            Err(_) => violations.add(format!("{path}now"), "is no time of the years 1 to 9999"),
        }
    }
    if !zone.is_empty() {
        match jiff::tz::TimeZone::get(zone) {
            Ok(zone) => clock.zone = zone,
            Err(_) => {
                let text = format!("{zone:?} is no time zone: an IANA name like Europe/Berlin");
                violations.add(format!("{path}time_zone"), text);
            }
        }
    }
    named.then_some(clock)
}

/// Reads a mode.
pub fn mode_from(number: i32) -> Option<Mode> {
    match pb::RouteMode::try_from(number).ok()? {
        pb::RouteMode::Lexical => Some(Mode::Lexical),
        pb::RouteMode::Semantic => Some(Mode::Semantic),
        pb::RouteMode::Hybrid | pb::RouteMode::Unspecified => Some(Mode::Hybrid),
    }
}

fn mode_to(mode: Mode) -> pb::RouteMode {
    match mode {
        Mode::Lexical => pb::RouteMode::Lexical,
        Mode::Semantic => pb::RouteMode::Semantic,
        Mode::Hybrid => pb::RouteMode::Hybrid,
    }
}

/// Whether a view asks for all evidence.
pub fn wants_full(view: i32) -> bool {
    view == i32::from(pb::RouteView::Full)
}

/// Writes an answer.
pub fn result_to(result: RouteResult, route_id: String, full: bool) -> pb::RouteResponse {
    let mode = mode_to(result.mode);
    let (parameters, missing_parameters) = parameters_to(result.parameters.unwrap_or_default());
    pb::RouteResponse {
        plan: result.plan.map(|plan| plan_to(plan, full)),
        unwanted: result.unwanted.into_iter().map(unwanted_to).collect(),
        parameters,
        missing_parameters,
        dropped: result.dropped.into_iter().map(dropped_to).collect(),
        decision: Some(decision_to(result.decision)),
        matches: matches_to(result.matches, full),
        catalog_revision: result.revision,
        mode: mode.into(),
        model_id: result.model.unwrap_or_default(),
        degraded: result.degraded.into_iter().map(degradation_to).collect(),
        warnings: result.warnings.into_iter().map(warning_to).collect(),
        input_truncated: result.truncated.map(|truncated| pb::InputTruncation {
            prompt_tokens: tokens_to(truncated.prompt_tokens),
            used_tokens: tokens_to(truncated.used_tokens),
        }),
        route_id,
        prediction_set: result.set.map(set_to),
        language: result
            .language
            .map(|language| language.to_string())
            .unwrap_or_default(),
        nearest: if full {
            matches_to(result.nearest, true)
        } else {
            Vec::new()
        },
    }
}

/// Writes a stage.
pub fn stage_to(stage: Stage, full: bool) -> PbStage {
    match stage {
        Stage::Exact(entry) => PbStage::ExactCommand(pb::ExactCommandStage {
            entry: Some(reference_to(entry.kind, &entry.id)),
        }),
        Stage::Lexical(matches) => PbStage::Lexical(pb::LexicalStage {
            matches: matches_to(matches, full),
        }),
        Stage::Semantic { matches, model } => PbStage::Semantic(pb::SemanticStage {
            matches: matches_to(matches, full),
            model_id: model,
        }),
    }
}

/// Writes why an answer is degraded.
pub fn degradation_to(degradation: Degradation) -> pb::Degradation {
    let reason = match degradation.reason {
        DegradedReason::ModelDisabled => pb::DegradedReason::ModelDisabled,
        DegradedReason::ModelLoading => pb::DegradedReason::ModelLoading,
        DegradedReason::ModelFailed => pb::DegradedReason::ModelFailed,
        DegradedReason::ModelOverloaded => pb::DegradedReason::ModelOverloaded,
        DegradedReason::VectorsPending => pb::DegradedReason::VectorsPending,
        DegradedReason::NotJournaled => pb::DegradedReason::NotJournaled,
        DegradedReason::CalibrationStale => pb::DegradedReason::CalibrationStale,
    };
    pb::Degradation {
        reason: reason.into(),
        detail: degradation.detail,
    }
}

fn set_to(set: Result<PredictionSet, String>) -> pb::PredictionSet {
    match set {
        Ok(PredictionSet { coverage, entries }) => pb::PredictionSet {
            coverage,
            entries: entries
                .iter()
                .map(|entry| reference_to(entry.kind, &entry.id))
                .collect(),
            unavailable: String::new(),
        },
        Err(unavailable) => pb::PredictionSet {
            unavailable,
            ..pb::PredictionSet::default()
        },
    }
}

fn warning_to(warning: Warning) -> pb::RouteWarning {
    match warning {
        Warning::LanguageUnsupported { model } => pb::RouteWarning {
            code: pb::WarningCode::LanguageUnsupported.into(),
            detail: format!("{model} does not read the script of the prompt; tokens decided"),
        },
    }
}

fn decision_to(decision: Decision) -> pb::Decision {
    let outcome = match decision.outcome {
        Outcome::Accepted => pb::Outcome::Accepted,
        Outcome::Uncertain => pb::Outcome::Uncertain,
        Outcome::Abstained => pb::Outcome::Abstained,
        Outcome::UnknownCommand => pb::Outcome::UnknownCommand,
    };
    pb::Decision {
        outcome: outcome.into(),
        confidence: decision.confidence,
        floor: decision.floor,
        accept_threshold: decision.accept_threshold,
        reason: decision.reason,
        nearest_commands: decision.nearest_commands,
    }
}

fn matches_to(matches: Vec<Ranked>, full: bool) -> Vec<pb::Match> {
    matches
        .into_iter()
        .map(|ranked| match_to(ranked, full))
        .collect()
}

/// Writes a match.
pub fn match_to(ranked: Ranked, full: bool) -> pb::Match {
    let band = match Band::of(ranked.lexical_score) {
        Band::Weak => pb::LexicalBand::Weak,
        Band::Fair => pb::LexicalBand::Fair,
        Band::Good => pb::LexicalBand::Good,
        Band::VeryGood => pb::LexicalBand::VeryGood,
        Band::Exact => pb::LexicalBand::Exact,
    };
    let matched_tokens = ranked
        .matched
        .into_iter()
        .map(|matched| pb::MatchedToken {
            token: matched.token,
            field: field_to(matched.field).into(),
            weight: matched.weight,
        })
        .collect();
    pb::Match {
        entry: Some(reference_to(ranked.entry.kind, &ranked.entry.id)),
        score: ranked.score,
        lexical_score: ranked.lexical_score,
        lexical_band: band.into(),
        matched_tokens,
        parts: full.then(|| parts_to(ranked.parts)),
        title: ranked.entry.title.clone(),
    }
}

fn parts_to(parts: ScoreParts) -> pb::ScoreParts {
    let (nearest_example_similarity, nearest_example) = match parts.nearest_example {
        Some((similarity, example)) => (Some(similarity), example),
        None => (None, String::new()),
    };
    pb::ScoreParts {
        coverage: parts.coverage,
        similarity: parts.similarity,
        nearest_example_similarity,
        nearest_example,
        hub: parts.hub,
        raw: parts.raw,
        adjustments: parts.adjustments.into_iter().map(adjustment_to).collect(),
        negated: parts.negated,
        pinned: parts.pinned,
    }
}

fn field_to(field: Field) -> pb::TokenField {
    match field {
        Field::Name => pb::TokenField::Name,
        Field::SourceHint => pb::TokenField::SourceHint,
        Field::Responsibility => pb::TokenField::Responsibility,
        Field::Other => pb::TokenField::Other,
    }
}

fn tokens_to(tokens: u32) -> i32 {
    i32::try_from(tokens).unwrap_or(i32::MAX)
}
