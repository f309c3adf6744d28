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
