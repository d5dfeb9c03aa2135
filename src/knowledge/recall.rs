//! `recall_knowledge`: a plain search, or the conventions of a directory.
//!
//! For `scope = "conventions"` those of the directory come first, then those of each parent up
//! to the root, then those of whole languages. What says the same is kept once, where it is
//! nearest; what exceeds the limit is cut from the farthest, and named.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::context::{Context, Least, Part, fit};
use super::directory::Directory;
use super::item::{Convention, Fact};
use super::keep::{CONVENTION, FACT, Knowledge, KnowledgeError};
use crate::error::Violations;
use crate::index::IndexedEntry;
use crate::route::lexical::{self, FieldWeights};
use crate::route::{Degradation, MAX_LIMIT};
use crate::text::{distinct, tokenize};

/// Items returned where the caller says nothing.
pub const DEFAULT_LIMIT: usize = 5;
/// Bytes of a query.
pub const MAX_QUERY_BYTES: usize = 64 << 10;
/// Largest budget.
pub const MAX_BUDGET: usize = 1 << 20;
/// The one scope there is.
pub const CONVENTIONS: &str = "conventions";
/// Items that are named although they were cut.
const MAX_CUT_NAMED: usize = 100;
/// Bytes of all items of one answer: half of what clients take by default.
const MAX_ANSWER_BYTES: usize = 2 << 20;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recall {
    /// What is looked for; for conventions it may name languages, or be empty.
    pub query: String,
    /// Most items; none for [`DEFAULT_LIMIT`].
    pub limit: Option<usize>,
    /// Where the asker works.
    pub directory: Option<String>,
    /// None for a plain search.
    pub scope: Option<String>,
    /// Tokens of the message; none for the operator's default.
    pub max_context_tokens: Option<usize>,
}

/// Why an item is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// It fits the query.
    Search,
    /// It holds in the directory, or so many levels above it.
    Directory(usize),
    /// It holds for a language.
    Language,
}

/// A fact or a convention.
#[derive(Debug, Clone, PartialEq)]
pub enum RecalledItem {
    /// A fact.
    Fact(Arc<Fact>),
    /// A convention.
    Convention(Arc<Convention>),
}

/// An item that was found, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The item.
    pub item: RecalledItem,
    /// Why it is there.
    pub scope: Scope,
    /// How well it fits the query, 0 to 1; 0 for conventions of a directory.
    pub score: f64,
}

/// A convention that was cut to keep the limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Its id.
    pub id: String,
    /// Where it holds; empty for a language.
    pub place: String,
    /// Why it would have been there.
    pub scope: Scope,
}

/// What is known.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recalled {
    /// Best or nearest first.
    pub items: Vec<Found>,
    /// Those that were cut, nearest first; at most 100.
    pub cut: Vec<Cut>,
    /// All that were cut.
    pub cut_count: usize,
    /// Conventions that say what a nearer one says.
    pub duplicates: usize,
    /// The items as a message; what does not fit is left out from the end.
    pub context: Context,
    /// Why less took part than could.
    pub degraded: Vec<Degradation>,
}

impl Recall {
    fn check(&self) -> Violations {
        let mut violations = Violations::default();
        let size = self.query.len();
        if size > MAX_QUERY_BYTES {
            let message = format!("{size} bytes exceed the limit of {MAX_QUERY_BYTES}");
            violations.add("query", message);
        }
        let blank = |c: char| c.is_whitespace() || c.is_control();
        if self.scope.is_none() && self.query.chars().all(blank) {
            violations.add("query", "must not be blank");
        }
        if let Some(limit) = self.limit
            && !(1..=MAX_LIMIT).contains(&limit)
        {
            violations.add("limit", format!("{limit} is not within 1 to {MAX_LIMIT}"));
        }
        match (self.scope.as_deref(), &self.directory) {
            (None | Some(CONVENTIONS), Some(_)) | (None, None) => {}
            (Some(CONVENTIONS), None) => {
                violations.add("directory", "is required with a scope");
            }
            (Some(other), _) => {
                let shown: String = other.chars().take(50).collect();
                let message = format!("{shown:?} is no scope: leave it out, or {CONVENTIONS:?}");
                violations.add("scope", message);
            }
        }
        check_budget(self.max_context_tokens, &mut violations);
        violations
    }
}

/// The limit of a budget.
pub(super) fn check_budget(budget: Option<usize>, violations: &mut Violations) {
    if let Some(tokens) = budget
        && !(1..=MAX_BUDGET).contains(&tokens)
    {
        let message = format!("{tokens} is not within 1 to {MAX_BUDGET}");
        violations.add("max_context_tokens", message);
    }
}

impl Knowledge {
    /// Recalls what is known.
    ///
    /// # Errors
    ///
    /// Values out of their limits, a scope without a directory, a directory above the root.
    pub async fn recall(&self, recall: &Recall) -> Result<Recalled, KnowledgeError> {
        let mut violations = recall.check();
        let directory = recall
            .directory
            .as_deref()
            .and_then(|path| self.directory("directory", path, &mut violations));
        violations.into_result()?;
        let limit = recall.limit.unwrap_or(DEFAULT_LIMIT);
        let mut recalled = match (&recall.scope, directory) {
            (Some(_), Some(directory)) => {
                let (this, query) = (self.clone(), recall.query.clone());
                let scoped = move || this.scoped(&query, &directory, limit);
                tokio::task::spawn_blocking(scoped)
                    .await
                    .map_err(|_| KnowledgeError::CutOff)?
            }
            (_, directory) => self.plain(&recall.query, directory.as_ref(), limit).await,
        };
        let budget = recall.max_context_tokens.unwrap_or(self.default_budget());
        let parts: Vec<Part> = recalled.items.iter().map(part_of).collect();
        let counter = self.counter();
        let render = move || fit(&parts, Least::Last, budget, &counter);
        recalled.context = tokio::task::spawn_blocking(render)
            .await
            .map_err(|_| KnowledgeError::CutOff)?;
        Ok(recalled)
    }

    /// The best items for a query. With a directory, conventions of other places are left out.
    async fn plain(&self, query: &str, directory: Option<&Directory>, limit: usize) -> Recalled {
        let visible: Option<HashSet<String>> = directory.map(|directory| {
            self.read(|book| {
                let places = directory.chain().map(Some).chain([None]);
                let ids = places.flat_map(|place| {
                    let ids = book
                        .at(place.as_ref())
                        .map(|convention| convention.id.clone());
                    ids.collect::<Vec<_>>()
                });
                ids.collect()
            })
        });
        let allowed = move |indexed: &IndexedEntry| {
            let id = indexed.entry.id.source.strip_prefix(CONVENTION);
            match (&visible, id) {
                (Some(visible), Some(id)) => visible.contains(id),
                _ => true,
            }
        };
        let (hits, degraded) = self.search(query, limit, Arc::new(allowed)).await;
        let mut bytes = 0;
        let items: Vec<Found> = self.read(|book| {
            let found = hits.into_iter().filter_map(|hit| {
                let source = &hit.indexed.entry.id.source;
                // An item may have gone since.
                let item = match (source.strip_prefix(FACT), source.strip_prefix(CONVENTION)) {
                    (Some(id), _) => RecalledItem::Fact(book.fact(id)?),
                    (_, Some(id)) => RecalledItem::Convention(book.convention(id)?),
                    _ => return None,
                };
                Some(Found {
                    item,
                    scope: Scope::Search,
                    score: hit.score,
                })
            });
            found.collect()
        });
        let fits = items.iter().take_while(|found| {
            bytes += match &found.item {
                RecalledItem::Fact(fact) => fact.line().len(),
                RecalledItem::Convention(convention) => convention.content.len(),
            };
            bytes <= MAX_ANSWER_BYTES
        });
        let fits = fits.count();
        Recalled {
            cut_count: items.len() - fits,
            items: items.into_iter().take(fits).collect(),
            degraded,
            ..Recalled::default()
        }
    }

    /// The conventions of a directory, of its parents, and of languages.
    fn scoped(&self, query: &str, directory: &Directory, limit: usize) -> Recalled {
        let levels: Vec<(Scope, Vec<Arc<Convention>>)> = self.read(|book| {
            let languages = named_languages(query, |word| book.knows_language(word));
            let speaks = |convention: &&Arc<Convention>| {
                let language = &convention.language;
                language.is_empty() || languages.is_empty() || languages.contains(language)
            };
            let mut levels: Vec<_> = directory
                .chain()
                .enumerate()
                .map(|(level, place)| {
                    let found = book.at(Some(&place)).filter(speaks).cloned();
                    (Scope::Directory(level), found.collect::<Vec<_>>())
                })
                .collect();
            let wide = book.at(None).filter(speaks).cloned().collect();
            levels.push((Scope::Language, wide));
            levels
        });
        let fits = match levels.iter().any(|(_, found)| found.len() > 1) {
            true => self.coverage(query),
            false => HashMap::new(),
        };
        let fit = |convention: &Convention| fits.get(&convention.id).copied().unwrap_or(0.0);
        let mut recalled = Recalled::default();
        let mut bytes = 0;
        let mut seen: HashSet<String> = HashSet::new();
        for (scope, mut found) in levels {
            // Within a level what fits the query better, then a fixed order.
            found.sort_by(|a, b| fit(b).total_cmp(&fit(a)).then_with(|| a.id.cmp(&b.id)));
            for convention in found {
                if !seen.insert(convention.content.clone()) {
                    recalled.duplicates += 1;
                    continue;
                }
                bytes += convention.content.len();
                if recalled.items.len() < limit && bytes <= MAX_ANSWER_BYTES {
                    recalled.items.push(Found {
                        item: RecalledItem::Convention(convention),
                        scope,
                        score: 0.0,
                    });
                } else {
                    recalled.cut_count += 1;
                    if recalled.cut.len() < MAX_CUT_NAMED {
                        let place = convention.directory.as_ref().map(Directory::to_string);
                        recalled.cut.push(Cut {
                            id: convention.id.clone(),
                            place: place.unwrap_or_default(),
                            scope,
                        });
                    }
                }
            }
        }
        recalled
    }

    /// How much of a query each convention holds, by id; only those that hold any of it.
    fn coverage(&self, query: &str) -> HashMap<String, f32> {
        let snapshot = self.index().snapshot();
        let tokens = distinct(tokenize(query));
        let scores = lexical::score(&snapshot, &tokens, &FieldWeights::default());
        (0u32..)
            .zip(scores)
            .filter(|(_, score)| score.coverage > 0.0)
            .filter_map(|(slot, score)| {
                let source = &snapshot.entry(slot)?.entry.id.source;
                let id = source.strip_prefix(CONVENTION)?;
                Some((id.to_owned(), score.coverage))
            })
            .collect()
    }
}

/// Languages that a query names, among those that are known.
fn named_languages(query: &str, is_known: impl Fn(&str) -> bool) -> HashSet<String> {
    let whole = query.trim().to_lowercase();
    let words = query.split_whitespace().map(|word| {
        let punctuation =
            |c: char| matches!(c, ',' | '.' | ';' | ':' | '!' | '?' | '(' | ')' | '"');
        word.trim_matches(punctuation).to_lowercase()
    });
    words.chain([whole]).filter(|word| is_known(word)).collect()
}

fn part_of(found: &Found) -> Part {
    match &found.item {
        RecalledItem::Fact(fact) => Part {
            title: String::new(),
            content: format!("{} (confidence {})", fact.line(), fact.confidence),
        },
        RecalledItem::Convention(convention) => {
            let place = match (&convention.directory, convention.language.as_str()) {
                (Some(directory), "") => format!("convention of {directory}"),
                (Some(directory), language) => format!("convention of {directory} ({language})"),
                (None, "") => "convention".to_owned(),
                (None, language) => format!("convention for {language}"),
            };
            Part {
                title: place,
                content: convention.content.clone(),
            }
        }
    }
}
