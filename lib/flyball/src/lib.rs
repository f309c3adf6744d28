//! Flyball as a library: a whole control plane in a value.
//!
//! API server, controllers, scheduler and simulated nodes run in the process of a test; it takes some
//! milliseconds to start, and any number of planes can run side by side.
//!
//! ```
//! use flyball::{Method, Plane, Request};
//! use serde_json::{Value, json};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut plane = Plane::start().await?;
//! let client = plane.client("my-test");
//!
//! // Requests are those of any API server.
//! let deployments = "/apis/apps/v1/namespaces/default/deployments";
//! let web = json!({
//!     "metadata": {"name": "web"},
//!     "spec": {
//!         "replicas": 3,
//!         "selector": {"matchLabels": {"app": "web"}},
//!         "template": {
//!             "metadata": {"labels": {"app": "web"}},
//!             "spec": {"containers": [{"name": "web", "image": "web:v1"}]},
//!         },
//!     },
//! });
//! client.send(&Request::with(Method::Post, deployments, web.to_string())).await?;
//!
//! // Wait until it is ready: a watch tells every change.
//! let mut changes = client.watch(&format!("{deployments}?watch=1")).await?;
//! while let Some(line) = changes.next().await? {
//!     let change: Value = serde_json::from_slice(&line)?;
//!     if change["object"]["status"]["availableReplicas"] == 3 {
//!         break;
//!     }
//! }
//!
//! // Break something: without its controller, nobody replaces a pod.
//! plane.switch_controller_off("replicaset-controller").await?;
//! plane.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! - [`Plane::start_with`] takes options: a folder that keeps the state, a socket for other processes
//!   ([`Plane::kubeconfig`] is what they need), the number of nodes, which controllers run.
//! - [`Plane::switch_off`] and [`Plane::switch_controller_off`] stop parts of it while it runs.
//! - [`Plane::decisions`] tells what every controller did, and why.
//!
//! This crate owns no arrow: it ties the server, the controllers and the simulated nodes together.

mod kubeconfig;
mod parts;
mod plane;
#[cfg(test)]
mod tests;

pub use flyball_api::ApiError;
pub use flyball_client::{Client, Method, Request, WatchStream};
pub use flyball_controllers::{CONTROLLERS, Entry};
pub use flyball_runtime::{Decision, Deed};
pub use kubeconfig::kubeconfig;
pub use parts::Part;
pub use plane::{Plane, PlaneFailed, PlaneOptions};
