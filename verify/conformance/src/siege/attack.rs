//! The waves: HTTP/2 frame by frame, and HTTP/1.1 with bodies.

use futures::StreamExt as _;
use tokio::io::AsyncWriteExt as _;

use super::server::{Identity, Stream};

/// How many connect at the same time.
const TOGETHER: usize = 64;

/// Streams on one connection, as many as the server takes.
const STREAMS: usize = 100;

/// The size of a body.
const BODY_BYTES: usize = 3 << 20;

/// Connections of clients without credentials that ask for the version and take no byte of it.
pub(super) async fn connections(client: &Identity, count: usize) -> Vec<Stream> {
    let opened = futures::stream::iter(0..count).map(async |_| {
        let mut stream = client.connect("h2").await.ok()?;
        let mut bytes = preface();
        bytes.extend(get(1, "/version", ""));
        stream.write_all(&bytes).await.ok()?;
        Some(stream)
    });
    all_of(opened).await
}

/// The connections that could be opened, some of them at a time.
async fn all_of(
    opened: impl futures::Stream<Item = impl Future<Output = Option<Stream>>>,
) -> Vec<Stream> {
    opened
        .buffer_unordered(TOGETHER)
        .filter_map(async |one| one)
        .collect()
        .await
}

/// Bodies that their sender may not send, all but their last byte.
pub(super) async fn bodies(client: &Identity, token: &str, count: usize) -> Vec<Stream> {
    let body = vec![b' '; BODY_BYTES - 1];
    let opened = futures::stream::iter(0..count).map(async |_| {
        let mut stream = client.connect("http/1.1").await.ok()?;
        let head = format!(
            "POST /api/v1/namespaces/default/secrets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {BODY_BYTES}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.ok()?;
        // The refusal may come first.
        let _ = stream.write_all(&body).await;
        Some(stream)
    });
    all_of(opened).await
}

/// Streams of a large document, on as few connections as possible, that nothing reads.
pub(super) async fn streams(client: &Identity, token: &str, count: usize) -> Vec<Stream> {
    let opened = futures::stream::iter(0..count.div_ceil(STREAMS)).map(async |at| {
        let mut stream = client.connect("h2").await.ok()?;
        let mut bytes = preface();
        for number in 0..STREAMS.min(count - at * STREAMS) {
            let id = u32::try_from(2 * number + 1).ok()?;
            bytes.extend(get(id, "/openapi/v2", token));
        }
        stream.write_all(&bytes).await.ok()?;
        Some(stream)
    });
    all_of(opened).await
}

/// How a client begins that allows not one byte of a body.
fn preface() -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]));
    bytes
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len())
        .unwrap_or_default()
        .to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The head of a `GET`, with a token if there is one.
fn get(stream: u32, path: &str, token: &str) -> Vec<u8> {
    // By HPACK's static table: GET, https, then a path, an authority and a token as literals.
    let mut head = vec![0x82, 0x87, 0x04];
    literal(&mut head, path);
    head.push(0x01);
    literal(&mut head, "a");
    if !token.is_empty() {
        // authorization, entry 23: 15 and 8 more.
        head.extend([0x0f, 0x08]);
        literal(&mut head, &format!("Bearer {token}"));
    }
    frame(1, 0x05, stream, &head)
}

/// A text as HPACK writes it: its length, of which 7 bits fit into the first byte, and its bytes.
fn literal(head: &mut Vec<u8>, text: &str) {
    let mut rest = match text.len() {
        short @ ..127 => {
            head.push(u8::try_from(short).unwrap_or_default());
            head.extend(text.bytes());
            return;
        }
        long => long - 127,
    };
    head.push(127);
    while rest >= 128 {
        head.push(u8::try_from(rest % 128).unwrap_or_default() | 0x80);
        rest /= 128;
    }
    head.push(u8::try_from(rest).unwrap_or_default());
    head.extend(text.bytes());
}
