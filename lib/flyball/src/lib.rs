//! Flyball as a library: a whole control plane in a value.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use flyball::{Plane, PlaneOptions};
//!
//! let plane = Plane::start(PlaneOptions::default()).await?;
//! let client = plane.client("my-test");
//! // … use it like any API server …
//! plane.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! This crate owns no arrow: it ties the server, the controllers and the simulated nodes together.

mod kubeconfig;
mod parts;
mod plane;
#[cfg(test)]
mod tests;

pub use flyball_client::{Client, Method, Request};
pub use kubeconfig::kubeconfig;
pub use parts::Part;
pub use plane::{Plane, PlaneFailed, PlaneOptions};
