//! SIGTERM and SIGINT: the first begins the drain, the second ends the process at once.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Both signals.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Begins to listen; from now on the signals no longer end the process by themselves.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next of either.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Ends the process at the next signal: for an operator who does not want to wait.
pub fn exit_on_second(mut signals: Signals) {
    tokio::spawn(async move {
        signals.next().await;
        tracing::warn!("second signal: stopping at once");
        std::process::exit(130);
    });
}
