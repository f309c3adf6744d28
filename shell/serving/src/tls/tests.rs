//! Which certificate a client sees.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use rustls::ClientConfig;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::*;
use crate::options::{SniCertificate, TlsSource};
use crate::tests::authority::{Ca, Folder, client_trusting};

async fn start(options: &ServingOptions) -> Result<(LiveTls, TrustSource), ServeError> {
    let trust = TrustSource::start(&options.authentication).await?;
    Ok((LiveTls::start(options, &trust).await?, trust))
}

/// Does a handshake succeed for a client that asks for `name`? Both ends live in memory.
async fn greets(tls: &LiveTls, client: ClientConfig, name: &'static str) -> bool {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let name = rustls_pki_types::ServerName::try_from(name).unwrap();
    let connector = TlsConnector::from(Arc::new(client));
    let acceptor = TlsAcceptor::from(tls.current());
    let (client, server) = tokio::join!(connector.connect(name, near), acceptor.accept(far));
    client.is_ok() && server.is_ok()
}

fn self_signed(dir: Option<&Path>) -> ServingOptions {
    let tls = TlsSource::SelfSigned {
        cert_dir: dir.map(Path::to_owned),
        pair_name: "kube-controller-manager".to_owned(),
        alternate_names: vec!["node-1".to_owned()],
    };
    ServingOptions {
        tls,
        bind_address: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7)),
        ..Default::default()
    }
}

#[tokio::test]
async fn a_self_signed_pair_is_written_once_and_used_again() {
    let folder = Folder::new();
    let dir = folder.path().join("made/here");
    let (tls, _) = start(&self_signed(Some(&dir))).await.unwrap();
    let cert = std::fs::read(dir.join("kube-controller-manager.crt")).unwrap();
    let trusting = || client_trusting(&cert, None);
    for name in ["localhost", "127.0.0.1", "10.0.0.7", "node-1"] {
        assert!(greets(&tls, trusting(), name).await, "{name}");
    }
    assert!(!greets(&tls, trusting(), "example.com").await);
    let (tls, _) = start(&self_signed(Some(&dir))).await.unwrap();
    assert!(greets(&tls, trusting(), "localhost").await);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name: &str| {
            std::fs::metadata(dir.join(name))
                .unwrap()
                .permissions()
                .mode()
                & 0o777
        };
        assert_eq!(mode("kube-controller-manager.key"), 0o600);
        assert_eq!(mode("kube-controller-manager.crt") & 0o600, 0o600);
    }
}

#[tokio::test]
async fn half_a_pair_is_an_error() {
    let folder = Folder::new();
    folder.write("kube-controller-manager.key", "x");
    let error = start(&self_signed(Some(folder.path())))
        .await
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with(
            "kube-controller-manager.crt, certificate and key must be supplied as a pair"
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_pair_in_memory_differs_at_every_start() {
    let (tls, _) = start(&self_signed(None)).await.unwrap();
    let other = Folder::new();
    start(&self_signed(Some(other.path()))).await.unwrap();
    let cert = std::fs::read(other.path().join("kube-controller-manager.crt")).unwrap();
    assert!(!greets(&tls, client_trusting(&cert, None), "localhost").await);
}

struct Files {
    folder: Folder,
    options: ServingOptions,
}

fn files(ca: &Ca) -> Files {
    let folder = Folder::new();
    let identity = ca.server(&["localhost"]);
    let tls = TlsSource::Files {
        cert: folder.write("tls.crt", &identity.cert_pem),
        key: folder.write("tls.key", &identity.key_pem),
    };
    Files {
        folder,
        options: ServingOptions {
            tls,
            ..Default::default()
        },
    }
}

#[tokio::test]
async fn changed_files_are_taken_over_when_they_fit_together() {
    let (old, new) = (Ca::new("old"), Ca::new("new"));
    let Files { folder, options } = files(&old);
    let (tls, trust) = start(&options).await.unwrap();
    tls.refresh(&trust).await.unwrap();
    assert!(greets(&tls, old.tls_client(None), "localhost").await);
    let identity = new.server(&["localhost"]);
    folder.write("tls.crt", &identity.cert_pem);
    assert!(tls.refresh(&trust).await.is_err());
    assert!(greets(&tls, old.tls_client(None), "localhost").await);
    folder.write("tls.key", &identity.key_pem);
    tls.refresh(&trust).await.unwrap();
    assert!(greets(&tls, new.tls_client(None), "localhost").await);
    assert!(!greets(&tls, old.tls_client(None), "localhost").await);
}

#[tokio::test]
async fn files_that_do_not_fit_together_stop_the_start() {
    let ca = Ca::new("ca");
    let Files { folder, options } = files(&ca);
    folder.write("tls.key", &ca.server(&["localhost"]).key_pem);
    assert!(start(&options).await.is_err());
    folder.write("tls.key", "nonsense");
    let error = start(&options).await.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("tls.key"), "{error}");
    folder.write("tls.crt", "nonsense");
    let error = start(&options).await.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("no certificate"), "{error}");
    std::fs::remove_file(folder.path().join("tls.crt")).unwrap();
    assert!(matches!(
        start(&options).await.map(|_| ()),
        Err(ServeError::FileFailed { .. })
    ));
}

#[tokio::test]
async fn a_name_can_have_a_certificate_of_its_own() {
    let (default, exact, pattern) = (Ca::new("default"), Ca::new("exact"), Ca::new("pattern"));
    let Files {
        folder,
        mut options,
    } = files(&default);
    let mut add = |file: &str, ca: &Ca, made_for: &str, names: &[&str]| {
        let identity = ca.server(&[made_for]);
        options.sni_certificates.push(SniCertificate {
            cert: folder.write(&format!("{file}.crt"), &identity.cert_pem),
            key: folder.write(&format!("{file}.key"), &identity.key_pem),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        });
    };
    add("pattern", &pattern, "*.example.com", &[]);
    add("exact", &exact, "a.example.com", &["A.example.com"]);
    let (tls, _) = start(&options).await.unwrap();
    assert!(greets(&tls, exact.tls_client(None), "a.example.com").await);
    assert!(greets(&tls, pattern.tls_client(None), "b.example.com").await);
    assert!(!greets(&tls, pattern.tls_client(None), "a.example.com").await);
    assert!(greets(&tls, default.tls_client(None), "localhost").await);
}

#[tokio::test]
async fn old_versions_can_be_refused() {
    let ca = Ca::new("ca");
    let Files {
        folder: _folder,
        mut options,
    } = files(&ca);
    let old_client = || {
        let mut roots = rustls::RootCertStore::empty();
        let pem = ca.pem.as_bytes();
        roots
            .add(rustls_pki_types::pem::PemObject::from_pem_slice(pem).unwrap())
            .unwrap();
        ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS12])
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth()
    };
    let (tls, _) = start(&options).await.unwrap();
    assert!(greets(&tls, old_client(), "localhost").await);
    options.min_tls_version = "VersionTLS13".parse().unwrap();
    let (tls, _) = start(&options).await.unwrap();
    assert!(!greets(&tls, old_client(), "localhost").await);
    assert!(greets(&tls, ca.tls_client(None), "localhost").await);
    assert!("VersionTLS9".parse::<TlsVersion>().is_err());
}
