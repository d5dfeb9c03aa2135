//! Places below the workspace.
//!
//! A directory is a list of components, so `src/api` never covers `src/api-legacy`, and none
//! lies above the root.

use std::fmt;
use std::path::Path;

/// Components of one directory.
const MAX_DEPTH: usize = 64;
/// Bytes of one path.
const MAX_PATH_BYTES: usize = 4_096;

/// A directory below the root; the root itself is empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Directory {
    /// Components, with `/` between.
    path: String,
}

impl Directory {
    /// Reads a path: relative to the root, or absolute and below the workspace. Empty and `.`
    /// are the root.
    ///
    /// # Errors
    ///
    /// Why it is no place below the root.
    pub fn parse(path: &str, workspace: Option<&Path>) -> Result<Self, String> {
        if path.len() > MAX_PATH_BYTES {
            let size = path.len();
            return Err(format!("{size} bytes exceed the limit of {MAX_PATH_BYTES}"));
        }
        if path.contains(char::is_control) {
            return Err("must not hold control characters".into());
        }
        let path = path.replace('\\', "/");
        let inner = match path.strip_prefix('/') {
            None => path.as_str(),
            Some(_) => {
                let below = workspace.and_then(|root| Path::new(&path).strip_prefix(root).ok());
                below
                    .and_then(Path::to_str)
                    .ok_or("is absolute, but not below the workspace")?
            }
        };
        let mut components: Vec<&str> = Vec::new();
        for part in inner.split('/').map(str::trim) {
            match part {
                "" | "." => {}
                ".." => {
                    components.pop().ok_or("leads above the root")?;
                }
                part => components.push(part),
            }
        }
        if components.len() > MAX_DEPTH {
            let depth = components.len();
            return Err(format!("{depth} levels exceed the limit of {MAX_DEPTH}"));
        }
        Ok(Self {
            path: components.join("/"),
        })
    }

    /// The directory as text; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.path
    }

    /// Levels below the root.
    pub fn depth(&self) -> usize {
        match self.path.is_empty() {
            true => 0,
            false => self.path.matches('/').count() + 1,
        }
    }

    /// The directory itself, then each parent up to the root.
    pub fn chain(&self) -> impl Iterator<Item = Directory> {
        let mut next = Some(self.clone());
        std::iter::from_fn(move || {
            let now = next.take()?;
            next = now.parent();
            Some(now)
        })
    }

    /// The directory above; none for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.path.is_empty() {
            return None;
        }
        let parent = self.path.rsplit_once('/').map_or("", |(parent, _)| parent);
        Some(Self {
            path: parent.to_owned(),
        })
    }

    /// Whether `self` is `other` or lies below it.
    pub fn is_within(&self, other: &Self) -> bool {
        self.inside(other).is_some()
    }

    /// The part of the path below `other`; none where it does not lie there.
    pub fn inside(&self, other: &Self) -> Option<&str> {
        if other.path.is_empty() {
            return Some(&self.path);
        }
        let rest = self.path.strip_prefix(&other.path)?;
        match rest.strip_prefix('/') {
            Some(inner) => Some(inner),
            None => rest.is_empty().then_some(""),
        }
    }

    /// A name in this directory.
    pub fn join(&self, name: &str) -> String {
        match self.path.is_empty() {
            true => name.to_owned(),
            false => format!("{}/{name}", self.path),
        }
    }
}

impl fmt::Display for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.path.as_str() {
            "" => ".",
            path => path,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(path: &str) -> Directory {
        Directory::parse(path, Some(Path::new("/work/repo"))).expect(path)
    }

    #[test]
    fn paths_are_read_by_component() {
        for (path, directory) in [
            ("", ""),
            (".", ""),
            ("./", ""),
            ("src/api/", "src/api"),
            ("./src//api/.", "src/api"),
            ("src/x/../api", "src/api"),
            ("src\\api", "src/api"),
            ("/work/repo", ""),
            ("/work/repo/src/api", "src/api"),
            ("文档/a b", "文档/a b"),
        ] {
            assert_eq!(read(path).as_str(), directory, "{path}");
        }
        for path in [
            "..",
            "a/../..",
            "/etc",
            "/work/repo-b",
            "/work",
            "a\0b",
            "/work/repo/../x",
        ] {
            let refused = Directory::parse(path, Some(Path::new("/work/repo")));
            assert!(refused.is_err(), "{path}");
        }
        assert!(Directory::parse("/work/repo", None).is_err());
        assert!(Directory::parse(&"a/".repeat(65), None).is_err());
        assert!(Directory::parse(&"a".repeat(5_000), None).is_err());
    }

    #[test]
    fn the_chain_leads_to_the_root_and_no_further() {
        let chain: Vec<String> = read("src/api/v1")
            .chain()
            .map(|dir| dir.to_string())
            .collect();
        assert_eq!(chain, ["src/api/v1", "src/api", "src", "."]);
        assert_eq!((read("src/api").depth(), read("").depth()), (2, 0));
    }

    #[test]
    fn a_sibling_with_the_same_beginning_is_another_directory() {
        assert!(read("src/api").is_within(&read("src")));
        assert!(read("src/api").is_within(&read("src/api")));
        assert!(read("src").is_within(&read("")));
        assert!(!read("src/api-legacy").is_within(&read("src/api")));
        assert!(!read("src").is_within(&read("src/api")));
        assert_eq!(read("a/b/c.rs").inside(&read("a")), Some("b/c.rs"));
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_read_again_as_itself(path in "[a./\\\\ ]{0,24}") {
            if let Ok(directory) = Directory::parse(&path, None) {
                prop_assert_eq!(Directory::parse(directory.as_str(), None), Ok(directory.clone()));
                prop_assert!(!directory.as_str().split('/').any(|part| part == ".."));
                prop_assert_eq!(directory.chain().count(), directory.depth() + 1);
            }
        }
    }
}
