//! Objects for tests, as an API server would hold them.
//!
//! ```
//! use flyball_testkit::{World, builders::{pod, replica_set}};
//!
//! let world = World::of([
//!     replica_set("web").replicas(2),
//!     pod("web-1").controlled_by("ReplicaSet", "web").ready(),
//! ]);
//! # assert_eq!(world.objects().count(), 2);
//! ```
//!
//! Names do the wiring: an object called `web` selects and labels `app: web`, and the owner
//! `ReplicaSet web` has the UID that a world gives to the first of that name. Anything else is set
//! with [`Build::with`], which merges JSON in.

use flyball_api::Timestamp;
use serde_json::{Value, json};

use crate::kubelet;
use crate::world::{merge, uid_of};

/// An object in the making.
#[derive(Clone, Debug)]
pub struct Build(Value);

/// A pod without a node: `app: <name up to its last dash>`, one container.
pub fn pod(name: &str) -> Build {
    let app = name.rsplit_once('-').map_or(name, |(app, _)| app);
    Build(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": app}},
        "spec": template(app)["spec"],
        "status": {"phase": "Pending"},
    }))
}

/// A ReplicaSet of one pod.
pub fn replica_set(name: &str) -> Build {
    let selector = json!({"matchLabels": {"app": name}});
    Build(json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"replicas": 1, "selector": selector, "template": template(name)},
        "status": {"replicas": 0},
    }))
}

/// A ReplicationController of one pod.
pub fn replication_controller(name: &str) -> Build {
    Build(json!({
        "apiVersion": "v1", "kind": "ReplicationController",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"replicas": 1, "selector": {"app": name}, "template": template(name)},
        "status": {"replicas": 0},
    }))
}

/// A Deployment of one pod, with the server's defaults.
pub fn deployment(name: &str) -> Build {
    let selector = json!({"matchLabels": {"app": name}});
    let bounds = json!({"maxSurge": "25%", "maxUnavailable": "25%"});
    Build(json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "replicas": 1, "selector": selector, "template": template(name),
            "strategy": {"type": "RollingUpdate", "rollingUpdate": bounds},
            "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
        },
        "status": {},
    }))
}

/// A Namespace.
pub fn namespace(name: &str) -> Build {
    Build(json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": name}, "status": {"phase": "Active"},
    }))
}

/// The template that the pods of `app` are made from.
pub fn template(app: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": app}},
        "spec": {"containers": [{"name": app, "image": format!("{app}:1")}]},
    })
}

impl Build {
    /// Merges JSON in, as a strategic merge patch.
    pub fn with(mut self, patch: Value) -> Self {
        merge(&mut self.0, &patch);
        self
    }

    /// In this namespace instead of `default`.
    pub fn namespace(self, namespace: &str) -> Self {
        self.with(json!({"metadata": {"namespace": namespace}}))
    }

    /// This incarnation.
    pub fn uid(self, uid: &str) -> Self {
        self.with(json!({"metadata": {"uid": uid}}))
    }

    /// With one more label, or another value of it.
    pub fn label(self, key: &str, value: &str) -> Self {
        self.with(json!({"metadata": {"labels": {key: value}}}))
    }

    /// With only these labels.
    pub fn labels(mut self, labels: Value) -> Self {
        self.0["metadata"]["labels"] = labels;
        self
    }

    /// With one more annotation, or another value of it.
    pub fn annotation(self, key: &str, value: &str) -> Self {
        self.with(json!({"metadata": {"annotations": {key: value}}}))
    }

    /// Controlled by the first object of this kind and name in the world.
    pub fn controlled_by(self, kind: &str, name: &str) -> Self {
        let uid = uid_of(kind, name).to_string();
        self.controlled_by_uid(kind, name, &uid)
    }

    /// Controlled by one incarnation.
    pub fn controlled_by_uid(self, kind: &str, name: &str, uid: &str) -> Self {
        let api_version = match kind {
            "ReplicationController" | "Pod" | "Node" | "Namespace" => "v1",
            "Job" | "CronJob" => "batch/v1",
            _ => "apps/v1",
        };
        self.with(json!({"metadata": {"ownerReferences": [{
            "apiVersion": api_version, "kind": kind, "name": name, "uid": uid,
            "controller": true, "blockOwnerDeletion": true,
        }]}}))
    }

    /// Created then.
    pub fn created(self, at: Timestamp) -> Self {
        self.with(json!({"metadata": {"creationTimestamp": at}}))
    }

    /// Asked to go away then.
    pub fn deleting(self, at: Timestamp) -> Self {
        let grace = 30;
        self.with(json!({"metadata": {
            "deletionTimestamp": at, "deletionGracePeriodSeconds": grace,
        }}))
    }

    /// Held by a finalizer.
    pub fn finalizer(self, finalizer: &str) -> Self {
        self.with(json!({"metadata": {"finalizers": [finalizer]}}))
    }

    /// Desired number of replicas.
    pub fn replicas(self, replicas: i32) -> Self {
        self.with(json!({"spec": {"replicas": replicas}}))
    }

    /// On a node.
    pub fn node(self, node: &str) -> Self {
        self.with(json!({"spec": {"nodeName": node}}))
    }

    /// In this phase, and not ready.
    pub fn phase(self, phase: &str) -> Self {
        let pod = if phase == "Pending" {
            self
        } else {
            self.node(kubelet::NODE)
        };
        let status = json!({"$patch": "replace", "phase": phase});
        pod.with(json!({"status": status}))
    }

    /// Running, and ready for longer than anyone asks for.
    pub fn ready(self) -> Self {
        self.ready_since(Timestamp::from_unix_seconds(1_735_689_600)) // 2025-01-01T00:00:00Z
    }

    /// Running, and ready since then.
    pub fn ready_since(mut self, since: Timestamp) -> Self {
        self.0["status"] = kubelet::ready_status(&json!(since));
        if self.0["spec"]["nodeName"].is_null() {
            self.node(kubelet::NODE)
        } else {
            self
        }
    }

    /// The object.
    pub fn json(self) -> Value {
        self.0
    }
}

impl From<Build> for Value {
    fn from(build: Build) -> Value {
        build.0
    }
}

impl From<Value> for Build {
    fn from(object: Value) -> Build {
        Build(object)
    }
}
