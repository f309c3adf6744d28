//! How many requests are answered at once: so many reads, so many writes, and no more.
//!
//! Watches are not counted. Who may do anything always gets an answer, up to a bound that only keeps
//! the process alive.
//!
//! Upstream: `apiserver/pkg/server/filters/maxinflight.go`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Reads at once; upstream's `--max-requests-inflight`.
const READS_MAX: usize = 400;

/// Writes at once; upstream's `--max-mutating-requests-inflight`.
const WRITES_MAX: usize = 200;

/// How many times as many there may be of those who always get an answer.
const PRIVILEGED_FACTOR: usize = 10;

/// Requests that are being answered.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    reads: Arc<AtomicUsize>,
    writes: Arc<AtomicUsize>,
}

/// A request that is being answered, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place(Arc<AtomicUsize>);

impl InFlight {
    /// A place for a request; `None` if there is none left.
    pub(crate) fn enter(&self, is_write: bool, is_privileged: bool) -> Option<Place> {
        let (count, most) = match is_write {
            true => (&self.writes, WRITES_MAX),
            false => (&self.reads, READS_MAX),
        };
        let most = match is_privileged {
            true => most * PRIVILEGED_FACTOR,
            false => most,
        };
        let place = Place(count.clone());
        match count.fetch_add(1, Ordering::Relaxed) < most {
            true => Some(place),
            false => None,
        }
    }

    /// How many reads and writes there are.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let load = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        (load(&self.reads), load(&self.writes))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_when_all_places_are_taken_is_sent_away() {
        let places = InFlight::default();
        let taken: Vec<_> = (0..WRITES_MAX)
            .map(|_| places.enter(true, false).unwrap())
            .collect();
        assert!(places.enter(true, false).is_none());
        assert!(places.enter(false, false).is_some());
        let privileged = places.enter(true, true);
        assert!(privileged.is_some());
        assert_eq!(places.counts(), (0, WRITES_MAX + 1));
        drop((taken, privileged));
        assert_eq!(places.counts(), (0, 0));
        assert!(places.enter(true, false).is_some());
    }
}
