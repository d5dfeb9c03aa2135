use super::*;

fn scored(gold: &[&str], ranking: &[&str], confidence: f64) -> Scored {
    let owned = |list: &[&str]| -> Vec<String> { list.iter().map(|id| (*id).into()).collect() };
    Scored::new(&owned(gold), owned(ranking), confidence)
}

#[test]
fn ranking_measures_count_prompts_in_scope() {
    let list = [
        scored(&["a"], &["a", "b"], 0.9),
        scored(&["b"], &["a", "c", "b"], 0.8),
        scored(&["x", "y"], &["x", "a", "y"], 0.7),
        scored(&[], &["a"], 0.1),
    ];
    let metrics = Metrics::of(&list.iter().collect::<Vec<_>>());
    assert_eq!((metrics.n, metrics.n_out_of_scope), (4, 1));
    assert!((metrics.top1 - 2.0 / 3.0).abs() < 1e-12);
    assert!((metrics.recall_at["1"] - (1.0 + 0.0 + 0.5) / 3.0).abs() < 1e-12);
    assert!((metrics.recall_at["3"] - 1.0).abs() < 1e-12);
    let ideal = 1.0 + 1.0 / 3.0_f64.log2();
    let expected = (1.0 + 0.5 + (1.0 + 0.5) / ideal) / 3.0;
    assert!((metrics.ndcg_at_10 - expected).abs() < 1e-12);
}

#[test]
fn abstention_measures_compare_confidences() {
    let list = [
        scored(&["a"], &["a"], 0.9),
        scored(&["a"], &["a"], 0.5),
        scored(&[], &[], 0.5),
        scored(&[], &[], 0.1),
    ];
    let metrics = Metrics::of(&list.iter().collect::<Vec<_>>());
    // Of four pairs three are won and one is tied.
    assert_eq!(metrics.auroc, Some(0.875));
    assert_eq!(metrics.fpr95, Some(0.5));
    let inside: Vec<&Scored> = list.iter().take(2).collect();
    assert_eq!(Metrics::of(&inside).auroc, None);
}

#[test]
fn a_bad_line_is_named() {
    let error = read_queries("{\"query\":\"a\"}\n\n{\"query\":").expect_err("refused");
    assert_eq!(error.line, 3);
    let error = read_queries("{\"query\":\" \"}").expect_err("refused");
    assert_eq!(error.line, 1);
}

#[test]
fn kinds_lose_their_detail() {
    let read = |line: &str| read_queries(line).expect("reads").remove(0);
    let query = read("{\"query\":\"a\",\"oos_kind\":\"other-domain:xsid\"}");
    assert_eq!(query.oos_kind(), "other-domain");
    assert_eq!(read("{\"query\":\"a\"}").oos_kind(), "unspecified");
    assert_eq!(read("{\"query\":\"a\"}").lang, "und");
}
