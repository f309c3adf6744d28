//! kube-apiserver without HTTP: a request and the time in, an answer out.
//!
//! ```text
//! request ─→ authorize → decode → default → admit → validate → transact → respond
//! ```
//!
//! This crate owns these arrows of the embedded plane. It is a value: it reads no clock, draws no
//! numbers and opens nothing, so the same code runs behind HTTPS, inside a test and in the
//! simulator. [`Registry::handle`] is the way in; [`Registry::poll`] moves a watch on.
//!
//! One generic path serves every kind; what is particular about one is in `kinds`.

mod admission;
mod answer;
mod binding;
mod bootstrap;
mod call;
mod components;
mod create;
mod custom;
mod decode;
mod delete;
mod deprecated;
mod depth;
pub mod discovery;
mod documents;
mod etcd;
mod eviction;
mod expiry;
mod failure;
mod field_error;
mod impersonation;
mod indent;
mod internal;
mod kinds;
mod list;
mod listing;
mod managed;
mod meta;
mod names;
mod negotiation;
mod object;
mod owner_references;
mod paging;
mod parts;
mod patch;
mod path;
mod path_lengths;
mod query;
mod quoted;
mod registry;
mod request;
mod reviews;
mod route;
mod scale;
mod selection;
mod sent;
mod served;
mod services;
mod shown;
mod stored;
mod structures;
mod surrogates;
mod table;
mod tokens;
mod update;
mod versions;
mod warnings;
mod watch;

#[cfg(test)]
mod tests;

pub use answer::{Answer, Layout, Reply};
pub use expiry::RevisionTimes;
pub use failure::Failure;
pub use field_error::{FieldError, Mistake};
pub use indent::indented;
pub use listing::Listing;
pub use negotiation::Media;
pub use object::Object;
pub use path::{Path, ResourcePath};
pub use registry::Registry;
pub use request::{Chance, Method, Representation, Request};
pub use route::is_watch;
pub use stored::Stored;
pub use tokens::{
    Claims, ISSUER, Identified, Issuer, Signer, SigningFailed, TokenRefused, open_token,
};
pub use watch::{Polled, Watch};
