//! Clients that ask and take nothing: HTTP/2 with a window of zero bytes, written frame by frame.

use std::time::Duration;

use tokio::time::timeout;

use super::*;

/// Longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The head of a `GET` on a stream.
fn get(stream: u32, path: &str) -> Vec<u8> {
    // By the static table: GET, https, a path and an authority as literals.
    let mut head = vec![0x82, 0x87, 0x04];
    head.push(u8::try_from(path.len()).unwrap());
    head.extend(path.bytes());
    head.extend([0x01, 1, b'a']);
    frame(1, 0x05, stream, &head)
}

/// Asks for a path on these many streams, and allows not one byte of an answer's body.
pub(super) async fn ask_and_take_nothing(
    served: &Served,
    group: Option<&str>,
    (path, streams): (&str, u32),
) -> TlsStream<TcpStream> {
    let mut stream = served.connect(served.tls(group, "h2")).await;
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]));
    for at in 0..streams {
        bytes.extend(get(2 * at + 1, path));
    }
    stream.write_all(&bytes).await.unwrap();
    stream
}

/// Reads what comes until the server closes.
async fn is_closed(stream: &mut TlsStream<TcpStream>) -> bool {
    let mut bytes = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut bytes))
        .await
        .is_ok()
}

/// An administrator is answered.
async fn others_are_well(served: &Served) {
    let answer = timeout(PATIENCE, served.get("/api/v1/namespaces/default", ""));
    assert_eq!(answer.await.expect("an answer").code, 200);
}

#[tokio::test]
async fn clients_without_credentials_that_take_nothing_make_room_for_others() {
    let limits = Limits {
        connections_max: 32,
        ..Limits::default()
    };
    let served = Served::start(limits).await;
    let mut stalled = Vec::new();
    for _ in 0..64 {
        let one = timeout(
            PATIENCE,
            ask_and_take_nothing(&served, None, ("/version", 1)),
        );
        stalled.push(one.await.expect("room for another connection"));
    }
    for _ in 0..8 {
        others_are_well(&served).await;
    }
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_cut_off() {
    let limits = Limits {
        stall_timeout: Duration::from_millis(300),
        ..Limits::default()
    };
    let served = Served::start(limits).await;
    for (path, group) in [
        ("/version", None),
        ("/api/v1/namespaces?watch=1", Some("system:masters")),
        ("/openapi/v2", Some("system:masters")),
    ] {
        let mut stalled = ask_and_take_nothing(&served, group, (path, 1)).await;
        assert!(is_closed(&mut stalled).await, "{path}");
    }
    others_are_well(&served).await;
}

#[tokio::test]
async fn a_watch_without_news_is_not_cut_off() {
    let limits = Limits {
        stall_timeout: Duration::from_millis(50),
        ..Limits::default()
    };
    let served = Served::start(limits).await;
    let mut sender = speak_http2(&served).await;
    let target = "/api/v1/namespaces/default/configmaps?watch=1";
    let answer = sender.send_request(http2_request("GET", target)).await;
    let mut changes = answer.unwrap().into_body();
    let quiet = timeout(Duration::from_millis(500), changes.frame()).await;
    assert!(quiet.is_err(), "{quiet:?}");
    let body = serde_json::json!({"metadata": {"name": "news"}}).to_string();
    let maps = "/api/v1/namespaces/default/configmaps";
    assert_eq!(served.within("POST", maps, body).await.0, 201);
    let told = timeout(PATIENCE, changes.frame()).await.unwrap().unwrap();
    let told = told.unwrap().into_data().unwrap();
    assert!(String::from_utf8_lossy(&told).contains("\"news\""));
}

#[tokio::test]
async fn a_body_that_its_sender_may_not_send_is_not_read() {
    let served = Served::start(Limits::default()).await;
    let mut stream = served.connect(served.tls(Some("some"), "http/1.1")).await;
    let head = "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: a\r\n\
                Connection: close\r\nContent-Length: 1000000\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let told = timeout(PATIENCE, Told::read(&mut stream)).await;
    assert_eq!(told.expect("an answer before the body").code, 403);
}

/// Bounds that a few requests reach.
fn narrow() -> Limits {
    Limits {
        memory_bytes_max: 8 << 20,
        connection_bytes_max: 4 << 20,
        ..Limits::default()
    }
}

#[tokio::test]
async fn answers_that_are_not_taken_are_bounded_and_make_room_for_others() {
    let served = Served::start(narrow()).await;
    let mut stalled = Vec::new();
    let mut most = 0;
    for _ in 0..6 {
        let asked = ("/openapi/v2", 8);
        stalled.push(ask_and_take_nothing(&served, Some("some"), asked).await);
        others_are_well(&served).await;
        most = most.max(served.memory().held());
    }
    let answer = timeout(PATIENCE, served.get("/openapi/v2", "")).await;
    assert_eq!(answer.expect("an answer").code, 200);
    most = most.max(served.memory().held());
    // A large answer may exceed the bound by itself, and no more than that.
    assert!(most < 12 << 20, "{most} bytes");
    drop(stalled);
    let mut tick = tokio::time::interval(Duration::from_millis(5));
    let until = std::time::Instant::now() + PATIENCE;
    while served.memory().held() > 0 {
        assert!(
            std::time::Instant::now() < until,
            "{} bytes stay",
            served.memory().held()
        );
        tick.tick().await;
    }
}

#[tokio::test]
async fn bodies_that_do_not_end_are_bounded_and_make_room_for_others() {
    let served = Served::start(narrow()).await;
    let reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let half = vec![b' '; 1 << 20];
    let mut unfinished = Vec::new();
    for _ in 0..12 {
        let mut stream = served.connect(served.tls(Some("some"), "http/1.1")).await;
        let head = format!(
            "POST {reviews} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            2 * half.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // It may be refused or closed before it has come so far.
        let _ = timeout(Duration::from_millis(500), stream.write_all(&half)).await;
        unfinished.push(stream);
        assert!(served.memory().held() <= 8 << 20);
    }
    let data = "x".repeat(900 << 10);
    let map = serde_json::json!({"metadata": {"name": "large"}, "data": {"a": data}}).to_string();
    let maps = "/api/v1/namespaces/default/configmaps";
    let told = timeout(
        PATIENCE,
        served.send("POST", maps, "application/json", map.as_bytes()),
    );
    assert_eq!(told.await.expect("an answer").code, 201);
}
