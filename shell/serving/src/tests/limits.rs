//! What a careless or hostile client can take.

use super::client::{connect, read_all};
use super::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn within_patience<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work)
        .await
        .expect("the server should have ended this")
}

async fn is_well(served: &Served) {
    assert_eq!(served.ask("GET /healthz").await.status, 200);
}

#[tokio::test]
async fn plain_http_is_told_to_speak_https() {
    let served = Served::start().await;
    let mut socket = TcpStream::connect(served.address).await.unwrap();
    socket
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    let answer = within_patience(read_all(&mut socket)).await;
    assert!(
        answer.starts_with("HTTP/1.0 400 Bad Request\r\n"),
        "{answer}"
    );
    assert!(
        answer.ends_with("Client sent an HTTP request to an HTTPS server.\n"),
        "{answer}"
    );
    is_well(&served).await;
}

#[tokio::test]
async fn garbage_ends_only_its_own_connection() {
    let served = Served::start().await;
    let mut record = vec![0x16, 3, 1, 0x40, 0];
    record.extend([0xff; 0x4000]);
    for garbage in [
        &[0_u8; 64][..],
        &[0xff; 3000],
        b"\x16\x03\x01\x00\x05hello",
        b"\x80",
        &record,
    ] {
        let mut socket = TcpStream::connect(served.address).await.unwrap();
        let _ = socket.write_all(garbage).await;
        let _ = socket.shutdown().await;
        within_patience(read_all(&mut socket)).await;
    }
    for garbage in [
        "\r\n\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
        "GET\r\n\r\n",
        "GET /healthz HTTP/9.9\r\n\r\n",
    ] {
        let mut stream = connect(served.address, served.tls(None)).await;
        stream.write_all(garbage.as_bytes()).await.unwrap();
        let _ = stream.shutdown().await;
        within_patience(read_all(&mut stream)).await;
    }
    is_well(&served).await;
}

#[tokio::test]
async fn a_client_that_does_not_finish_is_cut_off() {
    let served = Served::start_with(|options| options.limits.head_timeout = SOON).await;
    let silent = async {
        let mut socket = TcpStream::connect(served.address).await.unwrap();
        read_all(&mut socket).await
    };
    let half_a_hello = async {
        let mut socket = TcpStream::connect(served.address).await.unwrap();
        socket.write_all(b"\x16\x03\x01\x02\x00\x01").await.unwrap();
        read_all(&mut socket).await
    };
    let half_a_request = async {
        let mut stream = connect(served.address, served.tls(None)).await;
        stream
            .write_all(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
            .await
            .unwrap();
        read_all(&mut stream).await
    };
    within_patience(futures::future::join3(silent, half_a_hello, half_a_request)).await;
    is_well(&served).await;
}

#[tokio::test]
async fn an_idle_connection_is_closed_and_a_busy_one_is_not() {
    let served = Served::start_with(|options| options.limits.idle_timeout = SOON).await;
    let root = served.clients.client("root", &["system:masters"]);
    let mut stream = connect(served.address, served.tls(Some(&root))).await;
    stream
        .write_all(b"GET /debug/wait HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    within_patience(served.waiting.notified()).await;
    // Another connection comes and goes by idleness while the request is in progress.
    let mut idle = connect(served.address, served.tls(None)).await;
    within_patience(read_all(&mut idle)).await;
    served.proceed.notify_one();
    let answer = within_patience(read_all(&mut stream)).await;
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("waited"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_client_that_does_not_read_is_cut_off() {
    let mut served = Served::start_with(|options| {
        options.limits.idle_timeout = SOON;
        options.limits.request_timeout = SOON;
        options.limits.connections_max = 1;
    })
    .await;
    let root = served.clients.client("root", &["system:masters"]);
    let mut deaf = connect(served.address, served.tls(Some(&root))).await;
    deaf.write_all(b"GET /debug/large HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    // There is room for one connection: this one gets its answer only after the other is gone.
    within_patience(is_well(&served)).await;
    served.begin_stop();
    within_patience(served.stopped()).await;
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let served = Served::start().await;
    let large = format!("X-Large: {}", "x".repeat(70 * 1024));
    let answer = client::ask(served.address, served.tls(None), "GET /healthz", &[&large]).await;
    // The refusal may be lost when the client is still sending as the connection closes.
    assert!(matches!(answer.status, 431 | 0), "{}", answer.head);
    let many: Vec<String> = (0..2000).map(|number| format!("X-{number}: 1")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let answer = client::ask(served.address, served.tls(None), "GET /healthz", &many).await;
    assert!(matches!(answer.status, 431 | 0), "{}", answer.head);
    let fits = format!("X-Large: {}", "x".repeat(30 * 1024));
    let answer = client::ask(served.address, served.tls(None), "GET /healthz", &[&fits]).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_body_is_ignored_where_nobody_wants_it_and_bounded_where_somebody_does() {
    let served = Served::start().await;
    let root = served.clients.client("root", &["system:masters"]);
    let send = |line: &'static str, body: usize| {
        let tls = served.tls(Some(&root));
        let address = served.address;
        async move {
            let mut stream = connect(address, tls).await;
            let head = format!(
                "{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {body}\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).await.unwrap();
            let _ = stream.write_all(&vec![b'x'; body]).await;
            Answer::parse(&within_patience(read_all(&mut stream)).await)
        }
    };
    assert_eq!(send("GET /healthz", 100).await.status, 200);
    assert_eq!(
        send("PUT /debug/echo", 64 * 1024).await.body,
        "PUT [] 65536"
    );
    assert_eq!(send("PUT /debug/echo", 64 * 1024 + 1).await.status, 413);
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_a_504() {
    let served = Served::start_with(|options| {
        options.limits.request_timeout = Duration::from_millis(20);
    })
    .await;
    let answer = within_patience(served.ask_as_root("GET /debug/wait")).await;
    assert_eq!(answer.status, 504);
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_their_turn() {
    let served = Served::start_with(|options| {
        options.limits.connections_max = 2;
    })
    .await;
    let mut first = connect(served.address, served.tls(None)).await;
    let second = connect(served.address, served.tls(None)).await;
    let third = tokio::spawn({
        let (address, tls) = (served.address, served.tls(None));
        async move { client::ask(address, tls, "GET /healthz", &[]).await.status }
    });
    // The server answers on the first connection, and the third is still waiting behind the other two.
    first
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    let mut byte = [0];
    first.read_exact(&mut byte).await.unwrap();
    assert!(!third.is_finished());
    drop(second);
    assert_eq!(within_patience(third).await.unwrap(), 200);
}

#[tokio::test]
async fn shutdown_lets_requests_in_progress_finish() {
    let mut served = Served::start().await;
    let root = served.clients.client("root", &["system:masters"]);
    let mut idle = connect(served.address, served.tls(None)).await;
    let mut busy = connect(served.address, served.tls(Some(&root))).await;
    busy.write_all(b"GET /debug/wait HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    within_patience(served.waiting.notified()).await;
    served.begin_stop();
    within_patience(read_all(&mut idle)).await;
    assert!(TcpStream::connect(served.address).await.is_err());
    served.proceed.notify_one();
    let answer = within_patience(read_all(&mut busy)).await;
    assert!(answer.ends_with("waited"), "{answer}");
    within_patience(served.stopped()).await;
}

#[tokio::test]
async fn shutdown_does_not_wait_longer_than_its_grace() {
    let mut served = Served::start_with(|options| {
        options.limits.shutdown_grace = Duration::from_millis(20);
    })
    .await;
    let root = served.clients.client("root", &["system:masters"]);
    let mut busy = connect(served.address, served.tls(Some(&root))).await;
    busy.write_all(b"GET /debug/wait HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    within_patience(served.waiting.notified()).await;
    served.begin_stop();
    assert_eq!(within_patience(read_all(&mut busy)).await, "");
    within_patience(served.stopped()).await;
}
