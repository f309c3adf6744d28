//! One HTTP/1.1 connection and the task that drives it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures::FutureExt;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::rt::{Read, Write};
use tokio::task::AbortHandle;

/// The read-ahead of a connection. A busy watch would otherwise come to hold ten times as much,
/// and keep it.
const BUFFER_BYTES_MAX: usize = 32 << 10;

/// A connection that serves one request at a time.
pub(crate) struct Connection {
    requests: SendRequest<Full<Bytes>>,
    driver: AbortHandle,
    reset: Reset,
}

impl Connection {
    /// Starts HTTP/1.1 over an open stream, whose socket obeys `reset`.
    pub(crate) async fn start<T>(stream: T, reset: Reset) -> Result<Self, hyper::Error>
    where
        T: Read + Write + Send + Unpin + 'static,
    {
        let (requests, driver) = http1::Builder::new()
            .max_buf_size(BUFFER_BYTES_MAX)
            .handshake(stream)
            .await?;
        // Its failure reaches the request that waits for an answer.
        let driver = tokio::spawn(driver.map(drop)).abort_handle();
        Ok(Self {
            requests,
            driver,
            reset,
        })
    }

    /// Whether the connection is known to be closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.requests.is_closed()
    }

    /// Waits until a request can be handed over.
    pub(crate) async fn ready(&mut self) -> Result<(), hyper::Error> {
        self.requests.ready().await
    }

    /// Hands a request over. The future brings the answer's head.
    pub(crate) fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> impl Future<Output = Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>>> + use<>
    {
        self.requests.try_send_request(request)
    }

    /// Closes the connection at once. Without this hyper sends the rest of an unanswered request
    /// before it closes, and the kernel whatever it still holds.
    pub(crate) fn abort(self) {
        self.reset.request();
        self.driver.abort();
    }
}

/// A request to close a socket with RST instead of FIN. The kernel then forgets all bytes that
/// the peer has not acknowledged; otherwise it would deliver them when the network recovers.
#[derive(Clone, Default)]
pub(crate) struct Reset(Arc<AtomicBool>);

impl Reset {
    fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether the socket is to be closed with RST.
    pub(crate) fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
