use super::*;

fn tools(names: &[&str]) -> Vec<Tool> {
    names
        .iter()
        .map(|name| Tool {
            name: (*name).into(),
            ..Tool::default()
        })
        .collect()
}

fn list(patterns: &[&str]) -> Vec<String> {
    patterns.iter().map(|pattern| (*pattern).into()).collect()
}

fn filter(profile: &ToolProfile, tools: &[Tool]) -> Filtered {
    profile
        .filter(tools, &Trust::default(), None)
        .expect("filters")
}

fn kept<'a>(result: &Filtered, tools: &'a [Tool]) -> Vec<&'a str> {
    result
        .kept
        .iter()
        .map(|index| tools[*index].name.as_str())
        .collect()
}

fn stages(result: &Filtered) -> Vec<(usize, Stage)> {
    result
        .dropped
        .iter()
        .map(|dropped| (dropped.index, dropped.stage))
        .collect()
}

#[test]
fn globs_match_whole_names() {
    let tools = tools(&["admin/delete", "admin.delete", "a[b]"]);
    let profile = |include: &[&str], exclude: &[&str]| ToolProfile {
        include: list(include),
        exclude: list(exclude),
        ..ToolProfile::default()
    };
    assert!(filter(&profile(&[], &["*"]), &tools).kept.is_empty());
    let result = filter(&profile(&["admin*"], &[]), &tools);
    assert_eq!(kept(&result, &tools), ["admin/delete", "admin.delete"]);
    assert_eq!(
        kept(&filter(&profile(&["a[b]"], &[]), &tools), &tools),
        ["a[b]"]
    );
    assert_eq!(kept(&filter(&profile(&[], &[]), &tools), &tools).len(), 3);
}

#[test]
fn an_empty_profile_changes_nothing() {
    let tools = tools(&["b", "a"]);
    let result = filter(&ToolProfile::default(), &tools);
    assert_eq!(
        result,
        Filtered {
            kept: vec![0, 1],
            ..Filtered::default()
        }
    );
}

#[test]
fn exclusion_comes_after_inclusion_and_every_drop_says_where() {
    let tools = tools(&["file_read", "file_write", "net_get"]);
    let profile = ToolProfile {
        include: list(&["file_*"]),
        exclude: list(&["*_write"]),
        ..ToolProfile::default()
    };
    let result = filter(&profile, &tools);
    assert_eq!(kept(&result, &tools), ["file_read"]);
    assert_eq!(stages(&result), [(1, Stage::Exclude), (2, Stage::Include)]);
    assert_eq!(result.dropped[0].reason, "\"*_write\" of exclude matches");
}

#[test]
fn a_tool_cannot_award_itself_verification() {
    let marked = |source: &str| Tool {
        name: "t".into(),
        source: source.into(),
        description: "Does it. [verified]".into(),
        ..Tool::default()
    };
    let tools = [marked("stranger"), marked("house")];
    let profile = ToolProfile {
        require_verified: true,
        ..ToolProfile::default()
    };
    let trust = Trust::new(vec!["house".into()], []);
    let result = profile.filter(&tools, &trust, None).expect("filters");
    assert_eq!(result.kept, [1]);
    assert_eq!(stages(&result), [(0, Stage::Verified)]);
    assert!(result.dropped[0].reason.contains("not trusted"));
}

#[test]
fn a_verification_is_of_one_definition_from_one_source() {
    let tool = Tool {
        name: "t".into(),
        source: "s".into(),
        ..Tool::default()
    };
    let verification = |source: &str| Verification {
        source: source.into(),
        digest: tool.digest(),
        verified_by: "ops".into(),
        verified_at: SystemTime::UNIX_EPOCH,
    };
    let trust = Trust::new(vec![], [verification("s")]);
    assert_eq!(
        trust.verification(&tool).map(|v| v.verified_by.as_str()),
        Some("ops")
    );
    let changed = Tool {
        description: "now more".into(),
        ..tool.clone()
    };
    assert!(!trust.is_verified(&changed));
    assert!(!Trust::new(vec![], [verification("other")]).is_verified(&tool));
}

#[test]
fn no_two_definitions_share_a_digest() {
    let base = Tool {
        name: "ab".into(),
        source: "c".into(),
        ..Tool::default()
    };
    let moved = Tool {
        name: "b".into(),
        source: "ca".into(),
        ..Tool::default()
    };
    let hint = Tool {
        hints: Hints {
            read_only: Some(true),
            ..Hints::default()
        },
        ..base.clone()
    };
    assert_ne!(base.digest(), moved.digest());
    assert_ne!(base.digest(), hint.digest());
}

#[test]
fn the_cap_keeps_the_best_or_the_first_in_order() {
    let names: Vec<String> = (0..12).map(|at| format!("tool_{at}")).collect();
    let tools = tools(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let profile = ToolProfile {
        max_tools: Some(3),
        ..ToolProfile::default()
    };
    assert_eq!(filter(&profile, &tools).kept, [0, 1, 2]);
    let ranked = profile
        .filter(
            &tools,
            &Trust::default(),
            Some(&|tool| f64::from(tool.name == "tool_10")),
        )
        .expect("filters");
    assert_eq!(ranked.kept, [0, 1, 10]);
    assert_eq!(ranked.dropped.len(), 9);
    assert!(
        ranked
            .dropped
            .iter()
            .all(|dropped| dropped.stage == Stage::Cap)
    );
    let none = ToolProfile {
        max_tools: Some(0),
        ..ToolProfile::default()
    };
    assert!(filter(&none, &tools).kept.is_empty());
    let many = ToolProfile {
        max_tools: Some(12),
        ..ToolProfile::default()
    };
    assert!(filter(&many, &tools).dropped.is_empty());
    let broken = profile.filter(&tools, &Trust::default(), Some(&|_| f64::NAN));
    assert_eq!(broken.expect("filters").kept, [0, 1, 2]);
}

#[test]
fn read_only_believes_trusted_sources_and_whoever_the_profile_trusts() {
    let tool = |source: &str, read_only: Option<bool>| Tool {
        name: "t".into(),
        source: source.into(),
        hints: Hints {
            read_only,
            ..Hints::default()
        },
        ..Tool::default()
    };
    let tools = [
        tool("house", None),
        tool("house", Some(true)),
        tool("stranger", Some(true)),
        tool("house", Some(false)),
    ];
    let trust = Trust::new(vec!["house".into()], []);
    let run = |trust_annotations: bool| {
        let profile = ToolProfile {
            read_only: true,
            trust_annotations,
            ..ToolProfile::default()
        };
        profile.filter(&tools, &trust, None).expect("filters")
    };
    assert_eq!(run(false).kept, [1]);
    assert_eq!(run(true).kept, [1, 2]);
    assert_eq!(
        stages(&run(true)),
        [(0, Stage::ReadOnly), (3, Stage::ReadOnly)]
    );
}

#[test]
fn missing_hints_mean_the_worst() {
    let hints = Hints::default();
    assert!(!hints.is_read_only() && hints.is_destructive() && hints.is_open_world());
}

#[test]
fn patterns_that_match_nothing_are_reported() {
    let profile = ToolProfile {
        include: list(&["fiel_*", "file_*"]),
        exclude: list(&["*_wirte"]),
        ..ToolProfile::default()
    };
    let result = filter(&profile, &tools(&["file_read"]));
    let unmatched: Vec<_> = result
        .unmatched
        .iter()
        .map(|u| (u.field.as_str(), u.pattern.as_str()))
        .collect();
    assert_eq!(
        unmatched,
        [("include[0]", "fiel_*"), ("exclude[0]", "*_wirte")]
    );
}

#[test]
fn an_empty_pattern_and_a_nameless_tool_are_violations() {
    let profile = ToolProfile {
        exclude: list(&["a", ""]),
        ..ToolProfile::default()
    };
    let error = profile
        .filter(&tools(&["", "a"]), &Trust::default(), None)
        .expect_err("refused");
    let fields: Vec<_> = error.as_slice().iter().map(|v| v.field.as_str()).collect();
    assert_eq!(fields, ["tool_profile.exclude[1]", "tools[0].name"]);
}
