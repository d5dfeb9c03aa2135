//! Measures plans on prompts whose steps are known: how many come out exactly, step for step
//! and in order.

use std::collections::BTreeMap;

use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use super::{CONCURRENT, QueryError};
use crate::plan::Step;
use crate::route::{Mode, Request, Router};

/// Name of a step that no entry serves.
const MISSING: &str = "MISSING";

/// One prompt with its steps.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PlanPrompt {
    /// The prompt.
    pub prompt: String,
    /// Language code.
    pub lang: String,
    /// "compound" or "single".
    pub kind: String,
    /// Name of the part of the set that it belongs to.
    #[serde(default)]
    pub split: String,
    /// Names of the entries in their order; `a|b` where either is right, `MISSING` for a step
    /// that no entry serves.
    pub steps: Vec<String>,
}

/// Reads one prompt from each line of JSON; blank lines are passed over.
///
/// # Errors
///
/// The first line that is none.
pub fn read_plans(text: &str) -> Result<Vec<PlanPrompt>, QueryError> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|cause| QueryError {
                line: at + 1,
                message: cause.to_string(),
            })
        })
        .collect()
}

/// How a group of prompts did.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct PlanScore {
    /// Prompts.
    pub n: usize,
    /// Share of the prompts whose plan is exactly right.
    pub exact: f64,
    /// Share of the prompts whose plan has the right number of steps.
    pub count: f64,
}

/// A prompt whose plan is wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrongPlan {
    /// The prompt.
    pub prompt: String,
    /// What it asks for.
    pub wanted: Vec<String>,
    /// What came out.
    pub found: Vec<String>,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanReport {
    /// Over all prompts.
    pub all: PlanScore,
    /// By language, and by kind.
    pub by_group: BTreeMap<String, PlanScore>,
    /// Prompts whose plan is wrong, in their order.
    pub wrong: Vec<WrongPlan>,
}

/// Plans every prompt.
pub async fn measure(router: &Router, prompts: &[PlanPrompt], mode: Mode) -> PlanReport {
    let requests = prompts.iter().map(|prompt| {
        let mut request = Request::new(&prompt.prompt);
        request.mode = mode;
        request.plan = true;
        request
    });
    let plans: Vec<Vec<String>> = futures_util::stream::iter(requests)
        .map(|request| async move {
            let plan = router.route(&request).await.plan.unwrap_or_default();
            plan.steps.iter().map(name_of).collect()
        })
        .buffered(CONCURRENT)
        .collect()
        .await;
    let judged: Vec<(&PlanPrompt, Vec<String>)> = prompts.iter().zip(plans).collect();
    let mut by_group = BTreeMap::new();
    for (prompt, _) in &judged {
        for group in [&prompt.lang, &prompt.kind] {
            by_group.entry(group.clone()).or_insert_with(|| {
                score(
                    judged
                        .iter()
                        .filter(|(other, _)| other.lang == *group || other.kind == *group),
                )
            });
        }
    }
    PlanReport {
        all: score(judged.iter()),
        by_group,
        wrong: judged
            .iter()
            .filter(|(prompt, found)| !is_exact(prompt, found))
            .map(|(prompt, found)| WrongPlan {
                prompt: prompt.prompt.clone(),
                wanted: prompt.steps.clone(),
                found: found.clone(),
            })
            .collect(),
    }
}

fn name_of(step: &Step) -> String {
    match &step.entry {
        Some(found) => found.entry.id.name.clone(),
        None => MISSING.to_owned(),
    }
}

fn is_exact(prompt: &PlanPrompt, found: &[String]) -> bool {
    prompt.steps.len() == found.len()
        && prompt
            .steps
            .iter()
            .zip(found)
            .all(|(wanted, found)| wanted.split('|').any(|name| name == found))
}

fn score<'a>(judged: impl Iterator<Item = &'a (&'a PlanPrompt, Vec<String>)>) -> PlanScore {
    let (mut n, mut exact, mut count) = (0usize, 0usize, 0usize);
    for (prompt, found) in judged {
        n += 1;
        exact += usize::from(is_exact(prompt, found));
        count += usize::from(prompt.steps.len() == found.len());
    }
    let share = |part: usize| part as f64 / n.max(1) as f64;
    PlanScore {
        n,
        exact: share(exact),
        count: share(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_exact_step_for_step_and_in_order() {
        let line = r#"{"prompt":"x","lang":"en","kind":"compound","steps":["a|b","MISSING"]}"#;
        let prompts = read_plans(&format!("\n{line}\n")).expect("reads");
        let found = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        assert!(is_exact(&prompts[0], &found(&["b", "MISSING"])));
        for wrong in [
            &["MISSING", "b"][..],
            &["b"],
            &["c", "MISSING"],
            &["a", "b", "MISSING"],
        ] {
            assert!(!is_exact(&prompts[0], &found(wrong)), "{wrong:?}");
        }
        let judged = [
            (&prompts[0], found(&["a", "MISSING"])),
            (&prompts[0], found(&["a", "c"])),
        ];
        let score = score(judged.iter());
        assert_eq!((score.n, score.exact, score.count), (2, 0.5, 1.0));
    }

    #[test]
    fn a_bad_line_is_named() {
        assert_eq!(read_plans("\n{}").expect_err("refused").line, 2);
    }
}
