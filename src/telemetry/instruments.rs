//! The counters and histograms that calls write to.
//!
//! Names, units and attributes are those of OpenTelemetry's conventions where there are any
//! (`rpc.*`, `gen_ai.*`), else begin with `signalbox.`. Every attribute has few values, so the
//! number of series is bounded.

use std::sync::OnceLock;

use opentelemetry::metrics::{Counter, Histogram, Meter};

/// Seconds: from half a millisecond, which tokens alone take, to the longest deadlines.
const SECONDS: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

static INSTRUMENTS: OnceLock<Instruments> = OnceLock::new();

/// What calls write to.
#[derive(Debug)]
pub(super) struct Instruments {
    /// Seconds that calls took.
    pub call_duration: Histogram<f64>,
    /// Calls that ended with a reason of ours.
    pub call_errors: Counter<u64>,
    /// Routing decisions.
    pub decisions: Counter<u64>,
    /// Reasons why decisions were made of less than was asked for.
    pub degraded: Counter<u64>,
    /// What the loop guard said.
    pub verdicts: Counter<u64>,
    /// Seconds that the encoder took for a call, its queue included.
    pub encoding: Histogram<f64>,
}

impl Instruments {
    fn new(meter: &Meter) -> Self {
        let seconds = |name: &'static str, text: &'static str| {
            meter
                .f64_histogram(name)
                .with_unit("s")
                .with_description(text)
                .with_boundaries(SECONDS.to_vec())
                .build()
        };
        let counter = |name: &'static str, unit: &'static str, text: &'static str| {
            meter
                .u64_counter(name)
                .with_unit(unit)
                .with_description(text)
                .build()
        };
        Self {
            call_duration: seconds("rpc.server.call.duration", "Time that calls took"),
            call_errors: counter(
                "signalbox.rpc.errors",
                "{call}",
                "Calls that ended with an error, by its reason",
            ),
            decisions: counter(
                "signalbox.route.decisions",
                "{decision}",
                "Routing decisions, by outcome and by what ranked",
            ),
            degraded: counter(
                "signalbox.route.degraded",
                "{decision}",
                "Reasons why routing decisions were made of less than was asked for",
            ),
            verdicts: counter(
                "signalbox.loop.verdicts",
                "{verdict}",
                "What the loop guard said to reports, by rule",
            ),
            encoding: seconds(
                "gen_ai.server.request.duration",
                "Time that the encoder took for the prompts of a call, waiting included",
            ),
        }
    }
}

/// Makes the instruments; later calls change nothing.
pub(super) fn install(meter: &Meter) {
    let _ = INSTRUMENTS.set(Instruments::new(meter));
}

/// The instruments, where there are any.
pub(super) fn instruments() -> Option<&'static Instruments> {
    INSTRUMENTS.get()
}
