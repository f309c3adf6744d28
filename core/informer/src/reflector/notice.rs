//! What went wrong, for logs and readiness.

use std::fmt;
use std::time::Duration;

use flyball_api::{ApiError, Kind, Text};

/// Something went wrong between a kind's cache and the server. The reflector deals with it; this
/// is for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The kind that is concerned.
    pub kind: Kind,
    /// What went wrong.
    pub problem: Problem,
    /// How long until the next try; `None` if it is made at once or none is needed.
    pub retry_in: Option<Duration>,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.problem)?;
        match self.retry_in {
            Some(wait) => write!(f, "; trying again in {:.1} s", wait.as_secs_f64()),
            None => Ok(()),
        }
    }
}

/// What can go wrong, named by what failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The server does not stream lists; pages are asked for from now on.
    #[error("the server does not stream lists, paging instead: {0}")]
    StreamedListRefused(ApiError),
    /// A streamed list could not be begun or broke off.
    #[error("streamed list failed: {0}")]
    StreamedListFailed(ApiError),
    /// A streamed list stopped before the server said that it was complete.
    #[error("streamed list stopped before it was complete")]
    StreamedListIncomplete,
    /// A list or a page of it failed.
    #[error("list failed: {0}")]
    ListFailed(ApiError),
    /// A list or a page of it was not answered in time.
    #[error("list not answered within {} s", .0.as_secs())]
    ListTimedOut(Duration),
    /// The answer to a list could not be read.
    #[error("malformed list: {0}")]
    MalformedList(String),
    /// A watch could not be begun, or the server ended it with an error.
    #[error("watch failed: {0}")]
    WatchFailed(ApiError),
    /// A watch was not answered in time.
    #[error("watch not answered within {} s", .0.as_secs())]
    WatchTimedOut(Duration),
    /// The connection of a watch broke.
    #[error("watch broken off: {0}")]
    WatchBroken(ApiError),
    /// The server no longer has the events since the last one seen.
    #[error("watch expired, listing again: {0}")]
    WatchExpired(ApiError),
    /// A watch ended almost at once without bringing anything.
    #[error("watch ended at once and brought nothing")]
    WatchTooShort,
    /// A watch said nothing for longer than a live one would.
    #[error("watch silent for {} s, taken for dead", .0.as_secs())]
    WatchSilent(Duration),
    /// A line of a watch could not be read.
    #[error("malformed watch event, listing again: {0}")]
    MalformedEvent(String),
    /// A watch brought a version lower than one seen before.
    #[error("version went back from {seen} to {told}, listing again")]
    VersionWentBack {
        /// The newest version seen before.
        seen: Text,
        /// The lower version.
        told: Text,
    },
    /// An object of another kind came and was dropped.
    #[error("unexpected object dropped: {0}")]
    ForeignObject(String),
}

impl Problem {
    /// Whether it happens to every healthy client now and then: not worth a warning.
    pub fn is_routine(&self) -> bool {
        matches!(
            self,
            Self::WatchExpired(_) | Self::WatchBroken(_) | Self::StreamedListRefused(_)
        )
    }
}
