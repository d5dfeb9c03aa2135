//! The order that `depends_on` asks for, laid over the order of the text.

use std::collections::{BTreeSet, HashMap, HashSet};

/// Entries that are followed from one step at most; a catalogue may chain thousands.
const MAX_VISITED: usize = 10_000;

/// Steps in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ordered {
    /// Numbers of the steps, as they came, in their new order.
    pub order: Vec<usize>,
    /// For each step, as they came, the steps that have to come first.
    pub after: Vec<Vec<usize>>,
    /// Slots of a circle, if the entries depend on each other in one.
    pub cycle: Vec<u32>,
}

/// Orders steps, given by the slots of their entries (`None`: missing), so that each comes
/// after those its entry depends on, also by way of entries that are no step; otherwise the
/// order stays. `needs` gives the slots that an entry depends on. In a circle, the order stays.
pub fn arrange(steps: &[Option<u32>], needs: &dyn Fn(u32) -> Vec<u32>) -> Ordered {
    let places: HashMap<u32, Vec<usize>> = {
        let mut places: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, slot) in steps.iter().enumerate() {
            if let Some(slot) = slot {
                places.entry(*slot).or_default().push(at);
            }
        }
        places
    };
    let mut ordered = Ordered {
        order: (0..steps.len()).collect(),
        after: vec![Vec::new(); steps.len()],
        cycle: Vec::new(),
    };
    for (at, slot) in steps.iter().enumerate() {
        let Some(slot) = slot else { continue };
        let (reached, cycle) = reach(*slot, needs);
        if !cycle.is_empty() {
            ordered.cycle = cycle;
            ordered.after.iter_mut().for_each(Vec::clear);
            return ordered;
        }
        let first: BTreeSet<usize> = reached
            .iter()
            .filter_map(|slot| places.get(slot))
            .flatten()
            .copied()
            .filter(|place| *place != at)
            .collect();
        ordered.after[at] = first.into_iter().collect();
    }
    // The earliest step of the text whose steps before it are done, until none is left.
    let mut done: Vec<usize> = Vec::with_capacity(steps.len());
    while done.len() < steps.len() {
        let next = (0..steps.len()).find(|at| {
            !done.contains(at)
                && ordered.after[*at]
                    .iter()
                    .all(|before| done.contains(before))
        });
        match next {
            Some(next) => done.push(next),
            // Without a circle there always is one.
            None => return ordered,
        }
    }
    ordered.order = done;
    ordered
}

/// Everything an entry depends on, near or far, and the circle that was met, if any.
fn reach(start: u32, needs: &dyn Fn(u32) -> Vec<u32>) -> (HashSet<u32>, Vec<u32>) {
    let mut reached = HashSet::new();
    // Depth first, with the way back: (entry, what is still to be followed).
    let mut way: Vec<(u32, Vec<u32>)> = vec![(start, needs(start))];
    while let Some((_, open)) = way.last_mut() {
        let Some(next) = open.pop() else {
            way.pop();
            continue;
        };
        if let Some(at) = way.iter().position(|(slot, _)| *slot == next) {
            return (reached, way[at..].iter().map(|(slot, _)| *slot).collect());
        }
        if reached.insert(next) && reached.len() < MAX_VISITED {
            way.push((next, needs(next)));
        }
    }
    (reached, Vec::new())
}
