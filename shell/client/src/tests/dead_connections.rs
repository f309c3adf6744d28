//! Connections that take requests and bring no answers.

use std::time::Duration;

use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::task::yield_now;
use tokio::time::{Instant, timeout};

use super::pipes::{Server, answer, closed, pass};
use super::script::{Answer, Script};
use super::wire::head;
use crate::{Client, Request};

fn get() -> Request {
    Request::get("/x")
}

/// Opens two connections at once; both are idle in the end.
async fn two_idle(server: &mut Server, client: &Client) -> [DuplexStream; 2] {
    let request = get();
    let serving = async {
        let mut streams = [server.accept().await, server.accept().await];
        for stream in &mut streams {
            answer(stream).await;
        }
        streams
    };
    let sending = async { tokio::join!(client.send(&request), client.send(&request)) };
    let (streams, (first, second)) = tokio::join!(serving, sending);
    first.unwrap();
    second.unwrap();
    streams
}

/// Sends a request that gets no answer and gives it up after so many seconds.
async fn give_up(client: &Client, seconds: u64) {
    let request = get();
    let answer = timeout(Duration::from_secs(seconds), client.send(&request)).await;
    assert!(answer.is_err());
}

/// Sends a request that the server answers over this connection.
async fn answered(client: &Client, stream: &mut DuplexStream) {
    let request = get();
    let (sent, _) = tokio::join!(client.send(&request), answer(stream));
    sent.unwrap();
}

/// Sends a request that the server answers over a connection opened for it.
async fn answered_over_new(client: &Client, server: &mut Server) -> DuplexStream {
    let request = get();
    let serving = async {
        let mut stream = server.accept().await;
        answer(&mut stream).await;
        stream
    };
    let (sent, stream) = tokio::join!(client.send(&request), serving);
    sent.unwrap();
    stream
}

#[tokio::test(start_paused = true)]
async fn an_answer_over_a_new_connection_makes_the_older_ones_suspect() {
    let (mut server, client) = Server::new();
    let suspect = client.named("another", None).connections_suspect();
    let [first, second] = two_idle(&mut server, &client).await;
    give_up(&client, 3).await;
    assert_eq!(*suspect.borrow(), 0, "the server may be down altogether");
    // The idle one of the two is not used again.
    let mut third = answered_over_new(&client, &mut server).await;
    assert_eq!(*suspect.borrow(), 1);
    let sent = [closed(first).await, closed(second).await];
    let unanswered = sent.iter().filter(|sent| !sent.is_empty());
    assert_eq!(unanswered.count(), 1);
    // From here on all is as ever.
    answered(&client, &mut third).await;
    assert!(!server.has_connection());
    assert_eq!(*suspect.borrow(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waits_over_a_suspect_connection_is_lost() {
    let (mut server, client) = Server::new();
    let [_first, _second] = two_idle(&mut server, &client).await;
    let request = get();
    let begun = Instant::now();
    let waiting = async {
        let error = client.send(&request).await.unwrap_err();
        (error, begun.elapsed().as_secs())
    };
    let evidence = async {
        yield_now().await;
        give_up(&client, 3).await;
        answered_over_new(&client, &mut server).await
    };
    let ((error, seconds), _third) = tokio::join!(waiting, evidence);
    assert_eq!((error.code(), seconds), (0, 10), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_over_a_suspect_connection_counts_while_it_is_not_too_late() {
    let (mut server, client) = Server::new();
    let [mut first, mut second] = two_idle(&mut server, &client).await;
    let request = get();
    // The connection used last is used next.
    let serving = async {
        head(&mut second).await;
        pass(Duration::from_secs(9)).await;
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        second.write_all(answer.as_bytes()).await.unwrap();
    };
    let evidence = async {
        yield_now().await;
        give_up(&client, 3).await;
        head(&mut first).await;
        answered_over_new(&client, &mut server).await
    };
    let (sent, (), _third) = tokio::join!(client.send(&request), serving, evidence);
    sent.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_makes_no_connection_suspect() {
    let (mut server, client) = Server::new();
    let suspect = client.connections_suspect();
    let mut stream = answered_over_new(&client, &mut server).await;
    let request = get();
    let serving = async {
        head(&mut stream).await;
        pass(Duration::from_secs(30)).await;
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        stream.write_all(answer.as_bytes()).await.unwrap();
    };
    let (sent, ()) = tokio::join!(client.send(&request), serving);
    sent.unwrap();
    answered(&client, &mut stream).await;
    assert!(!server.has_connection());
    assert_eq!(*suspect.borrow(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_request_given_up_early_makes_no_connection_suspect() {
    let (mut server, client) = Server::new();
    let suspect = client.connections_suspect();
    let [mut first, second] = two_idle(&mut server, &client).await;
    give_up(&client, 1).await;
    // The one used last carried the request and is gone; the other is still used.
    drop(second);
    answered(&client, &mut first).await;
    assert!(!server.has_connection());
    drop(first);
    answered_over_new(&client, &mut server).await;
    assert_eq!(*suspect.borrow(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_began_to_open_before_is_as_suspect_as_the_others() {
    let (mut server, client) =
        Server::opening_after(|before| Duration::from_secs(if before == 1 { 5 } else { 0 }));
    let suspect = client.connections_suspect();
    let _first = answered_over_new(&client, &mut server).await;
    // The first connection takes a request, and the next request needs another one.
    let slow = async {
        yield_now().await;
        answered_over_new(&client, &mut server).await
    };
    let (_second, ()) = tokio::join!(slow, give_up(&client, 3));
    assert_eq!(*suspect.borrow(), 0);
    answered_over_new(&client, &mut server).await;
    assert_eq!(*suspect.borrow(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_suspect_connection_is_not_kept_when_its_answer_ends() {
    let (mut server, client) = Server::new();
    let [mut first, mut second] = two_idle(&mut server, &client).await;
    // A watch over one of them, and a request without an answer over the other.
    let start = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let watching = async {
        head(&mut second).await;
        second.write_all(start.as_bytes()).await.unwrap();
    };
    let (watch, ()) = tokio::join!(client.watch("/x"), watching);
    let mut watch = watch.unwrap();
    give_up(&client, 3).await;
    head(&mut first).await;
    let mut third = answered_over_new(&client, &mut server).await;
    // The watch ends in order, which would make its connection the next to be used.
    second.write_all(b"0\r\n\r\n").await.unwrap();
    assert_eq!(watch.next().await.unwrap(), None);
    assert_eq!(closed(second).await, b"");
    answered(&client, &mut third).await;
}

#[tokio::test]
async fn a_service_in_the_same_process_has_no_connections_to_suspect() {
    let server = Script::new(|_, _| Answer::new(200, "{}"));
    let client = server.client();
    let suspect = client.connections_suspect();
    client.send(&get()).await.unwrap();
    // An error would mean that the caller waits for changes in vain, and at once.
    assert!(!suspect.has_changed().unwrap());
}
