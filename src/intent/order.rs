//! The order meant: "A, but first B" is B, A.

use super::{Part, Place};

/// Numbers of the parts in the order meant; without signs of another, that of the text.
pub(super) fn order(parts: &[Part]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::with_capacity(parts.len());
    let mut deferred: Vec<usize> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let starts_sentence = at > 0 && parts[at - 1].sentence != part.sentence;
        if starts_sentence {
            order.append(&mut deferred);
        }
        match part.place {
            Place::EndOfSentence => deferred.push(at),
            Place::Next => order.push(at),
            Place::BeforePrevious => {
                let place = order.len().saturating_sub(1);
                order.insert(place, at);
            }
            Place::BeforeSentence => {
                // Said in a sentence of its own, it belongs before the sentence before.
                let sentence = match order.last() {
                    Some(last) => parts[*last].sentence,
                    None => part.sentence,
                };
                let place = order
                    .iter()
                    .position(|placed| parts[*placed].sentence == sentence)
                    .unwrap_or(order.len());
                order.insert(place, at);
            }
        }
    }
    order.append(&mut deferred);
    order
}
