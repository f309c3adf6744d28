//! What a sync can be about.

use std::fmt;

use flyball_api::{ObjectName, Text};

/// What is looked at for garbage.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// All pods that have finished.
    Finished,
    /// The pods of a node that is not ready and out of service.
    OutOfServiceNode(Text),
    /// The pods of a node that does not seem to exist.
    MissingNode(Text),
    /// A pod that was asked to go and has no node.
    Unscheduled(ObjectName),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished => f.write_str("finished pods"),
            Self::OutOfServiceNode(node) => write!(f, "out-of-service node {node}"),
            Self::MissingNode(node) => write!(f, "missing node {node}"),
            Self::Unscheduled(pod) => write!(f, "unscheduled pod {pod}"),
        }
    }
}

impl flyball_plan::Key for Key {
    fn namespace(&self) -> &str {
        match self {
            Self::Unscheduled(pod) => &pod.namespace,
            _ => "",
        }
    }
}
