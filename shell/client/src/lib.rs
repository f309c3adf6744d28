//! HTTP to an API server, on kube-rs's configuration, authentication and TLS.
//!
//! This crate owns the outermost arrows, `api ─watch→` and `execute ─→ api`: it sends what it is
//! told and hands back bytes or a classified [`ApiError`](flyball_api::ApiError). It decides two
//! things only: how long to hold a request back (client QPS and burst, `Retry-After`) and when a
//! request has taken too long.

mod agent;
mod client;
mod credentials;
mod discover;
mod gathered;
mod limit;
mod lines;
mod load;
mod observe;
mod permit;
mod pool;
mod request;
mod stream;
#[cfg(test)]
mod tests;
mod transport;

pub use agent::user_agent;
pub use client::Client;
pub use credentials::ServiceAccounts;
pub use flyball_api::request::{Method, Request};
pub use limit::RateLimit;
pub use load::{ConfigSource, LoadError, load};
pub use observe::{Observer, RequestSeen};
pub use permit::Permit;
pub use stream::WatchStream;
