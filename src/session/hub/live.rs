//! One live loop, behind its lock.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::super::config::LoopConfig;
use super::super::fingerprint::Fingerprint;
use super::super::state::LoopState;
use super::super::verdict::{Decision, Ending, Verdict};
use super::events::Written;
use crate::journal::LoopEvent;
use crate::journal::event::{Terminated, TerminationReason, Usage};

/// Answers that are kept for each loop, so that a request that is sent again is answered the
/// same; of more, the newest.
const MAX_ANSWERS: usize = 64;

/// What was answered to a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Sequence that the report got in the journal.
    pub sequence: u64,
    /// What the guard said.
    pub verdict: Verdict,
}

/// Where a loop stands.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopView {
    /// The loop.
    pub loop_id: String,
    /// Who created it.
    pub agent_id: String,
    /// Iterations so far.
    pub iterations: u32,
    /// Tokens so far.
    pub usage: Usage,
    /// Since it began.
    pub elapsed: Duration,
    /// Until it is abandoned, unless its client is heard of.
    pub lease_left: Duration,
    /// Sequence of its last event, as far as the guard knows.
    pub last_sequence: u64,
    /// How it ended; `None` while it is open.
    pub terminated: Option<Terminated>,
}

/// A loop with its counters, its lease and its last answers.
#[derive(Debug)]
pub(super) struct Live {
    pub loop_id: String,
    pub agent_id: String,
    /// Digest of the request that created it.
    pub created_by: Fingerprint,
    pub state: LoopState,
    /// Sequence that its next event gets.
    pub next_sequence: u64,
    pub usage: Usage,
    pub terminated: Option<Terminated>,
    /// What the last stop said, for a client that closes the loop without a reason.
    pub stopped: Option<Ending>,
    /// Streams that are open on it.
    pub streams: usize,
    /// When it began, on tokio's clock; before the process where it was rebuilt.
    began: Instant,
    /// Time it was open before `began`; while no server ran, no time passed.
    before: Duration,
    lease: Duration,
    heard: Instant,
    answers: VecDeque<(String, Fingerprint, Answer)>,
}

impl Live {
    pub fn new(
        loop_id: &str,
        agent_id: &str,
        created_by: Fingerprint,
        config: LoopConfig,
        lease: Duration,
    ) -> Self {
        let now = Instant::now();
        Self {
            loop_id: loop_id.to_owned(),
            agent_id: agent_id.to_owned(),
            created_by,
            state: LoopState::new(config),
            next_sequence: 1,
            usage: Usage::default(),
            terminated: None,
            stopped: None,
            streams: 0,
            began: now,
            before: Duration::ZERO,
            lease,
            heard: now,
            answers: VecDeque::new(),
        }
    }

    /// Time since it began; stands still once it has ended.
    pub fn elapsed(&self) -> Duration {
        match &self.terminated {
            Some(terminated) => terminated.duration,
            None => self.before + self.began.elapsed(),
        }
    }

    /// Its client was heard of.
    pub fn renew(&mut self) {
        self.heard = Instant::now();
    }

    /// Until it is abandoned.
    pub fn lease_left(&self) -> Duration {
        match self.streams {
            0 => self.lease.saturating_sub(self.heard.elapsed()),
            _ => self.lease,
        }
    }

    /// Since its client was last heard of.
    pub fn silent_for(&self) -> Duration {
        self.heard.elapsed()
    }

    pub fn view(&self) -> LoopView {
        LoopView {
            loop_id: self.loop_id.clone(),
            agent_id: self.agent_id.clone(),
            iterations: self.state.used().iterations,
            usage: self.usage,
            elapsed: self.elapsed(),
            lease_left: if self.terminated.is_some() {
                Duration::ZERO
            } else {
                self.lease_left()
            },
            last_sequence: self.next_sequence.saturating_sub(1),
            terminated: self.terminated.clone(),
        }
    }

    /// How it would end now.
    pub fn ending(&self, reason: TerminationReason, detail: &str) -> Terminated {
        Terminated {
            reason,
            iterations: self.state.used().iterations,
            total_usage: self.usage,
            duration: self.elapsed(),
            detail: detail.to_owned(),
        }
    }

    /// The answer to a request id, with the digest of the request it answered.
    pub fn answered(&self, request_id: &str) -> Option<(Fingerprint, Answer)> {
        let found = self.answers.iter().find(|(id, ..)| id == request_id)?;
        Some((found.1, found.2.clone()))
    }

    /// Takes over what has been written: `state` is the state after it.
    pub fn commit(&mut self, written: &Written, state: LoopState) {
        self.state = state;
        self.take(written);
    }

    /// Folds what was written before, to rebuild the loop.
    pub fn fold(&mut self, written: &Written) {
        self.state
            .apply(written.at, written.elapsed(), &written.record);
        self.before = self.before.max(written.elapsed());
        self.take(written);
    }

    fn take(&mut self, written: &Written) {
        self.usage = Usage {
            input_tokens: self
                .usage
                .input_tokens
                .saturating_add(written.usage.input_tokens),
            output_tokens: self
                .usage
                .output_tokens
                .saturating_add(written.usage.output_tokens),
        };
        self.stopped = match written.verdict.decision {
            Decision::Stop => written.verdict.ending,
            _ => None,
        };
        if let Some((id, digest)) = &written.request {
            if self.answers.len() == MAX_ANSWERS {
                self.answers.pop_front();
            }
            let answer = Answer {
                sequence: written.at,
                verdict: written.verdict.clone(),
            };
            self.answers.push_back((id.clone(), *digest, answer));
        }
    }

    /// Takes note of an event that ends it; whether it does.
    pub fn end_by(&mut self, event: &LoopEvent) -> bool {
        if let LoopEvent::Terminated(terminated) = event {
            self.terminated = Some(terminated.clone());
        }
        self.terminated.is_some()
    }
}
