//! The kinds, each as a view: only the fields that some controller reads or writes.
//!
//! `tests/fields/` proves that every field here exists upstream with the same name and shape.

mod config_map;
mod deployment;
mod event;
mod job;
mod lease;
mod namespace;
mod node;
mod partial;
mod pod;
mod rbac;
mod replica_set;
mod replication_controller;
mod service_account;

pub use config_map::{ConfigMap, ROOT_CA};
pub use deployment::{
    Deployment, DeploymentSpec, DeploymentStatus, DeploymentStrategy, RollingUpdateDeployment,
};
pub use event::{Event, EventSource, ObjectReference};
pub use job::{Job, JobCondition, JobSpec, JobStatus};
pub use lease::{Lease, LeaseSpec};
pub use namespace::{Namespace, NamespaceStatus};
pub use node::{Node, NodeCondition, NodeSpec, NodeStatus, Taint};
pub use partial::Partial;
pub use pod::{
    BY_CONTROLLER, BY_NODE, ContainerStatus, InitContainer, Phase, Pod, PodCondition, PodReason,
    PodSpec, PodStatus,
};
pub use rbac::{
    AggregationRule, ClusterRole, ClusterRoleBinding, PolicyRule, RBAC_GROUP, Role, RoleBinding,
    RoleRef, Subject,
};
pub use replica_set::{ReplicaSet, ReplicaSetSpec, ReplicaSetStatus};
pub use replication_controller::{
    ReplicationController, ReplicationControllerSpec, ReplicationControllerStatus,
};
pub use service_account::ServiceAccount;

pub(crate) use crate::{null_default, object};

/// The index value of an object in [`BY_CONTROLLER`]: what stands for its controller's UID or, if
/// it has none, for the orphans of its namespace.
pub fn controller_value(namespace: &str, controller: Option<&crate::Uid>) -> crate::Text {
    match controller {
        Some(uid) => uid.compact(),
        // No UID contains a slash.
        None => compact_str::format_compact!("{namespace}/"),
    }
}
