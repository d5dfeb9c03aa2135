use http::HeaderMap;

use super::*;

#[test]
fn without_a_collector_nothing_is_traced() {
    let methods = Methods::new(["a.B/C".to_owned()], |_| true);
    let call = Call::begin(&methods.of("/a.B/C"), "/a.B/C", &HeaderMap::new());
    assert!(call.span().is_none());
    assert!(genai::retrieval("a prompt").is_none());
}

#[test]
fn counting_without_instruments_does_nothing() {
    count::routed("accepted", "hybrid", &["model_loading"]);
    count::judged("stop", "cycle");
    genai::Encoding::begin("a-model", 384).end(Ok(7));
}
