//! Chooses a node for every pod that has none.
//!
//! ```text
//! pods without a node ──scheduling──→ bindings, conditions, deletions of less important pods
//! ```
//!
//! Upstream: `pkg/scheduler` with its default profile. `scheduling/` is the controller, of the same
//! anatomy as every other; `placing/` is what it decides with: a picture of all nodes on which pods
//! are placed one after the other; `rules/` holds one file per question that is asked of a pod and
//! a node; `views/` is what is cached of pods and nodes.
//!
//! Nothing in here does anything: the controller only says what to do, as data.

mod placing;
mod rules;
mod scheduling;
mod views;

pub use scheduling::{Observation, Scheduler, SchedulerSettings};
pub use views::{Node, Pod};
