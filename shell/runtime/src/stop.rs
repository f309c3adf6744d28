//! Asking tasks to stop, and hearing it.

use tokio::sync::watch;

/// Asks everybody who holds the other end to stop.
#[derive(Debug)]
pub(crate) struct Stopper(watch::Sender<bool>);

/// Hears when it is time to stop.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Receiver<bool>);

impl Stopper {
    /// A pair of ends.
    pub(crate) fn new() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Stop(receiver))
    }

    /// Asks.
    pub(crate) fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Comes back when it is time; also when nobody is left who could ask.
    pub(crate) async fn asked(&mut self) {
        let _ = self.0.wait_for(|stop| *stop).await;
    }
}
