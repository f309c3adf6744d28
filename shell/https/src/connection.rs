//! A connection of either version of HTTP that can be asked to end after what it is doing.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use http_body::Body;
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::{http1, http2};
use hyper::service::HttpService;
use hyper_util::rt::{TokioExecutor, TokioTimer};

/// hyper refuses a smaller buffer for HTTP/1.1.
const HTTP1_BUFFER_MIN: usize = 8192;

/// HTTP/1.1 with a bound on the time that a request's head may take and on its size.
pub fn http1(head_timeout: Duration, head_bytes_max: u32) -> http1::Builder {
    let head_bytes_max = usize::try_from(head_bytes_max).unwrap_or(usize::MAX);
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(head_timeout)
        .max_buf_size(head_bytes_max.max(HTTP1_BUFFER_MIN))
        // The buffer alone does not bound a head that arrives in one piece.
        .max_header_size(head_bytes_max);
    builder
}

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// A connection that is being served.
pub trait Connection: Future<Output = hyper::Result<()>> {
    /// Ends it after the requests that it is answering.
    fn finish(self: Pin<&mut Self>);
}

impl<I, B, S> Connection for http1::Connection<I, S>
where
    I: Read + Write + Unpin + 'static,
    B: Body + 'static,
    B::Error: Into<BoxedError>,
    S: HttpService<Incoming, ResBody = B>,
    S::Error: Into<BoxedError>,
{
    fn finish(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

impl<I, B, S> Connection for http2::Connection<I, S, TokioExecutor>
where
    I: Read + Write + Unpin + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxedError>,
    S: HttpService<Incoming, ResBody = B>,
    S::Future: Send + 'static,
    S::Error: Into<BoxedError>,
{
    fn finish(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}
