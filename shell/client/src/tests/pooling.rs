//! Connections over real sockets: used again, replaced when they are gone, read in large portions.

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use super::wire::{client, head, listen};
use crate::Request;

async fn answer(stream: &mut TcpStream) -> String {
    let head = head(stream).await;
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    stream.write_all(answer.as_bytes()).await.unwrap();
    head
}

async fn accept(listener: &TcpListener) -> TcpStream {
    listener.accept().await.unwrap().0
}

#[tokio::test]
async fn one_connection_serves_one_request_after_the_other() {
    let (listener, address) = listen().await;
    let server = tokio::spawn(async move {
        let mut stream = accept(&listener).await;
        for _ in 0..3 {
            answer(&mut stream).await;
        }
    });
    let client = client(&format!("http://{address}"));
    for _ in 0..3 {
        assert_eq!(client.send(&Request::get("/x")).await.unwrap(), "{}");
    }
    server.await.unwrap();
}

#[tokio::test]
async fn a_connection_that_the_server_has_closed_is_replaced() {
    let (listener, address) = listen().await;
    let server = tokio::spawn(async move {
        for _ in 0..3 {
            let mut stream = accept(&listener).await;
            answer(&mut stream).await;
            stream.shutdown().await.unwrap();
        }
    });
    let client = client(&format!("http://{address}"));
    for _ in 0..3 {
        assert_eq!(client.send(&Request::get("/x")).await.unwrap(), "{}");
    }
    server.await.unwrap();
}

#[tokio::test]
async fn an_answer_that_is_not_read_ends_its_connection() {
    let (listener, address) = listen().await;
    let server = tokio::spawn(async move {
        let mut first = accept(&listener).await;
        head(&mut first).await;
        let half = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\na\n\r\n";
        first.write_all(half.as_bytes()).await.unwrap();
        answer(&mut accept(&listener).await).await;
    });
    let client = client(&format!("http://{address}"));
    let mut watch = client.watch("/x").await.unwrap();
    assert_eq!(watch.next().await.unwrap().unwrap(), "a");
    drop(watch);
    assert_eq!(client.send(&Request::get("/x")).await.unwrap(), "{}");
    server.await.unwrap();
}

#[tokio::test]
async fn a_path_in_the_servers_address_stands_before_every_path() {
    let (listener, address) = listen().await;
    let server = tokio::spawn(async move { answer(&mut accept(&listener).await).await });
    let client = client(&format!("http://{address}/k8s/clusters/c-1/"));
    client
        .send(&Request::get("/api/v1/pods?limit=1"))
        .await
        .unwrap();
    let head = server.await.unwrap();
    assert!(
        head.starts_with("GET /k8s/clusters/c-1/api/v1/pods?limit=1 HTTP/1.1\r\n"),
        "{head}"
    );
}

#[tokio::test]
async fn what_waits_is_read_at_once_and_nothing_is_lost() {
    let (listener, address) = listen().await;
    let line = "x".repeat(50_000);
    let sent = line.clone();
    let server = tokio::spawn(async move {
        let mut stream = accept(&listener).await;
        head(&mut stream).await;
        let start = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
        stream.write_all(start.as_bytes()).await.unwrap();
        for _ in 0..20 {
            stream.write_all(sent.as_bytes()).await.unwrap();
            stream.write_all(b"\n").await.unwrap();
        }
        stream.shutdown().await.unwrap();
    });
    let mut watch = client(&format!("http://{address}"))
        .watch("/x")
        .await
        .unwrap();
    for _ in 0..20 {
        assert_eq!(watch.next().await.unwrap().unwrap(), line);
    }
    assert_eq!(watch.next().await.unwrap(), None);
    server.await.unwrap();
}

/// The kernel's timer of a socket that waits: 02 means keep-alive, then hundredths of a second.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_quiet_socket_is_probed_after_ten_seconds() {
    use tower::ServiceExt;
    let (listener, address) = listen().await;
    let server: http::Uri = format!("http://{address}").parse().unwrap();
    let connector = crate::transport::tcp(&kube::Config::new(server.clone()));
    let _socket = connector.oneshot(server).await.unwrap();
    let local = listener.accept().await.unwrap().1.port();
    let remote = listener.local_addr().unwrap().port();
    let ends = [local, remote].map(|port| format!("0100007F:{port:04X}"));
    let sockets = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    let mut sockets = sockets
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let timer = sockets.find(|fields| fields[1..3] == ends).unwrap()[5];
    let (kind, left) = timer.split_once(':').unwrap();
    let left = u64::from_str_radix(left, 16).unwrap();
    assert_eq!((kind, left <= 1_000), ("02", true), "{timer}");
}
