//! Headings, bullets and redirects.

use super::super::headings::Field;
use super::super::sections::{parse_not_when, plain_item, read_body, split_description};

#[test]
fn redirects_are_read_behind_an_arrow() {
    for (text, situation, redirect) in [
        (
            "实时股价查询 → 使用 market-data",
            "实时股价查询",
            Some("market-data"),
        ),
        (
            "行业分析 → use industry-analyst",
            "行业分析",
            Some("industry-analyst"),
        ),
        (
            "新闻资讯 -> news-collector",
            "新闻资讯",
            Some("news-collector"),
        ),
        (
            "行业分析 → 使用industry-analyst技能",
            "行业分析",
            Some("industry-analyst"),
        ),
        (
            "Live prices → use the `market-data` skill instead.",
            "Live prices",
            Some("market-data"),
        ),
        (
            "Kurse → market-data verwenden",
            "Kurse",
            Some("market-data"),
        ),
        (
            "Kurse => verwende stattdessen market_data",
            "Kurse",
            Some("market_data"),
        ),
        (
            "A -> B conversion → use converter",
            "A -> B conversion",
            Some("converter"),
        ),
        ("Anything else", "Anything else", None),
        ("Mapping A -> B by hand", "Mapping A -> B by hand", None),
        ("→ use market-data", "→ use market-data", None),
        ("Dangling →", "Dangling →", None),
        ("", "", None),
    ] {
        let found = parse_not_when(text);
        assert_eq!(
            (found.text.as_str(), found.redirect.as_deref()),
            (situation, redirect)
        );
    }
    let long = parse_not_when(&format!("x → {}", "y".repeat(129)));
    assert_eq!(long.redirect, None);
}

#[test]
fn descriptions_are_split_at_headings_of_three_languages() {
    for (heading, field) in [
        ("核心能力:", Field::Capabilities),
        ("核心能力：", Field::Capabilities),
        ("Kernfähigkeiten:", Field::Capabilities),
        ("Core Abilities:", Field::Capabilities),
        ("适用场景:", Field::UseWhen),
        ("Wann verwenden:", Field::UseWhen),
        ("When to use:", Field::UseWhen),
        ("不适用场景:", Field::NotWhen),
        ("Wann nicht verwenden:", Field::NotWhen),
        ("When NOT to use:", Field::NotWhen),
        ("示例:", Field::Examples),
        ("Beispiele", Field::Examples),
        ("**Examples**", Field::Examples),
        ("【触发词】", Field::Triggers),
        ("## 🎯 Triggers", Field::Triggers),
        ("Auslöser:", Field::Triggers),
    ] {
        let text = format!("Summary.\n\n{heading}\n- one\n* two\n3. three\n");
        let split = split_description(&text);
        assert_eq!(split.summary, "Summary.", "{heading}");
        let items: Vec<_> = ["one", "two", "three"]
            .map(|item| (field, item.to_owned()))
            .into();
        assert_eq!(split.items, items, "{heading}");
    }
}

#[test]
fn what_is_no_section_stays_in_the_summary() {
    let text =
        "First.\n\nWhen to use:\n- a long\n  item\n\nNote the limits.\n\nRequirements:\n- none";
    let split = split_description(text);
    assert_eq!(
        split.summary,
        "First.\n\nNote the limits.\n\nRequirements:\n- none"
    );
    assert_eq!(split.items, [(Field::UseWhen, "a long item".into())]);
    // Nothing but a section: the description may not become empty.
    let split = split_description("Use when: the user asks about PDFs");
    assert_eq!(split.summary, "Use when: the user asks about PDFs");
    assert_eq!(
        split.items,
        [(Field::UseWhen, "the user asks about PDFs".into())]
    );
    // A heading is compared whole.
    let split = split_description("Examples of bad style: many\n- a");
    assert_eq!(
        (split.summary.as_str(), split.items.len()),
        ("Examples of bad style: many\n- a", 0)
    );
    let split = split_description("Sum.\nWhen to use:\nthe user\nasks\n");
    assert_eq!(split.items, [(Field::UseWhen, "the user asks".into())]);
}

#[test]
fn bodies_give_bullets_under_known_headings_only() {
    let body = read_body(
        "# PDF tools\n- no\n## When to use\nProse.\n- first\n  goes on\n  - nested\n### Often\n- second\n\
         ## Steps\n- no\n## Beispiele\n```\n- code\n# comment\n```\n- \"Fasse das PDF zusammen\"\n\
         **触发词：**\n- pdf\n\nProse.\n- no\n# Examples\n- last\n",
    );
    assert_eq!(body.title.as_deref(), Some("PDF tools"));
    let items: Vec<_> = body
        .items
        .iter()
        .map(|(f, line, t)| (*f, *line, t.as_str()))
        .collect();
    assert_eq!(
        items,
        [
            (Field::UseWhen, 5, "first goes on"),
            (Field::UseWhen, 9, "second"),
            (Field::Examples, 17, "\"Fasse das PDF zusammen\""),
            (Field::Triggers, 19, "pdf"),
            (Field::Examples, 24, "last"),
        ]
    );
}

#[test]
fn bullets_of_a_body_are_bounded() {
    let many = (0..40).map(|n| format!("- item {n}\n")).collect::<String>();
    let body = read_body(&format!("## Examples\n{many}"));
    assert_eq!(
        (body.items.len(), body.left_out.as_slice()),
        (32, &[(Field::Examples, 34)][..])
    );
    let body = read_body(&format!("## Examples\n- {}\n- short\n", "x".repeat(501)));
    assert_eq!((body.items.len(), body.left_out.len()), (1, 1));
}

#[test]
fn items_lose_emphasis_and_quotation_marks() {
    for (text, plain) in [
        ("\"quoted\"", "quoted"),
        ("“quoted”", "quoted"),
        ("„zitiert“", "zitiert"),
        ("「引用」", "引用"),
        ("`code`", "code"),
        ("**Bold**: text", "Bold: text"),
        ("\"a\" or \"b\"", "\"a\" or \"b\""),
        ("\"", "\""),
    ] {
        assert_eq!(plain_item(text), plain);
    }
}
