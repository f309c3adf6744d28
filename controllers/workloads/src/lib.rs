//! The workload controllers: how many pods there are, and from which template.
//!
//! ```text
//! Deployment ──deployment──→ ReplicaSet ──replicas──→ pods ←──replicas── ReplicationController
//! ```
//!
//! Each folder is one controller of the same anatomy: `mod.rs` tells its story, `route.rs` says
//! which changes concern it, `observe.rs` what it looks at, `plan.rs` all that it decides. Nothing
//! in here does anything: controllers only say what to do, as data.

mod deployment;
mod replicas;

pub use deployment::{
    DeploymentController, DeploymentSettings, Observation as DeploymentObservation,
};
pub use replicas::{
    Observation as ReplicasObservation, Owner as ReplicasOwner, ReplicaKind, ReplicaSetController,
    ReplicaSetKind, Replicas, ReplicasSettings, ReplicationControllerController,
    ReplicationControllerKind,
};
