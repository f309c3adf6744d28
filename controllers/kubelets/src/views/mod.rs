//! Nodes, leases and pods as a kubelet sees them: only what is read here.

mod container;
mod lease;
mod node;
mod pod;
mod program;

pub use container::{ContainerState, ContainerStatus, Terminated};
pub use lease::{Lease, LeaseSpec};
pub use node::{Node, NodeAddress, NodeCondition, NodeInfo, NodeSpec, NodeStatus};
pub use pod::{BY_NODE, Container, Phase, Pod, PodCondition, PodMeta, PodSpec, PodStatus};
pub use program::Program;

/// Implements [`Object`](flyball_api::Object) for a view with a `metadata` field.
macro_rules! object {
    ($view:ty, $kind:expr $(, $index:expr)* $(,)?) => {
        impl flyball_api::Object for $view {
            fn kind() -> flyball_api::Kind {
                $kind
            }
            fn namespace(&self) -> &str {
                &self.metadata.namespace
            }
            fn name(&self) -> &str {
                &self.metadata.name
            }
            fn uid(&self) -> &flyball_api::Uid {
                &self.metadata.uid
            }
            fn resource_version(&self) -> &str {
                &self.metadata.resource_version
            }
            fn is_deleting(&self) -> bool {
                self.metadata.deletion_timestamp.is_some()
            }
            fn lineage(&self) -> flyball_api::Lineage<'_> {
                // No kubelet asks, and no collector runs beside one.
                flyball_api::Lineage::default()
            }
            fn decode(json: &[u8]) -> Result<Self, flyball_api::DecodeError> {
                serde_json::from_slice(json).map_err(flyball_api::DecodeError::new)
            }
            fn indexes() -> &'static [flyball_api::Index<Self>] {
                const INDEXES: &[flyball_api::Index<$view>] = &[$($index),*];
                INDEXES
            }
        }

        impl $view {
            /// The kind of this view.
            pub const KIND: flyball_api::Kind = $kind;
        }
    };
}
use object;

/// Reads null as the default, as the server does.
fn null_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de> + Default,
{
    use serde::Deserialize;
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
