//! Certificate authorities made for one test.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, DnValue, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair,
};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::tls::provider;

/// A CA with its key.
pub(crate) struct Ca {
    pub(crate) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate with its chain and key.
pub(crate) struct Identity {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) cert_pem: String,
    pub(crate) key_pem: String,
}

impl Ca {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self {
            pem,
            issuer: Issuer::new(params, key),
        }
    }

    /// A client certificate with this subject.
    pub(crate) fn client(&self, name: &str, groups: &[&str]) -> Identity {
        self.client_with(name, groups, |_| {})
    }

    pub(crate) fn client_with(
        &self,
        name: &str,
        groups: &[&str],
        change: impl FnOnce(&mut CertificateParams),
    ) -> Identity {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        // rcgen keeps one value per type, so the second group names the same type by its number.
        let kinds = [
            DnType::OrganizationName,
            DnType::CustomDnType(vec![2, 5, 4, 10]),
        ];
        assert!(groups.len() <= kinds.len());
        for (kind, group) in kinds.into_iter().zip(groups) {
            params.distinguished_name.push(kind, *group);
        }
        if !name.is_empty() {
            params.distinguished_name.push(DnType::CommonName, name);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        change(&mut params);
        self.sign(&params)
    }

    /// A client certificate that names its user's UID.
    pub(crate) fn client_with_uid(&self, name: &str, uid: &str) -> Identity {
        self.client_with(name, &[], |params| {
            let kind = DnType::CustomDnType(vec![1, 3, 6, 1, 4, 1, 57683, 2]);
            params
                .distinguished_name
                .push(kind, DnValue::Utf8String(uid.to_owned()));
        })
    }

    pub(crate) fn expired_client(&self, name: &str) -> Identity {
        self.client_with(name, &[], |params| {
            params.not_before = SystemTime::UNIX_EPOCH.into();
            params.not_after = (SystemTime::now() - std::time::Duration::from_secs(60)).into();
        })
    }

    /// A CA signed by this one, and its certificate for the chain.
    pub(crate) fn intermediate(&self, name: &str) -> (Ca, CertificateDer<'static>) {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.issuer).unwrap();
        (
            Ca {
                pem: cert.pem(),
                issuer: Issuer::new(params, key),
            },
            cert.der().clone(),
        )
    }

    pub(crate) fn server(&self, names: &[&str]) -> Identity {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(&params)
    }

    fn sign(&self, params: &CertificateParams) -> Identity {
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.issuer).unwrap();
        Identity {
            chain: vec![cert.der().clone()],
            cert_pem: cert.pem(),
            key_pem: key.serialize_pem(),
        }
    }

    /// A TLS client that trusts servers of this CA and shows `identity` to them.
    pub(crate) fn tls_client(&self, identity: Option<&Identity>) -> ClientConfig {
        client_trusting(self.pem.as_bytes(), identity)
    }
}

/// A TLS client that trusts servers of the CAs in `pem`.
pub(crate) fn client_trusting(pem: &[u8], identity: Option<&Identity>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        roots.add(certificate.unwrap()).unwrap();
    }
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(Arc::new(roots));
    match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let key = PrivateKeyDer::from_pem_slice(identity.key_pem.as_bytes()).unwrap();
            builder
                .with_client_auth_cert(identity.chain.clone(), key)
                .unwrap()
        }
    }
}

/// A folder that goes away with the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        let name = format!("flyball-serving-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
