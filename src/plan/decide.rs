//! Which parts of a prompt are steps of their own.
//!
//! Words propose, the catalogue disposes: "and" parts two steps only if two entries are asked
//! for, while "then" does so by itself.

use crate::intent::{Form, Link, Manner, Part};

/// An entry for a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Its slot in the snapshot.
    pub slot: u32,
    /// Probability that it is right, 0 to 1.
    pub score: f64,
}

/// The best entries for a text, best first.
pub type Ranking = Vec<Candidate>;

/// Limits of a decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Below it nothing fits.
    pub floor: f64,
    /// Above it an entry is sure.
    pub accept: f64,
}

/// A step before it has its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Numbers of the parts it is made of; the first one leads.
    pub parts: Vec<usize>,
    /// Its entry; `None` where none fits.
    pub slot: Option<u32>,
    /// Score of the best entry.
    pub score: f64,
}

/// Places of the whole prompt's ranking that speak for a second entry beside the first.
const NEAR_THE_TOP: usize = 10;
/// The same for a noun phrase, which may as well be part of the one before: "a hotel with WiFi
/// and a gym".
const AT_THE_TOP: usize = 3;

/// Decides which parts are steps. `parts` are the wanted ones in the order of the text, each
/// with its ranking; `whole` is the ranking of the prompt; `is_named` says whether an entry's
/// name holds a word. Fewer than two steps mean that the prompt is one intent.
pub fn decide(
    parts: &[(&Part, Ranking)],
    whole: &Ranking,
    limits: Limits,
    is_named: &dyn Fn(u32, &str) -> bool,
) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = Vec::new();
    for (at, (part, ranking)) in parts.iter().enumerate() {
        let best = ranking.first().copied();
        let score = best.map_or(0.0, |best| best.score);
        let fits = best.filter(|best| best.score >= limits.floor);
        let previous = drafts
            .last()
            .and_then(|draft| draft.parts.last())
            .map(|at| parts[*at].0);
        let verdict = match (drafts.last(), previous) {
            (Some(draft), Some(previous)) => {
                let case = Case {
                    part,
                    previous,
                    fits: fits.map(|best| best.slot),
                    score,
                    draft,
                    whole,
                    limits,
                };
                case.verdict(at, parts, is_named)
            }
            _ => first(at, parts, is_named),
        };
        match verdict {
            Verdict::Own => drafts.push(Draft {
                parts: vec![at],
                slot: fits.map(|best| best.slot),
                score,
            }),
            Verdict::Joins => {
                if let Some(draft) = drafts.last_mut() {
                    draft.parts.push(at);
                }
            }
            Verdict::Replaces => {
                drafts.pop();
                drafts.push(Draft {
                    parts: vec![at],
                    slot: fits.map(|best| best.slot),
                    score,
                });
            }
            Verdict::Nothing => {}
        }
    }
    drafts
}

/// What becomes of a part.
enum Verdict {
    /// It is a step.
    Own,
    /// It belongs to the step before.
    Joins,
    /// It says better what the step before only prepares.
    Replaces,
    /// It asks for nothing.
    Nothing,
}

/// The first part has no step before it.
fn first(at: usize, parts: &[(&Part, Ranking)], is_named: &dyn Fn(u32, &str) -> bool) -> Verdict {
    match parts[at].0.form {
        Form::Statement => Verdict::Nothing,
        Form::Bare if parts.len() > at + 1 && !named_apart(at, parts, is_named) => Verdict::Nothing,
        _ => Verdict::Own,
    }
}

/// Whether a lone verb and the one after it name two entries: "lint and format the code".
fn named_apart(
    at: usize,
    parts: &[(&Part, Ranking)],
    is_named: &dyn Fn(u32, &str) -> bool,
) -> bool {
    let (Some((bare, own)), Some((next, others))) = (parts.get(at), parts.get(at + 1)) else {
        return false;
    };
    let (Some(one), Some(other)) = (own.first(), others.first()) else {
        return false;
    };
    one.slot != other.slot
        && is_named(one.slot, first_word(&bare.text))
        && is_named(other.slot, first_word(&next.text))
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or(text)
}

struct Case<'a> {
    part: &'a Part,
    previous: &'a Part,
    /// Slot of its entry, if one fits.
    fits: Option<u32>,
    score: f64,
    draft: &'a Draft,
    whole: &'a Ranking,
    limits: Limits,
}

impl Case<'_> {
    fn verdict(
        &self,
        at: usize,
        parts: &[(&Part, Ranking)],
        is_named: &dyn Fn(u32, &str) -> bool,
    ) -> Verdict {
        match self.part.form {
            Form::Statement => Verdict::Nothing,
            Form::Temporal => match self.fits {
                Some(slot) if self.draft.slot != Some(slot) => Verdict::Own,
                _ => Verdict::Nothing,
            },
            Form::Bare if parts.len() > at + 1 && parts[at + 1].0.link == Link::Weak => {
                match named_apart(at, parts, is_named) {
                    true => Verdict::Own,
                    false => Verdict::Nothing,
                }
            }
            Form::Bare | Form::Request => self.request(),
            Form::Fragment => self.fragment(),
        }
    }

    fn request(&self) -> Verdict {
        let same = self.fits.is_some() && self.fits == self.draft.slot;
        let asked = self.previous.manner != Manner::Told;
        if self.draft.slot.is_none()
            && asked
            && self.fits.is_some()
            && self.part.link != Link::Strong
        {
            return Verdict::Replaces;
        }
        match (self.part.link, self.fits) {
            (Link::Strong, Some(_)) if same && self.part.anaphoric => Verdict::Joins,
            (Link::Strong, Some(_)) => Verdict::Own,
            (Link::Strong, None) => Verdict::Own,
            (Link::Sentence, _) if same => Verdict::Joins,
            (Link::Sentence, Some(_)) => self.sentence(),
            // "Can you help me with that?" asks for nothing new.
            (Link::Sentence, None) => match self.part.manner {
                Manner::Told if !self.part.anaphoric && self.part.text.trim().len() > 8 => {
                    Verdict::Own
                }
                _ => Verdict::Joins,
            },
            (Link::Weak, Some(_)) if same => Verdict::Joins,
            (Link::Weak, Some(slot)) => {
                let supported =
                    self.score > self.limits.accept || self.is_within(slot, NEAR_THE_TOP);
                match supported || self.part.anaphoric {
                    true => Verdict::Own,
                    false => Verdict::Joins,
                }
            }
            (Link::Weak, None) if self.part.anaphoric => Verdict::Joins,
            (Link::Weak, None) => Verdict::Own,
        }
    }

    /// A request in a sentence of its own: "I want to post a picture. Can you suggest tags?" is
    /// one intent, whose first sentence only tells what for.
    fn sentence(&self) -> Verdict {
        let prepares = self.previous.manner == Manner::Wished && self.part.manner == Manner::Asked;
        let sure = self.draft.score > self.limits.accept && self.score > self.limits.accept;
        let near = self
            .fits
            .is_some_and(|slot| self.is_within(slot, NEAR_THE_TOP));
        // A sentence that does not simply tell what to do often gives the reason for the one
        // before ("I want to print it"): it takes more to make it a step.
        match self.part.manner == Manner::Told || sure && near {
            true => Verdict::Own,
            false if prepares && self.score >= self.draft.score => Verdict::Replaces,
            false => Verdict::Joins,
        }
    }

    /// A noun phrase that shares the verb: "a scorecard and a requirements document".
    fn fragment(&self) -> Verdict {
        let strong = self.part.link == Link::Strong;
        match self.fits {
            Some(slot) if self.draft.slot == Some(slot) => Verdict::Joins,
            Some(slot) if strong || self.is_within(slot, AT_THE_TOP) => Verdict::Own,
            Some(_) => Verdict::Joins,
            None => {
                // What the entry of the step before gains nothing from is not part of it.
                let gains = self
                    .whole
                    .iter()
                    .find(|candidate| Some(candidate.slot) == self.draft.slot)
                    .is_some_and(|candidate| candidate.score > self.draft.score);
                let apart = self.part.indefinite && self.previous.indefinite;
                match (strong || apart) && !gains {
                    true => Verdict::Own,
                    false => Verdict::Joins,
                }
            }
        }
    }

    fn is_within(&self, slot: u32, places: usize) -> bool {
        self.whole
            .iter()
            .take(places)
            .any(|candidate| candidate.slot == slot)
    }
}
