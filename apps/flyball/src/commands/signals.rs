//! SIGTERM and SIGINT: being asked to stop.

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears when the process is asked to stop.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From now on a signal does not end the process by itself.
    pub(super) fn new() -> anyhow::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?,
            interrupt: signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?,
        })
    }

    /// Comes back when the process is asked to stop, each time.
    pub(super) async fn asked(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
