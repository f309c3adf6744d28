//! What the plane proves things with, made once and kept in the data folder: its certificate authority
//! and the key of its tokens.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData as _,
};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::certificates::AnyCertificate;
use crate::folder::DataFolder;
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
        "the certificate authority cannot be used: {0}; restore ca.crt and ca.key from a copy, or move the \
         data folder away to begin with an empty one"
    )]
    Unusable(String),
    /// A store is there, and a key that belongs to it is not.
    #[error(
        "{} is missing, and {} holds a cluster that was served with it; restore it from a copy, or move the \
         data folder away to begin with an empty one", path.display(), store.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
        /// The store.
        store: PathBuf,
    },
    /// Two files that belong together do not.
    #[error("{} does not match {}; {advice}", path.display(), other.display())]
    Mismatch {
        /// The one file.
        path: PathBuf,
        /// The other file.
        other: PathBuf,
        /// What to do about it.
        advice: &'static str,
    },
    /// The key of tokens cannot be used.
    #[error(
        "the key that signs the tokens of service accounts cannot be used: {0}; restore sa.key from a copy, or \
         move the data folder away to begin with an empty one"
    )]
    SigningKey(String),
}

/// The certificate of the authority, in the data folder.
const CERTIFICATE: &str = "ca.crt";

/// Its key.
const KEY: &str = "ca.key";

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
    /// The authority that a folder keeps, made if the folder is new; one for this process only if there
    /// is no folder.
    pub fn open(folder: Option<&DataFolder>) -> Result<Self, AuthorityError> {
        let Some(folder) = folder else {
            let made = make().map_err(unusable)?;
            return Self::of(made, SigningKey::open(None)?);
        };
        let kept = match (folder.read(CERTIFICATE)?, folder.read(KEY)?) {
            (Some(certificate), Some(key)) => KeyPairPem { certificate, key },
            (certificate, _) => {
                let missing = match certificate {
                    Some(_) => KEY,
                    None => CERTIFICATE,
                };
                folder.check_may_make(missing)?;
                let made = make().map_err(unusable)?;
                // The key first: a certificate is never there without it.
                folder.write(KEY, &made.key)?;
                folder.write(CERTIFICATE, &made.certificate)?;
                made
            }
        };
        let signing = SigningKey::open(Some(folder))?;
        let authority = Self::of(kept, signing)?;
        match authority.matches() {
            true => Ok(authority),
            false => Err(AuthorityError::Mismatch {
                path: folder.file(KEY),
                other: folder.file(CERTIFICATE),
                advice: "restore both from one copy of the data folder",
            }),
        }
    }

    /// Whether the certificate is of the key.
    fn matches(&self) -> bool {
        let Ok(der) = CertificateDer::from_pem_slice(self.certificate.as_bytes()) else {
            return false;
        };
        let Ok((_, certificate)) = x509_parser::parse_x509_certificate(&der) else {
            return false;
        };
        let public = &certificate.public_key().subject_public_key.data;
        **public == *self.issuer.key().der_bytes()
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

fn unusable(error: impl std::fmt::Display) -> AuthorityError {
    AuthorityError::Unusable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_its_authority() {
        let path = std::env::temp_dir().join(format!("flyball-authority-{}", uuid::Uuid::new_v4()));
        let folder = DataFolder::lock(&path).unwrap();
        let first = Authority::open(Some(&folder)).unwrap();
        let second = Authority::open(Some(&folder)).unwrap();
        assert_eq!(first.certificate(), second.certificate());
        std::fs::write(path.join("ca.key"), "nonsense").unwrap();
        let told = Authority::open(Some(&folder)).err().unwrap().to_string();
        assert!(told.contains("restore ca.crt and ca.key"), "{told}");
        std::fs::remove_dir_all(&path).unwrap();
    }
}
