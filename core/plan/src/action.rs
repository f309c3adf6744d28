//! Actions: what a controller wants done, as data.
//!
//! An action leaves nothing to decide: whoever runs it sends exactly this. Every write to an
//! existing object names the incarnation or version it was judged by, so that a plan made from a
//! stale view fails instead of doing harm.

use std::time::Duration;

use flyball_api::views::ObjectReference;
use flyball_api::{Kind, Meta, ObjectName, Text, Uid};

use crate::Body;

/// The object that an action is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace and name.
    pub name: ObjectName,
}

impl Target {
    /// The target with this metadata.
    pub fn of(kind: Kind, meta: &Meta) -> Self {
        Self {
            kind,
            name: meta.object_name(),
        }
    }
}

/// What must still be true of an object for a write to it to be right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Precondition {
    /// It is this incarnation.
    pub uid: Option<Uid>,
    /// It is in this state.
    pub resource_version: Option<Text>,
}

impl Precondition {
    /// The object must be this incarnation, in whatever state.
    pub fn incarnation(meta: &Meta) -> Self {
        Self {
            uid: Some(meta.uid.clone()),
            resource_version: None,
        }
    }

    /// The object must be exactly as it was seen.
    pub fn unchanged(meta: &Meta) -> Self {
        Self {
            uid: Some(meta.uid.clone()),
            resource_version: Some(meta.resource_version.clone()),
        }
    }
}

/// Which part of an object a write goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Subresource {
    /// The object itself.
    #[default]
    None,
    /// Its observed state.
    Status,
    /// Of a namespace, what must be cleared before it may go.
    Finalize,
}

impl Subresource {
    /// What follows the path of the object; empty for the object itself.
    pub fn path(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Status => "/status",
            Self::Finalize => "/finalize",
        }
    }
}

/// What happens to the dependents of a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Propagation {
    /// They are deleted afterwards.
    Background,
    /// They are deleted first.
    Foreground,
    /// They stay.
    Orphan,
}

/// One thing to do.
#[derive(Clone, Debug)]
pub enum Action {
    /// Create an object.
    Create {
        /// The kind to create.
        kind: Kind,
        /// The namespace to create it in.
        namespace: Text,
        /// The whole object.
        body: Body,
    },
    /// Change parts of an object with a strategic merge patch.
    Patch {
        /// What to change.
        target: Target,
        /// Which part of it.
        subresource: Subresource,
        /// What must hold; it is part of `body` already.
        precondition: Precondition,
        /// The patch.
        body: Body,
    },
    /// Change parts of an object with a JSON merge patch, which every kind understands.
    Merge {
        /// What to change.
        target: Target,
        /// What must hold; it is part of `body` already.
        precondition: Precondition,
        /// The patch.
        body: Body,
    },
    /// Replace an object or one of its parts.
    Update {
        /// What to replace.
        target: Target,
        /// Which part of it.
        subresource: Subresource,
        /// What must hold; it is part of `body` already.
        precondition: Precondition,
        /// The new state.
        body: Body,
    },
    /// Delete an object.
    Delete {
        /// What to delete.
        target: Target,
        /// What must hold.
        precondition: Precondition,
        /// What happens to its dependents; the kind's default if absent.
        propagation: Option<Propagation>,
        /// How long it may take to stop; as long as it asked for if absent. Zero takes it away
        /// at once: for those who know that it has stopped, or do not care.
        grace_seconds: Option<u32>,
    },
    /// Delete all objects of a kind in a namespace, whatever they are by then.
    DeleteCollection {
        /// Their kind.
        kind: Kind,
        /// The namespace: never all of them.
        namespace: Text,
        /// What happens to their dependents; the kind's default if absent.
        propagation: Option<Propagation>,
    },
    /// Assign a pod to a node, for good.
    Bind {
        /// The pod.
        target: Target,
        /// What must hold of it. With a version, the key waits until the caches show the pod in
        /// another one, which is the bound one; without, a second try from the same view is
        /// possible, and is refused.
        precondition: Precondition,
        /// The name of the node.
        node: Text,
    },
    /// Read an object from the server itself, past all caches.
    Ask {
        /// What to read.
        target: Target,
    },
    /// Ask the server itself whether an incarnation still exists; no more than its metadata is
    /// read. That one does not is true for ever, so an [`Engine`](crate::Engine) that was told
    /// once may answer by itself.
    Confirm {
        /// What to read.
        target: Target,
        /// The incarnation that is asked for.
        uid: Uid,
    },
    /// List the objects of a kind in a namespace, past all caches: no more than their metadata.
    List {
        /// Their kind.
        kind: Kind,
        /// The namespace.
        namespace: Text,
        /// How many are wanted; of the others no more than their number is told.
        items_max: usize,
    },
    /// List the objects of a kind in all namespaces, past all caches: no more than their metadata.
    Survey {
        /// Their kind.
        kind: Kind,
        /// How many are wanted; of the others no more than their number is told.
        items_max: usize,
        /// How old an answer to somebody else's question may be.
        age_max: Duration,
    },
    /// Find out which resources the server has.
    Discover {
        /// How old an answer to somebody else's question may be.
        age_max: Duration,
    },
    /// Tell people.
    Record(Record),
}

impl Action {
    /// Deletes one incarnation of an object.
    pub fn delete(kind: Kind, meta: &Meta) -> Self {
        Self::Delete {
            target: Target::of(kind, meta),
            precondition: Precondition::incarnation(meta),
            propagation: None,
            grace_seconds: None,
        }
    }

    /// Assigns a pod, exactly as it was seen, to a node.
    pub fn bind(kind: Kind, meta: &Meta, node: &str) -> Self {
        Self::Bind {
            target: Target::of(kind, meta),
            precondition: Precondition::unchanged(meta),
            node: node.into(),
        }
    }

    /// Whether this changes an object (events are not objects that anyone plans by).
    pub fn is_write(&self) -> bool {
        !matches!(
            self,
            Self::Ask { .. }
                | Self::Confirm { .. }
                | Self::List { .. }
                | Self::Survey { .. }
                | Self::Discover { .. }
                | Self::Record(_)
        )
    }

    /// The verb, as the API calls it.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Patch { .. } | Self::Merge { .. } => "patch",
            Self::Update { .. } => "update",
            Self::Delete { .. } => "delete",
            Self::DeleteCollection { .. } => "deletecollection",
            Self::Bind { .. } => "bind",
            Self::Ask { .. } | Self::Confirm { .. } => "get",
            Self::List { .. } | Self::Survey { .. } => "list",
            Self::Discover { .. } => "discover",
            Self::Record(_) => "record",
        }
    }
}

/// How serious a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordKind {
    /// All is well.
    Normal,
    /// Something needs attention.
    Warning,
}

/// What to tell people about an object; the recorder turns it into an Event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it is about.
    pub about: ObjectReference,
    /// How serious it is.
    pub kind: RecordKind,
    /// Why, in one word for machines.
    pub reason: &'static str,
    /// What happened, for people.
    pub message: String,
}

/// How a set of actions is paced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// One after the other; the first failure skips the rest.
    #[default]
    InOrder,
    /// All at once; a failure skips nothing.
    Together,
    /// In batches of 1, 2, 4, 8 …; a failure in one batch skips all later batches.
    SlowStart,
}

/// A set of actions of one stage of a sync.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    /// The name of the stage, by which the next step finds the answers.
    pub stage: &'static str,
    /// What to do.
    pub items: Vec<Action>,
    /// How to pace it.
    pub pace: Pace,
}

impl Actions {
    /// Actions to be run one after the other.
    pub fn in_order(stage: &'static str, items: Vec<Action>) -> Self {
        Self {
            stage,
            items,
            pace: Pace::InOrder,
        }
    }

    /// Actions to be run all at once.
    pub fn together(stage: &'static str, items: Vec<Action>) -> Self {
        Self {
            stage,
            items,
            pace: Pace::Together,
        }
    }

    /// Actions to be run in growing batches.
    pub fn slow_start(stage: &'static str, items: Vec<Action>) -> Self {
        Self {
            stage,
            items,
            pace: Pace::SlowStart,
        }
    }
}
