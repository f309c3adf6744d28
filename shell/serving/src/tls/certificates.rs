//! The certificates a server shows: one for everybody, and others for clients that ask for certain names.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::self_signed::{self, Pair};
use crate::ServeError;
use crate::options::{ServingOptions, TlsSource};

/// Where each certificate comes from, and the certificates of the moment.
pub(super) struct Certificates {
    provider: Arc<CryptoProvider>,
    default: Origin,
    named: Vec<(Origin, Vec<String>)>,
    loaded: Mutex<Loaded>,
}

enum Origin {
    Memory(Pair),
    Files { cert: PathBuf, key: PathBuf },
}

/// What was read last, to see a change, and what it was made into.
struct Loaded {
    content: Vec<(Vec<u8>, Vec<u8>)>,
    shown: Arc<Shown>,
}

impl Certificates {
    pub(super) async fn start(
        options: &ServingOptions,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, ServeError> {
        let default = match &options.tls {
            TlsSource::Files { cert, key } => Origin::Files {
                cert: cert.clone(),
                key: key.clone(),
            },
            TlsSource::SelfSigned {
                cert_dir,
                pair_name,
                alternate_names,
            } => {
                let make = || self_signed::generate(options.bind_address, alternate_names);
                match cert_dir {
                    None => Origin::Memory(make()?),
                    Some(dir) => {
                        let (cert, key) = self_signed::ensure_files(dir, pair_name, make)?;
                        Origin::Files { cert, key }
                    }
                }
            }
        };
        let named = options.sni_certificates.iter().map(|sni| {
            let origin = Origin::Files {
                cert: sni.cert.clone(),
                key: sni.key.clone(),
            };
            (origin, sni.names.clone())
        });
        let nothing = Shown {
            default: None,
            named: Vec::new(),
        };
        let loaded = Mutex::new(Loaded {
            content: Vec::new(),
            shown: Arc::new(nothing),
        });
        let certificates = Self {
            provider,
            default,
            named: named.collect(),
            loaded,
        };
        certificates.refresh().await?;
        Ok(certificates)
    }

    /// What to show on the next connection.
    pub(super) fn shown(&self) -> Arc<Shown> {
        self.loaded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .shown
            .clone()
    }

    /// Reads the files again. True if there is something else to show now.
    pub(super) async fn refresh(&self) -> Result<bool, ServeError> {
        let mut content = vec![self.default.read().await?];
        for (origin, _) in &self.named {
            content.push(origin.read().await?);
        }
        if self
            .loaded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .content
            == content
        {
            return Ok(false);
        }
        let mut keys = Vec::new();
        let origins = std::iter::once(&self.default).chain(self.named.iter().map(|(o, _)| o));
        for (origin, (cert, key)) in origins.zip(&content) {
            keys.push(Arc::new(certified(
                &origin.name(),
                cert,
                key,
                &self.provider,
            )?));
        }
        let mut keys = keys.into_iter();
        let default = keys.next();
        let mut named = Vec::new();
        for (key, (_, names)) in keys.zip(&self.named) {
            let written = if names.is_empty() {
                names_in(&key)
            } else {
                names.clone()
            };
            named.extend(
                written
                    .into_iter()
                    .map(|name| (name.to_ascii_lowercase(), key.clone())),
            );
        }
        let shown = Arc::new(Shown { default, named });
        *self.loaded.lock().unwrap_or_else(PoisonError::into_inner) = Loaded { content, shown };
        Ok(true)
    }
}

impl Origin {
    fn name(&self) -> String {
        match self {
            Self::Memory(_) => "generated self signed cert".to_owned(),
            Self::Files { cert, key } => format!("{} and {}", cert.display(), key.display()),
        }
    }

    async fn read(&self) -> Result<(Vec<u8>, Vec<u8>), ServeError> {
        match self {
            Self::Memory(pair) => Ok((pair.cert.clone(), pair.key.clone())),
            Self::Files { cert, key } => {
                let read = async |path: &PathBuf| {
                    let failed = |source| ServeError::FileFailed {
                        action: "reading",
                        path: path.clone(),
                        source,
                    };
                    tokio::fs::read(path).await.map_err(failed)
                };
                Ok((read(cert).await?, read(key).await?))
            }
        }
    }
}

fn certified(
    origin: &str,
    cert: &[u8],
    key: &[u8],
    provider: &CryptoProvider,
) -> Result<CertifiedKey, ServeError> {
    let invalid = |problem: String| ServeError::ContentInvalid {
        origin: origin.into(),
        problem,
    };
    let chain: Vec<_> = CertificateDer::pem_slice_iter(cert)
        .collect::<Result<_, _>>()
        .map_err(|error| invalid(error.to_string()))?;
    if chain.is_empty() {
        return Err(invalid("no certificate in the certificate file".to_owned()));
    }
    let key =
        PrivateKeyDer::from_pem_slice(key).map_err(|error| invalid(format!("key: {error}")))?;
    CertifiedKey::from_der(chain, key, provider).map_err(|error| invalid(error.to_string()))
}

/// The names a certificate was made for.
fn names_in(key: &CertifiedKey) -> Vec<String> {
    let leaf = key
        .cert
        .first()
        .and_then(|der| X509Certificate::from_der(der).ok());
    let Some((_, leaf)) = &leaf else {
        return Vec::new();
    };
    let Ok(Some(names)) = leaf.subject_alternative_name() else {
        return Vec::new();
    };
    let names = names
        .value
        .general_names
        .iter()
        .filter_map(|name| match name {
            GeneralName::DNSName(name) => Some((*name).to_owned()),
            _ => None,
        });
    names.collect()
}

/// The certificates of one moment. An exact name wins over a `*.` pattern, and either over the default.
#[derive(Debug)]
pub(super) struct Shown {
    default: Option<Arc<CertifiedKey>>,
    named: Vec<(String, Arc<CertifiedKey>)>,
}

impl Shown {
    fn choose(&self, asked: Option<&str>) -> Option<Arc<CertifiedKey>> {
        let find = |name: &str| self.named.iter().find(|(known, _)| known == name);
        let found = asked.and_then(|asked| {
            let asked = asked.to_ascii_lowercase();
            let wildcard = || {
                asked
                    .split_once('.')
                    .and_then(|(_, rest)| find(&format!("*.{rest}")))
            };
            find(&asked).or_else(wildcard)
        });
        found
            .map(|(_, key)| key.clone())
            .or_else(|| self.default.clone())
    }
}

impl ResolvesServerCert for Shown {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.choose(hello.server_name())
    }
}
