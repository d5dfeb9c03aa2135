//! A sweep: one call made over many targets (`edit(file_1)`, `edit(file_2)`, …). Equal results
//! are what one hopes for there, so a sweep is no loop.

use std::collections::HashSet;

/// Targets that are remembered; a longer streak of distinct ones stays a sweep until one of
/// these comes again.
const MAX_TARGETS: usize = 64;

/// Whether the calls of a streak differ at one place only, and there each from every other.
#[derive(Debug, Clone, Default)]
pub(super) struct Sweep {
    calls: usize,
    /// Words of the first call.
    first: Vec<String>,
    /// Where the calls differ.
    place: Option<usize>,
    targets: HashSet<String>,
    broken: bool,
}

impl Sweep {
    pub fn add(&mut self, call: &str) {
        self.calls += 1;
        if self.broken {
            return;
        }
        let words = words(call);
        if self.calls == 1 {
            self.first = words;
            return;
        }
        self.broken = !self.takes(words);
    }

    /// Whether the calls so far, at least two, are a sweep.
    pub fn is_one(&self) -> bool {
        self.calls > 1 && !self.broken
    }

    fn takes(&mut self, mut words: Vec<String>) -> bool {
        if words.len() != self.first.len() {
            return false;
        }
        let differing: Vec<usize> = (0..words.len())
            .filter(|at| words[*at] != self.first[*at])
            .collect();
        let [place] = differing[..] else { return false };
        if self.place.is_some_and(|known| known != place) {
            return false;
        }
        if self.place.is_none() {
            self.place = Some(place);
            self.targets.insert(self.first[place].clone());
        }
        let target = words.swap_remove(place);
        if self.targets.contains(&target) {
            return false;
        }
        if self.targets.len() < MAX_TARGETS {
            self.targets.insert(target);
        }
        true
    }
}

/// Words and paths of a call, and each other character.
fn words(call: &str) -> Vec<String> {
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let mut words = Vec::new();
    let mut word = String::new();
    for c in call.chars() {
        if inner(c) {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if !c.is_whitespace() {
            words.push(c.to_string());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_sweep(calls: &[&str]) -> bool {
        let mut sweep = Sweep::default();
        calls.iter().for_each(|call| sweep.add(call));
        sweep.is_one()
    }

    #[test]
    fn one_place_that_changes_each_time_is_a_sweep() {
        assert!(is_sweep(&["edit(file_1)", "edit(file_2)", "edit(file_3)"]));
        assert!(is_sweep(&["cat src/a.rs", "cat src/b.rs"]));
        assert!(is_sweep(&["{\"path\": \"a\"}", "{\"path\": \"b\"}"]));
    }

    #[test]
    fn everything_else_is_not() {
        assert!(!is_sweep(&["edit(a)"]), "one call is no sweep");
        assert!(
            !is_sweep(&["edit(a)", "edit(b)", "edit(a)"]),
            "a target again"
        );
        assert!(
            !is_sweep(&["edit(a)", "edit(b)", "edit(c)", "edit(b)"]),
            "a later one again"
        );
        assert!(!is_sweep(&["edit(a)", "edit(a)"]));
        assert!(
            !is_sweep(&["select x from t", "select x from t limit 1"]),
            "another shape"
        );
        assert!(!is_sweep(&["f(a, b)", "f(c, d)"]), "two places");
        assert!(
            !is_sweep(&["f(a, b)", "f(c, b)", "f(a, d)"]),
            "another place"
        );
    }
}
