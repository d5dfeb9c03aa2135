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
    if explain {
        let considered = response.nearest.iter().filter(|near| {
            !response
                .matches
                .iter()
                .any(|found| found.entry == near.entry)
        });
        for (at, near) in considered.enumerate() {
            if at == 0 {
                writeln!(out, "Nearest of the rest:")?;
            }
            write_match(out, at + 1, near, 0)?;
            write_parts(out, near)?;
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
        )?;
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
    writeln!(out)
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
    if explain {
        value["nearest"] = matches(&response.nearest).into();
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
