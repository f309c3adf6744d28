//! A server at the other end of pipes in this process: connections without sockets, so that a test
//! decides what each of them does and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

/// Lets the paused clock go on by this much. It stands still while any task has something to do.
pub(super) async fn pass(time: Duration) {
    tokio::time::sleep_until(Instant::now() + time).await;
}

use super::wire::head;
use crate::Client;
use crate::connection::{Connection, Reset};
use crate::pool::Pool;
use crate::transport::Transport;

/// The bytes that a pipe takes before its reader has to read.
pub(super) const PIPE_BYTES: usize = 4 << 10;

/// The time on the paused clock after which something expected has not happened.
const PATIENCE: Duration = Duration::from_secs(600);

/// Accepts the connections of one client.
pub(super) struct Server {
    connections: mpsc::UnboundedReceiver<DuplexStream>,
}

impl Server {
    /// A server and its client.
    pub(super) fn new() -> (Self, Client) {
        Self::opening_after(|_| Duration::ZERO)
    }

    /// A server whose connections take time to open; `delay` gets the number of those before.
    pub(super) fn opening_after(
        delay: impl Fn(usize) -> Duration + Send + Sync + 'static,
    ) -> (Self, Client) {
        let (sender, connections) = mpsc::unbounded_channel();
        let opened = AtomicUsize::new(0);
        let connect = Box::new(move || {
            let delay = delay(opened.fetch_add(1, Ordering::SeqCst));
            let sender = sender.clone();
            let connection = async move {
                pass(delay).await;
                let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
                // A server that is gone leaves the connection broken.
                let _ = sender.send(theirs);
                let started = Connection::start(TokioIo::new(ours), Reset::default());
                Ok(started.await?)
            };
            connection.boxed()
        });
        let server = "http://server:6443".parse().unwrap();
        let pool = Arc::new(Pool::new(&server, connect).unwrap());
        let transport = Transport::Direct(pool);
        let client = Client::with(transport, "server:6443", "tester/v1").unwrap();
        (Self { connections }, client)
    }

    /// The next connection that the client opens.
    pub(super) async fn accept(&mut self) -> DuplexStream {
        let connection = timeout(PATIENCE, self.connections.recv()).await;
        connection.expect("a connection is opened").unwrap()
    }

    /// Whether the client has opened a connection that was not accepted yet.
    pub(super) fn has_connection(&self) -> bool {
        !self.connections.is_empty()
    }
}

/// Reads a request without a body and answers it; gives back its head.
pub(super) async fn answer(stream: &mut DuplexStream) -> String {
    let head = head(stream).await;
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    stream.write_all(answer.as_bytes()).await.unwrap();
    head
}

/// Waits until the client has closed the connection; gives back what it sent before.
pub(super) async fn closed(mut stream: DuplexStream) -> Vec<u8> {
    let mut rest = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
    read.expect("the connection is closed").unwrap();
    rest
}
