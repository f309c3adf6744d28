//! Writes that are under way when the permit ends.

use std::io::ErrorKind;
use std::time::Duration;

use flyball_api::Class;
use kube::Config;
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, timeout};

use super::permits::{Lease, post};
use super::pipes::{PIPE_BYTES, Server, answer, closed, pass};
use super::script::{Answer, Script};
use super::wire::{authority, head, listen};
use crate::{Client, Method, RateLimit, Request};

fn assert_given_up(error: &flyball_api::ApiError) {
    assert_eq!((error.class(), error.code()), (Class::Transient, 0));
    assert_eq!(
        error.to_string(),
        "given up: this process may no longer write"
    );
}

/// Reads a write and does not answer it; gives back how the connection ends after the permit.
async fn never_answer(mut stream: impl AsyncReadExt + Unpin, permit: &Lease) -> ErrorKind {
    head(&mut stream).await;
    let mut body = [0; 2];
    stream.read_exact(&mut body).await.unwrap();
    permit.end();
    stream.read_u8().await.unwrap_err().kind()
}

#[tokio::test]
async fn a_write_without_an_answer_is_given_up_and_its_connection_reset() {
    for tls in [false, true] {
        let (trusted, acceptor) = authority("ours");
        let (listener, address) = listen().await;
        let permit = Lease::new();
        let server = tokio::spawn({
            let permit = permit.clone();
            async move {
                let (stream, _) = listener.accept().await.unwrap();
                if !tls {
                    return never_answer(stream, &permit).await;
                }
                let stream = acceptor.accept(stream).await.unwrap();
                never_answer(stream, &permit).await
            }
        });
        let scheme = if tls { "https" } else { "http" };
        let mut config = Config::new(format!("{scheme}://{address}").parse().unwrap());
        config.root_cert = Some(vec![trusted]);
        let client = Client::new(&config, "tester/v1").unwrap().permitted(permit);
        let request = post();
        let answer = timeout(Duration::from_secs(20), client.send(&request)).await;
        assert_given_up(&answer.unwrap().unwrap_err());
        // Nothing is left for the kernel to deliver later.
        assert_eq!(server.await.unwrap(), ErrorKind::ConnectionReset);
    }
}

#[tokio::test(start_paused = true)]
async fn the_rest_of_a_write_is_not_sent_after_the_permit_ended() {
    let (mut server, client) = Server::new();
    let permit = Lease::new();
    let client = client.permitted(permit.clone());
    let body = "x".repeat(10 * PIPE_BYTES);
    let request = Request::with(Method::Post, "/x", body.clone());
    let serving = async {
        let mut stream = server.accept().await;
        head(&mut stream).await;
        permit.end();
        stream
    };
    let (sent, stream) = tokio::join!(client.send(&request), serving);
    assert_given_up(&sent.unwrap_err());
    let rest = closed(stream).await;
    assert!(rest.len() < body.len(), "all {} bytes", rest.len());
}

#[tokio::test(start_paused = true)]
async fn the_connection_of_a_write_given_up_is_not_used_again() {
    let (mut server, client) = Server::new();
    let permit = Lease::new();
    let client = client.permitted(permit.clone());
    let (request, read) = (post(), Request::get("/x"));
    let serving = async {
        let mut first = server.accept().await;
        head(&mut first).await;
        permit.end();
        answer(&mut server.accept().await).await;
        first
    };
    let sending = async {
        assert_given_up(&client.send(&request).await.unwrap_err());
        client.send(&read).await.unwrap();
    };
    let (first, ()) = tokio::join!(serving, sending);
    assert_eq!(closed(first).await, b"{}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_retry_after_ends_with_the_permit() {
    let server = Script::new(|_, _| Answer::new(429, "").retry_after("30"));
    let permit = Lease::new();
    let client = server.client().permitted(permit.clone());
    let start = Instant::now();
    let end = async {
        pass(Duration::from_secs(3)).await;
        permit.end();
    };
    let request = post();
    let (answer, ()) = tokio::join!(client.send(&request), end);
    let error = answer.unwrap_err();
    assert_eq!((error.class(), error.code()), (Class::Terminal, 0));
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    assert_eq!(server.asks().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_the_rate_limit_ends_with_the_permit() {
    let server = Script::new(|_, _| Answer::new(201, "{}"));
    let permit = Lease::new();
    let client = server.client().named("slow", RateLimit::new(0.1, 1));
    let client = client.permitted(permit.clone());
    client.send(&post()).await.unwrap();
    let start = Instant::now();
    let end = async {
        pass(Duration::from_secs(3)).await;
        permit.end();
    };
    let request = post();
    let (answer, ()) = tokio::join!(client.send(&request), end);
    let error = answer.unwrap_err();
    assert_eq!((error.class(), error.code()), (Class::Terminal, 0));
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    assert_eq!(server.asks().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_has_arrived_counts_though_the_permit_has_ended() {
    let second = Duration::from_secs(1);
    let server = Script::new(move |_, _| Answer {
        after: Some(second),
        ..Answer::new(201, "{}")
    });
    let permit = Lease::new();
    let client = server.client().permitted(permit.clone());
    let end = async {
        pass(second).await;
        permit.end();
    };
    // At the same moment; the end comes first.
    let request = post();
    let ((), answer) = futures::join!(end, client.send(&request));
    assert_eq!(answer.unwrap(), "{}");
}

#[tokio::test(start_paused = true)]
async fn a_read_goes_on_when_the_permit_ends() {
    let permit = Lease::new();
    let server = Script::new({
        let permit = permit.clone();
        move |_, _| {
            permit.end();
            Answer {
                after: Some(Duration::from_secs(5)),
                ..Answer::new(200, "{}")
            }
        }
    });
    let client = server.client().permitted(permit);
    client.send(&Request::get("/x")).await.unwrap();
}
