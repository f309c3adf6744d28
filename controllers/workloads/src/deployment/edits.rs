//! Changes to existing ReplicaSets, at most one write for each.
//!
//! Upstream writes annotations and size one after the other; here whatever one sync decides about
//! one ReplicaSet goes out in one patch, bound to the state it was decided by.

use std::collections::BTreeMap;

use flyball_api::Text;
use flyball_api::views::{Deployment, ReplicaSet};
use flyball_plan::{Action, Record, RecordKind, Target, Write};
use serde_json::{Map, Value, json};

use super::annotations::size_marks;
use super::limits::Limits;
use super::sets::Set;

/// What is to change on one ReplicaSet.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    /// The ReplicaSet.
    pub(super) set: Set,
    /// Its new size.
    pub(super) replicas: Option<i32>,
    /// Its new `minReadySeconds`.
    pub(super) min_ready_seconds: Option<i32>,
    annotations: BTreeMap<Text, Text>,
}

impl Edit {
    /// No change yet.
    pub(super) fn of(set: &Set) -> Self {
        Self {
            set: set.clone(),
            replicas: None,
            min_ready_seconds: None,
            annotations: BTreeMap::new(),
        }
    }

    /// Whether nothing changes.
    pub(super) fn is_empty(&self) -> bool {
        self.replicas.is_none() && self.min_ready_seconds.is_none() && self.annotations.is_empty()
    }

    /// The annotation as it will be.
    pub(super) fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations
            .get(key)
            .map(Text::as_str)
            .or_else(|| self.set.annotation(key))
    }

    /// Sets an annotation, unless it is so already.
    pub(super) fn annotate(&mut self, key: &str, value: &str) {
        if self.set.annotation(key) != Some(value) {
            self.annotations.insert(key.into(), value.into());
        }
    }

    /// Sets the size and what the ReplicaSet remembers of its Deployment's size.
    pub(super) fn resize(&mut self, replicas: i32, limits: &Limits) {
        self.replicas = (replicas != self.set.replicas()).then_some(replicas);
        for (key, value) in size_marks(limits) {
            self.annotate(key, &value);
        }
    }

    /// Adds another change of the same ReplicaSet.
    pub(super) fn merge(&mut self, other: Edit) {
        self.replicas = other.replicas.or(self.replicas);
        self.min_ready_seconds = other.min_ready_seconds.or(self.min_ready_seconds);
        self.annotations.extend(other.annotations);
    }

    /// The patch and, after a change of size, the record of it. In order, so that only what
    /// happened is told.
    fn actions(&self, deployment: &Deployment) -> impl Iterator<Item = Action> {
        let mut patch = Map::new();
        if !self.annotations.is_empty() {
            patch.insert("metadata".into(), json!({"annotations": self.annotations}));
        }
        let mut spec = Map::new();
        if let Some(replicas) = self.replicas {
            spec.insert("replicas".into(), replicas.into());
        }
        if let Some(seconds) = self.min_ready_seconds {
            spec.insert("minReadySeconds".into(), seconds.into());
        }
        if !spec.is_empty() {
            patch.insert("spec".into(), spec.into());
        }
        let target = Target::of(ReplicaSet::KIND, self.set.meta());
        let patch = Write::patch(target, self.set.unchanged(), Value::Object(patch)).into();
        let scaled = self
            .replicas
            .map(|to| scaled(deployment, self.set.name(), self.set.replicas(), to));
        [patch].into_iter().chain(scaled)
    }
}

/// The patches of several ReplicaSets and the records of them, in the order given.
pub(super) fn actions<'a>(
    deployment: &Deployment,
    edits: impl IntoIterator<Item = &'a Edit>,
) -> Vec<Action> {
    edits
        .into_iter()
        .filter(|edit| !edit.is_empty())
        .flat_map(|edit| edit.actions(deployment))
        .collect()
}

/// Tells that a ReplicaSet changed its size.
pub(super) fn scaled(deployment: &Deployment, name: &str, from: i32, to: i32) -> Action {
    let direction = if from < to { "up" } else { "down" };
    let message = format!("Scaled {direction} replica set {name} from {from} to {to}");
    record(deployment, RecordKind::Normal, "ScalingReplicaSet", message)
}

/// Tells something about the Deployment.
pub(super) fn record(
    deployment: &Deployment,
    kind: RecordKind,
    reason: &'static str,
    message: String,
) -> Action {
    Record::on(
        Deployment::KIND,
        &deployment.metadata,
        kind,
        reason,
        message,
    )
    .into()
}
