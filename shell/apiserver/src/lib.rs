//! The embedded API server: HTTP in front of `core/registry`, a log on disk behind it.
//!
//! ```text
//! socket → TLS → who? → registry → log on disk → answer
//!                          └─────→ watches
//! ```
//!
//! This crate owns the arrows from a request to its answer that are not decisions: transport, the
//! clock, chance, and waiting for the disk. No answer leaves before everything it is based on is
//! durable, so nobody ever sees a state that a crash could undo.
//!
//! [`ApiServer::open`] is the way in, over a [`DataFolder`] or in memory; [`LocalService`] serves clients in the same process,
//! [`listen`] those that come over HTTPS.

mod accounts;
mod activity;
mod asked;
mod authentication;
mod authority;
mod body;
mod certificates;
mod connection;
mod connections;
mod deadline;
mod disk;
mod documents;
mod edge;
mod expiry;
mod folder;
mod health;
mod impersonation;
mod in_flight;
mod limits;
mod listener;
mod local;
mod memory;
mod metrics;
mod page;
mod peer;
mod probes;
mod rendering;
mod series;
mod server;
mod signing;
mod work;

pub use authority::{Authority, AuthorityError, KeyPairPem, Tls};
pub use body::Body;
pub use expiry::ExpiringEvents;
pub use flyball_durable::{Cut, make_folder};
pub use folder::DataFolder;
pub use listener::{Listening, listen};
pub use local::{LocalService, ServerGone};
pub use server::{ApiServer, OpenFailed};

#[cfg(test)]
mod tests;
