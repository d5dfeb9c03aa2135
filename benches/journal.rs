//! What the journal can do on this machine: `cargo bench --bench journal`.
//!
//! Prints each figure with what is asked of it, and fails where one is missed. The folder is
//! a temporary one (`TMPDIR` chooses the disk); `JOURNAL_BENCH_EVENTS` sets the number of
//! events of the large journal (a million by default).

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use signalbox::journal::event::{Action, Custom, ReasoningComplete, Usage};
use signalbox::journal::{
    Append, Filter, Followed, From, Journal, JournalError, LoopEvent, NewEvent, Options,
};
use signalbox::store::Store;

const WRITERS: u32 = 16;
const STREAMS: usize = 10_000;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let measured = match runtime {
        Ok(runtime) => runtime.block_on(measure()),
        Err(error) => Err(error.into()),
    };
    match measured {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("the journal cannot be measured: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure() -> Outcome<bool> {
    let dir = tempfile::tempdir()?;
    let mut met = true;
    let mut tell = |name: &str, value: String, target: Option<(&str, bool)>| {
        let (target, mark) = match target {
            None => ("", ""),
            Some((target, true)) => (target, "ok"),
            Some((target, false)) => {
                met = false;
                (target, "MISSED")
            }
        };
        println!("{name:<46}{value:>18}  {target:<12}{mark}");
    };

    let synced = sync_times(dir.path())?;
    tell("fsync of 4 KiB, p50", shown(percentile(&synced, 50)), None);
    tell("fsync of 4 KiB, p99", shown(percentile(&synced, 99)), None);

    let journal = open(&dir.path().join("small")).await?;
    let alone = one_writer(&journal, 2_000).await?;
    tell(
        "one writer, an append, p50",
        shown(percentile(&alone, 50)),
        None,
    );
    tell(
        "one writer, an append, p99",
        shown(percentile(&alone, 99)),
        None,
    );
    let worked = cpu_time()?;
    let (count, time) = many_writers(&journal, Duration::from_secs(5)).await?;
    let worked = cpu_time()?.saturating_sub(worked);
    let rate = count as f64 / time.as_secs_f64();
    tell(
        "16 writers, durable appends a second",
        format!("{rate:.0}"),
        Some((">= 5,000", rate >= 5_000.0)),
    );

    let each = worked.as_secs_f64() * 1e6 / count as f64;
    tell("  processor time of each", format!("{each:.0} us"), None);

    let before = resident()?;
    open_and_drop(&journal, STREAMS / 10).await?;
    let warm = resident()?;
    open_and_drop(&journal, STREAMS).await?;
    let after = resident()?;
    let left = journal.followers();
    tell(
        "10,000 streams opened and dropped, left over",
        left.to_string(),
        Some(("0", left == 0)),
    );
    let grown = after.saturating_sub(warm) / 1024;
    tell("  memory before", format!("{} MiB", before >> 20), None);
    tell(
        "  memory grown by them",
        format!("{grown} KiB"),
        Some(("<= 8 MiB", grown <= 8_192)),
    );
    drop(journal);

    let events = std::env::var("JOURNAL_BENCH_EVENTS")
        .ok()
        .and_then(|text| text.parse().ok());
    let events: u64 = events.unwrap_or(1_000_000);
    let large = dir.path().join("large");
    let filled = Instant::now();
    let bytes = fill(&large, events).await?;
    let rate = events as f64 / filled.elapsed().as_secs_f64();
    tell(
        "filling, 1,000 events an append, events a second",
        format!("{rate:.0}"),
        None,
    );
    tell("  size", format!("{} MiB", bytes >> 20), None);
    let opened = Instant::now();
    let journal = open(&large).await?;
    let opened = opened.elapsed();
    let name = format!("opening {events} events");
    tell(
        &name,
        shown(opened),
        Some(("<= 2 s", opened <= Duration::from_secs(2))),
    );
    let worked = cpu_time()?;
    let replayed = Instant::now();
    let seen = replay(&journal).await?;
    let worked = cpu_time()?.saturating_sub(worked);
    let rate = seen as f64 / replayed.elapsed().as_secs_f64();
    tell(
        "replay in the process, events a second",
        format!("{rate:.0}"),
        Some((">= 200,000", rate >= 200_000.0 && seen == events)),
    );
    // On a machine with other work the first says what was left for it, this what it needs.
    let rate = seen as f64 / worked.as_secs_f64();
    tell(
        "  events a second of processor time",
        format!("{rate:.0}"),
        None,
    );
    Ok(met)
}

async fn open(dir: &Path) -> Outcome<Journal> {
    Ok(Journal::open(Store::open(dir)?, Options::default()).await?)
}

/// How long the disk takes to sync a page at the end of a file, as the write-ahead log does.
fn sync_times(dir: &Path) -> io::Result<Vec<Duration>> {
    let mut file = File::create(dir.join("synced"))?;
    let mut times = Vec::new();
    for _ in 0..500 {
        file.write_all(&[7; 4_096])?;
        let begun = Instant::now();
        file.sync_data()?;
        times.push(begun.elapsed());
    }
    Ok(times)
}

/// An event of the usual size: some 300 bytes as JSON.
fn event(number: u64) -> NewEvent {
    LoopEvent::ReasoningComplete(ReasoningComplete {
        iteration: u32::try_from(number % 25).unwrap_or(0) + 1,
        actions: vec![Action {
            call_id: format!("call-{number}"),
            tool_name: "read_file".into(),
            arguments: format!(r#"{{"path":"src/module_{number}.rs","offset":0}}"#),
        }],
        usage: Usage {
            input_tokens: 1_000 + number,
            output_tokens: 100,
        },
        text: "Reading the file to see what it holds.".into(),
    })
    .into()
}

async fn one_writer(journal: &Journal, count: u64) -> Result<Vec<Duration>, JournalError> {
    let mut times = Vec::new();
    for number in 0..count {
        let append = Append {
            loop_id: "alone".into(),
            events: vec![event(number)],
            ..Append::default()
        };
        let begun = Instant::now();
        journal.append(append).await?;
        times.push(begun.elapsed());
    }
    Ok(times)
}

/// Appends of writers that each wait for one append before the next, and how long it took.
async fn many_writers(journal: &Journal, time: Duration) -> Outcome<(u64, Duration)> {
    let begun = Instant::now();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let journal = journal.clone();
            tokio::spawn(async move {
                let mut count = 0;
                while begun.elapsed() < time {
                    let append = Append {
                        loop_id: format!("writer-{writer}"),
                        request_id: format!("request-{count}"),
                        events: vec![event(count)],
                        ..Append::default()
                    };
                    journal.append(append).await?;
                    count += 1;
                }
                Ok::<_, JournalError>(count)
            })
        })
        .collect();
    let mut count = 0;
    for writer in writers {
        count += writer.await??;
    }
    Ok((count, begun.elapsed()))
}

/// Opens streams, has each join the live end, and drops them, ten at a time.
async fn open_and_drop(journal: &Journal, count: usize) -> Result<(), JournalError> {
    for number in 0..count / 10 {
        let mut open = Vec::new();
        for _ in 0..10 {
            let mut follow = journal.follow(Filter::default(), From::Now).await?;
            follow.next().await?;
            open.push(follow);
        }
        if number % 100 == 0 {
            let events = vec![
                LoopEvent::Custom(Custom {
                    name: "seen".into(),
                    data: String::new(),
                })
                .into(),
            ];
            journal
                .append(Append {
                    loop_id: "streams".into(),
                    events,
                    ..Append::default()
                })
                .await?;
        }
    }
    Ok(())
}

/// Fills a journal with events of 1,000 loops and returns the size of its file.
async fn fill(dir: &Path, events: u64) -> Outcome<u64> {
    let store = Store::open(dir)?;
    let journal = Journal::open(store.clone(), Options::default()).await?;
    for first in (0..events).step_by(1_000) {
        let append = Append {
            loop_id: format!("loop-{}", first / 1_000),
            agent_id: "agent".into(),
            events: (first..events.min(first + 1_000)).map(event).collect(),
            ..Append::default()
        };
        journal.append(append).await?;
    }
    store.close().await;
    Ok(std::fs::metadata(dir.join("signalbox.db"))?.len())
}

async fn replay(journal: &Journal) -> Result<u64, JournalError> {
    let mut follow = journal.follow(Filter::default(), From::Earliest).await?;
    let mut seen = 0;
    loop {
        match follow.next().await? {
            Followed::Entries(entries) => seen += entries.len() as u64,
            Followed::CaughtUp | Followed::Behind => return Ok(seen),
        }
    }
}

/// Processor time of this process, with the resolution of a tick (10 ms).
fn cpu_time() -> Outcome<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    // Behind the name, which may hold anything: user and system time are fields 14 and 15.
    let fields = text.rsplit(')').next().unwrap_or("").split_whitespace();
    let ticks: u64 = fields
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Ok(Duration::from_millis(ticks * 10))
}

/// Bytes of memory of this process.
fn resident() -> Outcome<u64> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = text.split_whitespace().nth(1).unwrap_or("0").parse()?;
    Ok(pages * 4_096)
}

fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times
        .get(times.len() * percent / 100)
        .copied()
        .unwrap_or_default()
}

fn shown(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1_000.0)
}
