//! `signalbox journal`.

mod args;
mod replay;
mod source;

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde::Serialize;

use super::{Failure, print_result};
use crate::config::Config;
use crate::journal::event::LoopEvent;
use crate::journal::{Filter, Stats, Timestamp};

pub use args::{JournalArgs, JournalCommand};
use source::{Line, Source, Step};

/// Characters of an event that a line for people shows.
const SHOWN: usize = 160;

pub(super) async fn run(args: &JournalArgs, config: Config) -> Result<ExitCode, Failure> {
    let server = args.server.as_deref();
    if let JournalCommand::Replay { route_id } = &args.command {
        return replay::run(route_id, server, config).await;
    }
    let mut source = Source::open(server, &config).await?;
    match &args.command {
        JournalCommand::Tail {
            follow,
            loop_id,
            lines,
            json,
        } => {
            let filter = Filter {
                loop_id: loop_id.clone(),
                ..Filter::default()
            };
            tail(&mut source, filter, *follow, *lines, *json).await
        }
        JournalCommand::Export { loop_id } => {
            let filter = Filter {
                loop_id: loop_id.clone(),
                ..Filter::default()
            };
            export(&mut source, filter).await
        }
        JournalCommand::Verify { json } => verify(&mut source, *json).await,
        JournalCommand::Stats { json } => stats(&mut source, *json).await,
        JournalCommand::Replay { .. } => Ok(ExitCode::SUCCESS),
    }
}

/// Prints the newest entries, and with `follow` what comes.
async fn tail(
    source: &mut Source,
    filter: Filter,
    follow: bool,
    count: usize,
    json: bool,
) -> Result<ExitCode, Failure> {
    let show = |line: &Line| {
        if json {
            json_of(line)
        } else {
            Ok(text_of(line))
        }
    };
    let mut lines = source.lines(filter, follow).await?;
    // Only the newest are kept while what is stored goes by.
    let mut newest = VecDeque::with_capacity(count.min(1_024));
    let mut caught_up = false;
    loop {
        let step = lines.next().await?;
        let ended = matches!(step, Step::End);
        match step {
            Step::Lines(lines) => newest.extend(lines),
            Step::CaughtUp | Step::End => caught_up = true,
        }
        if !caught_up {
            newest.drain(..newest.len().saturating_sub(count));
            continue;
        }
        if newest.len() > count && ended {
            newest.drain(..newest.len() - count);
        }
        for line in newest.drain(..) {
            if !print_line(&mut io::stdout().lock(), &show(&line)?)? {
                return Ok(ExitCode::SUCCESS);
            }
        }
        io::stdout().flush().context("standard output")?;
        if ended {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// Prints every entry as JSON.
async fn export(source: &mut Source, filter: Filter) -> Result<ExitCode, Failure> {
    let mut lines = source.lines(filter, false).await?;
    let mut out = BufWriter::new(io::stdout().lock());
    loop {
        match lines.next().await? {
            Step::Lines(lines) => {
                for line in lines {
                    if !print_line(&mut out, &json_of(&line)?)? {
                        return Ok(ExitCode::SUCCESS);
                    }
                }
            }
            Step::CaughtUp => {}
            Step::End => break,
        }
    }
    // A reader that has closed the pipe has seen enough.
    match out.flush() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Work(error.into())),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// What is known after every entry was read.
#[derive(Serialize)]
struct Checked {
    events: u64,
    loops: u64,
}

async fn verify(source: &mut Source, json: bool) -> Result<ExitCode, Failure> {
    let checked = match source {
        Source::Folder(journal) => {
            let verified = journal.verify().await.context("the journal is not whole")?;
            Checked {
                events: verified.events,
                loops: verified.loops,
            }
        }
        // The server checks each entry that it reads; what it sends has to be without gaps.
        Source::Server(_) => {
            let mut last: BTreeMap<String, u64> = BTreeMap::new();
            let mut events = 0;
            each(source, |line| {
                events += 1;
                let before = last.insert(line.loop_id.clone(), line.sequence);
                match before {
                    Some(before) if line.sequence != before + 1 => bail!(
                        "loop {:?} has sequence {} after {before}",
                        line.loop_id,
                        line.sequence
                    ),
                    _ => Ok(()),
                }
            })
            .await
            .context("the journal is not whole")?;
            Checked {
                events,
                loops: last.len() as u64,
            }
        }
    };
    print_result(&match json {
        true => format!("{}\n", serde_json::to_string(&checked).context("JSON")?),
        false => format!(
            "{} entries of {} loops are whole\n",
            checked.events, checked.loops
        ),
    })
}

async fn stats(source: &mut Source, json: bool) -> Result<ExitCode, Failure> {
    let stats = match source {
        Source::Folder(journal) => {
            let Stats {
                events,
                loops,
                open_loops,
                first_time,
                last_time,
                by_type,
                bytes,
                ..
            } = journal.stats().await.map_err(anyhow::Error::from)?;
            let bytes = Some(bytes);
            Counted {
                events,
                bytes,
                loops,
                open_loops,
                first_time,
                last_time,
                by_type,
            }
        }
        Source::Server(_) => count(source).await?,
    };
    if json {
        let text = serde_json::to_string_pretty(&stats).context("JSON")?;
        return print_result(&format!("{text}\n"));
    }
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "entries     {}", stats.events);
    if let Some(bytes) = stats.bytes {
        let _ = writeln!(out, "bytes       {bytes}");
    }
    let _ = writeln!(
        out,
        "loops       {} ({} open)",
        stats.loops, stats.open_loops
    );
    if let (Some(first), Some(last)) = (stats.first_time, stats.last_time) {
        let _ = writeln!(out, "from        {first}\nto          {last}");
    }
    for (name, count) in &stats.by_type {
        let _ = writeln!(out, "  {name:<24}{count}");
    }
    print_result(&out)
}

/// Counts of the entries that are kept.
#[derive(Serialize)]
struct Counted {
    events: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    loops: u64,
    open_loops: u64,
    first_time: Option<Timestamp>,
    last_time: Option<Timestamp>,
    by_type: BTreeMap<String, u64>,
}

async fn count(source: &mut Source) -> anyhow::Result<Counted> {
    let mut ended: BTreeMap<String, bool> = BTreeMap::new();
    let mut by_type: BTreeMap<String, u64> = BTreeMap::new();
    let (mut events, mut first, mut last) = (0, None, None);
    each(source, |line| {
        events += 1;
        first.get_or_insert(line.timestamp);
        last = Some(line.timestamp);
        *by_type
            .entry(line.event.event_type().to_string())
            .or_default() += 1;
        *ended.entry(line.loop_id).or_default() |= matches!(line.event, LoopEvent::Terminated(_));
        Ok(())
    })
    .await?;
    let open = ended.values().filter(|ended| !**ended).count() as u64;
    Ok(Counted {
        events,
        bytes: None,
        loops: ended.len() as u64,
        open_loops: open,
        first_time: first,
        last_time: last,
        by_type,
    })
}

/// Goes over every entry.
async fn each(
    source: &mut Source,
    mut see: impl FnMut(Line) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut lines = source.lines(Filter::default(), false).await?;
    loop {
        match lines.next().await? {
            Step::Lines(lines) => lines.into_iter().try_for_each(&mut see)?,
            Step::CaughtUp => {}
            Step::End => return Ok(()),
        }
    }
}

fn json_of(line: &Line) -> anyhow::Result<String> {
    serde_json::to_string(line).context("JSON")
}

/// A line for people: when, where, what.
fn text_of(line: &Line) -> String {
    let event = match serde_json::to_value(&line.event) {
        Ok(serde_json::Value::Object(event)) => event
            .into_iter()
            .next()
            .map(|(_, fields)| fields.to_string())
            .unwrap_or_default(),
        _ => String::new(),
    };
    // Whatever an agent wrote must not steer the terminal; JSON has it escaped.
    let shown: String = event.chars().take(SHOWN).collect();
    let more = if event.chars().nth(SHOWN).is_some() {
        "…"
    } else {
        ""
    };
    let agent = match line.agent_id.as_str() {
        "" => String::new(),
        agent => format!(" by {agent}"),
    };
    let Line {
        timestamp,
        loop_id,
        sequence,
        ..
    } = line;
    format!(
        "{timestamp} {loop_id} #{sequence}{agent} {} {shown}{more}",
        line.event.event_type()
    )
}

/// Prints a line; false where nobody reads any more.
fn print_line(out: &mut impl Write, line: &str) -> Result<bool, Failure> {
    match writeln!(out, "{line}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::Work(error.into())),
        Ok(()) => Ok(true),
    }
}
