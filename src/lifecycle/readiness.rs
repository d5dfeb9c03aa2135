//! Readiness as a set of named blockers.

use std::collections::BTreeSet;

use tokio::sync::watch;

/// Something that has to be done before the server is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blocker {
    /// The entries are read and tokenised.
    Catalogue,
    /// The journal is open.
    Journal,
    /// The encoder is loaded and the entries have vectors.
    Model,
}

impl Blocker {
    /// Name that is shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Blocker::Catalogue => "catalogue",
            Blocker::Journal => "journal",
            Blocker::Model => "model",
        }
    }
}

/// What a probe asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The process answers.
    Alive,
    /// It was ready once.
    Started,
    /// New work is welcome.
    Ready,
}

/// What readiness depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// What is still to be done.
    pub blockers: BTreeSet<Blocker>,
    /// Whether the server is on its way out.
    pub draining: bool,
    /// Whether it was ready once.
    pub started: bool,
}

impl State {
    /// Whether new work is welcome.
    pub fn is_ready(&self) -> bool {
        self.blockers.is_empty() && !self.draining
    }

    /// Whether a probe succeeds.
    pub fn has(&self, phase: Phase) -> bool {
        match phase {
            Phase::Alive => true,
            Phase::Started => self.started,
            Phase::Ready => self.is_ready(),
        }
    }

    fn changed(&mut self) {
        self.started |= self.is_ready();
    }
}

/// The state, for whoever changes it and whoever follows it.
#[derive(Debug)]
pub struct Readiness(watch::Sender<State>);

impl Readiness {
    /// Not ready until all blockers are cleared.
    pub fn new(blockers: impl IntoIterator<Item = Blocker>) -> Self {
        let mut state = State {
            blockers: blockers.into_iter().collect(),
            draining: false,
            started: false,
        };
        state.changed();
        Self(watch::Sender::new(state))
    }

    /// One thing less to wait for.
    pub fn clear(&self, blocker: Blocker) {
        self.0.send_if_modified(|state| {
            let removed = state.blockers.remove(&blocker);
            state.changed();
            removed
        });
    }

    /// From now on nothing new should come.
    pub fn drain(&self) {
        self.0.send_modify(|state| state.draining = true);
    }

    /// The state as it is.
    pub fn state(&self) -> State {
        self.0.borrow().clone()
    }

    /// Follows the state; sees the one of now first.
    pub fn follow(&self) -> watch::Receiver<State> {
        let mut receiver = self.0.subscribe();
        receiver.mark_changed();
        receiver
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_only_when_nothing_blocks_and_never_again_after_draining() {
        let readiness = Readiness::new([Blocker::Model, Blocker::Catalogue]);
        readiness.clear(Blocker::Catalogue);
        assert!(!readiness.state().is_ready());
        assert_eq!(readiness.state().blockers, BTreeSet::from([Blocker::Model]));
        assert!(!readiness.state().has(Phase::Started));
        readiness.clear(Blocker::Model);
        assert!(readiness.state().is_ready());
        readiness.drain();
        assert!(!readiness.state().is_ready());
        assert!(readiness.state().has(Phase::Started), "started for good");
    }
}
