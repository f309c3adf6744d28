//! What happens to those who mean no good, and that others do not notice.

use std::time::Duration;

use super::*;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Others are answered as ever.
async fn others_are_well(served: &Served) {
    assert_eq!(served.get("/api/v1/namespaces/default", "").await.code, 200);
}

#[tokio::test]
async fn idle_connections_make_room_for_others() {
    let limits = Limits {
        connections_max: 20,
        ..Limits::default()
    };
    let served = Served::start(limits).await;
    let mut idle = Vec::new();
    for at in 0..400 {
        idle.push(TcpStream::connect(served.listening.address).await.unwrap());
        if at % 50 == 0 {
            others_are_well(&served).await;
        }
    }
    others_are_well(&served).await;
}

#[tokio::test]
async fn who_takes_too_long_for_a_head_is_cut_off() {
    let limits = Limits {
        head_timeout: Duration::from_millis(200),
        ..Limits::default()
    };
    let served = Served::start(limits).await;
    // One does not even begin to shake hands, one does not end its head.
    let mut silent = TcpStream::connect(served.listening.address).await.unwrap();
    let mut slow = served.admin().await;
    slow.write_all(b"GET /api/v1/namespaces HTTP/1.1\r\nHost: a\r\nX-Slow: ")
        .await
        .unwrap();
    others_are_well(&served).await;
    assert_eq!(Told::read(&mut silent).await.head, "");
    let told = Told::read(&mut slow).await;
    assert!(matches!(told.code, 0 | 408), "{told:?}");
}

#[tokio::test]
async fn who_takes_too_long_for_a_body_is_told() {
    let served = Served::start(Limits::default()).await;
    let head = format!(
        "POST {MAPS}?timeout=200ms HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: 100\r\n\r\n{{\"metadata\":"
    );
    let told = served.told(&head, b"").await;
    assert_eq!(told.code, 504);
    let text = told.text();
    assert!(
        text.contains("Timeout: request did not complete within the allotted timeout"),
        "{text}"
    );
    assert_eq!(served.server.in_flight().counts(), (0, 0));
    others_are_well(&served).await;
}

#[tokio::test]
async fn bodies_that_are_too_large_are_refused() {
    let served = Served::start(Limits::default()).await;
    let large = vec![b'x'; (3 << 20) + 1];
    let told = served.send("POST", MAPS, "application/json", &large).await;
    assert_eq!(told.code, 413);
    let text = told.text();
    assert!(
        text.contains("Request entity too large: limit is 3145728"),
        "{text}"
    );
    others_are_well(&served).await;
}

#[tokio::test]
async fn nobody_sends_a_body_that_they_may_not_send() {
    let served = Served::start(Limits::default()).await;
    let mut stream = served.connect(served.tls(None, "http/1.1")).await;
    let head = format!(
        "POST {MAPS} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(Told::read(&mut stream).await.code, 403);
}

#[tokio::test]
async fn paths_lead_nowhere_else() {
    let served = Served::start(Limits::default()).await;
    for (path, code) in [
        ("/api/v1/../../etc/passwd", 404),
        ("/api/v1/namespaces/default/../kube-system", 404),
        ("/api/v1/namespaces/..", 400),
        ("/api/v1/namespaces/%2e%2e", 400),
        ("/api/v1/namespaces/%2e%2e/pods", 500),
        ("/api/v1/namespaces/default%2fpods", 200),
        ("/api/v1/namespaces/de%00fault", 404),
        ("/api/v1/namespaces/%ff", 404),
        ("/api/v1/namespaces/%zz", 400),
        ("/api/v1/namespaces/a%5c..%5cb", 404),
        ("//api/v1/namespaces/default", 404),
        ("/./version", 404),
    ] {
        assert_eq!(served.get(path, "").await.code, code, "{path}");
    }
}

#[tokio::test]
async fn queries_and_heads_are_bounded() {
    let served = Served::start(Limits::default()).await;
    let selector = |count: usize| {
        let labels: Vec<String> = (0..count).map(|at| format!("l{at}=v")).collect();
        format!("/api/v1/pods?labelSelector={}", labels.join(","))
    };
    assert_eq!(served.get(&selector(5_000), "").await.code, 200);
    assert_eq!(served.get(&selector(10_000), "").await.code, 414);
    let told = served
        .get(
            "/version",
            &format!("X-Large: {}\r\n", "x".repeat(300 << 10)),
        )
        .await;
    assert_eq!(told.code, 431);
    others_are_well(&served).await;
}

#[tokio::test]
async fn who_asks_too_much_at_once_is_sent_away() {
    let served = Served::start(Limits::default()).await;
    let places: Vec<_> = (0..400)
        .map(|_| served.server.in_flight().enter(false, false).unwrap())
        .collect();
    let mut stream = served.connect(served.tls(None, "http/1.1")).await;
    stream
        .write_all(b"GET /version HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let told = Told::read(&mut stream).await;
    assert_eq!(told.code, 429);
    assert_eq!(told.header("retry-after"), Some("1"));
    assert_eq!(told.text(), "Too many requests, please try again later.\n");
    // Who may do anything gets an answer nevertheless, and a watch is not counted.
    others_are_well(&served).await;
    drop(places);
}

#[tokio::test]
async fn only_what_the_registry_calls_a_watch_is_exempt_from_the_limits() {
    let served = Served::start(Limits::default()).await;
    let places: Vec<_> = (0..400)
        .map(|_| served.server.in_flight().enter(false, false).unwrap())
        .collect();
    for (target, code) in [
        ("/api/v1/pods?watch=False", 429),
        ("/api/v1/pods?watch=0&watch=1", 429),
        ("/api/v1/namespaces/default/pods/x?watch=1", 429),
        ("/api/v1/pods?watch=1", 403),
        ("/api/v1/pods?watch=1&watch=0", 403),
    ] {
        let mut stream = served.connect(served.tls(None, "http/1.1")).await;
        let head = format!("GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        assert_eq!(Told::read(&mut stream).await.code, code, "{target}");
    }
    drop(places);
}

#[tokio::test]
async fn a_watcher_that_never_reads_is_cut_off_and_keeps_nobody_waiting() {
    let limits = Limits {
        stall_timeout: Duration::from_millis(500),
        ..Limits::default()
    };
    let served = Served::start(limits).await;
    let mut stalled = served.admin().await;
    let head = format!("GET {MAPS}?watch=1 HTTP/1.1\r\nHost: a\r\n\r\n");
    stalled.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    stalled.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let watches = || async { served.get("/metrics", "").await.text() };
    let is_counted = |text: &str, count: u32| {
        let of_watches = |line: &&str| line.starts_with("apiserver_longrunning_requests{");
        let mut lines = text.lines().filter(of_watches);
        lines.any(|line| line.ends_with(&format!("version=\"v1\"}} {count}")))
    };
    assert!(is_counted(&watches().await, 1));
    // More than all buffers between here and there can hold, again and again.
    let payload = "x".repeat(100 << 10);
    let mut written = 0;
    while is_counted(&watches().await, 1) {
        let body = serde_json::json!({"metadata": {"generateName": "a"}, "data": {"a": payload}});
        let (code, map) = served.within("POST", MAPS, body.to_string()).await;
        assert_eq!(code, 201);
        let name = map["metadata"]["name"].as_str().unwrap();
        served
            .within("DELETE", &format!("{MAPS}/{name}"), String::new())
            .await;
        written += 1;
        assert!(written < 2_000, "it is still there");
    }
    others_are_well(&served).await;
}

#[tokio::test]
async fn streams_that_are_reset_at_once_harm_nobody() {
    let served = Served::start(Limits::default()).await;
    for _ in 0..20 {
        let mut sender = speak_http2(&served).await;
        for _ in 0..100 {
            if sender.ready().await.is_err() {
                // The server has had enough of it.
                break;
            }
            let answer = sender.send_request(http2_request("GET", "/api/v1/namespaces"));
            drop(tokio::time::timeout(Duration::ZERO, answer).await);
        }
    }
    others_are_well(&served).await;
    let mut sender = speak_http2(&served).await;
    let answer = sender.send_request(http2_request("GET", "/version")).await;
    assert_eq!(answer.unwrap().status(), 200);
}

#[tokio::test]
async fn plain_http_is_told_what_is_wrong() {
    let served = Served::start(Limits::default()).await;
    let mut stream = TcpStream::connect(served.listening.address).await.unwrap();
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        .await
        .unwrap();
    let told = Told::read(&mut stream).await;
    assert_eq!(told.code, 400);
    assert_eq!(
        told.text(),
        "Client sent an HTTP request to an HTTPS server.\n"
    );
}
