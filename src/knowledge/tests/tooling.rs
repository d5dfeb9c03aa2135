//! The tools as a model calls them.

use super::super::tools::{RECALL, STORE, ToolResult, definitions};
use super::*;

async fn call(knowledge: &Knowledge, name: &str, arguments: &str) -> ToolResult {
    knowledge
        .call_tool(name, arguments, "agent")
        .await
        .expect("an answer")
}

#[tokio::test]
async fn a_fact_is_stored_and_recalled_with_json() {
    let knowledge = in_memory().await;
    let stored = call(
        &knowledge,
        STORE,
        r#"{"subject": "build", "predicate": "needs", "object": "Rust 1.95"}"#,
    )
    .await;
    assert_eq!(
        stored.text,
        "Stored: build needs Rust 1.95 (confidence 0.8)."
    );
    assert!(!stored.is_error);
    let recalled = call(&knowledge, RECALL, r#"{"query": "rust build", "limit": 3}"#).await;
    assert_eq!(
        recalled.text,
        "[KNOWLEDGE_CONTEXT]\n- build needs Rust 1.95 (confidence 0.8)"
    );
    let none = call(&knowledge, RECALL, r#"{"query": "octopus"}"#).await;
    assert_eq!(none.text, "Nothing is known about that.");
    assert!(!none.is_error);
}

#[tokio::test]
async fn the_seeds_call_gives_the_conventions_of_a_directory() {
    let knowledge = in_memory().await;
    convention(&knowledge, Some("src/api"), "", "Validate every request.").await;
    convention(&knowledge, None, "rust", "Format with rustfmt.").await;
    let arguments = r#"{"query": "rust", "directory": "src/api/handlers", "scope": "conventions"}"#;
    let recalled = call(&knowledge, RECALL, arguments).await;
    let at = |text: &str| recalled.text.find(text).expect("in the text");
    assert!(at("Validate every request.") < at("Format with rustfmt."));
    let one = r#"{"query":"rust","directory":"src/api","scope":"conventions","limit":1}"#;
    let cut = call(&knowledge, RECALL, one).await;
    assert!(
        cut.text
            .ends_with("1 more that are farther away were left out; ask with a larger limit.")
    );
}

#[tokio::test]
async fn what_a_model_meant_is_read_where_that_is_certain() {
    let knowledge = in_memory().await;
    fact(&knowledge, "build", "needs", "Rust").await;
    for arguments in [
        r#"{"query": "build", "limit": "5"}"#,
        r#"{"query": "build", "limit": 5.0}"#,
        r#"{"query": "build", "directory": null, "scope": null}"#,
        r#""{\"query\": \"build\"}""#,
        "```json\n{\"query\": \"build\"}\n```",
    ] {
        let answer = call(&knowledge, RECALL, arguments).await;
        assert!(
            !answer.is_error && answer.text.contains("Rust"),
            "{arguments}: {}",
            answer.text
        );
    }
    let stored = call(
        &knowledge,
        STORE,
        r#"{"subject": "port", "predicate": "is", "object": 8080, "confidence": "0.9"}"#,
    )
    .await;
    assert_eq!(stored.text, "Stored: port is 8080 (confidence 0.9).");
}

#[tokio::test]
async fn bad_json_is_answered_with_what_to_write() {
    let knowledge = in_memory().await;
    for (name, arguments, part) in [
        (RECALL, "{query: rust}", "the arguments are no JSON"),
        (RECALL, "", "\"query\" is missing"),
        (RECALL, "[1]", "must be a JSON object, not a list"),
        (RECALL, "7", "must be a JSON object, not a number"),
        (
            RECALL,
            r#"{"query": ["a"]}"#,
            "\"query\" must be text, not a list",
        ),
        (
            RECALL,
            r#"{"query": "a", "limit": 0}"#,
            "\"limit\" 0 is not within 1 to 1000",
        ),
        (
            RECALL,
            r#"{"query": "a", "limit": 2.5}"#,
            "2.5 is not within 1 to 1000, or no whole number",
        ),
        (
            RECALL,
            r#"{"query": "a", "limit": "many"}"#,
            "must be a number, not \"many\"",
        ),
        (
            RECALL,
            r#"{"query": "a", "scope": "conventions"}"#,
            "\"directory\" is required with a scope",
        ),
        (
            RECALL,
            r#"{"query": "a", "scope": "all", "directory": "x"}"#,
            "\"all\" is no scope",
        ),
        (
            RECALL,
            r#"{"query": "a", "directory": "../../x"}"#,
            "leads above the root",
        ),
        (
            RECALL,
            r#"{"query": "a", "directori": "x"}"#,
            "Did you mean \"directory\"?",
        ),
        (RECALL, r#"{"query": "  "}"#, "must not be blank"),
        (
            STORE,
            r#"{"subject": "a"}"#,
            "\"predicate\" and \"object\" is missing",
        ),
        (
            STORE,
            r#"{"subject":"a","predicate":"b","object":"c","confidence":2}"#,
            "2 is not within 0 to 1",
        ),
        (
            STORE,
            r#"{"subject":"a","predicate":"b","object":{}}"#,
            "must be text, not an object",
        ),
        (
            "forget",
            "{}",
            "There is no tool \"forget\": use recall_knowledge or store_knowledge.",
        ),
    ] {
        let answer = call(&knowledge, name, arguments).await;
        assert!(answer.is_error, "{arguments}");
        assert!(answer.text.contains(part), "{arguments}: {}", answer.text);
        if name != "forget" {
            assert!(
                answer.text.contains("Call it with JSON such as"),
                "{}",
                answer.text
            );
        }
    }
    let deep = "[".repeat(100_000);
    assert!(call(&knowledge, RECALL, &deep).await.is_error);
    let huge = format!("{{\"query\": \"{}\"}}", "a".repeat(300 << 10));
    assert!(
        call(&knowledge, RECALL, &huge)
            .await
            .text
            .contains("more than")
    );
    assert!(knowledge.is_empty());
}

#[test]
fn the_definitions_are_json_schemas() {
    for tool in definitions() {
        let schema = &tool.input_schema;
        assert_eq!(schema["type"], "object");
        let required = schema["required"].as_array().expect("a list");
        assert!(required.iter().all(|name| {
            let name = name.as_str().expect("text");
            schema["properties"][name]["type"] == "string"
        }));
    }
}
