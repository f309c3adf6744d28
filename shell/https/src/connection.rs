//! A connection of either version of HTTP that can be asked to end after what it is doing.

use std::future::Future;
use std::pin::Pin;

use http_body::Body;
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::{http1, http2};
use hyper::service::HttpService;
use hyper_util::rt::TokioExecutor;

/// hyper refuses a smaller buffer for HTTP/1.1.
pub const HTTP1_BUFFER_MIN: usize = 8192;

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
