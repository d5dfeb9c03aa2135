//! A routing answer as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::grpc::pb;
use crate::route::Band;

/// For people: numbered lines with kind, name, scores and matched tokens.
pub(super) fn text(response: &pb::RouteResponse, limit: usize, explain: bool) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_text(&mut out, response, limit, explain);
    out
}

fn write_text(
    out: &mut String,
    response: &pb::RouteResponse,
    limit: usize,
    explain: bool,
) -> std::fmt::Result {
    for degradation in &response.degraded {
        writeln!(out, "degraded: {}", degradation.detail)?;
    }
    for warning in &response.warnings {
        writeln!(out, "warning: {}", warning.detail)?;
    }
    if let Some(truncated) = &response.input_truncated {
        let pb::InputTruncation {
            prompt_tokens,
            used_tokens,
        } = truncated;
        writeln!(
            out,
            "warning: the model read {used_tokens} of {prompt_tokens} tokens"
        )?;
    }
    let decision = response.decision.clone().unwrap_or_default();
    if response.matches.is_empty() {
        match decision.outcome() {
            pb::Outcome::Abstained | pb::Outcome::UnknownCommand => {
                writeln!(out, "No match: {}.", decision.reason)?;
            }
            _ => writeln!(out, "No match within the limits asked for.")?,
        }
        if !decision.nearest_commands.is_empty() {
            let names: Vec<String> = decision
                .nearest_commands
                .iter()
                .map(|name| format!("/{name}"))
                .collect();
            writeln!(out, "Did you mean {}?", names.join(", "))?;
        }
    } else {
        let outcome = outcome(&decision);
        writeln!(
            out,
            "Routed matches (top {limit}), {outcome}: {}",
            decision.reason
        )?;
        let width = response
            .matches
            .iter()
            .map(|found| name_of(found).chars().count())
            .max();
        for (place, found) in response.matches.iter().enumerate() {
            write_match(out, place + 1, found, width.unwrap_or(0))?;
            if explain {
                write_parts(out, found)?;
            }
        }
    }
    if let Some(set) = &response.prediction_set {
        write_set(out, set)?;
    }
    for unwanted in &response.unwanted {
        let names: Vec<&str> = unwanted
            .entries
            .iter()
            .map(|entry| entry.name.as_str())
            .collect();
        let means = match names.is_empty() {
            true => "no entry".to_owned(),
            false => names.join(", "),
        };
        writeln!(out, "Not wanted: {:?} ({means})", unwanted.text)?;
    }
    write_parameters(out, &response.parameters, &response.missing_parameters, "")?;
    if explain {
        write_explanation(out, response, &decision)?;
    }
    Ok(())
}

fn write_set(out: &mut String, set: &pb::PredictionSet) -> std::fmt::Result {
    if !set.unavailable.is_empty() {
        return writeln!(out, "No set can be promised: {}.", set.unavailable);
    }
    let names: Vec<&str> = set
        .entries
        .iter()
        .map(|entry| entry.name.as_str())
        .collect();
    writeln!(
        out,
        "With probability {} one of these {}: {}",
        set.coverage,
        names.len(),
        names.join(", ")
    )
}

/// Why the first match won, and what became of the others.
fn write_explanation(
    out: &mut String,
    response: &pb::RouteResponse,
    decision: &pb::Decision,
) -> std::fmt::Result {
    if let [first, rest @ ..] = response.matches.as_slice() {
        let lead = match rest.first() {
            Some(second) => format!(
                "{:.2} ahead of {}",
                first.score - second.score,
                name_of(second)
            ),
            None => "the only match".to_owned(),
        };
        writeln!(out, "Why {}: {lead}; {}", name_of(first), summary_of(first))?;
    } else if let Some(near) = response.nearest.first() {
        writeln!(
            out,
            "Nearest: {} with {:.2}, floor {:.2}; {}",
            name_of(near),
            near.score,
            decision.floor,
            summary_of(near)
        )?;
    }
    if !response.dropped.is_empty() {
        writeln!(out, "Dropped:")?;
    }
    for dropped in &response.dropped {
        let entry = dropped.entry.clone().unwrap_or_default();
        writeln!(
            out,
            "{:>3}. [{}] {}  score {}  {}",
            dropped.rank,
            short(entry.kind().as_str_name(), "ENTRY_KIND_").to_uppercase(),
            entry.name,
            two_decimals(dropped.score),
            dropped
                .reason()
                .as_str_name()
                .trim_start_matches("DROP_REASON_"),
        )?;
    }
    writeln!(
        out,
        "confidence {:.2}, floor {:.2}, accept above {:.2}; mode {}; model {}; catalogue {}",
        decision.confidence,
        decision.floor,
        decision.accept_threshold,
        mode(response),
        if response.model_id.is_empty() {
            "none"
        } else {
            &response.model_id
        },
        response.catalog_revision,
    )
}

/// The strongest evidence of a match in one line.
fn summary_of(found: &pb::Match) -> String {
    let parts = found.parts.clone().unwrap_or_default();
    let mut facts = Vec::new();
    let nearest = parts
        .nearest_example_similarity
        .unwrap_or(f64::NEG_INFINITY);
    match parts.similarity {
        Some(similarity) if nearest > similarity => {
            facts.push(format!(
                "its example {:?} is nearest",
                parts.nearest_example
            ));
        }
        Some(_) => facts.push("its description is nearest".to_owned()),
        None => {}
    }
    let in_name: Vec<&str> = found
        .matched_tokens
        .iter()
        .filter(|matched| matched.field() == pb::TokenField::Name)
        .map(|matched| matched.token.as_str())
        .collect();
    if !in_name.is_empty() {
        facts.push(format!("its name holds {}", in_name.join(", ")));
    } else if !found.matched_tokens.is_empty() {
        facts.push(format!("{} words are shared", found.matched_tokens.len()));
    }
    facts.extend(parts.adjustments.iter().map(adjustment));
    if facts.is_empty() {
        facts.push("nothing speaks for it but the rest speaks for less".to_owned());
    }
    facts.join("; ")
}

fn adjustment(adjustment: &pb::ScoreAdjustment) -> String {
    let amount = format!("{:+.3}", adjustment.amount);
    let detail = &adjustment.detail;
    match adjustment.cause() {
        pb::AdjustmentCause::NotWhen => format!("{amount} as it is not for {detail:?}"),
        pb::AdjustmentCause::Redirect => format!("{amount} as {detail} sends such prompts here"),
        pb::AdjustmentCause::Context => format!("{amount} from the conversation"),
        pb::AdjustmentCause::Preferred => format!("{amount} as preferred"),
        pb::AdjustmentCause::Negated => format!("{amount} as {detail:?} is not wanted"),
        pb::AdjustmentCause::Unspecified => amount,
    }
}

fn write_parameters(
    out: &mut String,
    parameters: &[pb::Parameter],
    missing: &[String],
    indent: &str,
) -> std::fmt::Result {
    for parameter in parameters {
        let value = parameter.value.as_ref().map(value_json).unwrap_or_default();
        let span = parameter.span.unwrap_or_default();
        let rule = short(parameter.rule().as_str_name(), "PARAMETER_RULE_");
        writeln!(
            out,
            "{indent}{} = {value}  ({rule}, bytes {} to {})",
            parameter.name, span.start, span.end
        )?;
    }
    if !missing.is_empty() {
        writeln!(out, "{indent}missing: {}", missing.join(", "))?;
    }
    Ok(())
}

/// The steps of a plan, for people.
pub(super) fn plan(response: &pb::RouteResponse, explain: bool) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_plan(&mut out, response, explain);
    out
}

fn write_plan(out: &mut String, response: &pb::RouteResponse, explain: bool) -> std::fmt::Result {
    for degradation in &response.degraded {
        writeln!(out, "degraded: {}", degradation.detail)?;
    }
    let plan = response.plan.clone().unwrap_or_default();
    if plan.steps.is_empty() {
        writeln!(out, "No step: nothing is asked for.")?;
    }
    for step in &plan.steps {
        let fit = short(step.fit().as_str_name(), "STEP_FIT_");
        let entry = match &step.r#match {
            Some(found) => format!("[{}] {}", kind(found).to_uppercase(), name_of(found)),
            None => "MISSING".to_owned(),
        };
        write!(
            out,
            "{:>3}. {entry}  {fit} {}  {:?}",
            step.number,
            two_decimals(step.confidence),
            step.text
        )?;
        let after: Vec<String> = step.after.iter().map(i32::to_string).collect();
        if !after.is_empty() {
            write!(out, "  after {}", after.join(", "))?;
        }
        if !step.unmet_dependencies.is_empty() {
            write!(out, "  needs {}", step.unmet_dependencies.join(", "))?;
        }
        writeln!(out)?;
        write_parameters(out, &step.parameters, &step.missing_parameters, "       ")?;
        if let (true, Some(found)) = (explain, &step.r#match) {
            write_parts(out, found)?;
        }
    }
    for unwanted in &response.unwanted {
        writeln!(out, "Not wanted: {:?}", unwanted.text)?;
    }
    if !plan.cycle.is_empty() {
        let names: Vec<&str> = plan.cycle.iter().map(|entry| entry.name.as_str()).collect();
        writeln!(out, "These depend on each other: {}", names.join(", "))?;
    }
    Ok(())
}

fn value_json(value: &prost_types::Value) -> Value {
    use prost_types::value::Kind;
    match &value.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::BoolValue(flag)) => json!(flag),
        Some(Kind::NumberValue(number)) if number.fract() == 0.0 && number.abs() < 9e15 => {
            json!(*number as i64)
        }
        Some(Kind::NumberValue(number)) => json!(number),
        Some(Kind::StringValue(text)) => json!(text),
        Some(Kind::ListValue(list)) => list.values.iter().map(value_json).collect(),
        Some(Kind::StructValue(fields)) => {
            let mut sorted: Vec<_> = fields.fields.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            sorted
                .into_iter()
                .map(|(name, value)| (name.clone(), value_json(value)))
                .collect()
        }
    }
}

fn span_json(span: Option<pb::ByteSpan>) -> Value {
    let span = span.unwrap_or_default();
    json!([span.start, span.end])
}

fn parameters_json(parameters: &[pb::Parameter]) -> Value {
    let one = |parameter: &pb::Parameter| {
        json!({
            "name": parameter.name,
            "value": parameter.value.as_ref().map(value_json),
            "span": span_json(parameter.span),
            "rule": short(parameter.rule().as_str_name(), "PARAMETER_RULE_"),
        })
    };
    parameters.iter().map(one).collect()
}

fn plan_json(plan: &pb::Plan, explain: bool) -> Value {
    let step = |step: &pb::PlanStep| {
        json!({
            "number": step.number,
            "text": step.text,
            "span": span_json(step.span),
            "fit": short(step.fit().as_str_name(), "STEP_FIT_"),
            "confidence": step.confidence,
            "match": step.r#match.as_ref().map(|found| match_json(1, found, explain)),
            "after": step.after,
            "unmet_dependencies": step.unmet_dependencies,
            "parameters": parameters_json(&step.parameters),
            "missing_parameters": step.missing_parameters,
        })
    };
    json!({
        "steps": plan.steps.iter().map(step).collect::<Vec<Value>>(),
        "cycle": plan.cycle.iter().map(|entry| &entry.name).collect::<Vec<_>>(),
    })
}

fn write_match(
    out: &mut String,
    place: usize,
    found: &pb::Match,
    width: usize,
) -> std::fmt::Result {
    let tokens: Vec<&str> = found
        .matched_tokens
        .iter()
        .map(|matched| matched.token.as_str())
        .collect();
    let tokens = if tokens.is_empty() {
        "-".to_owned()
    } else {
        tokens.join(", ")
    };
    writeln!(
        out,
        "{place:>3}. [{}] {:<width$}  score {}  lexical {} ({})  tokens: {tokens}",
        kind(found).to_uppercase(),
        name_of(found),
        two_decimals(found.score),
        two_decimals(found.lexical_score),
        Band::of(found.lexical_score).as_str(),
    )
}

fn write_parts(out: &mut String, found: &pb::Match) -> std::fmt::Result {
    let Some(parts) = &found.parts else {
        return Ok(());
    };
    write!(
        out,
        "       = raw {:.3}: coverage {:.3}",
        parts.raw, parts.coverage
    )?;
    if let Some(similarity) = parts.similarity {
        write!(out, ", similarity {similarity:.3}, hub {:.3}", parts.hub)?;
    }
    if let Some(similarity) = parts.nearest_example_similarity {
        write!(
            out,
            ", nearest example {similarity:.3} {:?}",
            parts.nearest_example
        )?;
    }
    for change in &parts.adjustments {
        write!(out, ", {}", adjustment(change))?;
    }
    if parts.pinned {
        write!(out, ", pinned")?;
    }
    writeln!(out)?;
    // Which token was found where.
    let tokens: Vec<String> = found
        .matched_tokens
        .iter()
        .map(|matched| {
            let field = short(matched.field().as_str_name(), "TOKEN_FIELD_");
            format!("{} ({field} {:.1})", matched.token, matched.weight)
        })
        .collect();
    if tokens.is_empty() {
        return Ok(());
    }
    writeln!(out, "         tokens: {}", tokens.join(", "))
}

/// For programs; `.matches[0]` is the best match, `null` where there is none.
pub(super) fn json(prompt: &str, response: &pb::RouteResponse, explain: bool) -> String {
    let decision = response.decision.clone().unwrap_or_default();
    let matches = |list: &[pb::Match]| -> Vec<Value> {
        list.iter()
            .enumerate()
            .map(|(at, found)| match_json(at + 1, found, explain))
            .collect()
    };
    let details = |list: &[pb::Degradation]| -> Vec<Value> {
        let name = |reason: i32| {
            let reason = pb::DegradedReason::try_from(reason).unwrap_or_default();
            short(reason.as_str_name(), "DEGRADED_REASON_")
        };
        list.iter()
            .map(|d| json!({"reason": name(d.reason), "detail": d.detail}))
            .collect()
    };
    let warnings: Vec<Value> = response
        .warnings
        .iter()
        .map(|warning| {
            let code = pb::WarningCode::try_from(warning.code).unwrap_or_default();
            let code = short(code.as_str_name(), "WARNING_CODE_");
            json!({"code": code, "detail": warning.detail})
        })
        .collect();
    let mut value = json!({
        "prompt": prompt,
        "decision": {
            "outcome": outcome(&decision),
            "confidence": decision.confidence,
            "floor": decision.floor,
            "accept_threshold": decision.accept_threshold,
            "reason": decision.reason,
            "nearest_commands": decision.nearest_commands,
        },
        "matches": matches(&response.matches),
        "mode": mode(response),
        "model": (!response.model_id.is_empty()).then_some(&response.model_id),
        "catalog_revision": response.catalog_revision,
        "degraded": details(&response.degraded),
        "warnings": warnings,
        "input_truncated": response.input_truncated.map(|truncated| json!({
            "prompt_tokens": truncated.prompt_tokens,
            "used_tokens": truncated.used_tokens,
        })),
    });
    if !response.unwanted.is_empty() {
        let one = |unwanted: &pb::UnwantedText| {
            json!({
                "text": unwanted.text,
                "span": span_json(unwanted.span),
                "entries": unwanted.entries.iter().map(|entry| &entry.name).collect::<Vec<_>>(),
            })
        };
        value["unwanted"] = response.unwanted.iter().map(one).collect();
    }
    if !response.parameters.is_empty() || !response.missing_parameters.is_empty() {
        value["parameters"] = parameters_json(&response.parameters);
        value["missing_parameters"] = json!(response.missing_parameters);
    }
    if let Some(plan) = &response.plan {
        value["plan"] = plan_json(plan, explain);
    }
    if explain {
        value["nearest"] = matches(&response.nearest).into();
        let one = |dropped: &pb::DroppedCandidate| {
            json!({
                "name": dropped.entry.as_ref().map(|entry| &entry.name),
                "source": dropped.entry.as_ref().map(|entry| &entry.source),
                "score": dropped.score,
                "rank": dropped.rank,
                "reason": short(dropped.reason().as_str_name(), "DROP_REASON_"),
            })
        };
        value["dropped"] = response.dropped.iter().map(one).collect();
    }
    format!("{value:#}\n")
}

fn match_json(rank: usize, found: &pb::Match, explain: bool) -> Value {
    let entry = found.entry.clone().unwrap_or_default();
    let tokens: Vec<&str> = found
        .matched_tokens
        .iter()
        .map(|matched| matched.token.as_str())
        .collect();
    let mut value = json!({
        "rank": rank,
        "kind": kind(found),
        "source": entry.source,
        "name": entry.name,
        "title": found.title,
        "score": found.score,
        "lexical_score": found.lexical_score,
        "lexical_band": Band::of(found.lexical_score).as_str(),
        "matched_tokens": tokens,
    });
    if let (true, Some(parts)) = (explain, &found.parts) {
        value["parts"] = json!({
            "coverage": parts.coverage,
            "similarity": parts.similarity,
            "nearest_example": parts.nearest_example_similarity.map(|similarity| json!({
                "similarity": similarity,
                "text": parts.nearest_example,
            })),
            "hub": parts.hub,
            "raw": parts.raw,
            "adjustments": parts.adjustments.iter().map(|change| json!({
                "cause": short(change.cause().as_str_name(), "ADJUSTMENT_CAUSE_"),
                "amount": change.amount,
                "detail": change.detail,
            })).collect::<Vec<Value>>(),
            "negated": parts.negated,
            "pinned": parts.pinned,
        });
    }
    value
}

/// Two decimals, half up; a small allowance takes back what binary fractions lose.
fn two_decimals(value: f64) -> String {
    format!("{:.2}", (value * 100.0 + 0.5 + 1e-9).floor() / 100.0)
}

fn name_of(found: &pb::Match) -> &str {
    found.entry.as_ref().map_or("", |entry| &entry.name)
}

fn kind(found: &pb::Match) -> String {
    let kind = found
        .entry
        .as_ref()
        .map(pb::EntryRef::kind)
        .unwrap_or_default();
    short(kind.as_str_name(), "ENTRY_KIND_")
}

fn outcome(decision: &pb::Decision) -> String {
    short(decision.outcome().as_str_name(), "OUTCOME_")
}

fn mode(response: &pb::RouteResponse) -> String {
    short(response.mode().as_str_name(), "ROUTE_MODE_")
}

fn short(name: &str, prefix: &str) -> String {
    name.trim_start_matches(prefix).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::two_decimals;

    #[test]
    fn halves_round_up() {
        assert_eq!(two_decimals(0.125), "0.13");
        assert_eq!(two_decimals(0.285), "0.29");
        assert_eq!(two_decimals(0.2849), "0.28");
        assert_eq!(two_decimals(1.0), "1.00");
        assert_eq!(two_decimals(0.0), "0.00");
    }
}
