//! The secure port: HTTPS with delegated authentication and authorization, in front of health, metrics and debug
//! pages. It owns the arrow from a socket to an answer and knows no controller: what it shows is handed to it as
//! [`Endpoints`].
//!
//! ```text
//! socket → TLS → who? (proxy headers, certificate, token, anonymous) → may they? (group, path, SubjectAccessReview)
//!        → health | metrics | configz | flagz | statusz | debug route → answer
//! ```
//!
//! The reading order is the order of that line: `server` accepts, `connection` speaks TLS and HTTP on one socket,
//! `dispatch` takes one request through `authentication`, `authorization` and the routes, `health` and `reply` write
//! the bodies. `trust` keeps the certificate authorities current, `tls` the serving certificate, and `review` is the
//! one way to ask the API server a question.
//!
//! Behaviour and texts are those of upstream's generic controller-manager server (`apiserver/pkg/server/options`,
//! `apiserver/pkg/server/healthz`, `controller-manager/app/serve.go`). Where this server differs it says so next to
//! the code: `/livez` and `/readyz` exist, `/readyz?verbose` names reasons, connections and headers are bounded, and
//! health, metrics and status pages answer GET and HEAD only.
//!
//! **Invariant:** no byte from the network is parsed outside rustls, hyper, webpki and the decoders tested here; no
//! token is written to a log or kept in memory longer than its request.

mod authentication;
mod authorization;
mod connection;
mod digest;
mod dispatch;
mod endpoints;
mod error;
mod expiring_cache;
mod health;
mod options;
mod reply;
mod review;
mod server;
mod tls;
mod trust;

pub use endpoints::{Asked, Endpoints, Reply, Route};
pub use error::ServeError;
pub use health::{Check, Health, Probe};
pub use options::{
    AuthenticationOptions, AuthorizationOptions, Backoff, Limits, RequestHeaderOptions,
    ServingOptions, SniCertificate, TlsSource, TlsVersion,
};
pub use server::{Serving, serve};

#[cfg(test)]
mod tests;
