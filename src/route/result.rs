//! What a call answers.

use std::ops::Range;
use std::sync::Arc;

use super::request::Mode;
use crate::catalog::Entry;
use crate::embed::Language;
use crate::index::Field;
use crate::params::Extraction;
use crate::plan::Plan;

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Sure enough to act on.
    Accepted,
    /// The best candidate, to be confirmed.
    Uncertain,
    /// Nothing fits.
    Abstained,
    /// A slash command that no entry has.
    UnknownCommand,
}

impl Outcome {
    /// Lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Accepted => "accepted",
            Outcome::Uncertain => "uncertain",
            Outcome::Abstained => "abstained",
            Outcome::UnknownCommand => "unknown_command",
        }
    }
}

/// A decision with what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What was decided.
    pub outcome: Outcome,
    /// Probability that the first match is right.
    pub confidence: f64,
    /// Below it the router abstains.
    pub floor: f64,
    /// Above it a match is accepted.
    pub accept_threshold: f64,
    /// In words.
    pub reason: String,
    /// Nearest names of an unknown command.
    pub nearest_commands: Vec<String>,
}

/// Bands of the lexical score, half-open from below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Band {
    /// Below 0.3.
    Weak,
    /// 0.3 to 0.5.
    Fair,
    /// 0.5 to 0.7.
    Good,
    /// 0.7 to 0.9.
    VeryGood,
    /// 0.9 and above.
    Exact,
}

impl Band {
    /// Band of a lexical score.
    pub fn of(score: f64) -> Self {
        match score {
            s if s >= 0.9 => Band::Exact,
            s if s >= 0.7 => Band::VeryGood,
            s if s >= 0.5 => Band::Good,
            s if s >= 0.3 => Band::Fair,
            _ => Band::Weak,
        }
    }

    /// Name for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Band::Weak => "weak",
            Band::Fair => "fair",
            Band::Good => "good",
            Band::VeryGood => "very good",
            Band::Exact => "exact",
        }
    }
}

/// A token of the prompt found in an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchedToken {
    /// The token.
    pub token: String,
    /// Heaviest field that holds it.
    pub field: Field,
    /// Weight of that field.
    pub weight: f64,
}

/// The parts a score was made of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoreParts {
    /// BM25 against what a full match would reach.
    pub coverage: f64,
    /// Similarity with the entry's own text.
    pub similarity: Option<f64>,
    /// Largest similarity with an example, and the example.
    pub nearest_example: Option<(f64, String)>,
    /// Part of the similarity that says nothing.
    pub hub: f64,
    /// The sum that ranked the entry, adjustments included.
    pub raw: f64,
    /// What was added to the entry's own sum or taken off it, and why.
    pub adjustments: Vec<Adjustment>,
    /// Whether the prompt says that the entry is not wanted.
    pub negated: bool,
    /// Whether the entry keeps its place because it is pinned.
    pub pinned: bool,
}

/// Why an entry's sum was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The prompt is nearer to what the entry is not for (the text) than to the entry.
    NotWhen(String),
    /// Another entry (its name) sends such prompts here.
    Redirect(String),
    /// The conversation speaks for it.
    Context,
    /// Whoever asks prefers it.
    Preferred,
    /// The prompt says (with these words) that it is not wanted.
    Negated(String),
}

/// A change of an entry's sum.
#[derive(Debug, Clone, PartialEq)]
pub struct Adjustment {
    /// Why.
    pub cause: Cause,
    /// What was added; negative where it was taken off.
    pub amount: f64,
}

/// Why a candidate is not among the matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// The prompt says that it is not wanted.
    Negated,
    /// Its kind was left out.
    KindExcluded,
    /// It is none of the entries asked for.
    NotAskedFor,
    /// Whoever asks has blocked it.
    Blocked,
    /// The best entry, and so this one, is below the floor.
    BelowFloor,
    /// Its score is below `min_score`.
    BelowMinScore,
    /// Its score says that it has nothing to do with the prompt.
    NoMatch,
    /// There was no room left.
    OverLimit,
}

/// A candidate that is not among the matches.
#[derive(Debug, Clone, PartialEq)]
pub struct Dropped {
    /// The candidate.
    pub entry: Arc<Entry>,
    /// Its score.
    pub score: f64,
    /// Its place among all entries, from 1, had none been dropped.
    pub rank: usize,
    /// Why.
    pub reason: DropReason,
}

/// Something that the prompt says is not wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Unwanted {
    /// Its bytes in the prompt.
    pub span: Range<usize>,
    /// The words, without the negation.
    pub text: String,
    /// Entries that it means.
    pub entries: Vec<Arc<Entry>>,
}

/// One ranked entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The entry.
    pub entry: Arc<Entry>,
    /// What the list is sorted by, 0 to 1.
    pub score: f64,
    /// Weighted share of the prompt's distinct tokens found in the entry.
    pub lexical_score: f64,
    /// Tokens found, in the prompt's order.
    pub matched: Vec<MatchedToken>,
    /// What the score was made of.
    pub parts: ScoreParts,
}

/// Why an answer is made of less than was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DegradedReason {
    /// No model is configured.
    ModelDisabled,
    /// The model is still loading.
    ModelLoading,
    /// The model could not be loaded, or failed on this text.
    ModelFailed,
    /// The model's queue is full.
    ModelOverloaded,
    /// Some entries have no vectors yet.
    VectorsPending,
    /// The decision could not be written down.
    NotJournaled,
    /// The fitted calibration holds for another model or catalogue; the built-in one was used.
    CalibrationStale,
}

impl DegradedReason {
    /// All of them.
    pub const ALL: [Self; 7] = [
        DegradedReason::ModelDisabled,
        DegradedReason::ModelLoading,
        DegradedReason::ModelFailed,
        DegradedReason::ModelOverloaded,
        DegradedReason::VectorsPending,
        DegradedReason::NotJournaled,
        DegradedReason::CalibrationStale,
    ];

    /// Lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            DegradedReason::ModelDisabled => "model_disabled",
            DegradedReason::ModelLoading => "model_loading",
            DegradedReason::ModelFailed => "model_failed",
            DegradedReason::ModelOverloaded => "model_overloaded",
            DegradedReason::VectorsPending => "vectors_pending",
            DegradedReason::NotJournaled => "not_journaled",
            DegradedReason::CalibrationStale => "calibration_stale",
        }
    }
}

/// A reason with its detail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Degradation {
    /// Why.
    pub reason: DegradedReason,
    /// In words.
    pub detail: String,
}

/// Something the caller should know of an answer that is otherwise whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// The prompt is mostly in a script that the model was not trained for.
    LanguageUnsupported {
        /// The model.
        model: String,
    },
}

/// A prompt longer than the model reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputTruncation {
    /// Tokens of the prompt.
    pub prompt_tokens: u32,
    /// Tokens that the model read.
    pub used_tokens: u32,
}

/// The smallest set that holds the right entry with a promised probability.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionSet {
    /// The probability promised, for prompts like those the calibration was fitted to.
    pub coverage: f64,
    /// The entries, best first.
    pub entries: Vec<Arc<Entry>>,
}

/// The answer of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteResult {
    /// What was decided.
    pub decision: Decision,
    /// The selection, best first.
    pub matches: Vec<Ranked>,
    /// The best entries whatever was decided, best first.
    pub nearest: Vec<Ranked>,
    /// Revision of the catalogue.
    pub revision: String,
    /// What ranked.
    pub mode: Mode,
    /// Model whose similarity took part.
    pub model: Option<String>,
    /// The prompt's language, where the model can tell.
    pub language: Option<Language>,
    /// The set asked for with `coverage`, or why none can be promised.
    pub set: Option<Result<PredictionSet, String>>,
    /// Why less took part than was asked for.
    pub degraded: Vec<Degradation>,
    /// Warnings.
    pub warnings: Vec<Warning>,
    /// Whether the model read the whole prompt.
    pub truncated: Option<InputTruncation>,
    /// What the prompt says is not wanted.
    pub unwanted: Vec<Unwanted>,
    /// Parameters of the first match; absent where nothing was decided on.
    pub parameters: Option<Extraction>,
    /// The plan, where one was asked for.
    pub plan: Option<Plan>,
    /// The best candidates that are not among the matches, where that was asked for.
    pub dropped: Vec<Dropped>,
}

/// A result on the way, in the order in which they become known.
#[derive(Debug, Clone, PartialEq)]
pub enum Stage {
    /// The prompt names a command.
    Exact(Arc<Entry>),
    /// Ranked by tokens alone.
    Lexical(Vec<Ranked>),
    /// Ranked by similarity alone.
    Semantic {
        /// Best first.
        matches: Vec<Ranked>,
        /// The model.
        model: String,
    },
}
