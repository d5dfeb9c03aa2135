//! Conventions in the files of the workspace.
//!
//! Files are read anew for every call, so what they say is never stale. All of it goes through
//! a handle of the workspace's folder that no link leads out of, and is bounded in files and
//! bytes; what is not read is named with the reason.

use std::io::{self, Read};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};

use super::directory::Directory;
use super::rules::{Rule, RuleKind};

/// Bytes of one file.
const MAX_FILE_BYTES: u64 = 256 << 10;
/// Files of one call.
const MAX_FILES: usize = 1_000;
/// Bytes of one call.
const MAX_BYTES: usize = 8 << 20;
/// Rule files of one folder.
const MAX_RULES: usize = 200;
/// Files that are named although they were not read.
const MAX_SKIPPED: usize = 100;

/// What a convention comes from; the later stand nearer among those of one directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// Stored, for a language.
    Language,
    /// `.github/copilot-instructions.md`.
    Copilot,
    /// `CLAUDE.md`.
    Claude,
    /// `AGENTS.md`, or `AGENTS.override.md` in its place.
    Agents,
    /// A rule file.
    Rule,
    /// Stored, for a directory.
    Stored,
}

/// A file that holds for a directory and everything below it, or for the paths of a rule.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Path below the workspace.
    pub path: String,
    /// What it is.
    pub kind: SourceKind,
    /// Directory that it belongs to.
    pub base: Directory,
    /// Whose paths; none for all below `base`.
    pub rule: Option<Rule>,
    /// What it says.
    pub content: String,
}

/// A file that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Path below the workspace.
    pub path: String,
    /// Why.
    pub why: String,
}

/// One look at the workspace. Blocks.
pub struct Workspace {
    dir: Dir,
    files: usize,
    bytes: usize,
    /// What was not read; at most 100.
    pub skipped: Vec<Skipped>,
}

impl Workspace {
    /// Opens the folder.
    ///
    /// # Errors
    ///
    /// It cannot be opened.
    pub fn open(root: &Path) -> io::Result<Self> {
        Ok(Self {
            dir: Dir::open_ambient_dir(root, ambient_authority())?,
            files: 0,
            bytes: 0,
            skipped: Vec::new(),
        })
    }

    /// Whether a path is a directory.
    pub fn is_directory(&self, path: &str) -> bool {
        let path = if path.is_empty() { "." } else { path };
        self.dir.metadata(path).is_ok_and(|meta| meta.is_dir())
    }

    /// All files that belong to a directory, farthest first.
    pub fn level(&mut self, base: &Directory) -> Vec<SourceFile> {
        let mut found = Vec::new();
        if base.depth() == 0 {
            let name = ".github/copilot-instructions.md";
            found.extend(self.plain(base, name, SourceKind::Copilot));
        }
        for name in [".claude/CLAUDE.md", "CLAUDE.md"] {
            found.extend(self.plain(base, name, SourceKind::Claude));
        }
        let own = self
            .plain(base, "AGENTS.override.md", SourceKind::Agents)
            .or_else(|| self.plain(base, "AGENTS.md", SourceKind::Agents));
        found.extend(own);
        for kind in RuleKind::ALL {
            // GitHub reads its folder at the root only.
            if kind != RuleKind::Copilot || base.depth() == 0 {
                self.rules(base, kind, &mut found);
            }
        }
        found
    }

    fn plain(&mut self, base: &Directory, name: &str, kind: SourceKind) -> Option<SourceFile> {
        let path = base.join(name);
        let content = self.read(&path)?.trim().to_owned();
        (!content.is_empty()).then(|| SourceFile {
            path,
            kind,
            base: base.clone(),
            rule: None,
            content,
        })
    }

    fn rules(&mut self, base: &Directory, kind: RuleKind, found: &mut Vec<SourceFile>) {
        let (folder, ending) = kind.place();
        let folder = base.join(folder);
        let entries = match self.dir.read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => return self.note(&folder, &error),
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(ending)).collect();
        names.sort_unstable();
        if names.len() > MAX_RULES {
            let why = format!("{} rules exceed the limit of {MAX_RULES}", names.len());
            self.skip(&folder, why);
            names.truncate(MAX_RULES);
        }
        for name in names {
            let path = format!("{folder}/{name}");
            let Some(text) = self.read(&path) else {
                continue;
            };
            match Rule::read(kind, &text) {
                Ok(Some(rule)) => found.push(SourceFile {
                    path,
                    kind: SourceKind::Rule,
                    base: base.clone(),
                    content: rule.content.clone(),
                    rule: Some(rule),
                }),
                Ok(None) => {}
                Err(why) => self.skip(&path, why),
            }
        }
    }

    /// The text of a file; none where it is not there or not read.
    fn read(&mut self, path: &str) -> Option<String> {
        let mut options = OpenOptions::new();
        // A pipe without a writer would keep the thread for ever.
        options.read(true).custom_flags(libc::O_NONBLOCK);
        let opened = self.dir.open_with(path, &options);
        let opened = opened.and_then(|file| Ok((file.metadata()?, file)));
        let (meta, file) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                self.note(path, &error);
                return None;
            }
        };
        if !meta.is_file() {
            self.skip(path, "it is no file".into());
            return None;
        }
        if self.files == MAX_FILES || self.bytes >= MAX_BYTES {
            self.skip(path, "one call reads no more files".into());
            return None;
        }
        let mut text = String::new();
        match file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text) {
            Ok(size) if size as u64 <= MAX_FILE_BYTES => {
                self.files += 1;
                self.bytes += size;
                Some(text)
            }
            Ok(_) => {
                self.skip(path, format!("more than {MAX_FILE_BYTES} bytes"));
                None
            }
            Err(error) => {
                self.skip(path, error.to_string());
                None
            }
        }
    }

    /// Notes why something was not opened; that it is not there is no reason.
    fn note(&mut self, path: &str, error: &io::Error) {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {}
            // What the handle says of a link that leads out.
            io::ErrorKind::PermissionDenied => self.skip(path, "may not be read".into()),
            _ => self.skip(path, error.to_string()),
        }
    }

    fn skip(&mut self, path: &str, why: String) {
        if self.skipped.len() < MAX_SKIPPED {
            self.skipped.push(Skipped {
                path: path.to_owned(),
                why,
            });
        }
    }
}
