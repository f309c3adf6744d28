//! A server in this process that answers as it is told and remembers what it was asked.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Response};
use hyper::body::Frame;
use tokio::time::Instant;

use crate::Client;

/// What is answered.
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) retry_after: Option<&'static str>,
    pub(crate) tag: Option<&'static str>,
    pub(crate) body: Vec<io::Result<Bytes>>,
    /// `None`: never.
    pub(crate) after: Option<Duration>,
}

impl Answer {
    pub(crate) fn new(code: u16, body: &str) -> Self {
        Self::chunks(code, [body.as_bytes()])
    }

    pub(crate) fn chunks<'a>(code: u16, chunks: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let chunk = |chunk: &[u8]| Ok(Bytes::copy_from_slice(chunk));
        let body = chunks.into_iter().map(chunk).collect();
        Self {
            code,
            retry_after: None,
            tag: None,
            body,
            after: Some(Duration::ZERO),
        }
    }

    pub(crate) fn retry_after(self, seconds: &'static str) -> Self {
        Self {
            retry_after: Some(seconds),
            ..self
        }
    }

    pub(crate) fn tagged(self, tag: &'static str) -> Self {
        Self {
            tag: Some(tag),
            ..self
        }
    }

    pub(crate) fn never() -> Self {
        Self {
            after: None,
            ..Self::new(200, "")
        }
    }

    /// The answer breaks off after what it has said.
    pub(crate) fn broken(mut self) -> Self {
        self.body.push(Err(io::Error::new(
            io::ErrorKind::ConnectionReset,
            "reset by peer",
        )));
        self
    }
}

/// What was asked, and when.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) method: http::Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) at: Instant,
}

type Asks = Arc<Mutex<Vec<Asked>>>;
type Rule = dyn Fn(usize, &Asked) -> Answer + Send + Sync;

#[derive(Clone)]
pub(crate) struct Script {
    asks: Asks,
    rule: Arc<Rule>,
}

impl Script {
    /// A server that answers by this rule, which is told how many requests came before.
    pub(crate) fn new(rule: impl Fn(usize, &Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self {
            asks: Asks::default(),
            rule: Arc::new(rule),
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::over(self.clone(), "server:6443", "tester/v1").unwrap()
    }

    pub(crate) fn asks(&self) -> Vec<Asked> {
        self.asks.lock().unwrap().clone()
    }

    /// Method and path of each request, for a look at the whole conversation.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.asks()
            .iter()
            .map(|asked| format!("{} {}", asked.method, asked.path))
            .collect()
    }

    fn answer(&self, request: http::Request<Bytes>) -> Answer {
        let (head, body) = request.into_parts();
        let (method, path) = (head.method, head.uri.to_string());
        let asked = Asked {
            method,
            path,
            headers: head.headers,
            body,
            at: Instant::now(),
        };
        let mut asks = self.asks.lock().unwrap();
        asks.push(asked.clone());
        (self.rule)(asks.len() - 1, &asked)
    }
}

impl tower::Service<http::Request<Bytes>> for Script {
    type Response = Response<Listed>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Bytes>) -> Self::Future {
        let answer = self.answer(request);
        Box::pin(async move {
            match answer.after {
                Some(after) => tokio::time::sleep_until(Instant::now() + after).await,
                None => std::future::pending().await,
            }
            let mut response = Response::new(Listed(answer.body.into_iter()));
            *response.status_mut() = answer.code.try_into().unwrap();
            if let Some(seconds) = answer.retry_after {
                response
                    .headers_mut()
                    .insert("retry-after", seconds.parse().unwrap());
            }
            if let Some(tag) = answer.tag {
                response.headers_mut().insert("etag", tag.parse().unwrap());
            }
            Ok(response)
        })
    }
}

/// A body of what there is.
pub(crate) struct Listed(std::vec::IntoIter<io::Result<Bytes>>);

impl http_body::Body for Listed {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready(self.0.next().map(|chunk| chunk.map(Frame::data)))
    }
}
