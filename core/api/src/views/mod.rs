//! The kinds, each as a view: only the fields that some controller reads or writes.
//!
//! `tests/fields/` proves that every field here exists upstream with the same name and shape.

mod deployment;
mod event;
mod job;
mod lease;
mod namespace;
mod node;
mod partial;
mod pod;
mod replica_set;
mod replication_controller;

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
pub use replica_set::{ReplicaSet, ReplicaSetSpec, ReplicaSetStatus};
pub use replication_controller::{
    ReplicationController, ReplicationControllerSpec, ReplicationControllerStatus,
};

/// Implements [`Object`](crate::Object) for a view with a `metadata: Meta` field.
macro_rules! object {
    ($view:ty, $kind:expr $(, $index:expr)* $(,)?) => {
        impl $crate::Object for $view {
            fn kind() -> $crate::Kind {
                $kind
            }
            fn namespace(&self) -> &str {
                &self.metadata.namespace
            }
            fn name(&self) -> &str {
                &self.metadata.name
            }
            fn uid(&self) -> &$crate::Uid {
                &self.metadata.uid
            }
            fn resource_version(&self) -> &str {
                &self.metadata.resource_version
            }
            fn is_deleting(&self) -> bool {
                self.metadata.is_deleting()
            }
            fn lineage(&self) -> $crate::Lineage<'_> {
                self.metadata.lineage()
            }
            fn decode(json: &[u8]) -> Result<Self, $crate::DecodeError> {
                serde_json::from_slice(json).map_err($crate::DecodeError::new)
            }
            fn share(&mut self, pool: &mut $crate::Pool) {
                self.metadata.share(pool);
            }
            fn indexes() -> &'static [$crate::Index<Self>] {
                const INDEXES: &[$crate::Index<$view>] = &[$($index),*];
                INDEXES
            }
        }

        impl $view {
            /// The kind of this view.
            pub const KIND: $crate::Kind = $kind;
        }
    };
}
pub(crate) use object;

/// Reads null as the default, as the server does.
pub(crate) fn null_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de> + Default,
{
    use serde::Deserialize;
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// The index value of an object in [`BY_CONTROLLER`]: what stands for its controller's UID or, if
/// it has none, for the orphans of its namespace.
pub fn controller_value(namespace: &str, controller: Option<&crate::Uid>) -> crate::Text {
    match controller {
        Some(uid) => uid.compact(),
        // No UID contains a slash.
        None => compact_str::format_compact!("{namespace}/"),
    }
}
