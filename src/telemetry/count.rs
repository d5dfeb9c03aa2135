//! Counting what was decided.

use opentelemetry::KeyValue;

use super::instruments::instruments;

/// Begins the counters of these reasons at 0: the first error is then an increase, which an
/// alert sees, instead of a series that begins at 1, which it does not.
pub fn expect(errors: &[&'static str], degraded: &[&'static str]) {
    let Some(instruments) = instruments() else {
        return;
    };
    let counters = [
        (&instruments.call_errors, errors),
        (&instruments.degraded, degraded),
    ];
    for (counter, reasons) in counters {
        for &reason in reasons {
            counter.add(0, &[KeyValue::new("signalbox.reason", reason)]);
        }
    }
}

/// One routing decision.
pub fn routed(outcome: &'static str, mode: &'static str, degraded: &[&'static str]) {
    let Some(instruments) = instruments() else {
        return;
    };
    let attributes = [
        KeyValue::new("signalbox.outcome", outcome),
        KeyValue::new("signalbox.mode", mode),
    ];
    instruments.decisions.add(1, &attributes);
    for &reason in degraded {
        let attributes = [KeyValue::new("signalbox.reason", reason)];
        instruments.degraded.add(1, &attributes);
    }
}

/// One verdict of the loop guard; `rule` is empty where there is none.
pub fn judged(decision: &'static str, rule: &'static str) {
    if let Some(instruments) = instruments() {
        let attributes = [
            KeyValue::new("signalbox.decision", decision),
            KeyValue::new("signalbox.rule", rule),
        ];
        instruments.verdicts.add(1, &attributes);
    }
}
