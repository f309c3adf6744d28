//! The client of a connection, as its requests see it.

use std::sync::Arc;

use crate::activity::Activity;
use crate::certificates::Shown;
use crate::memory::{Held, Memory};

/// Turns true when the listener closes.
pub(crate) type Closing = tokio::sync::watch::Receiver<bool>;

/// What is known of the client, and what it may use.
#[derive(Clone)]
pub(crate) struct Peer {
    /// The certificate that it has shown, if any.
    pub(crate) shown: Arc<Shown>,
    pub(crate) activity: Arc<Activity>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) closing: Closing,
}

impl Peer {
    /// Counts bytes as held for this client, whether there is room for them or not.
    pub(crate) fn holding(&self, bytes: usize) -> Held {
        let mut held = self.memory.nothing(&self.activity);
        held.set(bytes);
        held.settle();
        held
    }
}
