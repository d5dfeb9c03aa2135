//! `recall_knowledge`.

use super::*;

fn scoped(query: &str, directory: &str, limit: usize) -> Recall {
    Recall {
        query: query.into(),
        limit: Some(limit),
        directory: Some(directory.into()),
        scope: Some("conventions".into()),
        max_context_tokens: None,
    }
}

fn texts(recalled: &Recalled) -> Vec<String> {
    let items = recalled.items.iter();
    items
        .map(|found| match &found.item {
            RecalledItem::Fact(fact) => fact.line(),
            RecalledItem::Convention(convention) => convention.content.clone(),
        })
        .collect()
}

async fn filled() -> Knowledge {
    let knowledge = in_memory().await;
    for (directory, language, text) in [
        (
            Some("src/api/handlers"),
            "",
            "Handlers return typed errors.",
        ),
        (Some("src/api"), "", "Validate every request."),
        (Some("src/api"), "go", "Handlers are functions."),
        (Some("src"), "", "No unwrap outside of tests."),
        (Some(""), "", "Write plain English."),
        (Some("src/api-legacy"), "", "Leave the legacy alone."),
        (Some("src/api/handlers/v2"), "", "Version two is frozen."),
        (None, "rust", "Format with rustfmt."),
        (None, "go", "Format with gofmt."),
        (None, "", "Sign your commits."),
        // The same as nearer ones.
        (Some(""), "rust", "Validate every request."),
        (None, "rust", "Write plain English."),
    ] {
        convention(&knowledge, directory, language, text).await;
    }
    knowledge
}

#[tokio::test]
async fn conventions_come_nearest_first_and_once() {
    let knowledge = filled().await;
    let recalled = knowledge
        .recall(&scoped("rust", "src/api/handlers", 20))
        .await;
    let recalled = recalled.expect("recalled");
    assert_eq!(
        texts(&recalled),
        [
            "Handlers return typed errors.",
            "Validate every request.",
            "No unwrap outside of tests.",
            "Write plain English.",
            "Format with rustfmt.",
            "Sign your commits.",
        ]
    );
    let scopes: Vec<Scope> = recalled.items.iter().map(|found| found.scope).collect();
    assert_eq!(
        scopes,
        [
            Scope::Directory(0),
            Scope::Directory(1),
            Scope::Directory(2),
            Scope::Directory(3),
            Scope::Language,
            Scope::Language,
        ]
    );
    assert_eq!((recalled.duplicates, recalled.cut_count), (2, 0));
    assert!(
        recalled
            .context
            .message
            .starts_with("[KNOWLEDGE_CONTEXT]\n\n## convention of src/api/handlers\n")
    );
}

#[tokio::test]
async fn the_limit_cuts_the_farthest_and_says_so() {
    let knowledge = filled().await;
    let recalled = knowledge
        .recall(&scoped("rust", "./src/api/handlers/", 3))
        .await;
    let recalled = recalled.expect("recalled");
    assert_eq!(texts(&recalled).len(), 3);
    assert_eq!(texts(&recalled)[2], "No unwrap outside of tests.");
    assert_eq!(recalled.cut_count, 3);
    let cut: Vec<_> = recalled
        .cut
        .iter()
        .map(|cut| (cut.place.as_str(), cut.scope))
        .collect();
    assert_eq!(
        cut,
        [
            (".", Scope::Directory(3)),
            ("", Scope::Language),
            ("", Scope::Language)
        ]
    );
}

#[tokio::test]
async fn a_sibling_is_never_seen_and_a_language_is_kept_apart() {
    let knowledge = filled().await;
    for (query, directory) in [("", "src/api"), ("rust", "src/api"), ("go", "src/api")] {
        let recalled = knowledge
            .recall(&scoped(query, directory, 50))
            .await
            .expect("recalled");
        let texts = texts(&recalled);
        for hidden in [
            "Leave the legacy alone.",
            "Version two is frozen.",
            "Handlers return typed errors.",
        ] {
            assert!(!texts.iter().any(|text| text == hidden), "{query} {hidden}");
        }
        let has = |text: &str| texts.iter().any(|found| found == text);
        assert_eq!(has("Handlers are functions."), query != "rust", "{query}");
        assert_eq!(has("Format with rustfmt."), query != "go", "{query}");
        assert_eq!(has("Format with gofmt."), query != "rust", "{query}");
    }
}

#[tokio::test]
async fn within_a_directory_what_fits_the_query_comes_first() {
    let knowledge = in_memory().await;
    for text in [
        "Prefer small functions.",
        "Log with tracing.",
        "Errors name the field.",
    ] {
        convention(&knowledge, Some("src"), "", text).await;
    }
    let recalled = knowledge
        .recall(&scoped("how to name errors", "src", 1))
        .await;
    assert_eq!(
        texts(&recalled.expect("recalled")),
        ["Errors name the field."]
    );
}

#[tokio::test]
async fn a_plain_search_finds_facts_and_conventions() {
    let knowledge = filled().await;
    fact(&knowledge, "the deploy", "runs on", "Kubernetes").await;
    fact(&knowledge, "the database", "is", "SQLite").await;
    let search = |query: &str, directory: Option<&str>| Recall {
        query: query.into(),
        directory: directory.map(str::to_owned),
        ..Recall::default()
    };
    let found = knowledge
        .recall(&search("kubernetes deploy", None))
        .await
        .expect("recalled");
    assert_eq!(texts(&found), ["the deploy runs on Kubernetes"]);
    assert!(found.items[0].score > 0.5 && found.items[0].scope == Scope::Search);
    assert_eq!(found.degraded.len(), 1, "no model");
    assert_eq!(
        found.context.message,
        "[KNOWLEDGE_CONTEXT]\n- the deploy runs on Kubernetes (confidence 0.8)"
    );
    let found = knowledge
        .recall(&search("legacy", None))
        .await
        .expect("recalled");
    assert_eq!(texts(&found), ["Leave the legacy alone."]);
    let found = knowledge
        .recall(&search("legacy", Some("src/api")))
        .await
        .expect("recalled");
    assert!(found.items.is_empty() && found.context.message.is_empty());
    let slash = knowledge
        .recall(&search("/deploy now", None))
        .await
        .expect("no command");
    assert_eq!(slash.items.len(), 1);
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let knowledge = in_memory().await;
    let refused =
        async |recall: Recall| fields(knowledge.recall(&recall).await.expect_err("refused"));
    let conventions = Some("conventions".to_owned());
    assert_eq!(refused(Recall::default()).await, ["query"]);
    assert_eq!(
        refused(Recall {
            scope: conventions.clone(),
            ..Recall::default()
        })
        .await,
        ["directory"]
    );
    assert_eq!(
        refused(Recall {
            scope: Some("everything".into()),
            directory: Some("src".into()),
            ..Recall::default()
        })
        .await,
        ["scope"]
    );
    assert_eq!(
        refused(Recall {
            scope: conventions,
            directory: Some("../up".into()),
            limit: Some(0),
            max_context_tokens: Some(0),
            ..Recall::default()
        })
        .await,
        ["limit", "max_context_tokens", "directory"]
    );
}

#[tokio::test]
async fn the_message_keeps_its_budget() {
    let knowledge = in_memory().await;
    for n in 0..20 {
        convention(
            &knowledge,
            Some("src"),
            "",
            &format!("Rule {n}: {}", "words ".repeat(30)),
        )
        .await;
    }
    let mut recall = scoped("", "src", 20);
    recall.max_context_tokens = Some(150);
    let recalled = knowledge.recall(&recall).await.expect("recalled");
    assert_eq!(recalled.items.len(), 20);
    assert!(recalled.context.tokens <= 150 && recalled.context.kept.len() < 20);
    assert!(recalled.context.message.contains("left out"));
}
