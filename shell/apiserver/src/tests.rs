//! The server over real sockets: what clients see, and what happens to those who mean no good.

use std::sync::Arc;

use http::Request;
use http_body_util::{BodyExt, Full};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::limits::Limits;
use crate::listener::{Listening, listen_within};
use crate::{ApiServer, Authority, DataFolder, KeyPairPem};

mod abuse;
mod answers;
mod busy;
mod disk;
mod stalling;
mod stopping;

/// A server and what its clients need to talk to it.
struct Served {
    server: Arc<ApiServer>,
    listening: Listening,
    authority: Authority,
}

impl Served {
    async fn start(limits: Limits) -> Self {
        Self::start_in(None, limits).await
    }

    async fn start_in(folder: Option<&std::path::Path>, limits: Limits) -> Self {
        let authority = Authority::open(None).unwrap();
        let folder = folder.map(|folder| DataFolder::lock(folder).unwrap());
        let server = ApiServer::open(folder, &authority).await.unwrap();
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let tls = authority.tls(&["localhost".to_owned()]).unwrap();
        let listening = listen_within(server.clone(), socket, tls, limits).unwrap();
        Self {
            server,
            listening,
            authority,
        }
    }

    fn tls(&self, group: Option<&str>, protocol: &str) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        let own = CertificateDer::from_pem_slice(self.authority.certificate().as_bytes()).unwrap();
        roots.add(own).unwrap();
        let config = ClientConfig::builder().with_root_certificates(roots);
        let mut config = match group {
            None => config.with_no_client_auth(),
            Some(group) => {
                let KeyPairPem { certificate, key } = self.authority.client("jane", group).unwrap();
                let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
                config
                    .with_client_auth_cert(vec![certificate], key)
                    .unwrap()
            }
        };
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        config
    }

    async fn connect(&self, config: ClientConfig) -> TlsStream<TcpStream> {
        let socket = TcpStream::connect(self.listening.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let connector = TlsConnector::from(Arc::new(config));
        connector.connect(name, socket).await.unwrap()
    }

    /// The memory of all its connections.
    fn memory(&self) -> &crate::memory::Memory {
        &self.listening.memory
    }

    /// A connection of somebody who may do anything.
    async fn admin(&self) -> TlsStream<TcpStream> {
        self.connect(self.tls(Some("system:masters"), "http/1.1"))
            .await
    }

    /// The answer to exactly this text, on a connection of its own.
    async fn told(&self, head: &str, body: &[u8]) -> Told {
        let mut stream = self.admin().await;
        // A refusal may come, and the connection go, before everything is sent.
        let _ = stream.write_all(head.as_bytes()).await;
        let _ = stream.write_all(body).await;
        Told::read(&mut stream).await
    }

    async fn get(&self, target: &str, headers: &str) -> Told {
        let head = format!(
            "GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"
        );
        self.told(&head, b"").await
    }

    async fn send(&self, method: &str, target: &str, kind: &str, body: &[u8]) -> Told {
        let head = format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {kind}\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        self.told(&head, body).await
    }

    /// What a request within the process is answered with.
    async fn within(&self, method: &str, target: &str, body: String) -> (u16, serde_json::Value) {
        let user = flyball_rbac::User::of_groups("admin", &[flyball_rbac::MASTERS]);
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header("Content-Type", "application/json")
            .body(body.into())
            .unwrap();
        let response = self.server.answer(request, &user).await;
        let code = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (code, serde_json::from_slice(&body).unwrap_or_default())
    }
}

/// An answer, taken apart.
#[derive(Debug)]
struct Told {
    code: u16,
    /// In lower case.
    head: String,
    body: Vec<u8>,
}

impl Told {
    /// Reads until the server closes, however it does.
    async fn read(stream: &mut (impl AsyncReadExt + Unpin)) -> Self {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes).await;
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let (head, body) = bytes.split_at(end.unwrap_or(bytes.len()));
        let head = String::from_utf8_lossy(head).to_ascii_lowercase();
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        Self {
            code: code.unwrap_or_default(),
            head,
            body: body.get(4..).unwrap_or_default().to_vec(),
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

type Sender = hyper::client::conn::http2::SendRequest<Full<bytes::Bytes>>;

/// A connection that speaks HTTP/2.
async fn speak_http2(served: &Served) -> Sender {
    let stream = served
        .connect(served.tls(Some("system:masters"), "h2"))
        .await;
    let io = hyper_util::rt::TokioIo::new(stream);
    let executor = hyper_util::rt::TokioExecutor::new();
    let (sender, connection) = hyper::client::conn::http2::handshake(executor, io)
        .await
        .unwrap();
    tokio::spawn(connection);
    sender
}

fn http2_request(method: &str, target: &str) -> Request<Full<bytes::Bytes>> {
    Request::builder()
        .method(method)
        .uri(format!("https://localhost{target}"))
        .body(Full::default())
        .unwrap()
}
