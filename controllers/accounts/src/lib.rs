//! What every namespace has, so that its pods can talk to the server: an account and a certificate.
//!
//! ```text
//! Namespace ──default_account──→ ServiceAccount default
//!     └──────root_ca───────────→ ConfigMap kube-root-ca.crt
//! ```
//!
//! The server refuses pods whose account does not exist and mounts the certificate into all others,
//! so nothing runs in a namespace before both controllers have been there.

mod default_account;
mod root_ca;

pub use default_account::{Observation as ServiceAccountObservation, ServiceAccountController};
pub use root_ca::{Observation as RootCaObservation, RootCaPublisher};
