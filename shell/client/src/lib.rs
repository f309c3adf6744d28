//! HTTP to an API server, on kube-rs's configuration, authentication and TLS.
//!
//! This crate owns the outermost arrows, `api ─watch→` and `execute ─→ api`: it sends what it is
//! told and hands back bytes or a classified [`ApiError`](flyball_api::ApiError). It decides three
//! things only: how long to hold a request back (client QPS and burst, `Retry-After`), when a
//! request has taken too long, and which connections no longer bring answers.

mod agent;
mod body;
mod client;
mod connection;
mod credentials;
mod discover;
mod exchange;
mod gathered;
mod limit;
mod lines;
mod load;
mod observe;
mod permit;
mod pool;
mod pooled_body;
mod request;
mod stream;
mod suspicion;
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
