//! The options as the program reads them: typed, checked, grouped by concern.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::controllers::Selection;
use super::features::FeatureGates;
use super::tuning::Tuning;

/// What concerns the program as a whole.
#[derive(Clone, Debug)]
pub struct Generic {
    /// Which controllers run.
    pub selection: Selection,
    /// Which features are on.
    pub feature_gates: FeatureGates,
    /// Pause between the starts of two controllers.
    pub start_interval: Duration,
    /// How long a stop waits for the controllers; none waits for ever.
    pub shutdown_timeout: Option<Duration>,
    /// Every object is looked at again after this long, up to twice as long.
    pub resync_period_min: Duration,
    /// Whether each controller acts as a service account of its own.
    pub service_account_credentials: bool,
    /// Whether a cloud controller manager runs beside us.
    pub external_cloud: bool,
    /// The file with the certificates by which pods recognize the server; empty for those that the
    /// kubeconfig trusts.
    pub root_ca_file: String,
    /// How many finished pods may stay; zero or less for all.
    pub terminated_pod_threshold: i64,
}

/// When and how we lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderElection {
    /// Whether we lead only while holding the lease.
    pub enabled: bool,
    /// How long a lease must stand still before it is taken over.
    pub lease_duration: Duration,
    /// How long the leader tries to renew before it gives up.
    pub renew_deadline: Duration,
    /// Pause between two attempts.
    pub retry_period: Duration,
    /// Name of the lease.
    pub lease_name: String,
    /// Namespace of the lease.
    pub lease_namespace: String,
}

/// How we reach the API server.
#[derive(Clone, Debug, PartialEq)]
pub struct Client {
    /// The kubeconfig; none means the credentials of the pod we run in.
    pub kubeconfig: Option<PathBuf>,
    /// The server's address, instead of the kubeconfig's.
    pub master: Option<String>,
    /// The limit of each client; none means unlimited.
    pub rate: Option<Rate>,
}

/// A token bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Requests per second on average.
    pub qps: f64,
    /// Requests at once.
    pub burst: u32,
}

/// The HTTPS port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Serving {
    /// The address to listen on.
    pub bind_address: IpAddr,
    /// The port; none serves nothing.
    pub port: Option<u16>,
    /// The certificate to serve with; none means a self-signed one made in memory, unless
    /// [`certificate_dir`](Self::certificate_dir) holds one.
    pub certificate: Option<CertificateFiles>,
    /// Where to look for, and leave, `kube-controller-manager.crt` and `.key`.
    pub certificate_dir: Option<PathBuf>,
    /// Certificates for some host names.
    pub named_certificates: Vec<NamedCertificate>,
    /// Cipher suites to offer by IANA name, only those we can offer; empty means every safe one.
    pub cipher_suites: Vec<&'static str>,
    /// Key exchange groups by TLS number; empty means every safe one.
    pub key_exchange_groups: Vec<u16>,
    /// The oldest TLS version to accept.
    pub tls_version_min: TlsVersion,
    /// Whether HTTP/2 is offered.
    pub http2: bool,
    /// Requests open at once on one HTTP/2 connection; none leaves it to the server.
    pub http2_streams_max: Option<u32>,
    /// Whether to bind with SO_REUSEADDR.
    pub address_sharing: bool,
    /// Whether to bind with SO_REUSEPORT.
    pub port_sharing: bool,
}

/// A certificate with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate and its chain, PEM.
    pub certificate: PathBuf,
    /// The private key, PEM.
    pub key: PathBuf,
}

/// A certificate for some host names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCertificate {
    /// The files.
    pub files: CertificateFiles,
    /// The names, `*.` allowed in front; empty means the names in the certificate.
    pub names: Vec<String>,
}

/// A TLS version we can speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// TLS 1.2.
    V12,
    /// TLS 1.3.
    V13,
}

/// Who is asking our HTTPS port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authentication {
    /// Where tokens are reviewed; none makes their holders anonymous.
    pub kubeconfig: Option<PathBuf>,
    /// Whether missing client CAs are read from the cluster.
    pub lookup: bool,
    /// Whether we start even if that fails.
    pub tolerate_lookup_failure: bool,
    /// How long a token's review is remembered.
    pub token_cache_ttl: Duration,
    /// CAs whose client certificates name a user.
    pub client_ca: Option<PathBuf>,
    /// Proxies that name the user in headers.
    pub request_header: RequestHeader,
}

/// Which headers of which proxies name the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHeader {
    /// CAs of the proxies' certificates; none trusts no proxy.
    pub client_ca: Option<PathBuf>,
    /// Common names of trusted proxies; empty trusts every one with a valid certificate.
    pub allowed_names: Vec<String>,
    /// Headers with the user's name.
    pub username_headers: Vec<String>,
    /// Headers with the user's uid.
    pub uid_headers: Vec<String>,
    /// Headers with the user's groups.
    pub group_headers: Vec<String>,
    /// Prefixes of headers with extra facts.
    pub extra_header_prefixes: Vec<String>,
}

/// What they may ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    /// Where access is reviewed; none forbids every path that is not always allowed.
    pub kubeconfig: Option<PathBuf>,
    /// Paths anybody may read; a trailing `*` matches a prefix.
    pub always_allow_paths: Vec<String>,
    /// How long a yes is remembered.
    pub allow_cache_ttl: Duration,
    /// How long a no is remembered.
    pub deny_cache_ttl: Duration,
}

/// What is logged, and in what shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logging {
    /// The shape of messages.
    pub format: LogFormat,
    /// How much to log.
    pub verbosity: u32,
    /// Other levels for some source files: pattern and level.
    pub module_levels: Vec<(String, u32)>,
}

/// The shape of log messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Lines as klog writes them.
    Text,
    /// One JSON object per line.
    Json,
}

/// The tuning of every controller, by canonical name.
pub type Tunings = BTreeMap<&'static str, Tuning>;
