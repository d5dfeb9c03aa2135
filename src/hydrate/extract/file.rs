//! Files: a path, and the line in it where one is named.
//!
//! A path that begins with `./`, `../`, `~/` or `/` is one by its look; others need an
//! extension, and without any `/` one that is known. What only looks like a path (a domain, a
//! version, `and/or`, `@scope/pkg`, `Node.js`) is none.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::char::is_combining_mark;

use super::{Candidate, FILE, Rank, after, before, is_unspaced};

/// Longest path: what Linux takes.
const MAX_PATH_BYTES: usize = 4_096;

/// A line behind a path: `:42`, `:42:7`, `:3-9`, `#L10-L20`.
static LINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?::([0-9]{1,7})(?::[0-9]{1,5}|-[0-9]{1,7})?|#L([0-9]{1,7})(?:-L?[0-9]{1,7})?)")
        .expect("a valid pattern")
});

/// Bytes behind a path that its line may take.
const MAX_LINE_BYTES: usize = 32;

/// Extensions by which a name without `/` is a file.
const EXTENSIONS: &[&str] = &[
    "adoc",
    "avsc",
    "bash",
    "bat",
    "bazel",
    "bzl",
    "c",
    "cc",
    "cfg",
    "cjs",
    "clj",
    "cmake",
    "conf",
    "cpp",
    "cs",
    "css",
    "csv",
    "cts",
    "cu",
    "cxx",
    "dart",
    "diff",
    "dockerfile",
    "ejs",
    "elm",
    "env",
    "erl",
    "ex",
    "exs",
    "fish",
    "fs",
    "go",
    "gql",
    "gradle",
    "graphql",
    "h",
    "hcl",
    "hh",
    "hpp",
    "hrl",
    "hs",
    "html",
    "htm",
    "ini",
    "ipynb",
    "java",
    "jl",
    "js",
    "json",
    "json5",
    "jsonc",
    "jsonl",
    "jsx",
    "kt",
    "kts",
    "less",
    "lock",
    "log",
    "lua",
    "m",
    "md",
    "mdc",
    "mdx",
    "mjs",
    "mk",
    "ml",
    "mli",
    "mod",
    "mts",
    "nim",
    "nix",
    "org",
    "patch",
    "pdf",
    "php",
    "pl",
    "plist",
    "pm",
    "png",
    "properties",
    "proto",
    "ps1",
    "py",
    "pyi",
    "r",
    "rb",
    "rego",
    "rs",
    "rst",
    "sass",
    "sbt",
    "scala",
    "scss",
    "sh",
    "sol",
    "sql",
    "sum",
    "svelte",
    "svg",
    "swift",
    "tex",
    "tf",
    "tfvars",
    "thrift",
    "toml",
    "ts",
    "tsv",
    "tsx",
    "txt",
    "vim",
    "vue",
    "xml",
    "yaml",
    "yml",
    "zig",
    "zsh",
];

/// Files without an extension.
const NAMES: &[&str] = &[
    ".bashrc",
    ".dockerignore",
    ".editorconfig",
    ".env",
    ".gitattributes",
    ".gitignore",
    ".gitmodules",
    ".npmrc",
    ".prettierrc",
    ".profile",
    ".zshrc",
    "Brewfile",
    "Containerfile",
    "Dockerfile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "Makefile",
    "Procfile",
    "Rakefile",
    "Vagrantfile",
    "justfile",
];

/// Products whose names end like a file's.
const PRODUCTS: &[&str] = &[
    "angular.js",
    "backbone.js",
    "chart.js",
    "d3.js",
    "ember.js",
    "express.js",
    "next.js",
    "node.js",
    "nuxt.js",
    "react.js",
    "three.js",
    "vue.js",
];

/// Ends of domains: what begins with one is an address without its scheme.
const DOMAINS: &[&str] = &[
    "ai", "app", "cloud", "co", "com", "de", "dev", "edu", "eu", "gov", "info", "io", "jp", "net",
    "org", "uk",
];

/// Ends of paths that are no files to read.
const NOT_FILES: &[&str] = &["git"];

pub(super) fn find(text: &str, candidates: &mut Vec<Candidate>) {
    for word in words(text) {
        if before(text, word.start).is_some_and(|c| matches!(c, '\\' | '#' | '&')) {
            continue;
        }
        let start = word.start + head_of(&text[word.clone()]);
        let path = &text[start..word.end];
        let end = start + tail_of(path);
        let path = &text[start..end];
        if path.len() > MAX_PATH_BYTES || !is_file(path) {
            continue;
        }
        let mut candidate = Candidate::new(Rank::File, FILE, path, start..end);
        // A line belongs to the path only where nothing was cut off between them.
        match line_at(text, end).filter(|_| end == word.end) {
            Some((line, length)) => {
                candidate.line = (line > 0).then_some(line);
                candidate.span.end += length;
            }
            // `src\a.rs` is another system's path, `a.b*c` a formula.
            None if after(text, end).is_some_and(|c| matches!(c, '\\' | '*')) => continue,
            None => {}
        }
        candidates.push(candidate);
    }
}

/// The runs of characters of paths that hold a dot, a slash or a capital letter: others are
/// no files.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        loop {
            let (start, first) = chars.find(|(_, c)| is_of_path(*c))?;
            let mut end = start + first.len_utf8();
            let mut marked = is_mark(first);
            while let Some((at, c)) = chars.next_if(|(_, c)| is_of_path(*c)) {
                end = at + c.len_utf8();
                marked |= is_mark(c);
            }
            if marked {
                return Some(start..end);
            }
        }
    })
}

fn is_mark(c: char) -> bool {
    matches!(c, '.' | '/' | 'A'..='Z') || c == 'j'
}

fn is_of_path(c: char) -> bool {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => true,
        '_' | '.' | '~' | '/' | '@' | '+' | '%' | '$' | '=' | '-' | '[' | ']' => true,
        _ => !c.is_ascii() && (c.is_alphanumeric() || is_combining_mark(c)),
    }
}

/// The line that stands at a byte, and how many bytes it takes.
fn line_at(text: &str, at: usize) -> Option<(u32, usize)> {
    let to = text.floor_char_boundary(at + MAX_LINE_BYTES);
    let found = LINE.captures(&text[at..to])?;
    let line = found.get(1).or_else(|| found.get(2))?;
    Some((line.as_str().parse().ok()?, found.get(0)?.len()))
}

/// Bytes before the path: brackets, and prose without spaces that touches its first letter.
fn head_of(word: &str) -> usize {
    let inner = word.trim_start_matches(['[', ']', '=', '+', '%']);
    let skipped = word.len() - inner.len();
    let segment = inner.split('/').next().unwrap_or_default();
    // `看src/a.rs`: the path begins behind the last such place; `文档/a.md` is all path.
    let touching = segment
        .char_indices()
        .zip(segment.chars().skip(1))
        .filter(|((_, c), next)| is_unspaced(*c) && (next.is_ascii_alphanumeric() || *next == '.'))
        .map(|((at, c), next)| (at + c.len_utf8(), next))
        // A dot is the extension's, as in `设计.md`, unless it begins `./`.
        .filter(|(at, next)| {
            *next != '.' || inner[*at..].starts_with("./") || inner[*at..].starts_with("../")
        })
        .map(|(at, _)| at)
        .last();
    skipped + touching.unwrap_or(0)
}

/// Bytes of the path without trailing punctuation, and without prose behind its extension.
fn tail_of(path: &str) -> usize {
    let count = |wanted: u8| path.bytes().filter(|byte| *byte == wanted).count();
    let (mut opened, mut closed) = (count(b'['), count(b']'));
    let mut end = path.len();
    loop {
        match path[..end].bytes().next_back() {
            Some(b'.' | b'-' | b'=' | b'+' | b'%' | b'$' | b'~' | b'@') => {}
            Some(b'[') => opened -= 1,
            Some(b']') if closed > opened => closed -= 1,
            _ => {
                let rest = &path[..end];
                let prose = rest.trim_end_matches(is_unspaced);
                let touching = prose.len() < rest.len() && extension(prose).is_some_and(is_ascii);
                if !touching {
                    return end;
                }
                end = prose.len();
                continue;
            }
        }
        end -= 1;
    }
}

fn is_ascii(extension: &str) -> bool {
    extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// What follows the last dot of the last part, where something stands before it.
fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    let (stem, end) = name.rsplit_once('.')?;
    (!stem.is_empty() && !end.is_empty()).then_some(end)
}

fn is_file(path: &str) -> bool {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let name = path.rsplit('/').next().unwrap_or_default();
    if name.is_empty() || path.contains("//") || !name.contains(|c: char| c.is_alphanumeric()) {
        return false;
    }
    let end = extension(path);
    if end.is_some_and(|end| NOT_FILES.contains(&end)) {
        return false;
    }
    if NAMES.contains(&name) && !first.starts_with('@') {
        return true;
    }
    match first {
        "." | ".." | "~" => return true,
        // An absolute path has two parts at least: `/help` is a command.
        "" => return rest.contains('/') || end.is_some_and(looks_like_extension),
        _ => {}
    }
    let Some(end) = end else { return false };
    if rest.is_empty() {
        return is_known_name(path, end);
    }
    if first.starts_with('@') || is_domain(first) {
        return false;
    }
    looks_like_extension(end)
}

/// A name without `/`.
fn is_known_name(name: &str, end: &str) -> bool {
    let lower = end.to_ascii_lowercase();
    let uniform = end == lower || !end.contains(|c: char| c.is_ascii_lowercase());
    // `icon@2x.png`, but no address of e-mail and no package.
    let at_sign = name.split_once('@').is_none_or(|(before, after)| {
        !before.is_empty() && after.starts_with(|c: char| c.is_ascii_digit())
    });
    uniform
        && at_sign
        && EXTENSIONS.contains(&lower.as_str())
        && !PRODUCTS.contains(&name.to_ascii_lowercase().as_str())
        && name.contains(|c: char| c.is_alphabetic())
        && !name.starts_with(['$', '='])
}

fn is_domain(first: &str) -> bool {
    !first.starts_with('.')
        && first
            .rsplit_once('.')
            .is_some_and(|(_, end)| DOMAINS.contains(&end))
}

/// `rs`, `MD`, `d1`, but not the `Then` of two sentences without a space.
fn looks_like_extension(end: &str) -> bool {
    let uniform = !end.contains(|c: char| c.is_ascii_uppercase())
        || !end.contains(|c: char| c.is_ascii_lowercase());
    end.len() <= 10
        && uniform
        && end.starts_with(|c: char| c.is_ascii_alphabetic())
        && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
