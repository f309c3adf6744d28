//! Whom to believe: the client CA and the front proxy, from files or from the cluster, kept current.
//!
//! A file that is given wins over the cluster. What is missing is looked up in ConfigMap
//! `kube-system/extension-apiserver-authentication`, which every kube-apiserver publishes. Whatever goes wrong after
//! the start keeps the last good state: half-written files and an API server that is away change nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use http::Request;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{DistinguishedName, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, UnixTime};
use serde::Deserialize;

use crate::ServeError;
use crate::options::{AuthenticationOptions, RequestHeaderOptions};
use crate::tls::provider;

const CONFIG_MAP: &str =
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// Certificate authorities whose signature makes a client certificate believable.
#[derive(Debug)]
pub(crate) struct Authority {
    pem: Vec<u8>,
    verifier: Arc<dyn ClientCertVerifier>,
    subjects: Vec<DistinguishedName>,
}

impl Authority {
    /// Reads a bundle. Every certificate must be readable PEM; those that cannot be an anchor are left out with a
    /// warning, as long as one can.
    pub(crate) fn parse(origin: &str, pem: &[u8]) -> Result<Self, ServeError> {
        let invalid = |problem: String| ServeError::ContentInvalid {
            origin: origin.into(),
            problem,
        };
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem)
            .collect::<Result<_, _>>()
            .map_err(|error| invalid(error.to_string()))?;
        let mut roots = RootCertStore::empty();
        let (_, unusable) = roots.add_parsable_certificates(certificates);
        if unusable > 0 {
            tracing::warn!(
                origin,
                unusable,
                "certificates that cannot be authorities are ignored"
            );
        }
        let subjects = roots.subjects();
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider())
            .build()
            .map_err(|error| invalid(format!("no usable CA certificate: {error}")))?;
        Ok(Self {
            pem: pem.to_vec(),
            verifier,
            subjects,
        })
    }

    /// Is `leaf` a client certificate that one of these authorities signed, valid now?
    pub(crate) fn verify(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
    ) -> Result<(), rustls::Error> {
        self.verifier
            .verify_client_cert(leaf, intermediates, UnixTime::now())
            .map(|_| ())
    }
}

/// A front proxy and how it speaks.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) authority: Arc<Authority>,
    pub(crate) names: RequestHeaderOptions,
}

/// Whom to believe at one moment.
#[derive(Debug, Default, Clone)]
pub(crate) struct Trust {
    pub(crate) client_ca: Option<Arc<Authority>>,
    pub(crate) proxy: Option<Arc<Proxy>>,
}

impl Trust {
    /// The names a client is told when it is asked for a certificate, so that it can choose one.
    pub(crate) fn subjects(&self) -> Vec<DistinguishedName> {
        let proxy = self.proxy.iter().map(|proxy| &proxy.authority);
        self.client_ca
            .iter()
            .chain(proxy)
            .flat_map(|authority| authority.subjects.clone())
            .collect()
    }
}

/// Where trust comes from, and the trust of the moment.
pub(crate) struct TrustSource {
    client_ca_file: Option<PathBuf>,
    request_header: RequestHeaderOptions,
    lookup: Option<kube::Client>,
    current: RwLock<Arc<Trust>>,
}

impl TrustSource {
    /// Reads everything once. Files must be good. The lookup must succeed if the front proxy depends on it, unless
    /// failure is tolerated; a cluster without the ConfigMap is not a failure.
    pub(crate) async fn start(options: &AuthenticationOptions) -> Result<Self, ServeError> {
        let complete =
            options.client_ca_file.is_some() && options.request_header.client_ca_file.is_some();
        let wanted = !options.skip_lookup && !complete;
        if wanted && options.client.is_none() {
            tracing::warn!(
                "No authentication-kubeconfig provided in order to lookup client-ca-file in \
                 configmap/extension-apiserver-authentication in kube-system, so client certificate authentication \
                 won't work."
            );
        }
        let source = Self {
            client_ca_file: options.client_ca_file.clone(),
            request_header: options.request_header.clone(),
            lookup: options.client.clone().filter(|_| wanted),
            current: RwLock::default(),
        };
        source.refresh_files().await?;
        if let Err(error) = source.refresh_lookup().await {
            let needed = options.request_header.client_ca_file.is_none();
            if needed && !options.tolerate_lookup_failure {
                return Err(error);
            }
            tracing::warn!(%error, "Continuing without authentication configuration. This may treat all requests as anonymous.");
        }
        Ok(source)
    }

    /// Could a client certificate mean anything, now or after the next lookup?
    pub(crate) fn wants_certificates(&self) -> bool {
        self.client_ca_file.is_some()
            || self.request_header.client_ca_file.is_some()
            || self.lookup.is_some()
    }

    pub(crate) fn current(&self) -> Arc<Trust> {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn replace(&self, change: impl FnOnce(&mut Trust)) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let mut next = Trust::clone(&current);
        change(&mut next);
        *current = Arc::new(next);
    }

    /// Reads the CA files again and takes over what has changed.
    pub(crate) async fn refresh_files(&self) -> Result<(), ServeError> {
        if let Some(path) = &self.client_ca_file {
            let pem = read_file(path).await?;
            let known = self.current().client_ca.clone();
            if known.is_none_or(|known| known.pem != pem) {
                let authority = Arc::new(Authority::parse(&path.to_string_lossy(), &pem)?);
                self.replace(|trust| trust.client_ca = Some(authority));
            }
        }
        if let Some(path) = &self.request_header.client_ca_file {
            let pem = read_file(path).await?;
            let known = self.current().proxy.clone();
            if known.is_none_or(|known| known.authority.pem != pem) {
                let authority = Arc::new(Authority::parse(&path.to_string_lossy(), &pem)?);
                let names = self.request_header.clone();
                self.replace(|trust| trust.proxy = Some(Arc::new(Proxy { authority, names })));
            }
        }
        Ok(())
    }

    /// Reads the ConfigMap again and takes over what files do not say.
    pub(crate) async fn refresh_lookup(&self) -> Result<(), ServeError> {
        let Some(client) = &self.lookup else {
            return Ok(());
        };
        let Some(data) = read_config_map(client).await? else {
            return Ok(());
        };
        if self.client_ca_file.is_none() {
            // Upstream: a client CA that cannot be read leaves the one before in force and is not fatal.
            match found_authority(&data, "client-ca-file", &self.current().client_ca) {
                Ok(authority) => self.replace(|trust| trust.client_ca = Some(authority)),
                Err(error) => tracing::warn!(%error, "client CA of the cluster not taken over"),
            }
        }
        if self.request_header.client_ca_file.is_none() {
            let names = RequestHeaderOptions {
                client_ca_file: None,
                allowed_names: list(&data, "requestheader-allowed-names")?,
                username_headers: list(&data, "requestheader-username-headers")?,
                uid_headers: list(&data, "requestheader-uid-headers")?,
                group_headers: list(&data, "requestheader-group-headers")?,
                extra_header_prefixes: list(&data, "requestheader-extra-headers-prefix")?,
            };
            let known = self
                .current()
                .proxy
                .as_ref()
                .map(|proxy| proxy.authority.clone());
            match found_authority(&data, "requestheader-client-ca-file", &known) {
                Ok(authority) => {
                    self.replace(|trust| trust.proxy = Some(Arc::new(Proxy { authority, names })));
                }
                Err(error) => {
                    tracing::warn!(%error, "front proxy CA of the cluster not taken over")
                }
            }
        }
        Ok(())
    }
}

async fn read_file(path: &Path) -> Result<Vec<u8>, ServeError> {
    let failed = |source| ServeError::FileFailed {
        action: "reading",
        path: path.into(),
        source,
    };
    tokio::fs::read(path).await.map_err(failed)
}

#[derive(Deserialize)]
struct ConfigMap {
    #[serde(default)]
    data: BTreeMap<String, String>,
}

async fn read_config_map(
    client: &kube::Client,
) -> Result<Option<BTreeMap<String, String>>, ServeError> {
    let failed = |error: kube::Error| ServeError::LookupFailed(error.to_string());
    let request = Request::get(CONFIG_MAP)
        .body(Vec::new())
        .map_err(|error| ServeError::LookupFailed(error.to_string()))?;
    let answer = tokio::time::timeout(LOOKUP_TIMEOUT, client.request::<ConfigMap>(request)).await;
    let late = |_| ServeError::LookupFailed(format!("no answer within {LOOKUP_TIMEOUT:?}"));
    match answer.map_err(late)? {
        Ok(found) => Ok(Some(found.data)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => {
            if matches!(&error, kube::Error::Api(status) if status.code == 403) {
                tracing::warn!(
                    "Unable to get configmap/extension-apiserver-authentication in kube-system.  Usually fixed by a \
                     rolebinding in kube-system to role extension-apiserver-authentication-reader"
                );
            }
            Err(failed(error))
        }
    }
}

fn found_authority(
    data: &BTreeMap<String, String>,
    key: &str,
    known: &Option<Arc<Authority>>,
) -> Result<Arc<Authority>, ServeError> {
    let pem = data.get(key).map(String::as_bytes).unwrap_or_default();
    match known {
        Some(known) if known.pem == pem => Ok(known.clone()),
        _ => Authority::parse(&format!("{key} of the cluster"), pem).map(Arc::new),
    }
}

/// A list in the ConfigMap is JSON in a string; absent or empty is an empty list.
fn list(data: &BTreeMap<String, String>, key: &str) -> Result<Vec<String>, ServeError> {
    match data.get(key).map(String::as_str) {
        None | Some("") => Ok(Vec::new()),
        Some(text) => serde_json::from_str(text)
            .map_err(|error| ServeError::LookupFailed(format!("{key}: {error}"))),
    }
}

#[cfg(test)]
mod tests;
