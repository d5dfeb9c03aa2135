//! Facts and conventions.

use sha2::{Digest, Sha256};

use super::directory::Directory;
use crate::error::Violations;

/// Bytes of a convention.
pub const MAX_CONTENT_BYTES: usize = 32 << 10;
/// Bytes of each part of a fact.
pub const MAX_PART_BYTES: usize = 8 << 10;
/// Bytes of an id or a language.
const MAX_NAME_BYTES: usize = 128;
/// Confidence of a fact whose source says nothing.
pub const DEFAULT_CONFIDENCE: f64 = 0.8;
/// Characters of an id that is made here.
const ID_CHARS: usize = 24;

/// Something that is so, in three parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Digest of the three parts: the same fact is one fact.
    pub id: String,
    /// What it is about.
    pub subject: String,
    /// How they relate.
    pub predicate: String,
    /// What is said of it.
    pub object: String,
    /// How sure, 0 to 1.
    pub confidence: f64,
    /// Who stored it; may be empty.
    pub agent_id: String,
    /// When: microseconds since 1970.
    pub stored_at: i64,
}

impl Fact {
    /// A fact from its parts, stored now.
    pub fn new(subject: &str, predicate: &str, object: &str, confidence: f64, agent: &str) -> Self {
        let [subject, predicate, object] =
            [subject, predicate, object].map(|part| part.trim().to_owned());
        Self {
            id: id_of("fact", &[&subject, &predicate, &object]),
            subject,
            predicate,
            object,
            confidence,
            agent_id: agent.to_owned(),
            stored_at: now(),
        }
    }

    /// Every limit it breaks.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::default();
        for (field, part) in [
            ("subject", &self.subject),
            ("predicate", &self.predicate),
            ("object", &self.object),
        ] {
            text(&mut violations, field, part, MAX_PART_BYTES);
        }
        if !(0.0..=1.0).contains(&self.confidence) {
            let message = format!("{} is not within 0 to 1", self.confidence);
            violations.add("confidence", message);
        }
        name(&mut violations, "agent_id", &self.agent_id);
        violations
    }

    /// The fact as one line.
    pub fn line(&self) -> String {
        format!("{} {} {}", self.subject, self.predicate, self.object)
    }
}

/// How things are done somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Convention {
    /// Given, or a digest of the rest.
    pub id: String,
    /// Where it holds, with everything below; none for a whole language.
    pub directory: Option<Directory>,
    /// Language that it holds for, in lower case; empty for any.
    pub language: String,
    /// The convention, in words.
    pub content: String,
    /// When it was last changed: microseconds since 1970.
    pub updated_at: i64,
}

impl Convention {
    /// A convention from its parts, changed now. An empty id is made from the rest.
    pub fn new(id: &str, directory: Option<Directory>, language: &str, content: &str) -> Self {
        let language = language.trim().to_lowercase();
        let content = content.trim().to_owned();
        let place = directory.as_ref().map_or("*", Directory::as_str);
        let id = match id {
            "" => id_of("convention", &[place, &language, &content]),
            id => id.to_owned(),
        };
        Self {
            id,
            directory,
            language,
            content,
            updated_at: now(),
        }
    }

    /// Every limit it breaks.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::default();
        name(&mut violations, "id", &self.id);
        name(&mut violations, "language", &self.language);
        text(&mut violations, "content", &self.content, MAX_CONTENT_BYTES);
        violations
    }
}

fn text(violations: &mut Violations, field: &str, text: &str, most: usize) {
    if text.trim().is_empty() {
        violations.add(field, "must not be blank");
    } else if text.len() > most {
        let size = text.len();
        violations.add(field, format!("{size} bytes exceed the limit of {most}"));
    }
}

fn name(violations: &mut Violations, field: &str, name: &str) {
    if name.len() > MAX_NAME_BYTES {
        let size = name.len();
        violations.add(
            field,
            format!("{size} bytes exceed the limit of {MAX_NAME_BYTES}"),
        );
    }
    if name.contains(char::is_control) {
        violations.add(field, "must not hold control characters");
    }
}

fn id_of(kind: &str, parts: &[&str]) -> String {
    let mut sha = Sha256::new();
    for part in [kind].iter().chain(parts) {
        sha.update((part.len() as u64).to_be_bytes());
        sha.update(part.as_bytes());
    }
    let digest = sha.finalize();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    hex[..ID_CHARS].to_owned()
}

fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_micros()).unwrap_or(i64::MAX)
}
