//! Facts, conventions and what is recalled.

use super::event::time_to;
use super::{count, degradation_to};
use crate::error::Violations;
use crate::grpc::pb;
use crate::journal::Timestamp;
use crate::knowledge::recall::{Cut, Found, Recall, Recalled, Scope};
use crate::knowledge::workspace::SourceKind;
use crate::knowledge::{
    Convention, Fact, RecalledItem, Resolve, ResolvedConvention, ResolvedConventions,
};

/// Reads a request to recall.
pub fn recall_from(request: pb::RecallKnowledgeRequest, violations: &mut Violations) -> Recall {
    Recall {
        query: request.query,
        limit: size_from(request.limit, "limit", violations),
        directory: request.directory,
        scope: (!request.scope.is_empty()).then_some(request.scope),
        max_context_tokens: budget_from(request.max_context_tokens, violations),
    }
}

/// Reads a request to resolve.
pub fn resolve_from(
    request: pb::ResolveConventionsRequest,
    violations: &mut Violations,
) -> Resolve {
    Resolve {
        paths: request.paths,
        max_context_tokens: budget_from(request.max_context_tokens, violations),
    }
}

fn budget_from(tokens: Option<i32>, violations: &mut Violations) -> Option<usize> {
    size_from(tokens, "max_context_tokens", violations)
}

fn size_from(value: Option<i32>, field: &str, violations: &mut Violations) -> Option<usize> {
    let value = value?;
    match usize::try_from(value) {
        Ok(value) => Some(value),
        Err(_) => {
            violations.add(field, format!("{value} is negative"));
            None
        }
    }
}

/// Writes a fact.
pub fn fact_to(fact: &Fact) -> pb::Fact {
    pb::Fact {
        id: fact.id.clone(),
        subject: fact.subject.clone(),
        predicate: fact.predicate.clone(),
        object: fact.object.clone(),
        confidence: fact.confidence,
        agent_id: fact.agent_id.clone(),
        stored_at: micros_to(fact.stored_at),
    }
}

/// Writes a convention.
pub fn convention_to(convention: &Convention) -> pb::Convention {
    let directory = convention.directory.as_ref();
    pb::Convention {
        id: convention.id.clone(),
        directory: directory.map(|directory| directory.as_str().to_owned()),
        language: convention.language.clone(),
        content: convention.content.clone(),
        updated_at: micros_to(convention.updated_at),
    }
}

/// Writes what was recalled.
pub fn recalled_to(recalled: Recalled) -> pb::RecallKnowledgeResponse {
    let left_out = recalled.items.len() - recalled.context.kept.len();
    pb::RecallKnowledgeResponse {
        items: recalled.items.iter().map(found_to).collect(),
        cut: recalled.cut.iter().map(cut_to).collect(),
        cut_count: count(recalled.cut_count),
        duplicate_count: count(recalled.duplicates),
        message: recalled.context.message,
        token_count: count(recalled.context.tokens),
        token_counter: recalled.context.counter,
        left_out_count: count(left_out),
        degraded: recalled.degraded.into_iter().map(degradation_to).collect(),
    }
}

fn found_to(found: &Found) -> pb::RecalledItem {
    use pb::recalled_item::Item;
    let (scope, levels_up) = scope_to(found.scope);
    pb::RecalledItem {
        item: Some(match &found.item {
            RecalledItem::Fact(fact) => Item::Fact(fact_to(fact)),
            RecalledItem::Convention(convention) => Item::Convention(convention_to(convention)),
        }),
        scope: scope.into(),
        levels_up,
        score: found.score,
    }
}

fn cut_to(cut: &Cut) -> pb::CutConvention {
    let (scope, levels_up) = scope_to(cut.scope);
    pb::CutConvention {
        id: cut.id.clone(),
        directory: cut.place.clone(),
        scope: scope.into(),
        levels_up,
    }
}

fn scope_to(scope: Scope) -> (pb::RecallScope, i32) {
    match scope {
        Scope::Search => (pb::RecallScope::Search, 0),
        Scope::Directory(levels) => (pb::RecallScope::Directory, count(levels)),
        Scope::Language => (pb::RecallScope::Language, 0),
    }
}

/// Writes what was resolved.
pub fn resolved_to(resolved: ResolvedConventions) -> pb::ResolveConventionsResponse {
    let without_content = |item: ResolvedConvention| ResolvedConvention {
        content: String::new(),
        ..item
    };
    let dropped = resolved.dropped.into_iter().map(without_content);
    pb::ResolveConventionsResponse {
        dropped: dropped.map(resolved_item_to).collect(),
        conventions: resolved.items.into_iter().map(resolved_item_to).collect(),
        duplicate_count: count(resolved.duplicates),
        skipped: resolved
            .skipped
            .into_iter()
            .map(|skipped| pb::SkippedFile {
                path: skipped.path,
                reason: skipped.why,
            })
            .collect(),
        message: resolved.context.message,
        token_count: count(resolved.context.tokens),
        token_counter: resolved.context.counter,
        cut: resolved.context.cut,
    }
}

fn resolved_item_to(item: ResolvedConvention) -> pb::ResolvedConvention {
    let kind = match item.kind {
        SourceKind::Language => pb::ConventionSource::Language,
        SourceKind::Copilot => pb::ConventionSource::Copilot,
        SourceKind::Claude => pb::ConventionSource::Claude,
        SourceKind::Agents => pb::ConventionSource::Agents,
        SourceKind::Rule => pb::ConventionSource::Rule,
        SourceKind::Stored => pb::ConventionSource::Stored,
    };
    pb::ResolvedConvention {
        source: item.source,
        kind: kind.into(),
        depth: count(item.depth),
        scope: item.scope,
        content: item.content,
        paths: item.paths.into_iter().map(count).collect(),
    }
}

fn micros_to(micros: i64) -> Option<prost_types::Timestamp> {
    Timestamp::from_micros(micros).map(time_to)
}
