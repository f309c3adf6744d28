//! The server under siege, and who connects to it.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flyball_conformance::{Child, free_port};
use kube::config::Kubeconfig;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

pub(super) type Stream = tokio_rustls::client::TlsStream<TcpStream>;

/// Whether the server has left a connection open. What it had to say is read and thrown away.
pub(super) fn is_open(stream: &Stream) -> bool {
    let mut bytes = [0; 4096];
    loop {
        match stream.get_ref().0.try_read(&mut bytes) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}

/// `flyball up` in a process of its own.
pub(super) struct Server {
    child: Child,
    address: SocketAddr,
    folder: PathBuf,
    certificate: Vec<u8>,
    admin: (Vec<u8>, Vec<u8>),
}

/// A client with a certificate, or none.
pub(super) struct Identity {
    address: SocketAddr,
    roots: RootCertStore,
    pair: Option<(Vec<u8>, Vec<u8>)>,
}

impl Server {
    pub(super) async fn start(program: &Path) -> Result<Self> {
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()?));
        let folder = std::env::temp_dir().join(format!("flyball-siege-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let path = folder.join("kubeconfig");
        let mut command = Command::new(program);
        command.args(["up", "--ephemeral", "--nodes=0", "--listen"]);
        command
            .arg(address.to_string())
            .arg("--kubeconfig")
            .arg(&path);
        let child = Child::spawn("flyball", command, &folder.join("log"))?;
        let until = Instant::now() + Duration::from_secs(60);
        let config = loop {
            if let Ok(config) = Kubeconfig::read_from(&path) {
                break config;
            }
            if Instant::now() > until {
                bail!(
                    "no kubeconfig after a minute; see {}",
                    folder.join("log").display()
                );
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        let cluster = config.clusters.first().and_then(|one| one.cluster.clone());
        let cluster = cluster.context("a kubeconfig without a cluster")?;
        let user = config
            .auth_infos
            .first()
            .and_then(|one| one.auth_info.clone());
        let user = serde_json::to_value(user.context("a kubeconfig without a user")?)?;
        let decoded = |text: Option<&str>| -> Result<Vec<u8>> {
            Ok(STANDARD.decode(text.context("a kubeconfig without data")?)?)
        };
        Ok(Self {
            child,
            address,
            folder,
            certificate: decoded(cluster.certificate_authority_data.as_deref())?,
            admin: (
                decoded(user["client-certificate-data"].as_str())?,
                decoded(user["client-key-data"].as_str())?,
            ),
        })
    }

    fn identity(&self, pair: Option<(Vec<u8>, Vec<u8>)>) -> Result<Identity> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(&self.certificate)?)?;
        let address = self.address;
        Ok(Identity {
            address,
            roots,
            pair,
        })
    }

    /// An administrator.
    pub(super) fn admin(&self) -> Result<Identity> {
        self.identity(Some(self.admin.clone()))
    }

    /// A client without credentials.
    pub(super) fn anonymous(&self) -> Result<Identity> {
        self.identity(None)
    }

    /// A token of a service account that may do nothing.
    pub(super) async fn token(&self) -> Result<String> {
        let admin = self.admin()?;
        let path = "/api/v1/namespaces/default/serviceaccounts/default/token";
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let answer = admin.send("POST", path, r#"{"spec":{}}"#).await?;
            let body: serde_json::Value = serde_json::from_slice(&answer.1).unwrap_or_default();
            match body["status"]["token"].as_str() {
                Some(token) => return Ok(token.to_owned()),
                None if Instant::now() > until => bail!("no token: {} {body}", answer.0),
                None => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// The most memory that the process has taken so far.
    pub(super) fn resident_peak_kb(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.pid()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next());
        Ok(kilobytes.context("no account of the memory")?.parse()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Identity {
    /// A TLS connection that speaks this protocol.
    pub(super) async fn connect(&self, protocol: &str) -> Result<Stream> {
        let config = ClientConfig::builder().with_root_certificates(self.roots.clone());
        let mut config = match &self.pair {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => config.with_client_auth_cert(
                vec![CertificateDer::from_pem_slice(certificate)?],
                PrivateKeyDer::from_pem_slice(key)?,
            )?,
        };
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let socket = TcpStream::connect(self.address).await?;
        let name = ServerName::try_from("localhost")?;
        Ok(TlsConnector::from(Arc::new(config))
            .connect(name, socket)
            .await?)
    }

    /// The status of the answer, over a connection of its own.
    pub(super) async fn get(&self, path: &str) -> Result<u16> {
        Ok(self.send("GET", path, "").await?.0)
    }

    async fn send(&self, method: &str, path: &str, body: &str) -> Result<(u16, Vec<u8>)> {
        let mut stream = self.connect("http/1.1").await?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        let mut bytes = Vec::new();
        // A server may close without TLS's farewell; what counts is the answer.
        let _ = stream.read_to_end(&mut bytes).await;
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.context("no answer")?;
        let code = String::from_utf8_lossy(&bytes[..end]);
        let code = code.split(' ').nth(1).context("no status")?.parse()?;
        Ok((code, bytes.split_off(end + 4)))
    }
}
