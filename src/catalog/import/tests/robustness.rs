//! Budgets, encodings, and that no input makes the readers panic.

use std::fmt::Write;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

const FORMATS: [Format; 4] = [Format::Yaml, Format::Json, Format::Jsonl, Format::SkillMd];

#[test]
fn a_document_that_multiplies_itself_is_refused_quickly() {
    let mut laughs = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for level in 1..10 {
        let list = vec![format!("*a{}", level - 1); 9].join(", ");
        writeln!(laughs, "a{level}: &a{level} [{list}]").unwrap();
    }
    let one_anchor = format!(
        "- &a [{}]\n- [{}]\n",
        "x, ".repeat(5000),
        "*a, ".repeat(900)
    );
    let deep = "[".repeat(100_000);
    let nested = "- ".repeat(50_000);
    let started = Instant::now();
    for text in [&laughs, &one_anchor, &deep, &nested] {
        let error = refuse(text, Format::Yaml);
        assert!(error.message.contains("is no readable YAML"), "{error}");
        let front = format!("---\n{text}\n---\n");
        assert_eq!(codes(&skill(&front)), ["UNREADABLE_YAML"]);
    }
    assert!(
        refuse(&deep, Format::Json)
            .message
            .contains("is no readable JSON")
    );
    // Its aliases are not quoted away to get the rest in.
    assert_eq!(
        codes(&skill(&format!("---\ndescription: d\n{laughs}---\n"))),
        ["UNREADABLE_YAML"]
    );
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn deep_json_is_an_error_not_a_stack_overflow() {
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let schema = format!("[{{\"name\":\"a\",\"input_schema\":{{\"x\":{deep}}}}}]");
    assert!(refuse(&schema, Format::Json).message.contains("recursion"));
    assert!(refuse(&deep, Format::Json).message.contains("recursion"));
}

#[test]
fn a_document_over_its_size_is_refused() {
    let text = vec![b' '; MAX_DOCUMENT_BYTES + 1];
    for format in [Format::Yaml, Format::Json, Format::Jsonl] {
        let error = import(&text, "doc", format, &defaults()).unwrap_err();
        assert_eq!(error.message, "16777217 bytes exceed the limit of 16777216");
    }
    let imported = import(&text, "pdf/SKILL.md", Format::SkillMd, &defaults()).unwrap();
    assert_eq!(codes(&imported), ["UNREADABLE_TEXT"]);
    // At the limit it is read.
    assert!(import(&text[1..], "doc", Format::Jsonl, &defaults()).is_ok());
}

#[test]
fn too_many_items_are_refused() {
    let many = |count: usize| {
        (0..count)
            .map(|n| format!("{{\"name\":\"n{n}\"}}"))
            .collect::<Vec<_>>()
    };
    let over = many(MAX_ITEMS + 1);
    let message = |text: &str, format| refuse(text, format).message;
    assert!(message(&over.join("\n"), Format::Jsonl).contains("the limit of 100000"));
    assert!(
        message(&format!("[{}]", over.join(",")), Format::Json).contains("the limit of 100000")
    );
    assert!(
        message(&format!("[{}]", over.join(",")), Format::Yaml).contains("the limit of 100000")
    );
    let all = over[1..].join("\n");
    assert_eq!(read(&all, Format::Jsonl).entries.len(), MAX_ITEMS);
    let all = format!("- {}", over[1..].join("\n- "));
    assert_eq!(read(&all, Format::Yaml).entries.len(), MAX_ITEMS);
}

#[test]
fn bytes_that_are_no_utf8_are_named_by_offset_and_line() {
    let bytes = b"- name: a\n- name: \xFF\n";
    for format in [Format::Yaml, Format::Json, Format::Jsonl] {
        let error = import(bytes, "doc", format, &defaults()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "doc:2: is no UTF-8: invalid byte at offset 18"
        );
    }
    let imported = import(bytes, "pdf/SKILL.md", Format::SkillMd, &defaults()).unwrap();
    let found = &imported.diagnostics[0];
    assert_eq!((found.code, found.line), ("UNREADABLE_TEXT", Some(2)));
    let utf16 = import(b"\xFF\xFE-\0", "doc", Format::Yaml, &defaults()).unwrap_err();
    assert!(utf16.message.contains("UTF-16"), "{utf16}");
}

/// Everything a reader returns has to be fit for use.
fn check(bytes: &[u8]) {
    for format in FORMATS {
        if let Ok(imported) = import(bytes, "skills/pdf/SKILL.md", format, &defaults()) {
            let violations = crate::catalog::entry::check_batch("entries", &imported.entries);
            assert!(violations.as_slice().is_empty(), "{violations}");
        }
    }
}

/// Pieces that documents are made of, so that arbitrary input gets past the first character.
const PIECES: &[&str] = &[
    "---\n",
    "- ",
    "\n",
    "\r\n",
    "  ",
    "\t",
    ": ",
    "name",
    "description",
    "entries",
    "kind",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "|\n",
    ">\n",
    "&a ",
    "*a",
    "<<: ",
    "!!binary ",
    "# ",
    "## Examples\n",
    "When to use:\n",
    "不适用场景：",
    "→ 使用 ",
    "-> ",
    "```\n",
    "1.10",
    "null",
    "\\ud800",
    ",",
    "not_when",
    "allowed-tools: Read\n",
    "metadata:\n",
    "name: a\n",
    "description: Use: x\n",
    "\u{FEFF}",
    "\0",
    "ignore previous instructions",
    "忽略之前的指令",
    "İ",
    "𝕏",
    ".nan",
    "1e999",
    "0x10",
    "? ",
    "…",
    "%",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&bytes);
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,200}") {
        check(text.as_bytes());
        check(format!("---\n{text}\n---\n{text}").as_bytes());
        check(format!("---\ndescription: {text}\nname: {text}\n---\n").as_bytes());
        check(format!("[{{\"name\":{}}}]", serde_json::to_string(&text).unwrap()).as_bytes());
    }

    #[test]
    fn pieces_of_documents_never_panic(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..40)
    ) {
        let text = pieces.concat();
        check(text.as_bytes());
        check(format!("---\n{text}\n---\n{text}").as_bytes());
        check(format!("---\nname: pdf\ndescription: |\n  A.\n{text}").as_bytes());
    }
}
