//! Rule files: Markdown with front matter that says for which paths it holds.
//!
//! | file | for which paths |
//! |---|---|
//! | `.cursor/rules/*.mdc` | all with `alwaysApply: true`, else those of `globs` |
//! | `.github/instructions/*.instructions.md` | those of `applyTo` |
//! | `.claude/rules/*.md` | those of `paths`, all without |
//!
//! Globs are relative to the folder that holds `.cursor`, `.github` or `.claude`; `*` stays
//! within a folder, `**` does not, and a glob without `/` is one of names, in any folder. A
//! rule that names no path is for a model to ask for, so it is not resolved.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::catalog::import::front_matter_of;

/// Globs of one rule.
const MAX_GLOBS: usize = 100;
/// Bytes of one glob.
const MAX_GLOB_BYTES: usize = 512;

/// Who reads a kind of rule file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleKind {
    /// `.cursor/rules/*.mdc`.
    Cursor,
    /// `.github/instructions/*.instructions.md`.
    Copilot,
    /// `.claude/rules/*.md`.
    Claude,
}

impl RuleKind {
    /// All of them, in the order in which they are read.
    pub const ALL: [RuleKind; 3] = [RuleKind::Copilot, RuleKind::Cursor, RuleKind::Claude];

    /// Folder of the files, and how their names end.
    pub fn place(self) -> (&'static str, &'static str) {
        match self {
            RuleKind::Cursor => (".cursor/rules", ".mdc"),
            RuleKind::Copilot => (".github/instructions", ".instructions.md"),
            RuleKind::Claude => (".claude/rules", ".md"),
        }
    }
}

/// A rule that was read.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its globs as written; empty for all paths.
    pub globs: Vec<String>,
    /// What it says.
    pub content: String,
    /// None for all paths.
    set: Option<GlobSet>,
}

impl Rule {
    /// Reads a rule file; none where it is for no path.
    ///
    /// # Errors
    ///
    /// A glob that is none.
    pub fn read(kind: RuleKind, text: &str) -> Result<Option<Self>, String> {
        let (fields, body) = front_matter_of(text);
        let field = |name: &str| {
            fields
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, items)| items)
        };
        let globs = |name: &str| -> Vec<String> {
            let items = field(name).into_iter().flatten();
            items.flat_map(|item| split(item)).take(MAX_GLOBS).collect()
        };
        let always = match kind {
            RuleKind::Cursor => field("alwaysapply")
                .and_then(|items| items.first())
                .is_some_and(|value| value.eq_ignore_ascii_case("true")),
            RuleKind::Copilot => false,
            RuleKind::Claude => field("paths").is_none(),
        };
        let globs = match kind {
            _ if always => Vec::new(),
            RuleKind::Cursor => globs("globs"),
            RuleKind::Copilot => globs("applyto"),
            RuleKind::Claude => globs("paths"),
        };
        let content = body.trim().to_owned();
        if content.is_empty() || (!always && globs.is_empty()) {
            return Ok(None);
        }
        let set = match always {
            true => None,
            false => Some(compile(&globs)?),
        };
        Ok(Some(Self {
            globs,
            content,
            set,
        }))
    }

    /// Whether the rule holds for a path, relative to the rule's folder.
    pub fn holds_for(&self, path: &str) -> bool {
        self.set.as_ref().is_none_or(|set| set.is_match(path))
    }
}

fn compile(globs: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        if glob.len() > MAX_GLOB_BYTES {
            let size = glob.len();
            return Err(format!(
                "glob: {size} bytes exceed the limit of {MAX_GLOB_BYTES}"
            ));
        }
        let plain = glob.trim_start_matches("./").trim_start_matches('/');
        let mut whole = match plain.contains('/') {
            true => plain.to_owned(),
            false => format!("**/{plain}"),
        };
        if whole.ends_with('/') {
            whole.push_str("**");
        }
        let built = GlobBuilder::new(&whole)
            .literal_separator(true)
            .build()
            .map_err(|error| error.to_string())?;
        set.add(built);
    }
    set.build().map_err(|error| error.to_string())
}

/// Globs between commas; those within braces belong to a glob.
fn split(list: &str) -> Vec<String> {
    let mut globs = vec![String::new()];
    let mut depth = 0usize;
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                globs.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = globs.last_mut() {
            last.push(c);
        }
    }
    let trim = |glob: String| glob.trim().trim_matches(['"', '\'']).to_owned();
    let globs = globs.into_iter().map(trim);
    globs.filter(|glob| !glob.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(kind: RuleKind, front: &str, path: &str) -> Option<bool> {
        let text = format!("---\n{front}\n---\nBe brief.\n");
        let rule = Rule::read(kind, &text).expect("a rule");
        rule.map(|rule| rule.holds_for(path))
    }

    #[test]
    fn globs_are_read_in_every_form() {
        use RuleKind::{Claude, Copilot, Cursor};
        for (kind, front, path, expected) in [
            (Cursor, "alwaysApply: true", "any/thing", Some(true)),
            (
                Cursor,
                "globs: *.ts\nalwaysApply: false",
                "src/a.ts",
                Some(true),
            ),
            (Cursor, "globs: *.ts", "src/a.rs", Some(false)),
            (
                Cursor,
                "globs: src/**/*.{ts,tsx},docs/*.md",
                "src/x/a.tsx",
                Some(true),
            ),
            (
                Cursor,
                "globs: src/**/*.{ts,tsx},docs/*.md",
                "docs/a.md",
                Some(true),
            ),
            (Cursor, "globs: src/*.ts", "src/x/a.ts", Some(false)),
            (
                Cursor,
                "globs: [\"src/**\", 'web/']",
                "web/a/b.js",
                Some(true),
            ),
            (
                Cursor,
                "globs:\n  - src/**\n  - \"*.md\"",
                "README.md",
                Some(true),
            ),
            (Cursor, "description: ask for me\nglobs:", "a", None),
            (Cursor, "description: ask for me", "a", None),
            (Copilot, "applyTo: '**/*.py'", "a/b.py", Some(true)),
            (Copilot, "applyTo: **/*.py, **/*.pyi", "b.pyi", Some(true)),
            (Copilot, "description: x", "b.py", None),
            (
                Claude,
                "paths:\n  - src/api/**/*.rs",
                "src/api/v1/a.rs",
                Some(true),
            ),
            (
                Claude,
                "paths:\n  - src/api/**/*.rs",
                "src/api-legacy/a.rs",
                Some(false),
            ),
            (Claude, "title: x", "anything", Some(true)),
        ] {
            assert_eq!(holds(kind, front, path), expected, "{front} {path}");
        }
    }

    #[test]
    fn what_has_no_front_matter_or_a_bad_glob_is_said() {
        let always = Rule::read(RuleKind::Claude, "Just text").expect("a rule");
        assert_eq!(always.expect("a rule").content, "Just text");
        assert!(
            Rule::read(RuleKind::Cursor, "Just text")
                .expect("none")
                .is_none()
        );
        assert!(
            Rule::read(RuleKind::Claude, "---\n---\n")
                .expect("none")
                .is_none()
        );
        let bad = Rule::read(RuleKind::Cursor, "---\nglobs: \"a[\"\n---\nx");
        assert!(bad.expect_err("refused").contains("a["));
        let long = format!("---\nglobs: {}\n---\nx", "a".repeat(600));
        assert!(Rule::read(RuleKind::Cursor, &long).is_err());
    }
}
