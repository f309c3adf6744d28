//! Watches: lines out of chunks, and every way a watch can end.

use super::script::{Answer, Script};
use crate::{Client, WatchStream};

const PATH: &str = "/api/v1/pods?watch=true";

async fn watch(answer: impl Fn() -> Answer + Send + Sync + 'static) -> WatchStream {
    let server = Script::new(move |_, _| answer());
    server.client().watch(PATH).await.unwrap()
}

async fn next(stream: &mut WatchStream) -> Option<String> {
    let line = stream.next().await.unwrap()?;
    Some(String::from_utf8(line.to_vec()).unwrap())
}

#[tokio::test]
async fn lines_may_be_cut_anywhere() {
    let text =
        "{\"type\":\"ADDED\",\"object\":{\"ü\":1}}\n{\"type\":\"MODIFIED\"}\r\n\n{\"a\":2}\n";
    for size in 1..=text.len() {
        let mut stream = watch(move || Answer::chunks(200, text.as_bytes().chunks(size))).await;
        assert_eq!(
            next(&mut stream).await.unwrap(),
            r#"{"type":"ADDED","object":{"ü":1}}"#
        );
        assert_eq!(
            next(&mut stream).await.unwrap().trim_end(),
            r#"{"type":"MODIFIED"}"#
        );
        assert_eq!(next(&mut stream).await.unwrap(), r#"{"a":2}"#);
        assert_eq!(next(&mut stream).await, None);
        assert_eq!(next(&mut stream).await, None);
    }
}

#[tokio::test]
async fn lines_that_came_together_are_ready_without_waiting() {
    let mut stream = watch(|| Answer::new(200, "one\ntwo\nthree\nhalf")).await;
    assert_eq!(stream.ready_line().unwrap().unwrap(), "one");
    assert_eq!(stream.ready_line().unwrap().unwrap(), "two");
    assert_eq!(stream.ready_line().unwrap().unwrap(), "three");
    assert!(stream.ready_line().unwrap().is_none());
    // What was cut off is nobody's until the end is waited for.
    assert_eq!(next(&mut stream).await.unwrap(), "half");
}

#[tokio::test]
async fn half_a_line_at_the_end_is_handed_out_as_it_is() {
    let mut stream = watch(|| Answer::new(200, "whole\n{\"type\":\"AD")).await;
    assert_eq!(next(&mut stream).await.unwrap(), "whole");
    assert_eq!(next(&mut stream).await.unwrap(), "{\"type\":\"AD");
    assert_eq!(next(&mut stream).await, None);
}

#[tokio::test]
async fn a_broken_connection_is_an_error_after_the_whole_lines() {
    let mut stream = watch(|| Answer::new(200, "whole\nhalf").broken()).await;
    assert_eq!(next(&mut stream).await.unwrap(), "whole");
    let error = stream.next().await.unwrap_err();
    assert_eq!(error.to_string(), "the watch broke off: reset by peer");
}

#[tokio::test]
async fn a_line_without_end_is_refused_before_it_fills_the_memory() {
    let chunk = vec![b'x'; 1 << 20];
    let mut stream =
        watch(move || Answer::chunks(200, std::iter::repeat_n(chunk.as_slice(), 80))).await;
    let error = stream.next().await.unwrap_err();
    assert!(error.to_string().contains("had no end"), "{error}");
}

#[tokio::test]
async fn a_refused_watch_says_why() {
    let gone =
        r#"{"kind":"Status","message":"too old resource version","reason":"Expired","code":410}"#;
    let server = Script::new(move |_, _| Answer::new(410, gone));
    let client: Client = server.client();
    let error = client.watch(PATH).await.err().unwrap();
    assert_eq!(error.class(), flyball_api::Class::Gone);
    assert_eq!(error.to_string(), "too old resource version");
    assert_eq!(server.lines(), [format!("GET {PATH}")]);
}

#[tokio::test(start_paused = true)]
async fn a_refused_watch_is_left_to_the_informers_patience() {
    let server = Script::new(|_, _| Answer::new(429, "").retry_after("7"));
    let error = server.client().watch(PATH).await.err().unwrap();
    assert_eq!(error.retry_after(), Some(std::time::Duration::from_secs(7)));
    assert_eq!(server.asks().len(), 1);
}
