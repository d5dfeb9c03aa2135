//! Catalogue documents: what is read, and what is refused at which line.

use super::*;
use crate::catalog::NotWhen;

const FULL: &str = "\
kind: tool
source: starter
entries:
  - name: git-branch
    title: Branches
    source_hint: git
    responsibility: |
      Create branches.
    aliases: [branch, 404, yes]
    capabilities: [create a branch]
    use_when:
      - A separate line of work
    not_when:
      - text: Switching
        redirect: git-checkout
      - Combining → use git-merge
      - Deleting the repository
    examples: ['make a branch', \"新建分支\"]
    triggers: [branch]
    input_schema:
      type: object
      properties: {zeta: {type: integer, maximum: 10}, alpha: {enum: [1.50, true, null]}}
    depends_on: [git-init]
    tags: [git]
    annotations: {since: 1.10, owner: me}
  - {name: other, kind: skill, source: mine, description: Does else.}
";

#[test]
fn every_field_of_a_yaml_item_is_read() {
    let imported = read(FULL, Format::Yaml);
    assert!(imported.diagnostics.is_empty());
    let [entry, other] = imported.entries.as_slice() else {
        panic!("two entries")
    };
    assert_eq!(entry.kind, Kind::Tool);
    assert_eq!(entry.id, EntryId::new("starter", "git-branch"));
    assert_eq!(entry.title, "Branches");
    assert_eq!(entry.source_hint, "git");
    assert_eq!(entry.responsibility, "Create branches.");
    assert_eq!(entry.aliases, ["branch", "404", "yes"]);
    assert_eq!(entry.capabilities, ["create a branch"]);
    assert_eq!(entry.use_when, ["A separate line of work"]);
    let not_when = |text: &str, redirect: Option<&str>| NotWhen {
        text: text.into(),
        redirect: redirect.map(Into::into),
    };
    assert_eq!(
        entry.not_when,
        [
            not_when("Switching", Some("git-checkout")),
            not_when("Combining", Some("git-merge")),
            not_when("Deleting the repository", None),
        ]
    );
    assert_eq!(entry.examples, ["make a branch", "新建分支"]);
    assert_eq!(entry.triggers, ["branch"]);
    assert_eq!(
        entry.input_schema.as_deref(),
        Some(
            r#"{"type":"object","properties":{"zeta":{"type":"integer","maximum":10},"alpha":{"enum":[1.5,true,null]}}}"#
        )
    );
    assert_eq!(entry.depends_on, ["git-init"]);
    assert_eq!(entry.tags, ["git"]);
    assert_eq!(entry.annotations["since"], "1.10");
    assert_eq!(
        (other.kind, &other.id),
        (Kind::Skill, &EntryId::new("mine", "other"))
    );
    assert_eq!(other.responsibility, "Does else.");
}

#[test]
fn an_entry_written_as_json_is_read_back_as_it_was() {
    let entry = read(FULL, Format::Yaml).entries.remove(0);
    let json = serde_json::to_string(&vec![&entry]).unwrap();
    assert_eq!(read(&json, Format::Json).entries, [entry]);
}

#[test]
fn the_claw_snapshot_and_the_evaluation_shape_are_items() {
    let claw = r#"[{"name":"git-branch","source_hint":"git","responsibility":"Manage branches"}]"#;
    let entry = &read(claw, Format::Json).entries[0];
    assert_eq!(
        (entry.kind, entry.id.source.as_str()),
        (Kind::Command, "test")
    );
    assert_eq!(entry.responsibility, "Manage branches");

    let eval = "{\"id\":\"common/git-init\",\"kind\":\"command\",\"name\":\"git init\",\
        \"source_hint\":\"git\",\"description\":\"Start.\",\"examples\":[\"a\"]}\n\
        \n{\"id\":\"same\",\"name\":\"same\"}\r\n{\"id\":\"only\"}";
    let entries = read(eval, Format::Jsonl).entries;
    assert_eq!(entries[0].annotations["id"], "common/git-init");
    assert_eq!(entries[0].id.name, "git init");
    assert!(entries[1].annotations.is_empty());
    assert_eq!(entries[2].id.name, "only");
    assert!(entries[2].annotations.is_empty());
}

#[test]
fn kind_comes_from_item_then_document_then_defaults() {
    let tool = Defaults {
        kind: Some(Kind::Tool),
        source: "s".into(),
    };
    let kind = |text: &str, defaults: &Defaults| {
        import(text.as_bytes(), "doc", Format::Yaml, defaults)
            .unwrap()
            .entries[0]
            .kind
    };
    assert_eq!(kind("- {name: a}", &defaults()), Kind::Command);
    assert_eq!(kind("- {name: a}", &tool), Kind::Tool);
    assert_eq!(
        kind("kind: skill\nentries: [{name: a}]", &tool),
        Kind::Skill
    );
    assert_eq!(
        kind("kind: skill\nentries: [{name: a, kind: command}]", &tool),
        Kind::Command
    );
}

#[test]
fn json_schemas_keep_key_order_and_numbers_to_the_last_digit() {
    let text = r#"[{"name":"a","input_schema":{ "z": 12345678901234567890123, "a": [1.50, "x \" y"],
        "deep": {"b": {"c": {"d": {"e": {"f": 1.0e2}}}}} }}]"#;
    assert_eq!(
        read(text, Format::Json).entries[0].input_schema.as_deref(),
        Some(
            r#"{"z":12345678901234567890123,"a":[1.50,"x \" y"],"deep":{"b":{"c":{"d":{"e":{"f":1.0e2}}}}}}"#
        )
    );
    let text = r#"[{"name":"a","input_schema":"{\"type\": \"object\"}"}]"#;
    let schema = read(text, Format::Json).entries[0].input_schema.clone();
    assert_eq!(schema.as_deref(), Some(r#"{"type": "object"}"#));
}

#[test]
fn byte_order_mark_and_crlf_change_nothing() {
    let plain = read(FULL, Format::Yaml);
    let crlf = format!("\u{FEFF}{}", FULL.replace('\n', "\r\n"));
    assert_eq!(read(&crlf, Format::Yaml), plain);
    let lines = "{\"name\":\"a\"}\n{\"name\":\"b\"}\n";
    let crlf = format!("\u{FEFF}{}", lines.replace('\n', "\r\n"));
    assert_eq!(read(&crlf, Format::Jsonl), read(lines, Format::Jsonl));
    let crlf = "\u{FEFF}[\r\n{\"name\":\"a\"}\r\n]";
    assert_eq!(read(crlf, Format::Json).entries.len(), 1);
}

#[test]
fn an_empty_document_is_a_warning() {
    for (text, format) in [
        ("", Format::Yaml),
        ("# nothing\n", Format::Yaml),
        ("entries:\n", Format::Yaml),
        ("[]", Format::Json),
        ("\n\n", Format::Jsonl),
    ] {
        let imported = read(text, format);
        assert_eq!(codes(&imported), ["EMPTY_DOCUMENT"], "{text:?}");
        assert!(imported.entries.is_empty());
    }
}

/// Format, text, line, item, part of the message.
type Refusal = (
    Format,
    String,
    Option<u32>,
    Option<&'static str>,
    &'static str,
);

fn refusals() -> Vec<Refusal> {
    use Format::{Json, Jsonl, Yaml};
    let long = "x".repeat(5000);
    let at = |line| Some(line);
    let case = |format, text: &str, line, item, part| (format, text.to_owned(), line, item, part);
    vec![
        case(
            Yaml,
            "- name: a\n  exampels: [x]\n",
            at(2),
            Some("a"),
            "unknown key \"exampels\"",
        ),
        case(
            Yaml,
            "- name: a\n\n- title: x\n",
            at(3),
            Some("entries[1]"),
            "name: is missing",
        ),
        case(
            Yaml,
            "- name: ''\n",
            at(1),
            Some("entries[0]"),
            "name: is missing",
        ),
        case(
            Yaml,
            "- name: '  '\n",
            at(1),
            Some("entries[0]"),
            "name: must not be blank",
        ),
        case(
            Yaml,
            "- name: [a]\n",
            at(1),
            Some("entries[0]"),
            "name: must be text, not a list",
        ),
        case(
            Yaml,
            "- a\n",
            at(1),
            Some("entries[0]"),
            "must be a mapping",
        ),
        case(
            Yaml,
            "just text\n",
            at(1),
            None,
            "must be a list or a mapping",
        ),
        case(
            Yaml,
            "kind: tool\nsauce: x\nentries: []\n",
            at(2),
            None,
            "unknown key \"sauce\"",
        ),
        case(Yaml, "kind: tool\n", at(1), None, "entries: is missing"),
        case(
            Yaml,
            "kind: gadget\nentries: []\n",
            at(1),
            None,
            "unknown kind \"gadget\"",
        ),
        case(
            Yaml,
            "source: x\nentries: 5\n",
            at(2),
            None,
            "entries: must be a list",
        ),
        case(
            Yaml,
            "- name: a\n  kind: gadget\n",
            at(2),
            Some("a"),
            "kind: unknown kind",
        ),
        case(
            Yaml,
            "- name: a\n  examples: one\n",
            at(2),
            Some("a"),
            "examples: must be a list",
        ),
        case(
            Yaml,
            "- name: a\n  examples:\n  - {b: c}\n",
            at(2),
            Some("a"),
            "examples[0]: must be text",
        ),
        case(
            Yaml,
            "- name: a\n  tags:\n  - b\n  - ' '\n",
            at(4),
            Some("a"),
            "tags[1]: must not be blank",
        ),
        case(
            Yaml,
            "- name: a\n  not_when:\n  - {txt: b}\n",
            at(2),
            Some("a"),
            "not_when: [0]: unknown key \"txt\"",
        ),
        case(
            Yaml,
            "- name: a\n  not_when:\n  - {redirect: b}\n",
            at(3),
            Some("a"),
            "not_when[0].text: must not be blank",
        ),
        case(
            Yaml,
            "- name: a\n  input_schema: '{'\n",
            at(2),
            Some("a"),
            "input_schema: is no JSON",
        ),
        case(
            Yaml,
            "- name: a\n  input_schema: [1]\n",
            at(2),
            Some("a"),
            "input_schema: must be a mapping",
        ),
        case(
            Yaml,
            "- name: a\n  annotations: {b: {c: d}}\n",
            at(2),
            Some("a"),
            "annotations.b: must be text",
        ),
        case(
            Yaml,
            "- name: a\n  description: x\n  responsibility: y\n",
            at(1),
            Some("a"),
            "stands beside description",
        ),
        case(
            Yaml,
            "- name: a\n- name: b\n- name: a\n",
            at(3),
            Some("a"),
            "name: stands twice in source \"test\", first at doc:1",
        ),
        case(
            Yaml,
            "- name: a\n  name: b\n",
            at(2),
            None,
            "is no readable YAML",
        ),
        case(
            Yaml,
            "- name: a\n  title: x: y\n",
            at(2),
            None,
            "is no readable YAML",
        ),
        case(
            Yaml,
            "- name: a\n---\n- name: b\n",
            at(2),
            None,
            "is no readable YAML",
        ),
        case(
            Yaml,
            "- name: a\n  title: *nope\n",
            at(2),
            None,
            "is no readable YAML",
        ),
        (
            Yaml,
            format!("- name: {}\n", "n".repeat(129)),
            at(1),
            None,
            "129 characters exceed the limit of 128",
        ),
        (
            Yaml,
            format!("- name: a\n  tags:\n  - b\n  - {long}\n"),
            at(4),
            Some("a"),
            "tags[1]: 5000 bytes exceed the limit of 4096",
        ),
        (
            Yaml,
            format!("- name: a\n  description: {}\n", long.repeat(7)),
            at(2),
            Some("a"),
            "responsibility: 35000 bytes exceed the limit of 32768",
        ),
        (
            Yaml,
            format!(
                "- name: a\n  not_when: [{{text: b, redirect: {}}}]\n",
                "n".repeat(129)
            ),
            at(2),
            Some("a"),
            "redirect: 129 characters",
        ),
        case(
            Json,
            "[\n  {\"name\": \"a\",\n   \"exampels\": []}\n]",
            at(3),
            Some("a"),
            "unknown key \"exampels\"",
        ),
        case(
            Json,
            "[\n  {\"name\": \"a\",\n   \"name\": \"b\"}\n]",
            at(3),
            None,
            "key \"name\" stands twice",
        ),
        case(
            Json,
            "[\n  {\"name\": 5}\n]",
            at(2),
            Some("5"),
            "name: must be text, not a number",
        ),
        case(
            Json,
            "[\n  {\"name\": \"a\",\n  \"tags\": [\"b\",\n  \" \"]}\n]",
            at(4),
            Some("a"),
            "tags[1]: must not be blank",
        ),
        case(
            Json,
            "[\n  {\"name\": \"a\",}\n]",
            at(2),
            None,
            "is no readable JSON: key must be a string (column 16)",
        ),
        case(
            Json,
            "[\n  {\"name\": \"\\ud800\"}\n]",
            at(2),
            None,
            "is no readable JSON",
        ),
        case(Json, "", at(1), None, "is no readable JSON"),
        case(Json, "[] x", at(1), None, "trailing characters"),
        case(Json, "\"x\"", at(1), None, "not text"),
        case(
            Jsonl,
            "{\"name\":\"a\"}\n\n{\"name\":\"b\"",
            at(3),
            None,
            "is no readable JSON",
        ),
        case(
            Jsonl,
            "{\"name\":\"a\"}\n{\"name\":\"b\",\"x\":1}",
            at(2),
            Some("b"),
            "unknown key \"x\"",
        ),
        case(
            Jsonl,
            "{\"name\":\"a\"}\n\n{\"name\":\"a\"}",
            at(3),
            Some("a"),
            "first at doc:1",
        ),
        case(
            Jsonl,
            "[{\"name\":\"a\"}]",
            at(1),
            Some("entries[0]"),
            "must be a mapping of fields, not a list",
        ),
        case(
            Jsonl,
            "{\"name\":\"a\"} {\"name\":\"b\"}",
            at(1),
            None,
            "trailing characters",
        ),
    ]
}

#[test]
fn what_is_wrong_is_refused_with_its_line_and_field() {
    for (format, text, line, item, part) in refusals() {
        let error = refuse(&text, format);
        let shown: String = text.chars().take(80).collect();
        assert!(error.message.contains(part), "{shown:?}: {error}");
        assert_eq!(error.line, line, "{shown:?}: {error}");
        if item.is_some() {
            assert_eq!(error.item.as_deref(), item, "{shown:?}: {error}");
        }
        assert_eq!(error.origin, "doc");
    }
}

#[test]
fn errors_read_as_place_item_message() {
    let error = refuse("- name: a\n  tags: x\n", Format::Yaml);
    assert_eq!(
        error.to_string(),
        "doc:2: a: tags: must be a list of texts, not text"
    );
}

#[test]
fn errors_of_the_parser_read_the_same_way() {
    let error = refuse("- name: a\n  name: b\n", Format::Yaml);
    assert_eq!(
        error.to_string(),
        "doc:2: is no readable YAML: duplicate mapping key `name` is not allowed here"
    );
    let error = refuse("- name: a\n- title: *nope\n", Format::Yaml);
    assert_eq!(error.line, Some(2));
    assert!(!error.message.contains("line"), "{error}");
}

#[test]
fn messages_stay_short_and_printable_whatever_the_document_holds() {
    let key = "\u{1B}[2J".repeat(5000);
    let quoted = serde_json::to_string(&key).unwrap();
    for text in [
        format!("[{{\"name\":\"a\",\"annotations\":{{{quoted}:[]}}}}]"),
        format!("[{{\"name\":\"a\",{quoted}:1}}]"),
        format!("[{{\"name\":\"a\",\"kind\":{quoted}}}]"),
        format!("{{{quoted}:1}}"),
        format!("{{{quoted}:1,{quoted}:2}}"),
    ] {
        for format in [Format::Json, Format::Yaml] {
            let message = refuse(&text, format).message;
            assert!(message.len() < 9_000, "{} bytes", message.len());
            assert!(!message.contains(char::is_control), "{message}");
        }
    }
}

#[test]
fn one_name_in_two_sources_or_kinds() {
    let two_sources = "- {name: a, source: x}\n- {name: a, source: y}\n";
    assert_eq!(read(two_sources, Format::Yaml).entries.len(), 2);
    // The kind is no part of the identity.
    assert!(
        refuse("- {name: a}\n- {name: a, kind: tool}\n", Format::Yaml)
            .message
            .contains("twice")
    );
}

#[test]
fn aliases_and_merges_work_within_their_budget() {
    let text =
        "- &base\n  name: a\n  tags: &t [x, y]\n- <<: *base\n  name: b\n- name: c\n  tags: *t\n";
    let entries = read(text, Format::Yaml).entries;
    assert_eq!(entries[1].tags, ["x", "y"]);
    assert_eq!(entries[2].tags, ["x", "y"]);
}
