//! `builtin:file`: files below the operator's roots.
//!
//! A path is resolved with all its links, and what comes out must lie below a root. The file is
//! then opened by its resolved path from a handle of that root which nothing can lead out of,
//! so a link that is swapped in between does not help.

use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};

use super::job::Failure;
use super::page::source_of;

/// Lines around a named line that are read of a longer file.
const AROUND_LINE: usize = 100;

/// Where files are read from, and how much of them.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// Folders; relative paths are tried below each, in this order.
    pub roots: Vec<PathBuf>,
    /// Bytes of one file.
    pub max_bytes: u64,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// Its text, or the part around a line.
    pub text: String,
    /// Where it lies, from its root on.
    pub origin: String,
}

type Refusal = (Failure, String);

impl Files {
    /// Reads a file; of a long one only what lies around `line`, if one is named. Blocks.
    ///
    /// # Errors
    ///
    /// Why it is not read. Nothing is said of what lies outside the roots.
    pub fn read(&self, path: &str, line: Option<u32>) -> Result<FileText, Refusal> {
        if self.roots.is_empty() {
            let why = "no roots are configured: hydrate.roots is empty";
            return Err((Failure::OutsideRoots, why.into()));
        }
        if path.contains('\0') {
            return Err((Failure::NotFound, "no file has such a name".into()));
        }
        let wanted = expand(path);
        let mut refusal = (Failure::OutsideRoots, outside());
        for root in &self.roots {
            match self.read_below(root, &wanted, line) {
                Ok(file) => return Ok(file),
                // Another root may have it; that it is missing here says most.
                Err(found) if found.0 == Failure::OutsideRoots => {}
                Err(found) if found.0 == Failure::NotFound => refusal = found,
                Err(found) => return Err(found),
            }
        }
        Err(refusal)
    }

    fn read_below(
        &self,
        root: &Path,
        wanted: &Path,
        line: Option<u32>,
    ) -> Result<FileText, Refusal> {
        let root = root.canonicalize().map_err(|error| unreadable(&error))?;
        let joined = root.join(wanted);
        // Also said of what does not exist: whether it does is nobody's business.
        if !normalised(&joined).is_some_and(|path| path.starts_with(&root)) {
            return Err((Failure::OutsideRoots, outside()));
        }
        let real = joined.canonicalize().map_err(|error| unreadable(&error))?;
        let inner = real
            .strip_prefix(&root)
            .map_err(|_| (Failure::OutsideRoots, outside()))?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority())
            .map_err(|error| unreadable(&error))?;
        let mut options = OpenOptions::new();
        // A pipe without a writer would keep the thread for ever.
        options.read(true).custom_flags(libc::O_NONBLOCK);
        let mut file = dir
            .open_with(inner, &options)
            .map_err(|error| unreadable(&error))?;
        let meta = file.metadata().map_err(|error| unreadable(&error))?;
        if !meta.is_file() {
            return Err((Failure::Unsupported, "it is no file".into()));
        }
        let too_large = |size: u64| {
            let limit = self.max_bytes;
            (
                Failure::TooLarge,
                format!("{size} bytes exceed the limit of {limit}"),
            )
        };
        if meta.len() > self.max_bytes {
            return Err(too_large(meta.len()));
        }
        let mut body = Vec::new();
        // It may grow while it is read.
        let mut limited = (&mut file).take(self.max_bytes + 1);
        limited
            .read_to_end(&mut body)
            .map_err(|error| unreadable(&error))?;
        if body.len() as u64 > self.max_bytes {
            return Err(too_large(body.len() as u64));
        }
        // HTML is source here, so it stays as it is.
        let text = source_of(&body)?;
        let (text, lines) = around(text, line);
        let origin = inner.display().to_string();
        Ok(FileText {
            text,
            origin: origin + &lines,
        })
    }
}

fn expand(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// A path without `.` and `..`, by its text alone; `None` where it leads above `/`.
fn normalised(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    Some(plain)
}

/// The lines around one, where there are more, and which they are.
fn around(text: String, line: Option<u32>) -> (String, String) {
    let Some(line) = line else {
        return (text, String::new());
    };
    let total = text.lines().count();
    if total <= 2 * AROUND_LINE {
        return (text, String::new());
    }
    let line = usize::try_from(line).unwrap_or(usize::MAX).min(total);
    let from = line.saturating_sub(AROUND_LINE).max(1);
    let to = (line + AROUND_LINE).min(total);
    let part: Vec<&str> = text.lines().skip(from - 1).take(to + 1 - from).collect();
    (
        part.join("\n"),
        format!(", lines {from} to {to} of {total}"),
    )
}

fn outside() -> String {
    "the path leads out of the roots".into()
}

fn unreadable(error: &io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            (Failure::NotFound, "there is no such file".into())
        }
        io::ErrorKind::PermissionDenied => (Failure::NotFound, "it may not be read".into()),
        _ => (Failure::NotFound, format!("it cannot be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn files(root: &Path) -> Files {
        Files {
            roots: vec![root.to_owned()],
            max_bytes: 1 << 16,
        }
    }

    fn failure(files: &Files, path: &str) -> Failure {
        files.read(path, None).expect_err(path).0
    }

    #[test]
    fn files_below_a_root_are_read_and_no_others() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let (root, outside) = (dir.path().join("root"), dir.path().join("out"));
        fs::create_dir_all(root.join("src")).expect("folders");
        fs::create_dir_all(&outside).expect("a folder");
        fs::write(root.join("src/a.rs"), "fn a() {}\n").expect("written");
        fs::write(outside.join("secret"), "s").expect("written");
        fs::write(dir.path().join("root-b"), "s").expect("written");
        symlink(outside.join("secret"), root.join("link.txt")).expect("a link");
        symlink(&outside, root.join("folder")).expect("a link");
        symlink(root.join("src/a.rs"), root.join("inner.rs")).expect("a link");
        symlink("loop", root.join("loop")).expect("a link");
        let files = files(&root);
        for path in ["src/a.rs", "./src/a.rs", "./src/../src/a.rs", "inner.rs"] {
            let file = files.read(path, None).expect(path);
            assert_eq!(
                (file.text.as_str(), file.origin.as_str()),
                ("fn a() {}", "src/a.rs")
            );
        }
        let absolute = root.join("src/a.rs");
        assert!(files.read(&absolute.display().to_string(), None).is_ok());
        for path in [
            "../out/secret",
            "../../etc/shadow",
            "/etc/passwd",
            "link.txt",
            "folder/secret",
            "src/../../out/secret",
            "../root-b",
            "/proc/self/environ",
            "../missing",
        ] {
            assert_eq!(failure(&files, path), Failure::OutsideRoots, "{path}");
        }
        assert_eq!(failure(&files, "missing.rs"), Failure::NotFound);
        assert_eq!(failure(&files, "src/a.rs/b"), Failure::NotFound);
        assert_eq!(failure(&files, "loop"), Failure::NotFound);
        assert_eq!(failure(&files, "src"), Failure::Unsupported);
        assert_eq!(failure(&files, "a\0b"), Failure::NotFound);
        assert_eq!(failure(&Files::default(), "a.rs"), Failure::OutsideRoots);
    }

    #[test]
    fn pipes_binaries_and_large_files_are_refused_at_once() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let root = dir.path();
        let made = std::process::Command::new("mkfifo")
            .arg(root.join("pipe.txt"))
            .status();
        assert!(made.expect("mkfifo runs").success());
        fs::write(root.join("b.bin"), b"\x7fELF\0\0\xff").expect("written");
        fs::write(root.join("large.txt"), vec![b'a'; (1 << 16) + 1]).expect("written");
        fs::write(root.join("fits.txt"), vec![b'a'; 1 << 16]).expect("written");
        fs::write(root.join("page.html"), "<html><b>x</b>").expect("written");
        let files = files(root);
        assert_eq!(failure(&files, "pipe.txt"), Failure::Unsupported);
        assert_eq!(failure(&files, "b.bin"), Failure::NotText);
        assert_eq!(failure(&files, "large.txt"), Failure::TooLarge);
        assert!(files.read("fits.txt", None).is_ok());
        let page = files.read("page.html", None).expect("read");
        assert_eq!(page.text, "<html><b>x</b>", "source, not a page");
    }

    #[test]
    fn a_line_of_a_long_file_is_read_with_what_lies_around() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let text: Vec<String> = (1..=1_000).map(|n| format!("line {n}")).collect();
        fs::write(dir.path().join("a.rs"), text.join("\n")).expect("written");
        let files = files(dir.path());
        let file = files.read("a.rs", Some(500)).expect("read");
        assert!(file.text.starts_with("line 400\n") && file.text.ends_with("\nline 600"));
        assert_eq!(file.origin, "a.rs, lines 400 to 600 of 1000");
        let file = files.read("a.rs", Some(9_999)).expect("read");
        assert!(file.text.starts_with("line 900\n") && file.text.ends_with("\nline 1000"));
        assert_eq!(
            files.read("a.rs", None).expect("read").text,
            text.join("\n")
        );
    }
}
