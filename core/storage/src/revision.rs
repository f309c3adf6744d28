//! The one clock of a store: how many transactions have changed it.

use std::fmt;

/// A point in the life of a store. The empty store is at [`Revision::FIRST`], as etcd's is.
///
/// On the wire it is the resourceVersion, which is why zero never names a state: there it means
/// "any".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

impl Revision {
    /// The revision of a store to which nothing has happened.
    pub const FIRST: Revision = Revision(1);

    /// The revision that the next change will have.
    #[must_use]
    pub fn next(self) -> Revision {
        Revision(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
