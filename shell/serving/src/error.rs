//! Why the secure port could not be opened. After it is open nothing is fatal: a bad reload keeps the last good state.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The reason why [`serve`](crate::serve) refused to start. Every variant names the setting that has to change.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("failed to listen on {address}: {source}")]
    ListenFailed {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the operating system said.
        source: io::Error,
    },
    /// A certificate, key or CA file cannot be read or written.
    #[error("{action} {path}: {source}")]
    FileFailed {
        /// What was being done: `reading` or `writing`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// One half of a certificate and key pair is missing from the certificate directory.
    #[error("error reading {0}, certificate and key must be supplied as a pair")]
    PairIncomplete(PathBuf),
    /// A file, or the cluster's ConfigMap, does not hold what it should.
    #[error("{origin}: {problem}")]
    ContentInvalid {
        /// Where the content came from.
        origin: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A certificate could not be made.
    #[error("unable to generate self signed cert: {0}")]
    GenerateFailed(String),
    /// An option has a value that has no meaning.
    #[error("{0}")]
    OptionInvalid(String),
    /// The TLS library refused the combination of certificate, versions and cipher suites.
    #[error("TLS configuration: {0}")]
    TlsRefused(String),
    /// The authentication configuration of the cluster could not be looked up.
    #[error("unable to load configmap based request-header-client-ca-file: {0}")]
    LookupFailed(String),
}
