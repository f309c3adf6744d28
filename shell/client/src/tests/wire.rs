//! Over real sockets on loopback: what only they can show.

use std::sync::Arc;
use std::time::Duration;

use kube::Config;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::{Client, Request};

pub(super) async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// Reads a request's head and gives it back.
pub(super) async fn head(stream: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        read.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(read).unwrap()
}

pub(super) fn client(url: &str) -> Client {
    Client::new(&Config::new(url.parse().unwrap()), "tester/v1").unwrap()
}

#[tokio::test]
async fn a_request_goes_out_under_the_servers_name_and_comes_back() {
    let (listener, address) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let head = head(&mut stream).await;
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        stream.write_all(answer.as_bytes()).await.unwrap();
        head
    });
    let client = client(&format!("http://{address}"));
    assert_eq!(
        client
            .send(&Request::get("/api/v1/pods?limit=1"))
            .await
            .unwrap(),
        "{}"
    );
    let head = server.await.unwrap().to_ascii_lowercase();
    assert!(
        head.starts_with("get /api/v1/pods?limit=1 http/1.1\r\n"),
        "{head}"
    );
    assert!(head.contains(&format!("host: {address}\r\n")), "{head}");
    assert!(head.contains("user-agent: tester/v1\r\n"), "{head}");
}

#[tokio::test]
async fn a_connection_cut_in_a_watch_is_an_error_after_the_whole_lines() {
    let (listener, address) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        head(&mut stream).await;
        let answer = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7\r\nwhole\nh\r\n";
        stream.write_all(answer.as_bytes()).await.unwrap();
        // Half of a chunk, then nothing more.
        stream.write_all(b"f\r\nalf").await.unwrap();
    });
    let mut stream = client(&format!("http://{address}"))
        .watch("/x")
        .await
        .unwrap();
    server.await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap(), "whole");
    let error = stream.next().await.unwrap_err();
    assert!(
        error.to_string().starts_with("the watch broke off: "),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let (listener, address) = listen().await;
    drop(listener);
    let error = client(&format!("http://{address}"))
        .send(&Request::get("/x"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), 0);
    let text = error.to_string();
    assert!(
        text.starts_with(&format!("no answer from {address}: ")),
        "{text}"
    );
    assert!(
        text.to_ascii_lowercase().contains("connection refused"),
        "{text}"
    );
}

/// An authority of this name, and an acceptor with a certificate for 127.0.0.1 signed by it.
pub(super) fn authority(name: &str) -> (Vec<u8>, TlsAcceptor) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
        .distinguished_name
        .push(rcgen::DnType::CommonName, name);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let leaf = leaf.signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key)
        .unwrap();
    (issuer.der().to_vec(), TlsAcceptor::from(Arc::new(config)))
}

/// Asks a TLS server whose authority is `served` while trusting `trusted`.
async fn ask(trusted: Vec<u8>, served: TlsAcceptor) -> Result<bytes::Bytes, flyball_api::ApiError> {
    let (listener, address) = listen().await;
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let Ok(mut stream) = served.accept(stream).await else {
            return;
        };
        head(&mut stream).await;
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        stream.write_all(answer.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
    });
    let mut config = Config::new(format!("https://{address}").parse().unwrap());
    config.root_cert = Some(vec![trusted]);
    let client = Client::new(&config, "tester/v1").unwrap();
    let request = Request::get("/x");
    let answer = tokio::time::timeout(Duration::from_secs(20), client.send(&request)).await;
    server.await.unwrap();
    answer.unwrap()
}

#[tokio::test]
async fn the_right_authority_is_trusted_and_a_wrong_one_named_as_the_cause() {
    let (ours, acceptor) = authority("ours");
    assert_eq!(ask(ours, acceptor).await.unwrap(), "{}");
    let ((_, acceptor), (others, _)) = (authority("ours"), authority("others"));
    let error = ask(others, acceptor).await.unwrap_err();
    assert_eq!(error.code(), 0);
    let text = error.to_string();
    assert!(text.starts_with("cannot trust 127.0.0.1:"), "{text}");
    assert!(text.contains("UnknownIssuer"), "{text}");
    assert!(
        text.contains("check certificate-authority in the kubeconfig"),
        "{text}"
    );
}
