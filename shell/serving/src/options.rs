//! What the operator may set, with upstream's defaults. The flags that fill these structs live in `apps`.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::ServeError;

/// Everything about the secure port. `ServingOptions::default()` is upstream's kube-controller-manager without any
/// flag: all addresses, port 10257, a self-signed certificate in memory, nobody authenticated, health open to all.
pub struct ServingOptions {
    /// `--bind-address`. An unspecified address (`0.0.0.0` or `::`) means every address of both families.
    pub bind_address: IpAddr,
    /// `--secure-port`. 0 switches the secure port off.
    pub port: u16,
    /// A socket that is already listening; `bind_address` and `port` are then ignored.
    pub listener: Option<TcpListener>,
    /// `--permit-port-sharing`: bind with SO_REUSEPORT.
    pub port_sharing_permitted: bool,
    /// `--tls-cert-file`, `--tls-private-key-file`, `--cert-dir`.
    pub tls: TlsSource,
    /// `--tls-sni-cert-key`: certificates for certain host names.
    pub sni_certificates: Vec<SniCertificate>,
    /// `--tls-min-version`.
    pub min_tls_version: TlsVersion,
    /// `--tls-cipher-suites`, by upstream's names; empty means all. TLS 1.3 suites are always on, as in Go.
    pub cipher_suites: Vec<String>,
    /// `--tls-curve-preferences`, by the numbers of the TLS registry; empty means all.
    pub curve_preferences: Vec<u16>,
    /// `--http2-max-streams-per-connection`; 0 means 100.
    pub http2_max_streams: u32,
    /// `--disable-http2-serving`.
    pub disable_http2: bool,
    /// Who a request comes from.
    pub authentication: AuthenticationOptions,
    /// What a request may do.
    pub authorization: AuthorizationOptions,
    /// Bounds on time and memory that a client can take.
    pub limits: Limits,
}

impl Default for ServingOptions {
    fn default() -> Self {
        Self {
            bind_address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            port: 10257,
            listener: None,
            port_sharing_permitted: false,
            tls: TlsSource::default(),
            sni_certificates: Vec::new(),
            min_tls_version: TlsVersion::default(),
            cipher_suites: Vec::new(),
            curve_preferences: Vec::new(),
            http2_max_streams: 0,
            disable_http2: false,
            authentication: AuthenticationOptions::default(),
            authorization: AuthorizationOptions::default(),
            limits: Limits::default(),
        }
    }
}

/// Where the serving certificate comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsSource {
    /// PEM files, read again when they change.
    Files {
        /// The certificate, followed by its intermediates.
        cert: PathBuf,
        /// Its private key.
        key: PathBuf,
    },
    /// A certificate made at start for `localhost`, `127.0.0.1` and the bind address.
    SelfSigned {
        /// `--cert-dir`: `<pair_name>.crt` and `.key` are used if they are there and written if they are not.
        /// `None` keeps the pair in memory.
        cert_dir: Option<PathBuf>,
        /// The file name without its extension.
        pair_name: String,
        /// More names or addresses the certificate should be valid for, such as the host name.
        alternate_names: Vec<String>,
    },
}

impl Default for TlsSource {
    fn default() -> Self {
        Self::SelfSigned {
            cert_dir: None,
            pair_name: "kube-controller-manager".to_owned(),
            alternate_names: Vec::new(),
        }
    }
}

/// A certificate for clients that ask for certain names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SniCertificate {
    /// The certificate, followed by its intermediates.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Names, or `*.`-patterns. Empty: the names in the certificate.
    pub names: Vec<String>,
}

/// The oldest TLS version a client may use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2, the default and the oldest there is here.
    #[default]
    Tls12,
    /// TLS 1.3.
    Tls13,
}

impl FromStr for TlsVersion {
    type Err = ServeError;

    /// Takes the values of `--tls-min-version`. 1.0 and 1.1 are read as 1.2: a minimum may be exceeded, and the TLS
    /// library speaks nothing older.
    fn from_str(name: &str) -> Result<Self, ServeError> {
        match name {
            "" | "VersionTLS10" | "VersionTLS11" | "VersionTLS12" => Ok(Self::Tls12),
            "VersionTLS13" => Ok(Self::Tls13),
            other => Err(ServeError::OptionInvalid(format!(
                "unknown tls version {other:?}"
            ))),
        }
    }
}

/// How callers are recognised.
pub struct AuthenticationOptions {
    /// `--client-ca-file`. When it is given, the cluster is not asked for a client CA.
    pub client_ca_file: Option<PathBuf>,
    /// The client made from `--authentication-kubeconfig`. Without it tokens mean nothing and nothing is looked up.
    pub client: Option<kube::Client>,
    /// `--authentication-skip-lookup`.
    pub skip_lookup: bool,
    /// `--authentication-tolerate-lookup-failure`.
    pub tolerate_lookup_failure: bool,
    /// `--authentication-token-webhook-cache-ttl`.
    pub token_cache_ttl: Duration,
    /// The front proxy.
    pub request_header: RequestHeaderOptions,
    /// Time for one TokenReview, its retries included.
    pub token_review_timeout: Duration,
    /// Pauses between tries of a review.
    pub backoff: Backoff,
}

impl Default for AuthenticationOptions {
    fn default() -> Self {
        Self {
            client_ca_file: None,
            client: None,
            skip_lookup: false,
            tolerate_lookup_failure: false,
            token_cache_ttl: Duration::from_secs(10),
            request_header: RequestHeaderOptions::default(),
            token_review_timeout: Duration::from_secs(10),
            backoff: Backoff::default(),
        }
    }
}

/// A proxy that has authenticated its callers and names them in headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHeaderOptions {
    /// `--requestheader-client-ca-file`. Without it all of this comes from the cluster's ConfigMap.
    pub client_ca_file: Option<PathBuf>,
    /// `--requestheader-allowed-names`; empty allows every certificate of that CA.
    pub allowed_names: Vec<String>,
    /// `--requestheader-username-headers`.
    pub username_headers: Vec<String>,
    /// `--requestheader-uid-headers`.
    pub uid_headers: Vec<String>,
    /// `--requestheader-group-headers`.
    pub group_headers: Vec<String>,
    /// `--requestheader-extra-headers-prefix`.
    pub extra_header_prefixes: Vec<String>,
}

impl Default for RequestHeaderOptions {
    fn default() -> Self {
        Self {
            client_ca_file: None,
            allowed_names: Vec::new(),
            username_headers: vec!["x-remote-user".to_owned()],
            uid_headers: Vec::new(),
            group_headers: vec!["x-remote-group".to_owned()],
            extra_header_prefixes: vec!["x-remote-extra-".to_owned()],
        }
    }
}

/// What callers may do.
pub struct AuthorizationOptions {
    /// The client made from `--authorization-kubeconfig`. Without it everything that is not always allowed is
    /// forbidden.
    pub client: Option<kube::Client>,
    /// `--authorization-always-allow-paths`; a trailing `*` matches any ending.
    pub always_allow_paths: Vec<String>,
    /// Groups whose members may do everything.
    pub always_allow_groups: Vec<String>,
    /// `--authorization-webhook-cache-authorized-ttl`.
    pub allow_ttl: Duration,
    /// `--authorization-webhook-cache-unauthorized-ttl`.
    pub deny_ttl: Duration,
    /// Time for one try of a SubjectAccessReview.
    pub review_timeout: Duration,
    /// Pauses between tries of a review.
    pub backoff: Backoff,
}

impl Default for AuthorizationOptions {
    fn default() -> Self {
        Self {
            client: None,
            always_allow_paths: ["/healthz", "/readyz", "/livez"]
                .map(str::to_owned)
                .to_vec(),
            always_allow_groups: vec!["system:masters".to_owned()],
            allow_ttl: Duration::from_secs(10),
            deny_ttl: Duration::from_secs(10),
            review_timeout: Duration::from_secs(10),
            backoff: Backoff::default(),
        }
    }
}

/// Growing pauses between tries: `first`, then `factor` times longer each time, each lengthened by up to `jitter` of
/// itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    /// The first pause.
    pub first: Duration,
    /// Growth per pause.
    pub factor: f64,
    /// Largest random addition, as a share of the pause.
    pub jitter: f64,
    /// How many tries there are in all.
    pub tries_max: u32,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(500),
            factor: 1.5,
            jitter: 0.2,
            tries_max: 5,
        }
    }
}

/// How much of this process one client, or all of them, can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections served at once; more wait in the kernel's queue.
    pub connections_max: usize,
    /// Bytes of request head. Upstream allows 1 MiB; with `connections_max` that would be a gigabyte.
    pub head_bytes_max: u32,
    /// Bytes of request body, where a route reads one at all.
    pub body_bytes_max: usize,
    /// Time from accept to a finished TLS handshake, and then to a complete request head.
    pub head_timeout: Duration,
    /// Time a connection may stay open without a request in progress.
    pub idle_timeout: Duration,
    /// Time for one request from its head to its answer.
    pub request_timeout: Duration,
    /// Time that requests in progress get to finish at shutdown.
    pub shutdown_grace: Duration,
    /// How often certificate files are looked at.
    pub files_period: Duration,
    /// How often the ConfigMap in the cluster is read, lengthened by up to a tenth.
    pub lookup_period: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 1024,
            head_bytes_max: 64 * 1024,
            body_bytes_max: 64 * 1024,
            head_timeout: Duration::from_secs(32),
            idle_timeout: Duration::from_secs(90),
            request_timeout: Duration::from_secs(60),
            shutdown_grace: Duration::from_secs(5),
            files_period: Duration::from_secs(10),
            lookup_period: Duration::from_secs(60),
        }
    }
}
