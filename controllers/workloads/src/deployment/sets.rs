//! The ReplicaSets of a Deployment, told apart into the new one and the old ones.

use std::cmp::Ordering;
use std::sync::Arc;

use flyball_api::views::ReplicaSet;
use flyball_api::{Meta, Text};
use flyball_plan::Precondition;

/// One ReplicaSet as a sync knows it.
#[derive(Clone, Debug)]
pub(super) struct Set {
    /// What the cache or, in this sync, the server showed.
    pub(super) view: Arc<ReplicaSet>,
    /// The version of its newest known state: later than the view's once this sync adopted it.
    pub(super) version: Text,
    /// Whether it has pods that have not ended. Only looked up where it matters: strategy Recreate.
    pub(super) has_live_pods: bool,
}

impl Set {
    /// A ReplicaSet in the state shown.
    pub(super) fn new(view: Arc<ReplicaSet>) -> Self {
        let version = view.metadata.resource_version.clone();
        Self {
            view,
            version,
            has_live_pods: false,
        }
    }

    pub(super) fn meta(&self) -> &Meta {
        &self.view.metadata
    }

    pub(super) fn name(&self) -> &str {
        &self.view.metadata.name
    }

    /// How many pods it is to have.
    pub(super) fn replicas(&self) -> i32 {
        self.view.spec.replicas.unwrap_or(1)
    }

    /// How many pods it says it has.
    pub(super) fn actual(&self) -> i32 {
        self.view.status.replicas
    }

    /// How many of its pods are available.
    pub(super) fn available(&self) -> i32 {
        self.view.status.available_replicas
    }

    /// How many of its pods are available and are to stay: until its status has caught up with a
    /// smaller size, it speaks of pods that are as good as gone.
    pub(super) fn staying(&self) -> i32 {
        self.available().min(self.replicas())
    }

    /// Whether it is to have pods at all.
    pub(super) fn is_active(&self) -> bool {
        self.replicas() > 0
    }

    pub(super) fn annotation(&self, key: &str) -> Option<&str> {
        self.view.metadata.annotations.get(key)
    }

    /// It must be exactly as this sync knows it.
    pub(super) fn unchanged(&self) -> Precondition {
        Precondition {
            uid: Some(self.view.metadata.uid.clone()),
            resource_version: Some(self.version.clone()),
        }
    }

    /// Oldest first; the name decides between equals.
    pub(super) fn by_age(&self, other: &Self) -> Ordering {
        let age = |set: &Self| set.view.metadata.creation_timestamp;
        age(self)
            .cmp(&age(other))
            .then_with(|| self.name().cmp(other.name()))
    }
}

/// All ReplicaSets of one Deployment.
#[derive(Clone, Debug, Default)]
pub(super) struct Family {
    /// The one with the Deployment's template.
    pub(super) new: Option<Set>,
    /// All others, oldest first.
    pub(super) old: Vec<Set>,
}

impl Family {
    /// The old ones, oldest first, then the new one.
    pub(super) fn all(&self) -> impl Iterator<Item = &Set> {
        self.old.iter().chain(&self.new)
    }

    /// Those that are to have pods, in the order of [`Family::all`].
    pub(super) fn active(&self) -> impl Iterator<Item = &Set> {
        self.all().filter(|set| set.is_active())
    }

    /// How many pods all of them are to have together.
    pub(super) fn replicas(&self) -> i32 {
        sum(self.all().map(Set::replicas))
    }
}

/// Adds counts; at the end of the range it stays there, where Go would wrap around.
pub(super) fn sum(counts: impl Iterator<Item = i32>) -> i32 {
    counts.fold(0, i32::saturating_add)
}
