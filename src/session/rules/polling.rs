//! Polling without progress. Waiting is legitimate, so the limits are larger; any other
//! answer, and anything else that brings something new, begins anew.

use super::super::fingerprint::Fingerprint;
use super::super::report::CallRecord;
use super::settings::LoopRules;
use super::{Evidence, Finding, Rule};

/// Things polled side by side that are remembered (a job, and the wait between two looks).
const MAX_POLLS: usize = 8;

/// Other calls between two polls after which they no longer belong together.
const MAX_GAP: u32 = 12;

/// What is polled, the least recent first.
#[derive(Debug, Clone, Default)]
pub(super) struct Polling {
    polls: Vec<Poll>,
    /// All polls since the last news: waiting for one thing in two ways is one streak.
    evidence: Evidence,
}

/// Polls of one thing with one answer.
#[derive(Debug, Clone)]
struct Poll {
    call: Fingerprint,
    answer: Fingerprint,
    count: u32,
    gap: u32,
}

impl Polling {
    /// Counts a poll.
    pub fn observe(
        &mut self,
        sequence: u64,
        call: &CallRecord,
        settings: &LoopRules,
    ) -> Option<Finding> {
        self.age();
        let known = self.polls.iter().position(|poll| poll.call == call.call);
        let mut poll = match known.map(|at| self.polls.remove(at)) {
            Some(poll) if poll.answer == call.output => poll,
            changed => {
                if changed.is_some() {
                    *self = Self::default();
                }
                Poll {
                    call: call.call,
                    answer: call.output,
                    count: 0,
                    gap: 0,
                }
            }
        };
        poll.gap = 0;
        poll.count = poll.count.saturating_add(1);
        self.evidence.push(sequence);
        let finding = settings.polling.level(poll.count).map(|level| Finding {
            rule: Rule::Polling,
            level,
            count: poll.count,
            evidence: self.evidence.to_vec(),
            name: call.name().to_owned(),
            error: String::new(),
        });
        if self.polls.len() == MAX_POLLS {
            self.polls.remove(0);
        }
        self.polls.push(poll);
        finding
    }

    /// Something else was called; `new` where that brought a result not seen before.
    pub fn pass(&mut self, new: bool) {
        if new {
            *self = Self::default();
        }
        self.age();
    }

    fn age(&mut self) {
        self.polls.iter_mut().for_each(|poll| poll.gap += 1);
        self.polls.retain(|poll| poll.gap <= MAX_GAP);
        if self.polls.is_empty() {
            self.evidence = Evidence::default();
        }
    }
}
