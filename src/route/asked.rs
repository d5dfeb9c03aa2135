//! The texts of one call: what is ranked, what is not wanted, the parts of a plan, and the
//! conversation. All of them are embedded in one batch.

use super::request::{Mode, Request};
use crate::intent::{Form, Polarity, Reading};

/// A request with everything that is read out of its prompt.
pub(super) struct Asked {
    /// The request with the text that is ranked for its prompt.
    pub request: Request,
    /// The prompt as it was read.
    pub reading: Reading,
    /// The prompt with spaces for what is not wanted, byte by byte.
    pub visible: String,
    /// Whether the prompt only says what is not wanted.
    pub nothing: bool,
    /// Numbers of the unwanted parts.
    pub unwanted: Vec<usize>,
    /// Numbers of the parts that may be steps; fewer than two are no plan.
    pub parts: Vec<usize>,
    /// The conversation's text, if there is one.
    pub context: Option<String>,
}

impl Asked {
    /// Reads a request.
    pub fn of(request: &Request) -> Self {
        let reading = Reading::of(&request.prompt);
        let numbers = |polarity: Polarity| {
            (0..reading.parts.len())
                .filter(|at| reading.parts[*at].polarity == polarity)
                .collect::<Vec<usize>>()
        };
        let unwanted = numbers(Polarity::Unwanted);
        let wanted = numbers(Polarity::Wanted);
        let asks = wanted
            .iter()
            .any(|at| reading.parts[*at].form != Form::Statement);
        let nothing = !unwanted.is_empty() && !asks;
        let mut ranked = request.clone();
        if !unwanted.is_empty() && !nothing {
            ranked.prompt = reading.positive();
        }
        let mut visible = request.prompt.clone().into_bytes();
        for at in unwanted.iter().filter(|_| !nothing) {
            visible[reading.parts[*at].span.clone()].fill(b' ');
        }
        // Spans end between characters, so that what is left is text.
        let visible = String::from_utf8(visible).unwrap_or_else(|_| request.prompt.clone());
        let steps = request.plan && wanted.len() > 1;
        let context = (!request.conversation.is_empty())
            .then(|| request.conversation.text())
            .filter(|text| !text.is_empty());
        Self {
            parts: if steps { wanted } else { Vec::new() },
            request: ranked,
            nothing,
            visible,
            unwanted,
            context,
            reading,
        }
    }

    /// The texts that the encoder reads: the ranked one first, then those that are not wanted,
    /// the parts, and the conversation.
    pub fn texts(&self) -> Vec<String> {
        if self.request.mode == Mode::Lexical {
            return Vec::new();
        }
        let mut texts = vec![self.request.prompt.clone()];
        texts.extend(self.texts_beside());
        texts
    }

    /// The texts beside the ranked one, in the same order.
    pub fn texts_beside(&self) -> Vec<String> {
        let part = |at: &usize| self.reading.parts[*at].text.clone();
        let parts = self.unwanted.iter().chain(&self.parts).map(part);
        parts.chain(self.context.clone()).collect()
    }

    /// The same request for another text.
    pub fn with_text(&self, text: &str) -> Request {
        let mut request = self.request.clone();
        request.prompt = text.to_owned();
        request
    }
}
