use proptest::prelude::*;

use super::*;

fn found(text: &str) -> Vec<(String, String)> {
    Extraction::default()
        .references(text)
        .into_iter()
        .map(|found| {
            let line = found.line.map_or(String::new(), |line| format!(":{line}"));
            (found.ref_type, format!("{}{line}", found.value))
        })
        .collect()
}

fn of(ref_type: &str, text: &str) -> Vec<String> {
    let of_type = found(text).into_iter().filter(|(kind, _)| kind == ref_type);
    of_type.map(|(_, value)| value).collect()
}

#[test]
fn case_16_urls_are_balanced_and_without_prose() {
    let text = "See (https://en.wikipedia.org/wiki/Quine_(computing)), \
        https://doi.org/10.1016/0026-0495(67)90027-3. 链接https://x.com/a，谢谢 \
        [t](https://e.com/a_(b)) <https://e.com/c>";
    let references = Extraction::default().references(text);
    let texts: Vec<&str> = references.iter().map(|found| found.text(text)).collect();
    assert_eq!(
        texts,
        [
            "https://en.wikipedia.org/wiki/Quine_(computing)",
            "https://doi.org/10.1016/0026-0495(67)90027-3",
            "https://x.com/a",
            "https://e.com/a_(b)",
            "https://e.com/c",
        ]
    );
    assert!(references.iter().all(|found| found.ref_type == URL));
}

#[test]
fn case_17_the_longest_match_owns_its_span() {
    let text = "Fix PR #55 and #42, colour #123456, see https://x.dev/p#7 and acme/app#9, GH-12";
    let expected = [
        (PR, "55"),
        (ISSUE, "42"),
        (URL, "https://x.dev/p#7"),
        (ISSUE, "acme/app#9"),
        (ISSUE, "GH-12"),
    ];
    let expected: Vec<_> = expected
        .map(|(kind, value)| (kind.to_owned(), value.to_owned()))
        .to_vec();
    assert_eq!(found(text), expected);
}

#[test]
fn urls_end_where_they_should() {
    for (text, url) in [
        ("https://a.com/b?c=d&e=f.", "https://a.com/b?c=d&e=f"),
        ("https://a.com/b&amp;", "https://a.com/b"),
        ("https://a.com/b;", "https://a.com/b"),
        ("**https://a.com/b**", "https://a.com/b"),
        ("\"https://a.com/b\"", "https://a.com/b"),
        ("'https://a.com/b'", "https://a.com/b"),
        ("`https://a.com/b`", "https://a.com/b"),
        ("[https://a.com/b]", "https://a.com/b"),
        ("{https://a.com/b}", "https://a.com/b"),
        ("(https://a.com/b).", "https://a.com/b"),
        ("https://a.com/b!?!", "https://a.com/b"),
        ("<https://a.com/b.>", "https://a.com/b."),
        ("[t](https://a.com/b.)", "https://a.com/b."),
        ("[t](https://a.com/b \"title\")", "https://a.com/b"),
        (
            "https://zh.wikipedia.org/wiki/维基百科。",
            "https://zh.wikipedia.org/wiki/维基百科",
        ),
        ("見てhttps://x.com/a見て", "https://x.com/a"),
        ("https://x.com을 보세요", "https://x.com"),
        ("https://x.com/café, oui", "https://x.com/café"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://[::1]:80/a", "http://[::1]:80/a"),
        ("HTTPS://A.com/B", "HTTPS://A.com/B"),
        ("www.example.org/a.", "https://www.example.org/a"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("| https://a.com/b|c |", "https://a.com/b"),
        ("https://a.com/b\u{200b}c", "https://a.com/b"),
        ("“https://a.com/b”", "https://a.com/b"),
    ] {
        assert_eq!(of(URL, text), [url], "{text}");
    }
    assert_eq!(
        of(URL, "[https://a.com](https://b.com) https://a.com"),
        ["https://a.com", "https://b.com"]
    );
    for text in [
        "https://",
        "http://.",
        "git+https://x.com/a.rs",
        "xhttps://a.com",
        "www.",
        "www.x",
        "s3://bucket/key.csv",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn files_are_found_in_many_forms() {
    for (text, file) in [
        ("read ./src/main.rs now", "./src/main.rs"),
        ("~/config.toml", "~/config.toml"),
        ("in `src/lib.rs`.", "src/lib.rs"),
        ("src/api/mod.rs:42 fails", "src/api/mod.rs:42"),
        ("src/a.rs:42:7: error", "src/a.rs:42"),
        ("src/a.rs#L10-L20", "src/a.rs:10"),
        ("(main.py)", "main.py"),
        ("main.py.", "main.py"),
        ("../../etc/shadow", "../../etc/shadow"),
        ("/etc/passwd", "/etc/passwd"),
        ("文档/设计.md 里", "文档/设计.md"),
        ("请看src/main.rs文件", "src/main.rs"),
        ("请看./a.rs", "./a.rs"),
        ("größe/übung.txt", "größe/übung.txt"),
        ("docker/Dockerfile", "docker/Dockerfile"),
        ("the Makefile", "Makefile"),
        (".github/workflows/ci.yml", ".github/workflows/ci.yml"),
        (".env", ".env"),
        ("README.MD", "README.MD"),
        ("index.d.ts", "index.d.ts"),
        ("icon@2x.png", "icon@2x.png"),
        ("app/[id]/page.tsx", "app/[id]/page.tsx"),
        ("packages/@a/b/c.ts", "packages/@a/b/c.ts"),
        ("a.rs, then", "a.rs"),
        ("\"a/b.json\"", "a/b.json"),
        ("[src/a.rs]", "src/a.rs"),
        ("./a", "./a"),
    ] {
        assert_eq!(of(FILE, text), [file], "{text}");
    }
}

#[test]
fn what_only_looks_like_a_file_is_none() {
    for text in [
        "joe@example.md",
        "joe.doe@mail.example.org",
        "@scope/pkg",
        "@scope/pkg/index.js",
        "and/or",
        "TCP/IP",
        "text/html",
        "12/11/2026",
        "Node.js and Next.js",
        "example.com",
        "github.com/acme/app.html",
        "git@github.com:acme/app.git",
        "version 1.2.3",
        "e.g. this",
        "3.14",
        "/help",
        "./",
        "..",
        "…",
        "client/server.Then",
        "a//b.rs",
        "C:\\a\\b.txt",
    ] {
        assert_eq!(of(FILE, text), [] as [String; 0], "{text}");
    }
}

#[test]
fn issues_and_pull_requests() {
    for (text, kind, value) in [
        ("#100", ISSUE, "100"),
        ("(#7)", ISSUE, "7"),
        ("修复#42。", ISSUE, "42"),
        ("issue #123456", ISSUE, "123456"),
        ("gh-5", ISSUE, "GH-5"),
        ("pr #12", PR, "12"),
        ("Pull Request #8", PR, "8"),
        ("PR acme/app#9", PR, "acme/app#9"),
    ] {
        assert_eq!(found(text), [(kind.to_owned(), value.to_owned())], "{text}");
    }
    for text in [
        "#123456",
        "#12345678",
        "color: #123",
        "&#123;",
        "a#1",
        "#1a",
        "##1",
        "##",
        "# 1",
        "#12_3",
        "high-12",
        "x/y/z#1",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn fenced_code_is_skipped_unless_asked_for() {
    let text = "a.rs\n```rust\nb.rs https://x.com\n``\n```\nc.rs\n~~~\nd.rs";
    assert_eq!(of(FILE, text), ["a.rs", "c.rs"]);
    let all = Extraction {
        fenced_code: true,
        ..Extraction::default()
    };
    assert_eq!(all.references(text).len(), 5);
    assert_eq!(of(FILE, "    ```\nb.rs"), ["b.rs"], "indented by four");
    assert_eq!(of(FILE, "```a`\nb.rs"), ["b.rs"], "inline code");
}

#[test]
fn custom_patterns_yield_their_group_and_win_ties() {
    let extraction = Extraction {
        patterns: vec![
            CustomPattern::new("jira", "[A-Z]+-[0-9]+").expect("a pattern"),
            CustomPattern::new("user", "@([a-z]+)").expect("a pattern"),
            CustomPattern::new("none", "x*").expect("a pattern"),
        ],
        fenced_code: false,
    };
    let text = "PROJ-123 GH-5 by @anna, https://x.com/PROJ-9";
    let references = extraction.references(text);
    let read: Vec<_> = references
        .iter()
        .map(|found| (found.ref_type.as_str(), found.value.as_str()))
        .collect();
    assert_eq!(
        read,
        [
            ("jira", "PROJ-123"),
            ("jira", "GH-5"),
            ("user", "anna"),
            (URL, "https://x.com/PROJ-9")
        ]
    );
    assert_eq!(references[2].text(text), "@anna");
}

#[test]
fn a_bad_pattern_is_named() {
    let error = CustomPattern::new("x", "[")
        .expect_err("refused")
        .to_string();
    assert!(error.starts_with("\"[\" is no usable pattern: "), "{error}");
    let error = CustomPattern::new("x", r"\w{500}{500}").expect_err("refused");
    assert!(error.to_string().contains("bytes when compiled"), "{error}");
}

#[test]
fn duplicates_are_named_once_in_order_of_appearance() {
    let text = "./b.rs ./a.rs ./b.rs ./b.rs:3 #1 #1";
    let values: Vec<String> = found(text).into_iter().map(|(_, value)| value).collect();
    assert_eq!(values, ["./b.rs", "./a.rs", "./b.rs:3", "1"]);
}

/// Texts made of what references are made of, so that they meet in every way.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("https://"),
        Just("http://a.com"),
        Just("www."),
        Just("x.dev/p"),
        Just("PR "),
        Just("#"),
        Just("42"),
        Just("123456"),
        Just("acme/app"),
        Just("GH-"),
        Just("./"),
        Just("src/a.rs"),
        Just(":7"),
        Just("文"),
        Just("。"),
        Just("é"),
        Just("("),
        Just(")"),
        Just("["),
        Just("]"),
        Just("]("),
        Just("<"),
        Just(">"),
        Just("`"),
        Just("```\n"),
        Just("\n"),
        Just(" "),
        Just("."),
        Just(","),
        Just("@"),
        Just("&amp;"),
        Just("~/"),
        Just("\u{200b}"),
        Just("\u{0}"),
        Just("😀"),
        Just("-"),
        Just("_"),
        Just(";"),
        Just("a"),
        Just("{"),
        Just("}"),
        Just("%"),
        Just("\\"),
        Just("$"),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// References as a list that is unambiguous: URLs in angle brackets, the rest as written.
fn listed(references: &[Reference], text: &str) -> String {
    let lines: Vec<String> = references
        .iter()
        .map(|found| match found.ref_type.as_str() {
            URL => format!("<{}>", found.value),
            _ => found.text(text).to_owned(),
        })
        .collect();
    lines.join("\n")
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let extraction = Extraction {
        fenced_code: true,
        ..Extraction::default()
    };
    let references = extraction.references(text);
    let mut end = 0;
    for found in &references {
        prop_assert!(
            text.get(found.span.clone())
                .is_some_and(|text| !text.is_empty())
        );
        prop_assert!(found.span.start >= end, "{:?} before {end}", found.span);
        end = found.span.end;
    }
    let again = listed(&references, text);
    let keys = |references: &[Reference]| -> Vec<(String, String, Option<u32>)> {
        let key = |found: &Reference| (found.ref_type.clone(), found.value.clone(), found.line);
        references.iter().map(key).collect()
    };
    prop_assert_eq!(
        keys(&extraction.references(&again)),
        keys(&references),
        "{:?}",
        again
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn spans_are_valid_and_ordered_and_the_output_is_stable(text in pieces()) {
        check(&text)?;
        Extraction::default().references(&text);
    }

    #[test]
    fn any_text_is_read(text in any::<String>()) {
        check(&text)?;
    }
}
