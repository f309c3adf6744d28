//! What the plane proves things with, made once and kept in the data folder: its certificate authority
//! and the key of its tokens.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::certificates::AnyCertificate;
use crate::signing::SigningKey;

/// Why there is no authority.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// A file cannot be read or written.
    #[error("{}: {source}; check that the folder is yours to write", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// What a file holds is no key or certificate.
    #[error(
        "the certificate authority cannot be used: {0}; remove ca.crt and ca.key to make a new one"
    )]
    Unusable(String),
    /// The key of tokens cannot be used.
    #[error(
        "the key that signs the tokens of service accounts cannot be used: {0}; remove sa.key to make a new one, \
         which ends all tokens"
    )]
    SigningKey(String),
}

/// What a server needs to speak TLS and to know its clients.
pub struct Tls {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) clients: Arc<dyn ClientCertVerifier>,
}

/// A certificate with its key, as text.
#[derive(Clone, Debug)]
pub struct KeyPairPem {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

/// Issues the certificates of one plane.
pub struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
    signing: Arc<SigningKey>,
}

impl Authority {
    /// The authority that a folder keeps, made if there is none; one for this process only if there
    /// is no folder.
    pub fn open(folder: Option<&Path>) -> Result<Self, AuthorityError> {
        let Some(folder) = folder else {
            let made = make().map_err(unusable)?;
            return Self::of(made, SigningKey::open(None)?);
        };
        let (certificate, key) = (folder.join("ca.crt"), folder.join("ca.key"));
        let kept = match (read(&certificate)?, read(&key)?) {
            (Some(certificate), Some(key)) => KeyPairPem { certificate, key },
            _ => {
                let made = make().map_err(unusable)?;
                write(&certificate, &made.certificate)?;
                write(&key, &made.key)?;
                made
            }
        };
        Self::of(kept, SigningKey::open(Some(folder))?)
    }

    fn of(pair: KeyPairPem, signing: SigningKey) -> Result<Self, AuthorityError> {
        let key = KeyPair::from_pem(&pair.key).map_err(unusable)?;
        let issuer = Issuer::from_ca_cert_pem(&pair.certificate, key).map_err(unusable)?;
        Ok(Self {
            certificate: pair.certificate,
            issuer,
            signing: Arc::new(signing),
        })
    }

    /// Signs the tokens of service accounts.
    pub(crate) fn signing(&self) -> Arc<SigningKey> {
        self.signing.clone()
    }

    /// The authority's own certificate, for clients to trust.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// A certificate that makes its owner this user of this group.
    pub fn client(&self, user: &str, group: &str) -> Result<KeyPairPem, AuthorityError> {
        let mut params = CertificateParams::new(Vec::<String>::new()).map_err(unusable)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        params.distinguished_name.push(DnType::CommonName, user);
        params
            .distinguished_name
            .push(DnType::OrganizationName, group);
        self.issue(params)
    }

    /// What a server needs to speak TLS as one of these hosts, asking clients for certificates of
    /// this authority and letting in those who have another or none.
    pub fn tls(&self, hosts: &[String]) -> Result<Tls, AuthorityError> {
        let mut params = CertificateParams::new(hosts.to_vec()).map_err(unusable)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params
            .distinguished_name
            .push(DnType::CommonName, "kube-apiserver");
        let pair = self.issue(params)?;
        let mut roots = RootCertStore::empty();
        let own = CertificateDer::from_pem_slice(self.certificate.as_bytes()).map_err(unusable)?;
        roots.add(own.clone()).map_err(unusable)?;
        let clients = WebPkiClientVerifier::builder(Arc::new(roots))
            .allow_unauthenticated()
            .build()
            .map_err(unusable)?;
        let certificate =
            CertificateDer::from_pem_slice(pair.certificate.as_bytes()).map_err(unusable)?;
        let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).map_err(unusable)?;
        let mut config = ServerConfig::builder()
            .with_client_cert_verifier(Arc::new(AnyCertificate::new(clients.clone())))
            .with_single_cert(vec![certificate, own], key)
            .map_err(unusable)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Tls {
            config: Arc::new(config),
            clients,
        })
    }

    fn issue(&self, mut params: CertificateParams) -> Result<KeyPairPem, AuthorityError> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().map_err(unusable)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(unusable)?;
        Ok(KeyPairPem {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }
}

fn make() -> Result<KeyPairPem, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::<String>::new())?;
    params
        .distinguished_name
        .push(DnType::CommonName, "flyball-ca");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    Ok(KeyPairPem {
        certificate: certificate.pem(),
        key: key.serialize_pem(),
    })
}

pub(crate) fn read(path: &Path) -> Result<Option<String>, AuthorityError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(AuthorityError::File {
            path: path.to_owned(),
            source,
        }),
    }
}

/// Writes a file that only its owner can read.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), AuthorityError> {
    use std::io::Write as _;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|source| AuthorityError::File {
        path: path.to_owned(),
        source,
    })
}

fn unusable(error: impl std::fmt::Display) -> AuthorityError {
    AuthorityError::Unusable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_its_authority() {
        let folder =
            std::env::temp_dir().join(format!("flyball-authority-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir_all(&folder).unwrap();
        let first = Authority::open(Some(&folder)).unwrap();
        let second = Authority::open(Some(&folder)).unwrap();
        assert_eq!(first.certificate(), second.certificate());
        std::fs::write(folder.join("ca.key"), "nonsense").unwrap();
        let told = Authority::open(Some(&folder)).err().unwrap().to_string();
        assert!(told.contains("remove ca.crt and ca.key"), "{told}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
