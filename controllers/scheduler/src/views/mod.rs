//! What is cached of pods and nodes: only what decides where a pod goes.
//!
//! The scheduler runs with caches of its own, so these views need not serve anybody else.

mod amounts;
#[cfg(test)]
mod fields;
mod node;
mod pod;
mod pod_json;

pub(crate) use amounts::{Amounts, ResourceList};
pub use node::Node;
pub(crate) use node::Taint;
pub use pod::Pod;
pub(crate) use pod::{HostPort, PENDING, part};
