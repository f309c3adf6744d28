//! The cluster's own certificate authority: nothing is shared between clusters and nothing outlives one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};

/// A certificate and its key as PEM files.
#[derive(Debug, Clone)]
pub(crate) struct KeyFiles {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// A self-signed authority that writes what it issues into one folder.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: PathBuf,
    certificate: PathBuf,
}

impl Authority {
    pub(crate) fn create(folder: &Path, name: &str) -> Result<Self> {
        let mut params = CertificateParams::new(Vec::<String>::new())?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let certificate = folder.join(format!("{name}.crt"));
        write(&certificate, &issuer.pem())?;
        Ok(Self {
            issuer,
            folder: folder.to_path_buf(),
            certificate,
        })
    }

    /// The authority's own certificate, for clients and servers to trust.
    pub(crate) fn certificate(&self) -> &Path {
        &self.certificate
    }

    /// A server certificate for loopback.
    pub(crate) fn serving(&self, name: &str) -> Result<KeyFiles> {
        let hosts = [
            "127.0.0.1",
            "::1",
            "localhost",
            "kubernetes",
            "kubernetes.default.svc",
        ];
        let mut params = CertificateParams::new(hosts.map(String::from).to_vec())?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.issue(params, name, name, None)
    }

    /// A client certificate: Kubernetes reads the user from the common name and the group from the organisation.
    pub(crate) fn client(&self, file: &str, user: &str, group: Option<&str>) -> Result<KeyFiles> {
        let mut params = CertificateParams::new(Vec::<String>::new())?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(params, file, user, group)
    }

    fn issue(
        &self,
        mut params: CertificateParams,
        file: &str,
        user: &str,
        group: Option<&str>,
    ) -> Result<KeyFiles> {
        params.distinguished_name.push(DnType::CommonName, user);
        if let Some(group) = group {
            params
                .distinguished_name
                .push(DnType::OrganizationName, group);
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let files = KeyFiles {
            certificate: self.folder.join(format!("{file}.crt")),
            key: self.folder.join(format!("{file}.key")),
        };
        write(&files.certificate, &certificate.pem())?;
        write(&files.key, &key.serialize_pem())?;
        Ok(files)
    }
}

/// The keys that sign and verify service-account tokens.
pub(crate) struct ServiceAccountKeys {
    pub(crate) private: PathBuf,
    pub(crate) public: PathBuf,
}

pub(crate) fn service_account_keys(folder: &Path) -> Result<ServiceAccountKeys> {
    let key = KeyPair::generate()?;
    let (private, public) = (
        folder.join("service-account.key"),
        folder.join("service-account.pub"),
    );
    write(&private, &key.serialize_pem())?;
    write(&public, &key.public_key_pem())?;
    Ok(ServiceAccountKeys { private, public })
}

fn write(path: &Path, pem: &str) -> Result<()> {
    fs::write(path, pem).with_context(|| format!("cannot write {}", path.display()))
}
