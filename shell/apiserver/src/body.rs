//! The bodies of answers: whole, or as changes come.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use flyball_registry::{Polled, Watch};
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::server::{ApiServer, now};

/// How much a watch tells in one go.
const CHUNK_BYTES: usize = 64 << 10;

/// How often a watch that asked for bookmarks gets one.
const BOOKMARK_PERIOD: Duration = Duration::from_secs(60);

/// How long a watch lasts that did not say.
const WATCH_MAX: Duration = Duration::from_secs(45 * 60);

/// The body of an answer.
pub enum Body {
    /// All of it at once.
    Whole(Option<Bytes>),
    /// Changes as they come.
    Watch(WatchBody),
}

impl Body {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::Whole(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

type Step = Pin<Box<dyn Future<Output = (Option<Bytes>, Box<State>)> + Send>>;

/// A watch as it is told. It holds nothing but its place in the history: what the client does not
/// read is not made.
pub struct WatchBody {
    step: Option<Step>,
}

struct State {
    server: Arc<ApiServer>,
    watch: Box<Watch>,
    ends: Instant,
    bookmark: Instant,
    ended: bool,
}

impl WatchBody {
    pub(crate) fn new(server: Arc<ApiServer>, watch: Box<Watch>) -> Self {
        let lasts = watch
            .timeout_seconds
            .filter(|&seconds| seconds > 0)
            .map(Duration::from_secs);
        let now = Instant::now();
        let state = State {
            server,
            watch,
            ends: now + lasts.unwrap_or(WATCH_MAX).min(WATCH_MAX),
            bookmark: now + BOOKMARK_PERIOD,
            ended: false,
        };
        Self {
            step: Some(Box::pin(next(Box::new(state)))),
        }
    }
}

/// The next portion; `None` when the watch is over.
async fn next(mut state: Box<State>) -> (Option<Bytes>, Box<State>) {
    let mut news = state.server.news();
    loop {
        if state.ended || Instant::now() >= state.ends {
            return (None, state);
        }
        let through = news.borrow_and_update().revision;
        let mut out = Vec::new();
        let polled = {
            let registry = state.server.registry().await;
            registry.poll(&mut state.watch, through, now(), &mut out, CHUNK_BYTES)
        };
        state.ended = polled == Polled::Ended;
        if !out.is_empty() {
            return (Some(out.into()), state);
        }
        if polled == Polled::More || state.ended {
            continue;
        }
        let until = state.ends.min(state.bookmark);
        if let Ok(Err(_)) = timeout_at(until, news.changed()).await {
            // Nobody will commit anything any more.
            sleep_until(until).await;
        }
        if Instant::now() >= state.bookmark {
            state.bookmark = Instant::now() + BOOKMARK_PERIOD;
            let mut out = Vec::new();
            state
                .server
                .registry()
                .await
                .bookmark(&state.watch, &mut out);
            if !out.is_empty() {
                return (Some(out.into()), state);
            }
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let watch = match self.get_mut() {
            Self::Whole(bytes) => {
                return Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes))));
            }
            Self::Watch(watch) => watch,
        };
        let Some(step) = &mut watch.step else {
            return Poll::Ready(None);
        };
        match step.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready((None, _)) => {
                watch.step = None;
                Poll::Ready(None)
            }
            Poll::Ready((Some(bytes), state)) => {
                watch.step = Some(Box::pin(next(state)));
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Watch(watch) => watch.step.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                let length = bytes.as_ref().map_or(0, Bytes::len);
                SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
            }
            Self::Watch(_) => SizeHint::default(),
        }
    }
}
