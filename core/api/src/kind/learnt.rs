//! Names of kinds that are learnt while the program runs.
//!
//! A [`Kind`](super::Kind) is copied everywhere and holds its names for good. Those of built-in
//! kinds are constants; those that a server tells of are kept here, once each, for the life of the
//! process. A cluster has hundreds of them. Should somebody make up new ones without end, no more
//! are learnt beyond a bound, and whoever asks is told.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The most bytes that all names learnt may take: more than a hundred thousand kinds.
const BYTES_MAX: usize = 16 << 20;

static NAMES: Mutex<Names> = Mutex::new(Names {
    known: BTreeSet::new(),
    bytes: 0,
});

struct Names {
    known: BTreeSet<&'static str>,
    bytes: usize,
}

impl Names {
    fn learn(&mut self, name: &str, bytes_max: usize) -> Option<&'static str> {
        if let Some(known) = self.known.get(name) {
            return Some(known);
        }
        if self.bytes + name.len() > bytes_max {
            return None;
        }
        let kept: &'static str = Box::leak(name.into());
        self.bytes += kept.len();
        self.known.insert(kept);
        Some(kept)
    }
}

/// A name that stays; `None` if no more can be kept.
pub(super) fn learn(name: &str) -> Option<&'static str> {
    // Nothing between taking and giving back the lock can fail half-way.
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names.learn(name, BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once() {
        let (one, two) = (learn("learnt-once").unwrap(), learn("learnt-once").unwrap());
        assert!(std::ptr::eq(one, two));
    }

    #[test]
    fn beyond_the_bound_only_known_names_are_given() {
        let mut names = Names {
            known: BTreeSet::new(),
            bytes: 0,
        };
        assert!(names.learn("abc", 4).is_some());
        assert!(names.learn("de", 4).is_none());
        assert!(names.learn("abc", 4).is_some());
    }
}
