//! All conventions that hold for some paths, root first and nearest last.
//!
//! The directory of a path and each of its parents have their files and stored conventions;
//! rule files add those whose globs match. What says the same is kept once, where it is
//! nearest. The budget drops the farthest first, and what it dropped is named.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::context::{Context, Least, Part, fit};
use super::directory::Directory;
use super::item::Convention;
use super::keep::{Knowledge, KnowledgeError};
use super::recall::check_budget;
use super::workspace::{Skipped, SourceFile, SourceKind, Workspace};
use crate::error::Violations;

/// Paths of one call.
const MAX_PATHS: usize = 256;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resolve {
    /// Files or directories, relative to the workspace or below it.
    pub paths: Vec<String>,
    /// Tokens of the message; none for the operator's default.
    pub max_context_tokens: Option<usize>,
}

/// A convention and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedConvention {
    /// Path of the file, or id of the stored convention.
    pub source: String,
    /// What it is.
    pub kind: SourceKind,
    /// Levels of its directory below the root; 0 for one of a language.
    pub depth: usize,
    /// Directory, globs or language that it holds for.
    pub scope: String,
    /// What it says.
    pub content: String,
    /// Places in the request of the paths that it holds for.
    pub paths: Vec<usize>,
}

/// What holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResolvedConventions {
    /// Root first, nearest last; those that fit the budget.
    pub items: Vec<ResolvedConvention>,
    /// Those that did not, root first.
    pub dropped: Vec<ResolvedConvention>,
    /// Those that say what a nearer one says.
    pub duplicates: usize,
    /// Files that were not read, with the reason.
    pub skipped: Vec<Skipped>,
    /// The items as a message.
    pub context: Context,
}

/// A path of the request.
struct Target {
    /// The path below the workspace.
    path: Directory,
    /// The directory it lies in, or that it is.
    directory: Directory,
    /// Language of its file; empty where it is not known.
    language: &'static str,
}

impl Knowledge {
    /// The conventions that hold for some paths.
    ///
    /// # Errors
    ///
    /// No paths, too many, and those that lie above the root.
    pub async fn resolve(&self, resolve: &Resolve) -> Result<ResolvedConventions, KnowledgeError> {
        let mut violations = Violations::default();
        match resolve.paths.len() {
            0 => violations.add("paths", "must not be empty"),
            1..=MAX_PATHS => {}
            count => violations.add("paths", format!("{count} exceed the limit of {MAX_PATHS}")),
        }
        check_budget(resolve.max_context_tokens, &mut violations);
        let places = resolve.paths.iter().take(MAX_PATHS).enumerate();
        let paths: Vec<(String, Directory)> = places
            .filter_map(|(at, path)| {
                let field = format!("paths[{at}]");
                Some((path.clone(), self.directory(&field, path, &mut violations)?))
            })
            .collect();
        violations.into_result()?;
        let budget = resolve.max_context_tokens.unwrap_or(self.default_budget());
        let this = self.clone();
        tokio::task::spawn_blocking(move || this.resolve_now(paths, budget))
            .await
            .map_err(|_| KnowledgeError::CutOff)
    }

    fn resolve_now(&self, paths: Vec<(String, Directory)>, budget: usize) -> ResolvedConventions {
        let mut resolved = ResolvedConventions::default();
        let mut workspace = self
            .workspace()
            .and_then(|root| match Workspace::open(root) {
                Ok(workspace) => Some(workspace),
                Err(error) => {
                    resolved.skipped.push(Skipped {
                        path: ".".into(),
                        why: format!("the workspace cannot be opened: {error}"),
                    });
                    None
                }
            });
        let targets: Vec<Target> = paths
            .into_iter()
            .map(|(text, path)| target(&text, path, workspace.as_ref()))
            .collect();
        let levels: BTreeSet<Directory> = targets
            .iter()
            .flat_map(|target| target.directory.chain())
            .collect();
        let mut files: BTreeMap<Directory, Vec<SourceFile>> = BTreeMap::new();
        if let Some(workspace) = &mut workspace {
            for level in &levels {
                files.insert(level.clone(), workspace.level(level));
            }
            resolved.skipped.append(&mut workspace.skipped);
        }
        let mut items = self.stored(&levels, &targets);
        for file in files.into_values().flatten() {
            items.extend(from_file(file, &targets));
        }
        // Languages first, then root first; within a directory by kind and name.
        items.sort_by(|a, b| {
            let key = |item: &(Directory, ResolvedConvention)| {
                (item.1.kind != SourceKind::Language, item.1.depth)
            };
            let rest = |item: &(Directory, ResolvedConvention)| {
                (item.0.clone(), item.1.kind, item.1.source.clone())
            };
            key(a).cmp(&key(b)).then_with(|| rest(a).cmp(&rest(b)))
        });
        let total = items.len();
        let mut seen = HashSet::new();
        // From the nearest on, so that the nearest is the one that stays.
        let mut nearest: Vec<ResolvedConvention> = items
            .into_iter()
            .rev()
            .map(|(_, item)| item)
            .filter(|item| seen.insert(item.content.clone()))
            .collect();
        nearest.reverse();
        resolved.duplicates = total - nearest.len();
        let parts: Vec<Part> = nearest
            .iter()
            .map(|item| Part {
                title: title(item),
                content: item.content.clone(),
            })
            .collect();
        resolved.context = fit(&parts, Least::First, budget, &self.counter());
        let kept = resolved.context.kept.clone();
        for (at, item) in nearest.into_iter().enumerate() {
            match kept.contains(&at) {
                true => resolved.items.push(item),
                false => resolved.dropped.push(item),
            }
        }
        resolved
    }

    /// Stored conventions of the levels, and of the languages of the paths.
    fn stored(
        &self,
        levels: &BTreeSet<Directory>,
        targets: &[Target],
    ) -> Vec<(Directory, ResolvedConvention)> {
        self.read(|book| {
            let mut found: Vec<(Directory, Arc<Convention>)> = Vec::new();
            for level in levels {
                let here = book.at(Some(level)).cloned();
                found.extend(here.map(|convention| (level.clone(), convention)));
            }
            let wide = book.at(None).cloned();
            found.extend(wide.map(|convention| (Directory::default(), convention)));
            found
                .into_iter()
                .filter_map(|(base, convention)| {
                    let speaks = |target: &Target| match convention.language.as_str() {
                        "" => true,
                        // In a path without a known language any may be written, but what
                        // holds for whole languages would be too much.
                        _ if target.language.is_empty() => convention.directory.is_some(),
                        language => target.language == language,
                    };
                    let holds =
                        |target: &Target| target.directory.is_within(&base) && speaks(target);
                    let paths = places(targets, holds);
                    let kind = match convention.directory {
                        Some(_) => SourceKind::Stored,
                        None => SourceKind::Language,
                    };
                    let scope = match (&convention.directory, convention.language.as_str()) {
                        (Some(directory), _) => directory.to_string(),
                        (None, "") => "*".to_owned(),
                        (None, language) => language.to_owned(),
                    };
                    (!paths.is_empty()).then(|| {
                        let item = ResolvedConvention {
                            source: convention.id.clone(),
                            kind,
                            depth: base.depth(),
                            scope,
                            content: convention.content.clone(),
                            paths,
                        };
                        (base, item)
                    })
                })
                .collect()
        })
    }
}

fn from_file(file: SourceFile, targets: &[Target]) -> Option<(Directory, ResolvedConvention)> {
    let holds = |target: &Target| match &file.rule {
        None => target.directory.is_within(&file.base),
        Some(rule) => {
            let inner = target.path.inside(&file.base);
            inner.is_some_and(|inner| rule.holds_for(inner))
        }
    };
    let paths = places(targets, holds);
    let scope = match &file.rule {
        Some(rule) if !rule.globs.is_empty() => rule.globs.join(", "),
        _ => file.base.to_string(),
    };
    let item = ResolvedConvention {
        source: file.path,
        kind: file.kind,
        depth: file.base.depth(),
        scope,
        content: file.content,
        paths,
    };
    (!item.paths.is_empty()).then_some((file.base, item))
}

fn places(targets: &[Target], holds: impl Fn(&Target) -> bool) -> Vec<usize> {
    let numbered = targets.iter().enumerate();
    let found = numbered.filter(|(_, target)| holds(target));
    found.map(|(at, _)| at).collect()
}

/// A path is a directory if it ends with `/`, is one in the workspace, or is the root; else a
/// file, also one that does not exist yet.
fn target(text: &str, path: Directory, workspace: Option<&Workspace>) -> Target {
    let is_directory = path.depth() == 0
        || text.ends_with(['/', '\\'])
        || workspace.is_some_and(|workspace| workspace.is_directory(path.as_str()));
    let parent = path.parent().unwrap_or_default();
    let directory = if is_directory { path.clone() } else { parent };
    let language = match is_directory {
        true => "",
        false => language_of(path.as_str()),
    };
    Target {
        path,
        directory,
        language,
    }
}

fn title(item: &ResolvedConvention) -> String {
    let ResolvedConvention { source, scope, .. } = item;
    match item.kind {
        SourceKind::Language => format!("Convention for {scope}"),
        SourceKind::Stored => format!("Convention of {scope}"),
        SourceKind::Rule => format!("{source} ({scope})"),
        _ => source.clone(),
    }
}

/// The language of a file by its extension, as conventions name it.
pub fn language_of(path: &str) -> &'static str {
    let end = Path::new(path).extension().and_then(|end| end.to_str());
    match end.unwrap_or_default().to_ascii_lowercase().as_str() {
        "c" | "h" => "c",
        "cc" | "cpp" | "cxx" | "hh" | "hpp" => "c++",
        "cs" => "c#",
        "css" | "scss" | "less" => "css",
        "dart" => "dart",
        "ex" | "exs" => "elixir",
        "go" => "go",
        "hs" => "haskell",
        "html" | "htm" => "html",
        "java" => "java",
        "js" | "jsx" | "mjs" | "cjs" => "javascript",
        "kt" | "kts" => "kotlin",
        "lua" => "lua",
        "md" | "mdx" => "markdown",
        "php" => "php",
        "proto" => "protobuf",
        "py" | "pyi" => "python",
        "rb" => "ruby",
        "rs" => "rust",
        "scala" => "scala",
        "sh" | "bash" | "zsh" => "shell",
        "sql" => "sql",
        "swift" => "swift",
        "tf" => "terraform",
        "ts" | "tsx" | "mts" | "cts" => "typescript",
        "toml" => "toml",
        "yaml" | "yml" => "yaml",
        "zig" => "zig",
        _ => "",
    }
}
