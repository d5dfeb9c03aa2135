//! The block between `---` lines at the head of a `SKILL.md`: cut off, parsed, repaired.
//!
//! People write front matter by hand and leave out quotes: `description: Use when: the user
//! asks about PDFs` is not YAML. Dropping such a line would be easy and wrong, for the next
//! one may be `allowed-tools`. So each value that cannot be read on its own is put in quotes,
//! and the whole is parsed again with every field in it.

use super::node::{self, Data, Node, Pair};

/// Bytes of front matter. The largest seen in the wild have a few kilobytes.
pub(super) const MAX_FRONT_BYTES: usize = 256 * 1024;

/// A `SKILL.md` in its two parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    /// Front matter, without its `---` lines.
    pub front: &'a str,
    /// Line of the file that the front matter begins at, from 1.
    pub front_line: u32,
    /// What follows.
    pub body: &'a str,
    /// Line of the file that the body begins at.
    pub body_line: u32,
}

/// Cuts a text after its front matter. `Ok(None)`: it has none.
///
/// # Errors
///
/// The front matter is not closed.
pub(super) fn split(text: &str) -> Result<Option<Parts<'_>>, String> {
    let mut lines = text.split_inclusive('\n').scan(0, |from, line| {
        let start = *from;
        *from += line.len();
        Some((start, *from, line.trim_end()))
    });
    let mut number = 0;
    let mut start = None;
    for (_, end, line) in lines.by_ref() {
        number += 1;
        match line {
            "" => {}
            "---" => {
                start = Some((end, number + 1));
                break;
            }
            _ => return Ok(None),
        }
    }
    let Some((front_start, front_line)) = start else {
        return Ok(None);
    };
    for (from, to, line) in lines {
        number += 1;
        if line == "---" || line == "..." {
            return Ok(Some(Parts {
                front: &text[front_start..from],
                front_line,
                body: &text[to..],
                body_line: number + 1,
            }));
        }
    }
    Err("the front matter has no closing --- line".into())
}

/// Parsed front matter.
#[derive(Debug)]
pub(super) struct FrontMatter {
    /// Its fields, in their order.
    pub pairs: Vec<Pair>,
    /// The text they were read from, for [`Node::scalar`]; lines are those of the original.
    pub text: String,
    /// What had to be repaired: line in the front matter, and what was done.
    pub repairs: Vec<(u32, String)>,
}

impl FrontMatter {
    /// A scalar as text; a list as its texts with commas between.
    pub fn text_of(&self, node: &Node) -> String {
        match &node.data {
            Data::Null => String::new(),
            Data::Text(_) | Data::Bare(_) => node
                .scalar(&self.text)
                .unwrap_or_default()
                .trim()
                .to_owned(),
            Data::List(_) => self.texts_of(node).join(", "),
            // `- Use when: …` without quotes is a mapping to YAML, and was meant as text.
            Data::Map(pairs) => match pairs.as_slice() {
                [pair] if matches!(pair.value.data, Data::Text(_) | Data::Bare(_)) => {
                    format!("{}: {}", pair.key, self.text_of(&pair.value))
                }
                _ => node.to_json(),
            },
        }
    }

    /// Items of a list; of a text its lines, without bullets.
    pub fn texts_of(&self, node: &Node) -> Vec<String> {
        match &node.data {
            Data::List(nodes) => nodes.iter().map(|node| self.text_of(node)).collect(),
            Data::Text(text) => text
                .lines()
                .map(|line| {
                    line.trim()
                        .trim_start_matches(['-', '*', '•'])
                        .trim()
                        .to_owned()
                })
                .collect(),
            _ => vec![self.text_of(node)],
        }
    }

    /// Items of a list; of a text the words between commas.
    pub fn words_of(&self, node: &Node) -> Vec<String> {
        match &node.data {
            Data::Text(text) if !text.trim().contains('\n') => text
                .split([',', '，', '、', ';', '；'])
                .map(|word| word.trim().to_owned())
                .collect(),
            _ => self.texts_of(node),
        }
    }
}

/// Parses front matter, repairing it where it is no YAML.
///
/// # Errors
///
/// It is too large, or no YAML mapping even with quotes added: a line in the front matter and
/// a message, which is that of the text as it was written.
pub(super) fn parse(front: &str) -> Result<FrontMatter, (Option<u32>, String)> {
    if front.len() > MAX_FRONT_BYTES {
        let size = front.len();
        let message = format!("front matter: {size} bytes exceed the limit of {MAX_FRONT_BYTES}");
        return Err((None, message));
    }
    let error = match node::read_yaml(front) {
        Ok(root) => {
            let pairs = fields(root)?;
            return Ok(FrontMatter {
                pairs,
                text: front.to_owned(),
                repairs: Vec::new(),
            });
        }
        Err(error) => error,
    };
    // Quotes would hide the aliases that spent the budget.
    if error.is_over_budget {
        return Err(error.unreadable);
    }
    let (text, repairs) = repair(front);
    match node::read_yaml(&text) {
        Ok(root) if !repairs.is_empty() => Ok(FrontMatter {
            pairs: fields(root)?,
            text,
            repairs,
        }),
        _ => Err(error.unreadable),
    }
}

fn fields(root: Node) -> Result<Vec<Pair>, (Option<u32>, String)> {
    match root.data {
        Data::Map(pairs) => Ok(pairs),
        Data::Null => Ok(Vec::new()),
        _ => {
            let message = format!("front matter: must be a mapping, not {}", root.describe());
            Err((Some(root.line), message))
        }
    }
}

/// Values that one repair parses on their own at most: what needs more is no front matter.
const MAX_ATTEMPTS: u32 = 2_000;
/// Lines that a value in brackets or quotes may run on at its key's own indentation.
const MAX_RUN_ON: usize = 16;

/// The front matter with quotes around each value that cannot be read without, and tabs of
/// its indentation as spaces. It has as many lines as before.
fn repair(front: &str) -> (String, Vec<(u32, String)>) {
    let lines: Vec<&str> = front.lines().collect();
    let mut repairs = Vec::new();
    let mut out: Vec<String> = Vec::with_capacity(lines.len());
    let mut attempts = MAX_ATTEMPTS;
    while out.len() < lines.len() {
        let at = out.len();
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let line = untab(lines[at]);
        if line != lines[at] {
            repairs.push((
                number,
                "indentation: each tab was read as two spaces".to_owned(),
            ));
        }
        let Some((head, value)) = head_and_value(&line) else {
            out.push(line);
            continue;
        };
        let is_block = value.starts_with(['|', '>']);
        let end = end_of_value(&lines, at, is_block);
        let rest = || lines[at + 1..end].iter().map(|line| untab(line));
        if is_block {
            let rest: Vec<_> = rest().collect();
            out.push(line);
            out.extend(rest);
            continue;
        }
        let mut whole = std::iter::once(value.to_owned())
            .chain(rest())
            .collect::<Vec<_>>();
        let mut is_fine = is_readable(&whole, &mut attempts);
        // Brackets and quotes may run on without indentation.
        for more in lines.iter().skip(end).take(MAX_RUN_ON) {
            if is_fine || !value.starts_with(['[', '{', '"', '\'']) {
                break;
            }
            whole.push(untab(more));
            is_fine = is_readable(&whole, &mut attempts);
        }
        if is_fine {
            whole[0] = line;
            out.extend(whole);
        } else {
            whole.truncate(end - at);
            let folded = whole
                .iter()
                .map(|line| line.trim())
                .collect::<Vec<_>>()
                .join(" ");
            out.push(format!("{head} '{}'", folded.trim().replace('\'', "''")));
            out.extend((at + 1..end).map(|_| String::new()));
            let key = head.trim().trim_start_matches("- ").trim_end_matches(':');
            let what = if key == "-" { "list item" } else { key };
            repairs.push((number, format!("{what}: its value was put in quotes")));
        }
    }
    (out.join("\n") + "\n", repairs)
}

/// The line after a value that begins on line `at`: what is indented deeper belongs to it, and
/// in a block scalar blank lines too.
fn end_of_value(lines: &[&str], at: usize, is_block: bool) -> usize {
    let depth = indent(lines[at]);
    let belongs = |line: &&&str| match line.trim().is_empty() {
        true => is_block,
        false => indent(line) > depth,
    };
    at + 1 + lines[at + 1..].iter().take_while(belongs).count()
}

/// Whether a value can be read as it stands, where a mapping expects it.
fn is_readable(value: &[String], attempts: &mut u32) -> bool {
    if *attempts == 0 {
        return true;
    }
    *attempts -= 1;
    // The key stands further left than any line of the value.
    let value = value.join("\n ");
    node::read_yaml(&format!("k: {value}\n")).is_ok()
}

/// A line with a value that may need quotes: all before the value, and the value.
fn head_and_value(line: &str) -> Option<(&str, &str)> {
    if let Some((head, value)) = key_value(line) {
        return (!value.is_empty()).then_some((head, value));
    }
    let start = line.trim_start();
    let value = start.strip_prefix("- ")?;
    let head = &line[..line.len() - value.len()];
    (!value.trim().is_empty()).then(|| (head.trim_end(), value.trim()))
}

/// A line `key: value`, also as a list item: all up to the colon, and the value.
fn key_value(line: &str) -> Option<(&str, &str)> {
    let start = line.trim_start();
    let key_at = start.strip_prefix("- ").unwrap_or(start);
    let key_len = key_at
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))
        .filter(|len| *len > 0)?;
    let value = key_at[key_len..].strip_prefix(':')?;
    if !value.is_empty() && !value.starts_with([' ', '\t']) {
        return None;
    }
    let head = &line[..line.len() - value.len()];
    let value = value.trim();
    // A value that is only a comment is no value.
    Some((head, if value.starts_with('#') { "" } else { value }))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn untab(line: &str) -> String {
    let (white, rest) = line.split_at(indent(line));
    white.replace('\t', "  ") + rest
}
