//! Requests: patience, errors, headers, limits.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flyball_api::Class;
use tokio::time::Instant;

use super::permits::{Lease, post};
use super::script::{Answer, Script};
use crate::{Method, Observer, RateLimit, Request, RequestSeen};

#[tokio::test(start_paused = true)]
async fn retry_after_is_honoured() {
    let server = Script::new(|before, _| match before {
        0 => Answer::new(429, "").retry_after("3"),
        1 => Answer::new(503, "busy").retry_after("1"),
        _ => Answer::new(201, "{}"),
    });
    let start = Instant::now();
    assert_eq!(server.client().send(&post()).await.unwrap(), "{}");
    assert_eq!(start.elapsed(), Duration::from_secs(4));
    let asks = server.asks();
    assert_eq!(asks.len(), 3);
    assert_eq!(asks[1].at - asks[0].at, Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn patience_ends_after_ten_times_and_is_never_longer_than_asked_in_reason() {
    let server = Script::new(|_, _| Answer::new(429, "").retry_after("86400"));
    let start = Instant::now();
    let error = server.client().send(&post()).await.unwrap_err();
    assert!(matches!(error.class(), Class::TooManyRequests { .. }));
    assert_eq!(server.asks().len(), 11);
    assert_eq!(start.elapsed(), Duration::from_secs(300));
}

#[tokio::test(start_paused = true)]
async fn a_request_sent_once_hands_back_the_wait_that_the_server_asks_for() {
    for code in [429, 503] {
        let server = Script::new(move |before, _| match before {
            0 => Answer::new(code, "").retry_after("7"),
            _ => Answer::new(200, "{}"),
        });
        let (client, list) = (server.client(), Request::get("/api/v1/pods?limit=500"));
        let start = Instant::now();
        let error = client.send_once(&list).await.unwrap_err();
        assert_eq!(error.code(), code);
        assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert_eq!(server.asks().len(), 1);
        assert_eq!(client.send_once(&list).await.unwrap(), "{}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_does_not_ask_for_patience_is_handed_back_at_once() {
    // A date, which upstream does not understand either; and codes that patience does not help.
    let answers: [(u16, Option<&'static str>); 6] = [
        (429, None),
        (500, None),
        (503, Some("Wed, 21 Oct 2026 07:28:00 GMT")),
        (409, Some("1")),
        (404, Some("1")),
        (422, None),
    ];
    for (code, retry_after) in answers {
        let server = Script::new(move |_, _| Answer {
            retry_after,
            ..Answer::new(code, "")
        });
        assert_eq!(
            server.client().send(&post()).await.unwrap_err().code(),
            code
        );
        assert_eq!(server.asks().len(), 1, "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn errors_are_classified_by_their_status() {
    let status = |code: u16, reason: &str| {
        format!(
            r#"{{"kind":"Status","status":"Failure","message":"no","reason":"{reason}","code":{code}}}"#
        )
    };
    let cases = [
        (404, status(404, "NotFound"), Class::NotFound),
        (409, status(409, "AlreadyExists"), Class::AlreadyExists),
        (409, status(409, "Conflict"), Class::Conflict),
        (410, status(410, "Expired"), Class::Gone),
        (422, status(422, "Invalid"), Class::Invalid),
        (403, status(403, "Forbidden"), Class::Forbidden),
        (401, status(401, "Unauthorized"), Class::Unauthorized),
        (500, status(500, "InternalError"), Class::Transient),
        // Not even JSON: the code alone must do.
        (502, "<html>Bad Gateway</html>".to_owned(), Class::Transient),
        (404, "404 page not found".to_owned(), Class::NotFound),
        (500, String::new(), Class::Transient),
    ];
    for (code, body, class) in cases {
        let text = body.clone();
        let server = Script::new(move |_, _| Answer::new(code, &text));
        let error = server.client().send(&post()).await.unwrap_err();
        assert_eq!(error.class(), class, "{code} {body}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_without_an_answer_is_lost_after_a_minute() {
    let server = Script::new(|_, _| Answer::never());
    let start = Instant::now();
    let error = server.client().send(&post()).await.unwrap_err();
    assert_eq!(start.elapsed(), Duration::from_secs(60));
    assert_eq!(error.to_string(), "no answer from server:6443 within 60 s");
    assert_eq!(error.code(), 0);
    let error = server
        .client()
        .watch("/api/v1/pods?watch=true")
        .await
        .err()
        .unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(120));
    assert!(
        error.to_string().contains("did not start the watch"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_is_a_transport_error() {
    let server = Script::new(|_, _| Answer::new(200, r#"{"metadata":"#).broken());
    let error = server.client().send(&post()).await.unwrap_err();
    assert_eq!((error.class(), error.code()), (Class::Transient, 0));
    assert!(error.to_string().contains("reset by peer"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn each_request_says_who_sends_what_and_what_it_wants() {
    let server = Script::new(|_, _| Answer::new(200, "{}"));
    let client = server
        .client()
        .named("flyball/v1 (linux/amd64) kubernetes/x/toy", None);
    client
        .send(&Request::get("/api/v1/pods?limit=500"))
        .await
        .unwrap();
    client.send(&post().metadata_only()).await.unwrap();
    client
        .send(&Request::with(Method::StrategicPatch, "/x", "{}"))
        .await
        .unwrap();
    client
        .send(&Request::with(Method::Delete, "/x", "{}"))
        .await
        .unwrap();
    client
        .send(&Request::with(Method::Put, "/x", "{}"))
        .await
        .unwrap();
    let asks = server.asks();
    let header = |i: usize, name: &str| {
        asks[i]
            .headers
            .get(name)
            .map(|value| value.to_str().unwrap().to_owned())
    };
    assert_eq!(
        header(0, "user-agent").unwrap(),
        "flyball/v1 (linux/amd64) kubernetes/x/toy"
    );
    assert_eq!(header(0, "accept").unwrap(), "application/json");
    assert_eq!(header(0, "content-type"), None);
    assert!(
        header(1, "accept")
            .unwrap()
            .contains("as=PartialObjectMetadata")
    );
    assert_eq!(header(1, "content-type").unwrap(), "application/json");
    assert_eq!(
        header(2, "content-type").unwrap(),
        "application/strategic-merge-patch+json"
    );
    let methods: Vec<_> = asks.iter().map(|asked| asked.method.as_str()).collect();
    assert_eq!(methods, ["GET", "POST", "PATCH", "DELETE", "PUT"]);
    assert_eq!(
        (asks[0].path.as_str(), &asks[1].body[..]),
        ("/api/v1/pods?limit=500", &b"{}"[..])
    );
    // A name that no header can hold leaves the old one.
    client
        .named("bad\nname", None)
        .send(&Request::get("/y"))
        .await
        .unwrap();
    let agent = server.asks()[5].headers["user-agent"].clone();
    assert_eq!(agent, "flyball/v1 (linux/amd64) kubernetes/x/toy");
}

#[tokio::test(start_paused = true)]
async fn each_named_client_keeps_its_own_rate() {
    let server = Script::new(|_, _| Answer::new(200, "{}"));
    let slow = server.client().named("slow", RateLimit::new(1.0, 2));
    let free = server.client().named("free", None);
    let start = Instant::now();
    for _ in 0..4 {
        slow.send(&Request::get("/x")).await.unwrap();
    }
    assert_eq!(start.elapsed(), Duration::from_secs(2));
    for _ in 0..100 {
        free.send(&Request::get("/x")).await.unwrap();
    }
    // Clones share the limit: it belongs to the name.
    slow.clone().send(&Request::get("/x")).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn a_permit_is_asked_before_each_write_and_no_read() {
    let permit = Lease::unannounced();
    let server = Script::new({
        let permit = permit.clone();
        move |before, _| {
            if before > 0 {
                // The permit ends while the server has us wait.
                permit.end();
                return Answer::new(429, "").retry_after("5");
            }
            Answer::new(200, "{}")
        }
    });
    let client = server.client().permitted(permit.clone());
    client.send(&post()).await.unwrap();
    let error = client.send(&post()).await.unwrap_err();
    assert_eq!((error.class(), error.code()), (Class::Terminal, 0));
    assert_eq!(
        server.asks().len(),
        2,
        "nothing was sent after the permit had ended"
    );
    client.send(&Request::get("/x")).await.unwrap_err();
    assert_eq!(server.asks().len(), 13, "reads need no permit");
}

#[tokio::test(start_paused = true)]
async fn every_request_is_seen_with_its_code_and_its_waits() {
    type Line = (String, Option<u16>, Duration, Duration);
    #[derive(Default)]
    struct Seen(Mutex<Vec<Line>>);
    impl Observer for Seen {
        fn request(&self, seen: RequestSeen<'_>) {
            assert_eq!(seen.host, "server:6443");
            let seen = (seen.method.to_owned(), seen.code, seen.took, seen.held);
            self.0.lock().unwrap().push(seen);
        }
    }
    let server = Script::new(|before, _| match before {
        0 => Answer::new(201, "{}"),
        1 => Answer::new(409, ""),
        _ => Answer::never(),
    });
    let seen = Arc::new(Seen::default());
    let client = server
        .client()
        .named("n", RateLimit::new(1.0, 1))
        .observed(seen.clone());
    client.send(&post()).await.unwrap();
    client.send(&post()).await.unwrap_err();
    client.watch("/x").await.err().unwrap();
    let (zero, second) = (Duration::ZERO, Duration::from_secs(1));
    let expected = [
        ("POST".to_owned(), Some(201), zero, zero),
        ("POST".to_owned(), Some(409), zero, second),
        ("GET".to_owned(), None, Duration::from_secs(60), second),
    ];
    assert_eq!(*seen.0.lock().unwrap(), expected);
}
