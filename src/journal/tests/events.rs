//! Events: their forms in JSON and their limits.

use super::super::event::*;
use super::*;
use crate::catalog::{EntryId, Kind};
use crate::preferences::Preferences;

/// One event of each type, with something in every field.
pub(crate) fn one_of_each() -> Vec<LoopEvent> {
    let usage = Usage {
        input_tokens: 1_200,
        output_tokens: 34,
    };
    let duration = Duration::from_micros(1_500_001);
    vec![
        LoopEvent::Started(Started {
            input: "räum auf 🧹".into(),
            tools: vec!["search".into(), "read_file".into()],
            config: r#"{"max_iterations":25}"#.into(),
            parent_loop_id: "parent".into(),
            delegation_depth: 1,
        }),
        LoopEvent::PreHydrationComplete(PreHydrationComplete {
            reference_count: 3,
            resolved_count: 2,
            failed_count: 1,
            token_count: 900,
            duration,
        }),
        LoopEvent::ReasoningComplete(ReasoningComplete {
            iteration: 1,
            actions: vec![Action {
                call_id: "c1".into(),
                tool_name: "search".into(),
                arguments: "{\"q\":\"a\\nb\"}".into(),
            }],
            usage,
            text: "Ich suche.".into(),
        }),
        LoopEvent::PolicyEvaluated(PolicyEvaluated {
            iteration: 1,
            action_count: 2,
            denied_count: 1,
        }),
        LoopEvent::ToolsDispatched(ToolsDispatched {
            iteration: 1,
            tool_count: 1,
            duration,
        }),
        LoopEvent::ObservationsCollected(ObservationsCollected {
            iteration: 1,
            observation_count: 2,
            observations: vec![Observation {
                call_id: "c1".into(),
                tool_name: "search".into(),
                output: "nothing\u{0}\u{1b}[0m".into(),
                output_bytes: 1_000_000,
                is_error: true,
                fingerprint: "f00".into(),
            }],
        }),
        LoopEvent::RecoveryTriggered(RecoveryTriggered {
            iteration: 2,
            tool_name: "search".into(),
            strategy: RecoveryStrategy::LlmRecovery,
            error: "timeout".into(),
        }),
        LoopEvent::StepLimitReached(StepLimitReached {
            step_id: "s1".into(),
            attempts: 2,
            reason: "stuck".into(),
        }),
        LoopEvent::LoopWarning(LoopWarning {
            rule: "same_call".into(),
            text: "Try something else.".into(),
            evidence: vec![2, 5],
            step_id: "s1".into(),
        }),
        LoopEvent::RouteDecided(Box::new(RouteDecided {
            route_id: "r1".into(),
            request: RouteRequest {
                prompt: "做一个计划".into(),
                limit: 10,
                min_score: 0.1,
                mode: "hybrid".into(),
                no_commands: false,
                no_tools: true,
                no_skills: false,
                context: "先查一下".into(),
                tenant: "acme".into(),
                user: "eve".into(),
                preferences: Preferences {
                    blocked: vec![EntryId::new("api", "x")],
                    ..Preferences::default()
                },
            },
            catalog_revision: "r-1".into(),
            model_id: "minilm".into(),
            model_digest: "abc".into(),
            mode: "hybrid".into(),
            outcome: "accepted".into(),
            // A number whose shortest form is long.
            confidence: 0.1 + 0.2,
            floor: 0.25,
            accept_threshold: 0.85,
            matches: vec![RouteMatch {
                kind: Kind::Skill,
                source: "api".into(),
                name: "plan".into(),
                score: f64::MIN_POSITIVE,
                lexical_score: 1.0 / 3.0,
            }],
            degraded: vec!["vectors_pending".into()],
            agent_id: "a".into(),
        })),
        LoopEvent::FeedbackRecorded(FeedbackRecorded {
            feedback_id: "f1".into(),
            route_id: "r1".into(),
            source: "api".into(),
            name: "plan".into(),
            verdict: "rejected".into(),
            comment: "no".into(),
        }),
        LoopEvent::Custom(Custom {
            name: "mine".into(),
            data: "[1, 2.5, null]".into(),
        }),
        LoopEvent::Terminated(Terminated {
            reason: TerminationReason::Abandoned,
            iterations: 3,
            total_usage: usage,
            duration,
            detail: "the lease ran out".into(),
        }),
    ]
}

#[test]
fn every_type_is_told_apart_and_read_back() {
    let events = one_of_each();
    let types: Vec<_> = events.iter().map(LoopEvent::event_type).collect();
    assert_eq!(types, EventType::ALL);
    for (number, event) in (1..).zip(events) {
        let event_type = event.event_type();
        assert_eq!(event_type.number(), number);
        assert_eq!(event_type.as_str().parse(), Ok(event_type));
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!(
            json.as_object().unwrap().keys().collect::<Vec<_>>(),
            [event_type.as_str()]
        );
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<LoopEvent>(&text).unwrap(), event);
        let mut violations = Default::default();
        NewEvent::from(event).check("", &mut violations);
        assert_eq!(violations.into_result(), Ok(()));
    }
}

#[test]
fn an_event_of_an_older_version_lacks_what_was_added_since() {
    let old = r#"{"reasoning_complete":{"iteration":2}}"#;
    let event: LoopEvent = serde_json::from_str(old).unwrap();
    assert_eq!(event.iteration(), Some(2));
}

#[tokio::test]
async fn every_type_is_stored_and_read_back_exactly() {
    let (dir, journal) = durable().await;
    let events: Vec<NewEvent> = one_of_each().into_iter().map(NewEvent::from).collect();
    let append = Append {
        loop_id: "all".into(),
        agent_id: "agent".into(),
        events: events.clone(),
        ..Append::default()
    };
    journal.append(append).await.unwrap();
    let journal = reopen(&dir, journal).await;
    let found = all(&journal, &Filter::default()).await;
    for (number, (entry, event)) in (1..).zip(found.iter().zip(&events)) {
        assert_eq!((entry.sequence, entry.position), (number, number));
        assert_eq!((&*entry.loop_id, &*entry.agent_id), ("all", "agent"));
        assert_eq!(entry.event, event.event);
        assert_eq!(entry.iteration, event.event.iteration().unwrap_or(0));
        let json = serde_json::to_string(entry).unwrap();
        assert_eq!(&serde_json::from_str::<Entry>(&json).unwrap(), &**entry);
    }
    assert_eq!(found.len(), 13);
}

#[tokio::test]
async fn every_violation_is_named_and_nothing_is_stored() {
    let journal = in_memory(Options::default()).await;
    let long = "x".repeat(257);
    let append = Append {
        loop_id: String::new(),
        agent_id: "a\nb".into(),
        request_id: long.clone(),
        expected_sequence: Some(0),
        events: vec![
            custom(""),
            LoopEvent::Custom(Custom {
                name: "n".into(),
                data: "{".into(),
            })
            .into(),
            LoopEvent::PolicyEvaluated(PolicyEvaluated {
                iteration: 0,
                action_count: 1,
                denied_count: 2,
            })
            .into(),
            NewEvent {
                iteration: 3,
                event: LoopEvent::ToolsDispatched(ToolsDispatched {
                    iteration: 2,
                    ..ToolsDispatched::default()
                }),
            },
            LoopEvent::ObservationsCollected(ObservationsCollected {
                iteration: 1,
                observation_count: 1,
                observations: vec![Observation {
                    tool_name: long,
                    output_bytes: u64::MAX,
                    ..Observation::default()
                }],
            })
            .into(),
            LoopEvent::RouteDecided(Box::new(RouteDecided {
                route_id: "r".into(),
                confidence: f64::NAN,
                ..RouteDecided::default()
            }))
            .into(),
        ],
    };
    let Err(JournalError::Invalid(violations)) = journal.append(append).await else {
        panic!("was taken");
    };
    let fields: Vec<_> = violations
        .as_slice()
        .iter()
        .map(|v| v.field.as_str())
        .collect();
    assert_eq!(
        fields,
        [
            "loop_id",
            "agent_id",
            "request_id",
            "expected_sequence",
            "events[0].custom.name",
            "events[1].custom.data",
            "events[2].policy_evaluated.iteration",
            "events[2].policy_evaluated.denied_count",
            "events[3].iteration",
            "events[4].observations_collected.observations[0].tool_name",
            "events[4].observations_collected.observations[0].output_bytes",
            "events[5].route_decided.confidence",
        ]
    );
    for events in [Vec::new(), vec![custom("x"); MAX_BATCH + 1]] {
        let refused = journal
            .append(Append {
                events,
                ..batch("l", 1, 0)
            })
            .await;
        assert!(
            matches!(refused, Err(JournalError::Invalid(_))),
            "{refused:?}"
        );
    }
    // Within every single limit, but too much together.
    let escaped = Observation {
        tool_name: "t".into(),
        output: "\u{1}".repeat(60_000),
        ..Observation::default()
    };
    let event = LoopEvent::ObservationsCollected(ObservationsCollected {
        iteration: 1,
        observation_count: 10,
        observations: vec![escaped; 10],
    });
    let events = vec![event.into()];
    let refused = journal
        .append(Append {
            events,
            ..batch("l", 1, 0)
        })
        .await;
    assert!(
        matches!(refused, Err(JournalError::Invalid(_))),
        "{refused:?}"
    );
    assert_eq!(all(&journal, &Filter::default()).await, []);
}
