//! The permit to write is asked when a connection is ready, immediately before the request is
//! handed to it.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use flyball_api::Class;
use futures::future::BoxFuture;
use http::Response;
use http_body_util::Full;
use kube::Config;
use kube::config::AuthInfo;
use tokio::io::AsyncWriteExt;
use tokio::sync::watch;

use super::pipes::{Server, answer, closed};
use super::wire::{authority, head, listen};
use crate::{Client, Method, Permit, Request};

/// A permit that a test ends.
pub(super) struct Lease {
    held: watch::Sender<bool>,
    announced: bool,
}

impl Lease {
    /// A permit whose end is announced.
    pub(super) fn new() -> Arc<Self> {
        let held = watch::Sender::new(true);
        Arc::new(Self {
            held,
            announced: true,
        })
    }

    /// A permit whose end is found only by asking, as after a process was stopped and continued.
    pub(super) fn unannounced() -> Arc<Self> {
        let held = watch::Sender::new(true);
        Arc::new(Self {
            held,
            announced: false,
        })
    }

    pub(super) fn end(&self) {
        self.held.send_replace(false);
    }
}

impl Permit for Lease {
    fn may_write(&self) -> bool {
        *self.held.borrow()
    }

    fn ended(&self) -> BoxFuture<'static, ()> {
        if !self.announced {
            return Box::pin(std::future::pending());
        }
        let mut held = self.held.subscribe();
        Box::pin(async move {
            let _ = held.wait_for(|held| !held).await;
        })
    }
}

pub(super) fn post() -> Request {
    Request::with(Method::Post, "/api/v1/namespaces/shop/pods", "{}")
}

fn assert_not_sent(error: &flyball_api::ApiError) {
    assert_eq!((error.class(), error.code()), (Class::Terminal, 0));
    assert_eq!(
        error.to_string(),
        "not sent: this process may no longer write"
    );
}

/// Sends a write over a connection whose TLS handshake takes until the permit has ended.
async fn write_over_a_stalled_connection(auth_info: AuthInfo) {
    let (trusted, acceptor) = authority("ours");
    let (listener, address) = listen().await;
    let permit = Lease::unannounced();
    let server = tokio::spawn({
        let permit = permit.clone();
        async move {
            let (stream, _) = listener.accept().await.unwrap();
            permit.end();
            let mut stream = acceptor.accept(stream).await.unwrap();
            let head = head(&mut stream).await;
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
            stream.write_all(answer.as_bytes()).await.unwrap();
            head
        }
    });
    let mut config = Config::new(format!("https://{address}").parse().unwrap());
    config.root_cert = Some(vec![trusted]);
    config.auth_info = auth_info;
    let client = Client::new(&config, "tester/v1").unwrap().permitted(permit);
    assert_not_sent(&client.send(&post()).await.unwrap_err());
    // The connection is as good as before: it carries the next read.
    client.send(&Request::get("/read")).await.unwrap();
    let first = server.await.unwrap();
    assert!(first.starts_with("GET /read "), "{first}");
}

#[tokio::test]
async fn a_permit_that_ends_while_a_connection_opens_stops_the_write() {
    write_over_a_stalled_connection(AuthInfo::default()).await;
}

#[tokio::test]
async fn credentials_that_layers_add_do_not_hide_the_permit() {
    let token = AuthInfo {
        token: Some("t".to_owned().into()),
        ..AuthInfo::default()
    };
    write_over_a_stalled_connection(token).await;
    // A token that is read from a file before each request, as exec plugins are run.
    let path = std::env::temp_dir().join(format!("flyball-token-{}", std::process::id()));
    std::fs::write(&path, "t").unwrap();
    let file = AuthInfo {
        token_file: Some(path.display().to_string()),
        ..AuthInfo::default()
    };
    write_over_a_stalled_connection(file).await;
    std::fs::remove_file(&path).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_permit_is_asked_again_before_a_write_is_sent_over_another_connection() {
    let permit = Lease::unannounced();
    let (mut server, client) = Server::opening_after({
        let permit = permit.clone();
        move |before| {
            if before == 1 {
                permit.end();
            }
            Duration::ZERO
        }
    });
    let client = client.permitted(permit.clone());
    let read = Request::get("/x");
    let first = async {
        let mut stream = server.accept().await;
        answer(&mut stream).await;
        stream
    };
    let (read, stream) = tokio::join!(client.send(&read), first);
    read.unwrap();
    // The server closes the connection, which the client learns when it has handed the write over.
    drop(stream);
    assert_not_sent(&client.send(&post()).await.unwrap_err());
    let second = server.accept().await;
    drop(client);
    assert_eq!(closed(second).await, b"");
}

/// A service that is slow to become ready: the permit ends meanwhile.
#[derive(Clone)]
struct Slow {
    permit: Arc<Lease>,
    called: Arc<AtomicBool>,
}

impl tower::Service<http::Request<Bytes>> for Slow {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.permit.end();
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<Bytes>) -> Self::Future {
        self.called.store(true, Ordering::SeqCst);
        std::future::ready(Ok(Response::new(Full::default())))
    }
}

#[tokio::test]
async fn a_service_in_the_same_process_is_called_only_while_the_permit_lasts() {
    let (permit, called) = (Lease::unannounced(), Arc::<AtomicBool>::default());
    let service = Slow {
        permit: permit.clone(),
        called: called.clone(),
    };
    let client = Client::over(service, "server:6443", "tester/v1").unwrap();
    let client = client.permitted(permit);
    assert_not_sent(&client.send(&post()).await.unwrap_err());
    assert!(!called.load(Ordering::SeqCst));
    client.send(&Request::get("/x")).await.unwrap();
    assert!(called.load(Ordering::SeqCst));
}

#[tokio::test(start_paused = true)]
async fn a_permit_that_has_ended_opens_no_connection() {
    let (server, client) = Server::new();
    let permit = Lease::new();
    permit.end();
    let client = client.permitted(permit);
    assert_not_sent(&client.send(&post()).await.unwrap_err());
    assert!(!server.has_connection());
}
