//! Signs that the server's history is not the one that the cache came from.
//!
//! A server restored from a backup forgets the latest versions and gives them out again. What the
//! cache holds may then never have happened. One informer notices it; all others are concerned.

use flyball_api::Text;

use super::fault::Fault;
use crate::store::is_older;

/// A sign that the server was restored from a backup, or lags far behind.
///
/// The reflector that gives it lists consistently by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The server gave a version lower than one seen before.
    WentBack {
        /// The newest version seen before.
        seen: Text,
        /// The lower version.
        told: Text,
    },
    /// The server has not come to a version seen before: "Too large resource version".
    TooNew,
}

impl Sign {
    /// The sign that lies in version `told` after `seen`; `None` if they are not comparable.
    pub(super) fn went_back(seen: &Text, told: &Text) -> Option<Self> {
        is_older(told, seen).then(|| Self::WentBack {
            seen: seen.clone(),
            told: told.clone(),
        })
    }

    /// The sign that lies in a failed request.
    pub(super) fn of_fault(fault: Fault) -> Option<Self> {
        (fault == Fault::TooNew).then_some(Self::TooNew)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn went_back(seen: &str, told: &str) -> bool {
        Sign::went_back(&seen.into(), &told.into()).is_some()
    }

    #[test]
    fn only_a_lower_number_is_a_sign() {
        assert!(went_back("10", "9"));
        assert!(!went_back("10", "10") && !went_back("10", "11"));
    }

    #[test]
    fn versions_that_are_not_numbers_are_never_a_sign() {
        for (seen, told) in [("", "1"), ("1", ""), ("b", "a"), ("10", "a"), ("b", "1")] {
            assert!(!went_back(seen, told), "{seen:?} {told:?}");
        }
    }
}
