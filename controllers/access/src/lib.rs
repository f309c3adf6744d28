//! The controllers of access: who may do what, kept up.
//!
//! ```text
//! ClusterRoles ──aggregation──→ the rules of ClusterRoles that collect them
//! ```
//!
//! Each folder is one controller of the same anatomy: `mod.rs` tells its story, `route.rs` says
//! which changes concern it, `observe.rs` what it looks at, `plan.rs` all that it decides. Nothing
//! in here does anything: controllers only say what to do, as data.

mod aggregation;

pub use aggregation::{ClusterRoleAggregationController, Observation as AggregationObservation};
