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
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::activity::InProgress;
use crate::memory::{Held, counted};
use crate::metrics::Counted;
use crate::peer::Peer;
use crate::server::{ApiServer, now};

/// How much a watch tells in one go.
const CHUNK_BYTES: usize = 64 << 10;

/// How much of an answer is handed to a connection in one go: the next goes when it has taken this.
const PIECE_BYTES: usize = 64 << 10;

/// How often a watch that asked for bookmarks gets one.
const BOOKMARK_PERIOD: Duration = Duration::from_secs(60);

/// How long a watch lasts that did not say.
const WATCH_MAX: Duration = Duration::from_secs(45 * 60);

/// The body of an answer.
pub struct Body {
    content: Content,
    /// The memory that was reserved for it.
    held: Option<Held>,
    /// The client that a stream goes to. Its request is in progress as long as the stream lasts.
    client: Option<(Peer, InProgress)>,
}

enum Content {
    /// All of it at once.
    Whole(Option<Bytes>),
    /// All of it, for a connection that takes it piece by piece.
    Pieces(Bytes, Peer),
    /// Changes as they come.
    Watch(WatchBody),
    /// Changes as another task makes them.
    Carried(mpsc::Receiver<Bytes>),
}

impl Body {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Content::Whole(Some(bytes).filter(|bytes| !bytes.is_empty())).into()
    }

    pub(crate) fn watch(body: WatchBody) -> Self {
        Content::Watch(body).into()
    }

    /// The same body, made by a task of the runtime that this is called in, for a reader in another.
    pub(crate) fn carried(self) -> Self {
        let Content::Watch(watch) = self.content else {
            return self;
        };
        // One portion is under way while the next is made: who does not read, stops the maker.
        let (to_reader, portions) = mpsc::channel(1);
        tokio::spawn(carry(watch, to_reader));
        Self {
            content: Content::Carried(portions),
            ..self
        }
    }

    /// The same body, for which memory was reserved.
    pub(crate) fn holding(self, mut held: Held) -> Self {
        if let Content::Whole(bytes) = &self.content {
            held.set(bytes.as_ref().map_or(0, Bytes::len));
        }
        Self {
            held: Some(held),
            ..self
        }
    }

    /// The same body as it is sent to a client: its bytes are held, and its request is in progress,
    /// until the connection has taken the last of them.
    pub(crate) fn sent_to(mut self, peer: Peer, in_progress: InProgress) -> Self {
        match self.content {
            Content::Whole(Some(bytes)) => {
                let length = bytes.len();
                let held = self.held.take().unwrap_or_else(|| peer.holding(length));
                let waiting = peer.activity.wait();
                let bytes = counted(bytes, Some(held), Some(in_progress), Some(waiting));
                let content = Content::Pieces(bytes, peer);
                Self { content, ..self }
            }
            Content::Whole(None) => Self { held: None, ..self },
            _ => Self {
                client: Some((peer, in_progress)),
                ..self
            },
        }
    }

    fn poll_content(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let portion = match &mut self.content {
            Content::Whole(bytes) => return Poll::Ready(bytes.take()),
            Content::Pieces(rest, peer) => {
                peer.activity.note_progress();
                let piece = rest.split_to(rest.len().min(PIECE_BYTES));
                if rest.is_empty() {
                    self.content = Content::Whole(None);
                }
                return Poll::Ready(Some(piece));
            }
            Content::Watch(watch) => watch.poll_portion(context),
            Content::Carried(portions) => portions.poll_recv(context),
        };
        let Some((peer, _)) = &self.client else {
            return portion;
        };
        portion.map(|portion| {
            portion.map(|bytes| {
                let (held, waiting) = (peer.holding(bytes.len()), peer.activity.wait());
                counted(bytes, Some(held), None, Some(waiting))
            })
        })
    }
}

impl From<Content> for Body {
    fn from(content: Content) -> Self {
        Self {
            content,
            held: None,
            client: None,
        }
    }
}

type Step = Pin<Box<dyn Future<Output = (Option<Bytes>, Box<State>)> + Send>>;

/// A watch as it is told. It holds nothing but its place in the history: what the client does not
/// read is not made.
pub(crate) struct WatchBody {
    step: Option<Step>,
}

struct State {
    server: Arc<ApiServer>,
    watch: Box<Watch>,
    ends: Instant,
    bookmark: Instant,
    ended: bool,
    closing: Option<watch::Receiver<bool>>,
    _counted: Option<Counted>,
}

impl WatchBody {
    pub(crate) fn new(
        server: Arc<ApiServer>,
        watch: Box<Watch>,
        closing: Option<watch::Receiver<bool>>,
        counted: Option<Counted>,
    ) -> Self {
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
            closing,
            _counted: counted,
        };
        Self {
            step: Some(Box::pin(next(Box::new(state)))),
        }
    }

    fn poll_portion(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(step) = &mut self.step else {
            return Poll::Ready(None);
        };
        let (portion, state) = std::task::ready!(step.as_mut().poll(context));
        self.step = match &portion {
            Some(_) => Some(Box::pin(next(state))),
            None => None,
        };
        Poll::Ready(portion)
    }
}

/// Makes portions until the watch is over or its reader is gone.
async fn carry(mut watch: WatchBody, to_reader: mpsc::Sender<Bytes>) {
    loop {
        let portion = tokio::select! {
            portion = std::future::poll_fn(|context| watch.poll_portion(context)) => portion,
            () = to_reader.closed() => return,
        };
        let Some(portion) = portion else { return };
        if to_reader.send(portion).await.is_err() {
            return;
        }
    }
}

/// The next portion; `None` when the watch is over.
async fn next(mut state: Box<State>) -> (Option<Bytes>, Box<State>) {
    let mut news = state.server.news();
    loop {
        if state.ended || Instant::now() >= state.ends || is_closing(&state.closing) {
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
            return (Some(state.watch.written(out).into()), state);
        }
        if polled == Polled::More || state.ended {
            continue;
        }
        let until = state.ends.min(state.bookmark);
        tokio::select! {
            () = closed(&mut state.closing) => {}
            changed = timeout_at(until, news.changed()) => {
                if let Ok(Err(_)) = changed {
                    // Nothing is committed any more, and the stop is still to be noticed.
                    tokio::select! {
                        () = closed(&mut state.closing) => {}
                        () = sleep_until(until) => {}
                    }
                }
            }
        }
        if Instant::now() >= state.bookmark {
            state.bookmark = Instant::now() + BOOKMARK_PERIOD;
            let mut out = Vec::new();
            state
                .server
                .registry()
                .await
                .bookmark(&mut state.watch, now(), &mut out);
            if !out.is_empty() {
                return (Some(state.watch.written(out).into()), state);
            }
        }
    }
}

fn is_closing(closing: &Option<watch::Receiver<bool>>) -> bool {
    closing.as_ref().is_some_and(|closing| *closing.borrow())
}

/// Waits until whoever listens closes; for ever if nobody does.
async fn closed(closing: &mut Option<watch::Receiver<bool>>) {
    match closing {
        // A sender that is gone is as good as closed.
        Some(closing) => _ = closing.wait_for(|closing| *closing).await,
        None => std::future::pending().await,
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let portion = self.get_mut().poll_content(context);
        portion.map(|portion| portion.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Whole(bytes) => bytes.is_none(),
            Content::Pieces(rest, _) => rest.is_empty(),
            Content::Watch(watch) => watch.step.is_none(),
            Content::Carried(portions) => portions.is_closed() && portions.is_empty(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => {
                let length = bytes.as_ref().map_or(0, Bytes::len);
                SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
            }
            Content::Pieces(rest, _) => {
                SizeHint::with_exact(u64::try_from(rest.len()).unwrap_or(u64::MAX))
            }
            Content::Watch(_) | Content::Carried(_) => SizeHint::default(),
        }
    }
}
