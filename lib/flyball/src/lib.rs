//! Flyball as a library: a whole control plane in a value.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use flyball::Plane;
//!
//! let plane = Plane::start().await?;
//! let client = plane.client("my-test");
//! // … use it like any API server …
//! plane.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! This crate owns no arrow: it ties the server, the controllers and the simulated nodes together.

mod controllers;
mod kubeconfig;
mod parts;
mod plane;
#[cfg(test)]
mod tests;

pub use controllers::{CONTROLLERS, Entry, GATES, Making};
pub use flyball_api::ApiError;
pub use flyball_client::{Client, Method, Request, WatchStream};
pub use flyball_runtime::{Decision, Deed};
pub use kubeconfig::kubeconfig;
pub use parts::Part;
pub use plane::{Plane, PlaneFailed, PlaneOptions};
