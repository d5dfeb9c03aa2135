//! From an answer's bytes to text that a model can read.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use encoding_rs::{Encoding, UTF_8};

use super::job::Failure;

/// Columns that HTML is laid out in: tables stay readable, and lines are not torn.
const COLUMNS: usize = 120;
/// Bytes looked at to tell text from what is none, where nobody says.
const SNIFFED_BYTES: usize = 4 << 10;
/// Levels of HTML that are laid out. Pages of people have a few dozen; laying out costs as much
/// as the text times its depth, so without a limit 1 MiB could take many minutes.
const MAX_DEPTH: usize = 256;
/// Time that parsing HTML may take: a page takes milliseconds, but elements that are nested a
/// hundred thousand deep cost a look at all of them for each.
const MAX_PARSING: Duration = Duration::from_secs(2);
/// Types besides `text/*` that are text.
const TEXT_TYPES: &[&str] = &[
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/json",
    "application/sql",
    "application/toml",
    "application/x-httpd-php",
    "application/x-javascript",
    "application/x-ndjson",
    "application/x-sh",
    "application/x-yaml",
    "application/xhtml+xml",
    "application/xml",
    "application/yaml",
];

/// What an answer says it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MediaType {
    /// Lower-case type without parameters; empty where none was given.
    essence: String,
    charset: String,
}

impl MediaType {
    /// Reads a `Content-Type`.
    pub fn parse(header: &str) -> Self {
        let mut parts = header.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts
            .filter_map(|part| part.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
            .map(|(_, value)| value.trim().trim_matches('"').to_owned());
        Self {
            essence,
            charset: charset.unwrap_or_default(),
        }
    }

    /// Whether it may be text; what has no type is looked at.
    pub fn may_be_text(&self) -> bool {
        self.essence.is_empty()
            || self.essence.starts_with("text/")
            || self.essence.ends_with("+json")
            || self.essence.ends_with("+xml") && !self.essence.starts_with("image/")
            || TEXT_TYPES.contains(&self.essence.as_str())
    }

    fn is_html(&self, body: &str) -> bool {
        match self.essence.as_str() {
            "text/html" | "application/xhtml+xml" => true,
            "" => {
                let head = body.trim_start();
                let head = &head[..head.floor_char_boundary(64)].to_ascii_lowercase();
                head.starts_with("<!doctype html") || head.starts_with("<html")
            }
            _ => false,
        }
    }
}

/// Text of a body. Takes time in proportion to it: below a second for 1 MiB of HTML, so it
/// belongs off the runtime's threads.
///
/// # Errors
///
/// It is no text.
pub fn text_of(body: &[u8], media: &MediaType) -> Result<String, (Failure, String)> {
    let head = &body[..body.len().min(SNIFFED_BYTES)];
    let (encoding, _) = Encoding::for_bom(head)
        .or_else(|| Some((Encoding::for_label(media.charset.as_bytes())?, 0)))
        .unwrap_or((UTF_8, 0));
    if encoding == UTF_8 && head.contains(&0) {
        return Err((Failure::NotText, "it holds zero bytes".into()));
    }
    let (text, _, damaged) = encoding.decode(body);
    if damaged && media.essence.is_empty() {
        return Err((Failure::NotText, "it has no type and is no UTF-8".into()));
    }
    let text = match media.is_html(&text) {
        true => readable(&text).map_err(|why| (Failure::NotText, why))?,
        false => text.into_owned(),
    };
    Ok(clean(&text))
}

/// Text of a file as it stands.
///
/// # Errors
///
/// It is no text.
pub fn source_of(body: &[u8]) -> Result<String, (Failure, String)> {
    let head = &body[..body.len().min(SNIFFED_BYTES)];
    let (encoding, _) = Encoding::for_bom(head).unwrap_or((UTF_8, 0));
    let (text, _, damaged) = encoding.decode(body);
    if damaged || encoding == UTF_8 && head.contains(&0) {
        return Err((Failure::NotText, "it is no text in UTF-8".into()));
    }
    // Line by line as it stands, so that line numbers hold.
    let lines = text
        .lines()
        .map(|line| line.chars().filter(is_shown).collect::<String>());
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// HTML without its markup.
fn readable(html: &str) -> Result<String, String> {
    let config = html2text::config::plain_no_decorate()
        .no_table_borders()
        .allow_width_overflow()
        .link_footnotes(false);
    let unreadable = |error: html2text::Error| format!("HTML is not laid out: {error}");
    let source = Hurried {
        rest: html.as_bytes(),
        until: Instant::now() + MAX_PARSING,
    };
    let dom = config.parse_html(source).map_err(unreadable)?;
    let mut level = vec![dom.document.clone()];
    let mut depth = 0;
    while !level.is_empty() {
        depth += 1;
        if depth > MAX_DEPTH {
            return Err(format!(
                "HTML nested deeper than {MAX_DEPTH} levels is not read"
            ));
        }
        let children = level.iter().flat_map(|node| node.children.borrow().clone());
        level = children.collect();
    }
    let tree = config.dom_to_render_tree(&dom).map_err(unreadable)?;
    let text = config.render_to_string(tree, COLUMNS).map_err(unreadable)?;
    // Rules that separate blocks say nothing.
    let is_rule = |line: &&str| !line.is_empty() && line.chars().all(|c| c == '─');
    let lines = text
        .lines()
        .map(str::trim_end)
        .filter(|line| !is_rule(line));
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// Bytes that can be read until a point in time.
struct Hurried<'a> {
    rest: &'a [u8],
    until: Instant,
}

impl Read for Hurried<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match Instant::now() > self.until {
            true => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "it takes too long to parse",
            )),
            false => self.rest.read(buffer),
        }
    }
}

/// Text without control characters, with one kind of line end, and without runs of blank
/// lines.
pub fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut blank = 0;
    for line in text.lines() {
        let line = line.trim_end();
        blank = if line.is_empty() { blank + 1 } else { 0 };
        if blank > 1 {
            continue;
        }
        cleaned.extend(line.chars().filter(is_shown));
        cleaned.push('\n');
    }
    cleaned.trim_matches('\n').to_owned()
}

fn is_shown(c: &char) -> bool {
    !c.is_control() || *c == '\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &[u8], header: &str) -> Result<String, Failure> {
        text_of(body, &MediaType::parse(header)).map_err(|(failure, _)| failure)
    }

    #[test]
    fn html_becomes_readable_text() {
        let html = "<!doctype html><html><head><title>T</title><style>p{}</style>\
            <script>alert(1)</script></head><body><h1>Head</h1><p>One &amp; two</p>\
            <ul><li>a</li><li>b</li></ul><hr><table><tr><td>x</td><td>y</td></tr></table>";
        for header in ["text/html; charset=utf-8", ""] {
            let text = read(html.as_bytes(), header).expect("text");
            for part in ["Head", "One & two", "a", "x"] {
                assert!(text.contains(part), "{part} in {text}");
            }
            for part in ["<", "alert", "p{}", "─"] {
                assert!(!text.contains(part), "{part} in {text}");
            }
        }
    }

    #[test]
    fn character_sets_are_read() {
        assert_eq!(
            read(b"caf\xe9", "text/plain; charset=iso-8859-1"),
            Ok("café".into())
        );
        assert_eq!(read(b"\xef\xbb\xbfa", ""), Ok("a".into()));
        assert_eq!(read(b"\xff\xfea\0b\0", "text/plain"), Ok("ab".into()));
        assert_eq!(
            read("日本".as_bytes(), "application/json"),
            Ok("日本".into())
        );
        assert_eq!(
            read(b"a\r\n\r\n\r\n\r\nb\x07\n", "text/plain"),
            Ok("a\n\nb".into())
        );
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert_eq!(read(b"\x89PNG\0\0", ""), Err(Failure::NotText));
        assert_eq!(read(b"\xff\xd8\xff\xe0", ""), Err(Failure::NotText));
        for header in [
            "image/png",
            "application/octet-stream",
            "image/svg+xml",
            "video/mp4",
        ] {
            assert!(!MediaType::parse(header).may_be_text(), "{header}");
        }
        for header in [
            "",
            "Text/Plain; charset=x",
            "application/ld+json",
            "application/rss+xml",
        ] {
            assert!(MediaType::parse(header).may_be_text(), "{header}");
        }
    }

    #[test]
    fn hostile_html_is_no_trouble() {
        for piece in [
            "<div>",
            "<table><tr><td>",
            "<blockquote>",
            "<ul><li>",
            "<b",
            "&",
            "<a href=",
        ] {
            let html = format!("<html>{}end", piece.repeat(50));
            assert!(read(html.as_bytes(), "text/html").is_ok(), "{piece}");
        }
        for piece in [
            "<div>",
            "<table><tr><td>",
            "<BLOCKQUOTE>",
            "<ul><li>",
            "<i>",
        ] {
            let html = format!("<html>{}end", piece.repeat(2_000));
            assert_eq!(
                read(html.as_bytes(), "text/html"),
                Err(Failure::NotText),
                "{piece}"
            );
        }
        let wide = "<div><p>a<br></div><script>'<div>'</script>".repeat(2_000);
        assert!(read(wide.as_bytes(), "text/html").is_ok());
    }
}
