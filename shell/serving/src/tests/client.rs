//! A client that sends exactly the bytes a test wants.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// An answer, taken apart.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .unwrap_or(0);
        Self {
            status,
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }
}

pub(crate) async fn connect_as(
    address: SocketAddr,
    config: ClientConfig,
    name: &'static str,
) -> std::io::Result<TlsStream<TcpStream>> {
    let socket = TcpStream::connect(address).await?;
    let name = ServerName::try_from(name).unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, socket)
        .await
}

pub(crate) async fn connect(address: SocketAddr, config: ClientConfig) -> TlsStream<TcpStream> {
    connect_as(address, config, "localhost").await.unwrap()
}

/// Everything until the server closes, however it closes.
pub(crate) async fn read_all(stream: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// One request with these header lines on a connection of its own.
pub(crate) async fn ask(
    address: SocketAddr,
    config: ClientConfig,
    request_line: &str,
    headers: &[&str],
) -> Answer {
    let mut stream = connect(address, config).await;
    let headers: String = headers
        .iter()
        .map(|header| format!("{header}\r\n"))
        .collect();
    let request =
        format!("{request_line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    Answer::parse(&read_all(&mut stream).await)
}
