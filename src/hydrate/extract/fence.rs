//! Fenced code (GFM): lines between ``` or ~~~.

use std::ops::Range;

/// Spaces that a fence may be indented by.
const MAX_INDENT: usize = 3;
/// Shortest fence.
const MIN_FENCE: usize = 3;

/// Spans of fenced code with their fences, in order. A fence that is not closed goes on to the
/// end.
pub(super) fn spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut open: Option<(char, usize, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some((mark, length, rest)) = fence(line) else {
            continue;
        };
        match open {
            // The info string of a back-tick fence has no back-tick: it would be inline code.
            None if mark == '`' && rest.contains('`') => {}
            None => open = Some((mark, length, start)),
            Some((opened, wanted, from)) => {
                if mark == opened && length >= wanted && rest.trim().is_empty() {
                    spans.push(from..at);
                    open = None;
                }
            }
        }
    }
    if let Some((_, _, from)) = open {
        spans.push(from..text.len());
    }
    spans
}

/// Whether a span touches one of the spans, which are in order.
pub(super) fn touches(spans: &[Range<usize>], span: &Range<usize>) -> bool {
    let at = spans.partition_point(|fence| fence.end <= span.start);
    spans.get(at).is_some_and(|fence| fence.start < span.end)
}

/// Mark and length of the fence that a line begins with, and what follows it.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let inner = line.trim_start_matches(' ');
    if line.len() - inner.len() > MAX_INDENT {
        return None;
    }
    let mark = inner.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = inner.trim_start_matches(mark);
    let length = inner.len() - rest.len();
    (length >= MIN_FENCE).then_some((mark, length, rest))
}
