use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A Monday morning in Berlin.
fn clock() -> Clock {
    Clock {
        now: "2026-11-30T09:00:00Z".parse().expect("moment"),
        zone: TimeZone::get("Europe/Berlin").expect("zone"),
    }
}

fn schema(properties: Value, required: &[&str]) -> String {
    json!({"type": "object", "properties": properties, "required": required}).to_string()
}

/// Name and value of what is found; each span has to hold what it was read from.
fn values(schema: &str, text: &str) -> Value {
    let found = extract(schema, text, &clock()).found;
    for parameter in &found {
        assert!(
            text.get(parameter.span.clone())
                .is_some_and(|own| !own.is_empty()),
            "{text}"
        );
    }
    found
        .into_iter()
        .map(|parameter| (parameter.name, parameter.value))
        .collect()
}

#[test]
fn spans_and_missing_ones_are_said() {
    let schema = schema(
        json!({
            "environment": {"type": "string"},
            "version": {"type": "string", "description": "Version to roll out"},
        }),
        &["environment", "version"],
    );
    let text = "Rolle Version v2.3.1 aus";
    let extraction = extract(&schema, text, &clock());
    assert_eq!(extraction.missing, ["environment"]);
    let [version] = extraction.found.as_slice() else {
        panic!("{extraction:?}")
    };
    assert_eq!(
        (&text[version.span.clone()], version.rule),
        ("v2.3.1", Rule::Identifier)
    );
    assert_eq!(version.value, json!("v2.3.1"));
}

#[test]
fn choices_have_synonyms_and_two_are_none() {
    let action = schema(
        json!({"action": {"type": "string", "enum": ["create", "list", "rename", "delete"]}}),
        &["action"],
    );
    for (text, wanted) in [
        ("Leg einen neuen Branch an", "create"),
        ("新建一个分支", "create"),
        ("remove the branch", "delete"),
        ("which branches are there?", "list"),
    ] {
        assert_eq!(values(&action, text), json!({"action": wanted}), "{text}");
    }
    assert_eq!(values(&action, "create or rename a branch"), json!({}));
    let own = schema(
        json!({"size": {"enum": ["s", "xl"], "x-synonyms": {"xl": ["extra large"]}}}),
        &[],
    );
    assert_eq!(values(&own, "an extra large shirt"), json!({"size": "xl"}));
    // A verb in lower case is no method, an article no record.
    let method = schema(
        json!({"method": {"enum": ["GET", "POST"]}, "type": {"enum": ["A", "MX"]}}),
        &[],
    );
    assert_eq!(values(&method, "get a page"), json!({}));
    assert_eq!(
        values(&method, "POST it, then look up the A record"),
        json!({"method": "POST", "type": "A"})
    );
    let switch = schema(json!({"state": {"enum": ["on", "off"]}}), &[]);
    assert_eq!(
        values(&switch, "turn the light in the kitchen off"),
        json!({"state": "off"})
    );
    assert_eq!(values(&switch, "the meeting on Friday"), json!({}));
}

#[test]
fn numbers_need_a_tie_and_units_are_converted() {
    let timeout = schema(
        json!({"timeout_ms": {"type": "integer"}, "limit": {"type": "integer", "description": "Number of entries"}}),
        &[],
    );
    assert_eq!(
        values(&timeout, "run it with a timeout of 2 minutes"),
        json!({"timeout_ms": 120_000})
    );
    assert_eq!(
        values(&timeout, "show the last 5 commits"),
        json!({"limit": 5})
    );
    // Nothing ties 42 to a limit.
    assert_eq!(values(&timeout, "what is 42?"), json!({}));
    // A distance is no time.
    assert_eq!(values(&timeout, "run 5 km"), json!({}));
    let slot = schema(
        json!({"duration_minutes": {"type": "integer"}}),
        &["duration_minutes"],
    );
    for (text, minutes) in [
        ("find a 1.5 hour slot", 90),
        ("eine Stunde, also 60 Minuten", 60),
        ("找一个三十分钟的空闲时间", 30),
    ] {
        assert_eq!(
            values(&slot, text),
            json!({"duration_minutes": minutes}),
            "{text}"
        );
    }
    // 100 seconds are no whole number of minutes.
    assert_eq!(values(&slot, "100 seconds"), json!({}));
    let bounded = schema(
        json!({"port": {"type": "integer", "minimum": 1, "maximum": 65_535}}),
        &["port"],
    );
    assert_eq!(
        values(&bounded, "what uses port 8080?"),
        json!({"port": 8080})
    );
    assert_eq!(values(&bounded, "what uses port 80800?"), json!({}));
    let two = schema(
        json!({"width": {"type": "integer"}, "height": {"type": "integer"}}),
        &["width", "height"],
    );
    assert_eq!(values(&two, "make it 640 wide"), json!({"width": 640}));
}

#[test]
fn dates_follow_the_clock_and_the_zone() {
    let date = schema(
        json!({"date": {"type": "string", "format": "date"}}),
        &["date"],
    );
    for (text, wanted) in [
        ("the weather tomorrow", "2026-12-01"),
        ("Wetter übermorgen", "2026-12-02"),
        ("后天的天气", "2026-12-02"),
        ("on Friday", "2026-12-04"),
        ("last Friday", "2026-11-27"),
        ("am nächsten Montag", "2026-12-07"),
        ("下周五", "2026-12-11"),
        ("in 3 weeks", "2026-12-21"),
        ("3 days ago", "2026-11-27"),
        ("vor zwei Tagen", "2026-11-28"),
        ("三天后", "2026-12-03"),
        ("on 24 December", "2026-12-24"),
        ("on January 5th", "2027-01-05"),
        ("am 24. Dezember 2027", "2027-12-24"),
        ("am 24.12.2026", "2026-12-24"),
        ("2026年12月24日", "2026-12-24"),
        ("by 2027-02-28", "2027-02-28"),
        ("12/24/2026", "2026-12-24"),
    ] {
        assert_eq!(values(&date, text), json!({"date": wanted}), "{text}");
    }
    // Readable in two ways, impossible, a time of day, every week, part of something else.
    for text in [
        "on 03/04/2026",
        "2026-13-40",
        "am Morgen",
        "every Friday",
        "v2026.12.24-rc1",
        "May I go?",
    ] {
        assert_eq!(values(&date, text), json!({}), "{text}");
    }
    let time = schema(
        json!({"start": {"type": "string", "description": "Start as date and time"}}),
        &["start"],
    );
    for (text, wanted) in [
        ("tomorrow at 7 am", "2026-12-01T07:00:00"),
        ("morgen um 19:30 Uhr", "2026-12-01T19:30:00"),
        ("明天下午三点半", "2026-12-01T15:30:00"),
        ("in 20 minutes", "2026-11-30T10:20:00+01:00"),
        ("heute um halb acht", "2026-11-30T07:30:00"),
    ] {
        assert_eq!(values(&time, text), json!({"start": wanted}), "{text}");
    }
    // The zone decides which day it is.
    let late = Clock {
        now: "2026-11-30T23:30:00Z".parse().expect("moment"),
        zone: TimeZone::get("Asia/Tokyo").expect("zone"),
    };
    let found = extract(&date, "tomorrow", &late).found;
    assert_eq!(found[0].value, json!("2026-12-02"));
    let range = schema(
        json!({"from": {"type": "string", "description": "First day"}, "to": {"type": "string", "description": "Last day"}}),
        &["from"],
    );
    assert_eq!(
        values(&range, "from Tuesday to Thursday"),
        json!({"from": "2026-12-01", "to": "2026-12-03"})
    );
}

#[test]
fn addresses_paths_and_quotations() {
    let copy = schema(
        json!({
            "source": {"type": "string", "description": "Original path"},
            "destination": {"type": "string", "description": "Path of the copy"},
        }),
        &["source", "destination"],
    );
    let both = json!({"source": "a.txt", "destination": "docs/b.txt"});
    assert_eq!(values(&copy, "copy a.txt to docs/b.txt"), both);
    assert_eq!(values(&copy, "把 a.txt 复制到 docs/b.txt"), both);
    assert_eq!(values(&copy, "copy to docs/b.txt the file a.txt"), both);
    assert_eq!(values(&copy, "either/or and he/she"), json!({}));
    let fetch = schema(
        json!({"url": {"type": "string"}, "path": {"type": "string"}}),
        &["url", "path"],
    );
    assert_eq!(
        values(
            &fetch,
            "(see https://en.wikipedia.org/wiki/A_(b)), 存到 x/raw.zip。"
        ),
        json!({"url": "https://en.wikipedia.org/wiki/A_(b)", "path": "x/raw.zip"})
    );
    let mail = schema(
        json!({"to": {"type": "array", "items": {"type": "string"}, "description": "Recipients"}}),
        &["to"],
    );
    assert_eq!(
        values(&mail, "an a@x.org und b@y.de"),
        json!({"to": ["a@x.org", "b@y.de"]})
    );
    let edit = schema(
        json!({"old_string": {"type": "string"}, "new_string": {"type": "string"}}),
        &["old_string", "new_string"],
    );
    assert_eq!(
        values(&edit, "ersetze „Farbe“ durch „Ton“"),
        json!({"old_string": "Farbe", "new_string": "Ton"})
    );
    assert_eq!(values(&edit, "it's Anna's and Tom's"), json!({}));
    let branch = schema(
        json!({"name": {"type": "string", "description": "Name of the branch"}}),
        &["name"],
    );
    for text in [
        "a branch called login-fix",
        "einen Branch namens login-fix",
        "叫 login-fix 的分支",
        "the branch login-fix",
    ] {
        assert_eq!(
            values(&branch, text),
            json!({"name": "login-fix"}),
            "{text}"
        );
    }
    let number = schema(
        json!({"number": {"type": "integer", "description": "Pull request number"}}),
        &["number"],
    );
    assert_eq!(values(&number, "merge PR #42"), json!({"number": 42}));
    let flag = schema(
        json!({"draft": {"type": "boolean"}, "dry_run": {"type": "boolean"}}),
        &[],
    );
    assert_eq!(
        values(&flag, "open a draft, no dry run"),
        json!({"draft": true, "dry_run": false})
    );
}

#[test]
fn nothing_is_found_where_there_is_nothing() {
    let schema = schema(
        json!({
            "query": {"type": "string"}, "limit": {"type": "integer"}, "since": {"type": "string", "format": "date"},
            "path": {"type": "string"}, "url": {"type": "string"}, "mode": {"enum": ["fast", "slow"]},
            "deep": {"type": "object"}, "name": {"type": "string"},
        }),
        &["query", "deep"],
    );
    for text in [
        "do it",
        "mach das bitte",
        "帮我做一下",
        "and then?",
        "🧹",
        "",
    ] {
        let extraction = extract(&schema, text, &clock());
        assert!(extraction.found.is_empty(), "{text}: {extraction:?}");
        assert_eq!(extraction.missing, ["query", "deep"], "{text}");
    }
    assert_eq!(extract("no json", "x", &clock()), Extraction::default());
    assert_eq!(extract("[1]", "x", &clock()), Extraction::default());
}

proptest! {
    /// Spans lie in the text, names are the schema's, and none is given twice.
    #[test]
    fn any_text_is_read(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "to", "5", "km", "%", "12", "/", "24.12.", "7", "am", "Uhr", "昨天", "三", "十", "点", "分钟", "\"", "'", "“",
                "https://x.y/(a", "a@b.c", "x.txt", "#1", "v1.2.3", "called", "叫", "from", "下周", "日", "🧹", "İ",
                "99999999999999999999", "百分之", "0x", "https://", "in", "2026-99-99", "25:61", "万",
            ]),
            0..16,
        ),
        joined in any::<bool>(),
    ) {
        let text = words.join(if joined { "" } else { " " });
        let schema = schema(
            json!({
                "from": {"type": "string"}, "to": {"type": "string"}, "n": {"type": "number"}, "path": {"type": "string"},
                "name": {"type": "string"}, "date": {"type": "string"}, "seconds": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}}, "url": {"type": "string"},
                "currency": {"type": "string"}, "language": {"type": "string"},
            }),
            &["name"],
        );
        let found = extract(&schema, &text, &clock()).found;
        let mut names: Vec<&str> = found.iter().map(|parameter| parameter.name.as_str()).collect();
        names.dedup();
        prop_assert_eq!(names.len(), found.len());
        for parameter in &found {
            prop_assert!(text.get(parameter.span.clone()).is_some());
        }
    }
}
