//! What reading a prompt costs beside its vectors: `cargo bench --bench plans`.
//!
//! Prints the time of each part of the rules on prompts of about 16 tokens (wanted: all of them
//! together within 0.3 ms), and that of whole answers by tokens over 300 entries, with and
//! without a plan.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use signalbox::catalog::{Entry, Kind};
use signalbox::embed::Embedder;
use signalbox::index::{Change, Index};
use signalbox::intent::Reading;
use signalbox::params::{Clock, extract};
use signalbox::route::{Mode, Request, Router, Settings};

const ROUNDS: usize = 2_000;

const PROMPTS: [&str; 4] = [
    "Deploy version v2.1.0 to staging, but first run the tests and then post it to the team",
    "Schick keine E-Mail, sondern schreib das Ergebnis morgen um 7 Uhr in die Datei notizen.txt",
    "不要发邮件，先把三十分钟的会议写到 notes.txt，然后部署到预发环境",
    "Find a free slot of 30 minutes for the launch meeting with anna@example.com tomorrow please",
];

const SCHEMA: &str = r#"{"type": "object", "required": ["environment", "duration_minutes"],
    "properties": {"environment": {"type": "string"}, "version": {"type": "string"},
        "date": {"type": "string", "format": "date"}, "duration_minutes": {"type": "integer"},
        "file_path": {"type": "string"}, "mode": {"enum": ["fast", "slow", "dry"]},
        "attendees": {"type": "array", "items": {"type": "string"}}, "draft": {"type": "boolean"}}}"#;

fn main() {
    let reading = time(|prompt| drop(black_box(Reading::of(prompt).order())));
    println!("reading a prompt: {}", show(&reading));
    let clock = Clock::system();
    let params = time(|prompt| drop(black_box(extract(SCHEMA, prompt, &clock))));
    println!("parameters of one schema: {}", show(&params));

    let index = Arc::new(Index::default());
    index.apply(
        (0..300)
            .map(|at| Change::Put(Arc::new(entry(at))))
            .collect(),
    );
    let router = Router::new(index, Embedder::disabled(), Settings::default());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("runtime");
    for plan in [false, true] {
        let answer = time(|prompt| {
            let mut request = Request::new(prompt);
            request.mode = Mode::Lexical;
            request.plan = plan;
            drop(black_box(runtime.block_on(router.route(&request))));
        });
        println!(
            "answer by tokens over 300 entries, plan {plan}: {}",
            show(&answer)
        );
    }
}

fn entry(at: usize) -> Entry {
    let words = [
        "deploy", "test", "mail", "file", "meeting", "slot", "post", "write", "部署", "邮件",
    ];
    let word = |shift: usize| words[(at / shift.max(1)) % words.len()];
    let mut entry = Entry::new(Kind::ALL[at % 3], "bench", &format!("{}-{at}", word(1)));
    entry.responsibility = format!("{} the {} of a {}", word(3), word(7), word(11));
    entry.input_schema = Some(SCHEMA.to_owned());
    entry
}

/// Times of one call, sorted.
fn time(call: impl Fn(&str)) -> Vec<Duration> {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|round| {
            let started = Instant::now();
            call(PROMPTS[round % PROMPTS.len()]);
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    times
}

fn show(times: &[Duration]) -> String {
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    format!("p50 {:.0} µs, p99 {:.0} µs", at(0.5), at(0.99))
}
