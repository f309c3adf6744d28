//! A server in this process that answers by a rule and remembers what it was asked.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use flyball_client::Client;
use http::Response;
use http_body::Frame;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// What was asked, and when.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: String,
    pub(super) at: Instant,
}

impl Asked {
    pub(super) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// What is answered.
pub(super) enum Answer {
    /// A code and a body.
    Is(u16, String),
    /// The same, after a while.
    Later(Duration, u16, String),
    /// Lines as they come, until the sender is gone.
    Lines(mpsc::UnboundedReceiver<io::Result<Bytes>>),
    /// 429 with a `Retry-After` of so many seconds.
    Busy(u32),
    /// The connection is refused.
    Refused,
    /// Nothing, ever.
    Never,
    /// Nothing, ever; what it holds is dropped with the request.
    Held(Arc<()>),
}

/// A `Status` of this code and reason.
pub(super) fn status(code: u16, reason: &str) -> Answer {
    let kind = r#""kind":"Status","apiVersion":"v1","status":"Failure""#;
    Answer::Is(
        code,
        format!(r#"{{{kind},"message":"{reason}","reason":"{reason}","code":{code}}}"#),
    )
}

/// Lets the clock go on by this much. It stands still while any task has something to do.
pub(super) async fn pass(time: Duration) {
    tokio::time::sleep_until(Instant::now() + time).await;
}

type Rule = dyn Fn(usize, &Asked) -> Answer + Send + Sync;

#[derive(Clone)]
pub(super) struct Api {
    asks: Arc<Mutex<Vec<Asked>>>,
    count: Arc<watch::Sender<usize>>,
    rule: Arc<Rule>,
}

impl Api {
    /// A server that answers by this rule, which is told how many requests came before.
    pub(super) fn new(rule: impl Fn(usize, &Asked) -> Answer + Send + Sync + 'static) -> Self {
        let (asks, count) = (Arc::default(), Arc::default());
        Self {
            asks,
            count,
            rule: Arc::new(rule),
        }
    }

    pub(super) fn client(&self) -> Client {
        Client::over(self.clone(), "server", "tester").unwrap()
    }

    pub(super) fn asks(&self) -> Vec<Asked> {
        self.asks.lock().unwrap().clone()
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.asks().iter().map(Asked::line).collect()
    }

    /// Comes back when a request has come that satisfies the condition; gives it back.
    pub(super) async fn until(&self, found: impl Fn(&Asked) -> bool) -> Asked {
        let mut count = self.count.subscribe();
        loop {
            count.borrow_and_update();
            if let Some(asked) = self.asks().into_iter().find(&found) {
                return asked;
            }
            let patience = Duration::from_secs(3600);
            let waited = tokio::time::timeout(patience, count.changed()).await;
            assert!(
                waited.is_ok(),
                "it never came; there were {:#?}",
                self.lines()
            );
        }
    }

    fn answer(&self, request: http::Request<Bytes>) -> Answer {
        let (head, body) = request.into_parts();
        let asked = Asked {
            method: head.method.to_string(),
            path: head.uri.to_string(),
            body: String::from_utf8(body.to_vec()).unwrap(),
            at: Instant::now(),
        };
        let before = {
            let mut asks = self.asks.lock().unwrap();
            asks.push(asked.clone());
            asks.len() - 1
        };
        let answer = (self.rule)(before, &asked);
        self.count.send_modify(|count| *count += 1);
        answer
    }
}

impl tower::Service<http::Request<Bytes>> for Api {
    type Response = Response<Lines>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Response<Lines>>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Bytes>) -> Self::Future {
        let answer = self.answer(request);
        Box::pin(async move {
            let mut retry_after = None;
            let (code, lines) = match answer {
                Answer::Is(code, body) => (code, once(body)),
                Answer::Later(after, code, body) => {
                    pass(after).await;
                    (code, once(body))
                }
                Answer::Lines(lines) => (200, lines),
                Answer::Busy(seconds) => {
                    retry_after = Some(seconds);
                    (429, once(String::new()))
                }
                Answer::Refused => return Err(io::ErrorKind::ConnectionRefused.into()),
                Answer::Never => std::future::pending().await,
                Answer::Held(held) => {
                    std::future::pending::<()>().await;
                    drop(held);
                    unreachable!("it is never answered")
                }
            };
            let mut response = Response::new(Lines(lines));
            *response.status_mut() = code.try_into().unwrap();
            let headers = response.headers_mut();
            headers.extend(retry_after.map(|seconds| (http::header::RETRY_AFTER, seconds.into())));
            Ok(response)
        })
    }
}

fn once(body: String) -> mpsc::UnboundedReceiver<io::Result<Bytes>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    sender.send(Ok(body.into())).unwrap();
    receiver
}

/// A body that comes piece by piece.
pub(super) struct Lines(mpsc::UnboundedReceiver<io::Result<Bytes>>);

impl http_body::Body for Lines {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0
            .poll_recv(cx)
            .map(|chunk| chunk.map(|chunk| chunk.map(Frame::data)))
    }
}
