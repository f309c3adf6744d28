//! TLS: one configuration at a time, rebuilt when a certificate or a CA changes, picked up by the next connection.
//!
//! A client is asked for a certificate but need not have one, and one that no CA signed does not end the handshake:
//! the handshake only proves that the client owns its certificate's key. What the certificate is worth is decided per
//! request (`authentication`), so that a bad one is a 401 and not a broken connection, as upstream does.

use std::sync::{Arc, PoisonError, RwLock};

use rustls::crypto::CryptoProvider;
use rustls::version::{TLS12, TLS13};
use rustls::{DistinguishedName, ServerConfig};

use crate::ServeError;
use crate::options::{ServingOptions, TlsVersion};
use crate::trust::TrustSource;

mod any_client;
mod certificates;
mod self_signed;
mod suites;

use any_client::AnyClient;
use certificates::Certificates;

/// The cryptography of this process, named wherever it is needed: no process-wide default is relied on.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// The TLS configuration of the moment and what it was made from.
pub(crate) struct LiveTls {
    settings: Settings,
    certificates: Certificates,
    current: RwLock<Current>,
}

/// What does not change while the server runs.
struct Settings {
    provider: Arc<CryptoProvider>,
    min_version: TlsVersion,
    http2: bool,
    wants_certificates: bool,
}

struct Current {
    config: Arc<ServerConfig>,
    hints: Vec<DistinguishedName>,
}

impl LiveTls {
    /// Loads or makes the certificates.
    pub(crate) async fn start(
        options: &ServingOptions,
        trust: &TrustSource,
    ) -> Result<Self, ServeError> {
        let provider = suites::restrict(&options.cipher_suites, &options.curve_preferences)?;
        let certificates = Certificates::start(options, provider.clone()).await?;
        let settings = Settings {
            provider,
            min_version: options.min_tls_version,
            http2: !options.disable_http2,
            wants_certificates: trust.wants_certificates(),
        };
        let hints = trust.current().subjects();
        let config = settings.build(&certificates, &hints)?;
        let current = RwLock::new(Current { config, hints });
        Ok(Self {
            settings,
            certificates,
            current,
        })
    }

    /// The configuration for the next connection.
    pub(crate) fn current(&self) -> Arc<ServerConfig> {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .config
            .clone()
    }

    /// Takes over changed certificate files and CA names. A failure leaves everything as it was.
    pub(crate) async fn refresh(&self, trust: &TrustSource) -> Result<(), ServeError> {
        let changed = self.certificates.refresh().await?;
        let hints = trust.current().subjects();
        let known = self
            .current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .hints
            .clone();
        if !changed
            && known
                .iter()
                .map(AsRef::as_ref)
                .eq(hints.iter().map(AsRef::<[u8]>::as_ref))
        {
            return Ok(());
        }
        let config = self.settings.build(&self.certificates, &hints)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Current { config, hints };
        tracing::info!("TLS configuration reloaded");
        Ok(())
    }
}

impl Settings {
    fn build(
        &self,
        certificates: &Certificates,
        hints: &[DistinguishedName],
    ) -> Result<Arc<ServerConfig>, ServeError> {
        let versions: &[_] = match self.min_version {
            TlsVersion::Tls12 => &[&TLS12, &TLS13],
            TlsVersion::Tls13 => &[&TLS13],
        };
        let builder = ServerConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(versions)
            .map_err(|error| ServeError::TlsRefused(error.to_string()))?;
        let builder = if self.wants_certificates {
            let provider = self.provider.clone();
            let verifier = AnyClient {
                provider,
                hints: hints.to_vec(),
            };
            builder.with_client_cert_verifier(Arc::new(verifier))
        } else {
            builder.with_no_client_auth()
        };
        let mut config = builder.with_cert_resolver(certificates.shown());
        let protocols: &[&[u8]] = if self.http2 {
            &[b"h2", b"http/1.1"]
        } else {
            &[b"http/1.1"]
        };
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(Arc::new(config))
    }
}

#[cfg(test)]
mod tests;
