//! Simulated nodes: heartbeats, and the life of pods on them, as data.
//!
//! ```text
//! settings ──node──→ Node, Lease          Node + its pods ──pods──→ pod status, end of deletions
//! ```
//!
//! Two controllers play all kubelets of a cluster: [`NodeController`] registers nodes and keeps
//! them alive, [`PodController`] leads the pods on them through their life. Both act on nodes
//! that carry the annotation [`SIMULATED`] and on no other, so that real nodes may live beside
//! them. They are meant for a runtime of their own: they watch the same kinds as other
//! controllers through smaller [`views`].
//!
//! What a pod does is decided by a table of stages ([`pods::life`](Stage)) and by annotations on
//! it: see [`annotations`].

pub mod annotations;
mod hash;
mod node;
mod pods;
mod settings;
pub mod views;

pub use annotations::SIMULATED;
pub use node::{NodeController, Observation as NodeObservation};
pub use pods::{
    Delay, LIFE, Next, Observation as PodObservation, PodController, Point, Stage, When,
};
pub use settings::{Capacity, Settings, SettingsInvalid};
