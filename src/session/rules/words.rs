//! What the agent says: the same again, or talk without a call.

use std::collections::VecDeque;

use super::super::fingerprint::Fingerprint;
use super::super::report::StepRecord;
use super::settings::LoopRules;
use super::{Evidence, Finding, Rule};

/// Messages among which repetitions count.
const WINDOW: usize = 12;

/// The agent's last messages.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    said: VecDeque<(Fingerprint, u64)>,
    turns: u32,
    evidence: Evidence,
}

impl Words {
    /// Counts a report. `progress` says whether a call of it brought something new; then
    /// whatever was said before no longer counts.
    pub fn observe(
        &mut self,
        sequence: u64,
        record: &StepRecord,
        progress: bool,
        settings: &LoopRules,
        findings: &mut Vec<Finding>,
    ) {
        if progress {
            self.said.clear();
        }
        let talk_only = record.calls.is_empty() && record.asked.is_empty();
        if !talk_only {
            (self.turns, self.evidence) = (0, Evidence::default());
        }
        let Some(said) = record.said else { return };
        let name = record.calls.first().map_or("", |call| call.name());
        let mut add = |rule, level, count, evidence| {
            let (name, error) = (name.to_owned(), String::new());
            findings.push(Finding {
                rule,
                level,
                count,
                evidence,
                name,
                error,
            });
        };
        if self.said.len() == WINDOW {
            self.said.pop_front();
        }
        self.said.push_back((said, sequence));
        let same: Vec<u64> = self
            .said
            .iter()
            .filter(|(text, _)| *text == said)
            .map(|(_, s)| *s)
            .collect();
        let count = u32::try_from(same.len()).unwrap_or(u32::MAX);
        if let Some(level) = settings.repeated_text.level(count) {
            add(Rule::RepeatedText, level, count, same);
        }
        if talk_only {
            self.turns = self.turns.saturating_add(1);
            self.evidence.push(sequence);
            if let Some(level) = settings.monologue.level(self.turns) {
                add(Rule::Monologue, level, self.turns, self.evidence.to_vec());
            }
        }
    }
}
