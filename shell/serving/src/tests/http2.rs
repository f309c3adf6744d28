//! The same over HTTP/2.

use super::client::connect_as;
use super::*;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};

type Sender = SendRequest<Empty<Bytes>>;

async fn speak(served: &Served, identity: Option<&Identity>) -> (Sender, JoinHandle<()>) {
    let mut config = served.tls(identity);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let stream = connect_as(served.address, config, "localhost")
        .await
        .unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    let ended = tokio::spawn(async move {
        let _ = connection.await;
    });
    (sender, ended)
}

async fn ask(sender: &mut Sender, method: &str, path: &str) -> hyper::Result<(u16, String)> {
    let request = Request::builder()
        .method(method)
        .uri(format!("https://localhost{path}"))
        .body(Empty::new())
        .unwrap();
    let response = sender.send_request(request).await?;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await?.to_bytes();
    Ok((status, String::from_utf8(body.to_vec()).unwrap()))
}

#[tokio::test]
async fn somebody_keeps_one_connection_for_many_requests() {
    let served = Served::start().await;
    let root = served.clients.client("root", &["system:masters"]);
    let (mut sender, _ended) = speak(&served, Some(&root)).await;
    for _ in 0..5 {
        assert_eq!(
            ask(&mut sender, "GET", "/metrics").await.unwrap(),
            (200, "up 1\n".into())
        );
        assert_eq!(
            ask(&mut sender, "HEAD", "/metrics").await.unwrap(),
            (200, String::new())
        );
        assert_eq!(ask(&mut sender, "GET", "/nowhere").await.unwrap().0, 404);
    }
}

#[tokio::test]
async fn the_host_is_not_repeated_when_the_api_server_is_away() {
    let served = Served::start().await;
    let jane = served.clients.client("jane", &[]);
    let (mut sender, _ended) = speak(&served, Some(&jane)).await;
    served.api.troubles(&[api::Trouble::Status(403)]);
    let (status, body) = ask(&mut sender, "GET", "/metrics?x=1").await.unwrap();
    assert_eq!(status, 500);
    assert_eq!(
        body,
        "Internal Server Error: \"/metrics?x=1\": trouble 403\n"
    );
}

#[tokio::test]
async fn nobody_gets_an_answer_and_then_has_to_leave() {
    let served = Served::start().await;
    let (mut sender, ended) = speak(&served, None).await;
    assert_eq!(
        ask(&mut sender, "GET", "/healthz").await.unwrap(),
        (200, "ok".into())
    );
    tokio::time::timeout(PATIENCE, ended)
        .await
        .unwrap()
        .unwrap();
    let (mut sender, ended) = speak(&served, None).await;
    assert_eq!(ask(&mut sender, "GET", "/metrics").await.unwrap().0, 403);
    tokio::time::timeout(PATIENCE, ended)
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let served = Served::start_with(|options| options.limits.idle_timeout = SOON).await;
    let root = served.clients.client("root", &["system:masters"]);
    let (_sender, ended) = speak(&served, Some(&root)).await;
    tokio::time::timeout(PATIENCE, ended)
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn shutdown_lets_streams_in_progress_finish() {
    let mut served = Served::start().await;
    let root = served.clients.client("root", &["system:masters"]);
    let (mut sender, ended) = speak(&served, Some(&root)).await;
    let answer = tokio::spawn(async move { ask(&mut sender, "GET", "/debug/wait").await });
    served.waiting.notified().await;
    served.begin_stop();
    served.proceed.notify_one();
    assert_eq!(answer.await.unwrap().unwrap(), (200, "waited".into()));
    tokio::time::timeout(PATIENCE, ended)
        .await
        .unwrap()
        .unwrap();
    served.stopped().await;
}

#[tokio::test]
async fn it_can_be_switched_off() {
    let served = Served::start_with(|options| options.disable_http2 = true).await;
    let mut config = served.tls(None);
    config.alpn_protocols = vec![b"h2".to_vec()];
    assert!(
        connect_as(served.address, config, "localhost")
            .await
            .is_err()
    );
    let mut config = served.tls(None);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let answer = client::ask(served.address, config, "GET /healthz", &[]).await;
    assert_eq!(answer.status, 200);
}
