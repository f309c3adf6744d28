//! The term: whether this process may write at this moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flyball_client::Permit;
use tokio::sync::watch;

use crate::clock::Clock;

/// Until when this process may write, on the monotonic clock.
///
/// Checked before each write: a process that was stopped and continued finds its term over by the
/// clock alone, before anything could tell it so.
#[derive(Debug)]
pub struct Term {
    until_nanos: AtomicU64,
    leading: watch::Sender<bool>,
}

/// A term as whoever sends requests asks about it.
pub(crate) struct TermPermit {
    pub(crate) term: Arc<Term>,
    pub(crate) clock: Clock,
}

impl Permit for TermPermit {
    fn may_write(&self) -> bool {
        self.term.may_write(self.clock.monotonic())
    }
}

impl Default for Term {
    fn default() -> Self {
        Self {
            until_nanos: AtomicU64::new(0),
            leading: watch::Sender::new(false),
        }
    }
}

impl Term {
    /// A term without end, for a process that needs no election.
    pub fn forever() -> Self {
        Self {
            until_nanos: AtomicU64::new(u64::MAX),
            leading: watch::Sender::new(true),
        }
    }

    /// Whether a write may be made now.
    pub fn may_write(&self, now: Duration) -> bool {
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        now < self.until_nanos.load(Ordering::SeqCst)
    }

    /// Grants the term up to this moment.
    pub(crate) fn extend(&self, until: Duration) {
        let until = u64::try_from(until.as_nanos()).unwrap_or(u64::MAX);
        self.until_nanos.store(until, Ordering::SeqCst);
        self.leading
            .send_if_modified(|leading| !std::mem::replace(leading, true));
    }

    /// Ends the term at once.
    pub(crate) fn end(&self) {
        self.until_nanos.store(0, Ordering::SeqCst);
        self.leading
            .send_if_modified(|leading| std::mem::replace(leading, false));
    }

    /// Tells whenever the term begins or ends.
    pub fn leading(&self) -> watch::Receiver<bool> {
        self.leading.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_is_over_by_the_clock_alone() {
        let term = Term::default();
        assert!(!term.may_write(Duration::ZERO));
        term.extend(Duration::from_secs(10));
        assert!(term.may_write(Duration::from_secs(9)));
        assert!(!term.may_write(Duration::from_secs(10)));
        term.end();
        assert!(!term.may_write(Duration::ZERO));
    }
}
