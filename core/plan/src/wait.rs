//! Waits: what must happen for anything to change, as data that leads to the blocker.

use std::fmt;
use std::time::Duration;

use flyball_api::{ApiError, Kind, Text};

use crate::Target;

/// What must happen for anything to change. The text for people is made from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Objects must reach a state.
    Object {
        /// The object, or the first of several by name. An empty name means the whole collection.
        target: Target,
        /// What must become of it.
        until: Until,
        /// How many other objects of the kind must do so, too.
        others: usize,
    },
    /// A time must pass.
    Time(Timer),
    /// A ResourceQuota must have room.
    Quota {
        /// The quota.
        quota: Target,
        /// The resources that it has too little of, such as `pods`.
        resources: Vec<Text>,
    },
    /// A cache must show a write of this key.
    OwnWrite(Unseen),
    /// The API server must accept what it refused. [`Report::again`](crate::Report) says when it is
    /// sent again.
    Answer {
        /// The HTTP status code; 0 if there was no answer.
        code: u16,
        /// The reason of the answer, such as `Forbidden`.
        reason: Text,
    },
    /// A user must change a field.
    Edit {
        /// The object.
        target: Target,
        /// The field path.
        field: &'static str,
    },
}

/// What must become of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// It appears in the cache.
    Cached,
    /// The cache shows that it was deleted or changed.
    CacheUpdated,
    /// All objects of the kind are listed.
    Listed,
    /// The scheduler binds it to a node.
    Scheduled,
    /// Its images are pulled.
    ImagePulled,
    /// It gets an IP address.
    Addressed,
    /// It is ready.
    Ready,
    /// It has been ready for `minReadySeconds`.
    Available {
        /// The seconds.
        min_ready_seconds: i32,
    },
    /// It creates so many more pods.
    PodsCreated(i32),
    /// So many more of its pods become available.
    PodsAvailable(i32),
    /// So many of its pods are deleted.
    PodsDeleted(i32),
    /// It has room for so many pods.
    FitPods(usize),
    /// It is deleted.
    Deleted,
    /// It is deleted, for which these finalizers must be removed.
    Finalized(Vec<Text>),
}

/// A time that must pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// The delay before the next try.
    Retry,
    /// The next part of work that was cut into parts.
    NextBatch,
    /// The next look at discovery.
    Discovery,
    /// What is left of `ttlSecondsAfterFinished`.
    TimeToLive(Duration),
}

/// A write of a key that the caches do not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unseen {
    /// A write to an object of this kind, after which the cache has at least this version.
    Version(Kind, u64),
    /// A deletion.
    Deletion(Target),
    /// A change of an object that had this version.
    Change(Target, Text),
}

impl Unseen {
    /// The kind whose cache is behind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Version(kind, _) => *kind,
            Self::Deletion(target) | Self::Change(target, _) => target.kind,
        }
    }

    /// What is waited for; a write without a name stands for the collection.
    pub fn target(&self) -> Target {
        match self {
            Self::Version(kind, _) => Target::collection(*kind, ""),
            Self::Deletion(target) | Self::Change(target, _) => target.clone(),
        }
    }
}

impl Wait {
    /// Waits for one object.
    pub fn object(target: Target, until: Until) -> Self {
        let others = 0;
        Self::Object {
            target,
            until,
            others,
        }
    }

    /// Waits for a user to change a field.
    pub fn edit(target: Target, field: &'static str) -> Self {
        Self::Edit { target, field }
    }

    /// Waits for the next try.
    pub const RETRY: Self = Self::Time(Timer::Retry);

    /// What an answer of the API server to a request in `namespace` means to wait for.
    pub fn answer(error: &ApiError, namespace: &str) -> Self {
        if error.is_namespace_terminating() {
            return Self::object(Target::namespace(namespace), Until::Deleted);
        }
        match error.exceeded_quota() {
            Some((quota, resources)) => Self::Quota {
                quota: Target::quota(namespace, &quota),
                resources,
            },
            None => Self::Answer {
                code: error.code(),
                reason: error.reason().into(),
            },
        }
    }

    /// The object that is waited for.
    pub fn target(&self) -> Option<Target> {
        match self {
            Self::Object { target, .. } | Self::Edit { target, .. } => Some(target.clone()),
            Self::Quota { quota, .. } => Some(quota.clone()),
            Self::OwnWrite(unseen) => Some(unseen.target()),
            Self::Time(_) | Self::Answer { .. } => None,
        }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object {
                target,
                until,
                others,
            } => {
                write!(f, "{target}")?;
                match others {
                    0 => {}
                    1 => write!(f, " and 1 other")?,
                    others => write!(f, " and {others} others")?,
                }
                write!(f, " {until}")
            }
            Self::Time(timer) => write!(f, "{timer}"),
            Self::Quota { quota, resources } => {
                let resources: Vec<&str> = resources.iter().map(Text::as_str).collect();
                write!(f, "{quota} to have room for {}", resources.join(", "))
            }
            Self::OwnWrite(unseen) => write!(f, "the cache to show {unseen}"),
            Self::Answer { code: 0, .. } => f.write_str("the API server to answer"),
            Self::Answer { code, reason } => {
                write!(
                    f,
                    "the API server to accept what it answered with {code} {reason}"
                )
            }
            Self::Edit { target, field } => write!(f, "a change of {field} of {target}"),
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pods = |count: &i32| if *count == 1 { "pod" } else { "pods" };
        match self {
            Self::Cached => f.write_str("to appear in the cache"),
            Self::CacheUpdated => f.write_str("to be updated in the cache"),
            Self::Listed => f.write_str("to be listed"),
            Self::Scheduled => f.write_str("to be scheduled"),
            Self::ImagePulled => f.write_str("to have its images pulled"),
            Self::Addressed => f.write_str("to get an IP address"),
            Self::Ready => f.write_str("to become ready"),
            Self::Available { min_ready_seconds } => {
                write!(f, "to have been ready for {min_ready_seconds} s")
            }
            Self::PodsCreated(count) => write!(f, "to create {count} more {}", pods(count)),
            Self::PodsAvailable(count) => {
                write!(f, "to have {count} more {} available", pods(count))
            }
            Self::PodsDeleted(count) => write!(f, "to delete {count} {}", pods(count)),
            Self::FitPods(1) => f.write_str("to fit 1 waiting pod"),
            Self::FitPods(count) => write!(f, "to fit {count} waiting pods"),
            Self::Deleted => f.write_str("to be deleted"),
            Self::Finalized(finalizers) => {
                let all: Vec<&str> = finalizers.iter().map(Text::as_str).collect();
                write!(f, "to lose its finalizers {}", all.join(", "))
            }
        }
    }
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Retry => f.write_str("the next try"),
            Self::NextBatch => f.write_str("the next batch"),
            Self::Discovery => f.write_str("discovery to name the kind"),
            Self::TimeToLive(left) => {
                write!(f, "ttlSecondsAfterFinished to pass in {} s", left.as_secs())
            }
        }
    }
}

impl fmt::Display for Unseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(kind, version) => write!(f, "{} at version {version}", kind.plural),
            Self::Deletion(target) => write!(f, "the deletion of {target}"),
            Self::Change(target, version) => {
                write!(f, "the change of {target} after version {version}")
            }
        }
    }
}
