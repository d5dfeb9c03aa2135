//! Looks after leases and timeouts, and forgets loops that ended a while ago.

use std::sync::{Arc, Weak};

use tokio::time::MissedTickBehavior;

use super::{Inner, LoopHub};
use crate::journal::event::TerminationReason;

/// Sweeps until the last hub is dropped.
pub(super) fn spawn(inner: &Arc<Inner>) {
    let mut interval = tokio::time::interval(inner.options.sweep_interval);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let inner = Arc::downgrade(inner);
    tokio::spawn(async move {
        loop {
            interval.tick().await;
            let Some(inner) = Weak::upgrade(&inner) else {
                return;
            };
            LoopHub { inner }.sweep().await;
        }
    });
}

impl LoopHub {
    /// Ends what has run out of its lease or its time. What the journal does not take now is
    /// tried again the next time.
    async fn sweep(&self) {
        let known: Vec<_> = self
            .inner
            .loops
            .iter()
            .map(|item| (item.key().clone(), item.value().clone()))
            .collect();
        for (loop_id, live) in known {
            // A loop that is being reported on is neither silent nor forgotten.
            let Ok(mut live) = live.try_lock_owned() else {
                continue;
            };
            if live.terminated.is_some() {
                if live.streams == 0 && live.silent_for() > self.inner.options.linger {
                    self.inner.loops.remove(&loop_id);
                }
                continue;
            }
            if live.next_sequence == 1 {
                continue;
            }
            let limit = live.state.config().timeout;
            let (reason, detail) = if live.elapsed() >= limit {
                let detail = format!("{:.1} s passed", limit.as_secs_f64());
                (TerminationReason::Timeout, detail)
            } else if live.lease_left().is_zero() {
                let silent = live.silent_for().as_secs();
                let detail = format!("the client was not heard of for {silent} s");
                (TerminationReason::Abandoned, detail)
            } else {
                continue;
            };
            if let Err(error) = self.end(&mut live, reason, &detail).await {
                tracing::warn!(loop_id, %error, "a loop could not be ended yet");
            } else {
                live.renew();
            }
        }
    }
}
