//! How the server ends.

use std::time::Duration;

use super::*;

#[tokio::test]
async fn a_stop_ends_watches_in_order_and_takes_no_more() {
    let served = Served::start(Limits::default()).await;
    let mut watch = served.admin().await;
    watch
        .write_all(b"GET /api/v1/namespaces?watch=1 HTTP/1.1\r\nHost: a\r\n\r\n")
        .await
        .unwrap();
    let mut first = [0; 12];
    watch.read_exact(&mut first).await.unwrap();
    let mut sender = speak_http2(&served).await;
    let streamed = sender.send_request(http2_request("GET", "/api/v1/namespaces?watch=1"));
    let streamed = streamed.await.unwrap();
    let idle = served.admin().await;
    let address = served.listening.address;
    let Served { listening, .. } = served;
    let stop = tokio::time::timeout(Duration::from_secs(5), listening.stop());
    stop.await.expect("nobody has to be cut off");
    // The chunk of length zero is the end of a body that is whole.
    let told = Told::read(&mut watch).await;
    let rest = format!("{}{}", told.head, told.text());
    assert!(
        rest.ends_with("0\r\n\r\n") || rest.ends_with("\r\n0"),
        "{rest}"
    );
    streamed.into_body().collect().await.unwrap();
    assert!(TcpStream::connect(address).await.is_err());
    drop(idle);
}

#[tokio::test]
async fn what_was_asked_before_a_stop_is_answered() {
    let served = Served::start(Limits::default()).await;
    let mut slow = served.admin().await;
    let body = br#"{"metadata":{"name":"late"}}"#;
    let head = format!(
        "POST /api/v1/namespaces HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    slow.write_all(&body[..5]).await.unwrap();
    // The request is in progress when something else of the same client is answered.
    assert_eq!(served.get("/livez", "").await.code, 200);
    let Served {
        listening, server, ..
    } = served;
    let stop = tokio::spawn(listening.stop());
    slow.write_all(&body[5..]).await.unwrap();
    let told = Told::read(&mut slow).await;
    assert_eq!(told.code, 201, "{told:?}");
    stop.await.unwrap();
    drop(server);
}
