//! What goes on on a connection: requests, whether its client takes what it asked for, and the memory
//! that is held for it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::Instant;

/// What is known of a connection.
#[derive(Debug)]
pub(crate) struct Activity {
    state: Mutex<State>,
    /// Another connection needs the place or the memory.
    pub(crate) leave: Notify,
}

#[derive(Debug)]
struct State {
    requests: usize,
    /// Since when nothing is asked, if nothing is.
    idle_since: Instant,
    /// How many bodies and answers wait for the client: to send more, or to read more.
    waiting: usize,
    /// When the client last sent or read something of them.
    progress: Instant,
    /// Since when the socket takes no bytes.
    blocked_since: Option<Instant>,
    /// Bytes of bodies and answers in memory.
    held: usize,
    /// Since when there are any.
    held_since: Instant,
    /// Whether a user was authenticated on it.
    is_known: bool,
    /// Whether it was asked to leave.
    is_leaving: bool,
}

/// How much a connection deserves its place; the least is the first to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Claim {
    /// Its client has shown no credentials. The one without progress for the longest goes first.
    Unknown(Instant),
    /// Nothing is asked on it.
    Idle(Instant),
    /// Its client takes nothing.
    Stalled(Instant),
}

/// After this time without progress a connection is given up when another needs its place or memory.
const PRESSURE_PATIENCE: Duration = Duration::from_secs(1);

/// A request in progress, up to the last byte of its answer.
#[derive(Debug)]
pub(crate) struct InProgress(Arc<Activity>);

/// A body or an answer that waits for the client.
#[derive(Debug)]
pub(crate) struct Waiting(Arc<Activity>);

impl Activity {
    pub(crate) fn new() -> Arc<Self> {
        let now = Instant::now();
        Arc::new(Self {
            state: Mutex::new(State {
                requests: 0,
                idle_since: now,
                waiting: 0,
                progress: now,
                blocked_since: None,
                held: 0,
                held_since: now,
                is_known: false,
                is_leaving: false,
            }),
            leave: Notify::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin(self: &Arc<Self>) -> InProgress {
        self.state().requests += 1;
        InProgress(self.clone())
    }

    /// Something waits for the client from now on.
    pub(crate) fn wait(self: &Arc<Self>) -> Waiting {
        let mut state = self.state();
        // What waits already does not wait anew because there is more of it.
        if state.waiting == 0 {
            state.progress = Instant::now();
        }
        state.waiting += 1;
        drop(state);
        Waiting(self.clone())
    }

    /// The client has sent or read something.
    pub(crate) fn note_progress(&self) {
        self.state().progress = Instant::now();
    }

    /// A user was authenticated.
    pub(crate) fn note_user(&self) {
        self.state().is_known = true;
    }

    /// Counts bytes that are held for the client.
    pub(crate) fn hold(&self, bytes: usize) {
        let mut state = self.state();
        if state.held == 0 {
            state.held_since = Instant::now();
        }
        state.held += bytes;
    }

    pub(crate) fn release(&self, bytes: usize) {
        let mut state = self.state();
        state.held = state.held.saturating_sub(bytes);
    }

    /// Bytes that are held for the client.
    pub(crate) fn held(&self) -> usize {
        self.state().held
    }

    /// Since when nothing is asked; `None` if something is.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let state = self.state();
        (state.requests == 0).then_some(state.idle_since)
    }

    /// Since when the client makes no progress with what is there for it or expected of it.
    pub(crate) fn stalled_since(&self) -> Option<Instant> {
        self.state().stalled_since()
    }

    /// How much it deserves its place; `None` if it keeps it in any case.
    pub(crate) fn claim(&self) -> Option<Claim> {
        let state = self.state();
        let stalled = state.stalled_since();
        let now = Instant::now();
        match (state.requests, stalled) {
            _ if state.is_leaving => None,
            (0, _) if !state.is_known => Some(Claim::Unknown(state.idle_since)),
            _ if !state.is_known => Some(Claim::Unknown(state.progress)),
            (0, _) => Some(Claim::Idle(state.idle_since)),
            (_, Some(since)) if now >= since + PRESSURE_PATIENCE => Some(Claim::Stalled(since)),
            _ => None,
        }
    }

    /// Since when memory is held for a client that does not take it; `None` if it takes it, or holds
    /// none, or not for long.
    pub(crate) fn hoarding_since(&self) -> Option<Instant> {
        let state = self.state();
        let is_hoarding = state.held > 0 && state.waiting > 0 && !state.is_leaving;
        let since = is_hoarding.then_some(state.held_since)?;
        (Instant::now() >= since + PRESSURE_PATIENCE).then_some(since)
    }

    /// Asks the connection to leave: at once, or after what it does if it is idle.
    pub(crate) fn ask_to_leave(&self) {
        self.state().is_leaving = true;
        self.leave.notify_one();
    }

    fn note_write(&self, is_blocked: bool) {
        let mut state = self.state();
        state.blocked_since = match is_blocked {
            true => state.blocked_since.or_else(|| Some(Instant::now())),
            false => None,
        };
    }
}

impl State {
    fn stalled_since(&self) -> Option<Instant> {
        let waiting = (self.waiting > 0).then_some(self.progress);
        [waiting, self.blocked_since].into_iter().flatten().min()
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.requests -= 1;
        state.idle_since = Instant::now();
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.waiting -= 1;
        state.progress = Instant::now();
    }
}

/// A stream whose writes are watched.
pub(crate) struct Watched<S> {
    stream: S,
    activity: Arc<Activity>,
}

impl<S> Watched<S> {
    pub(crate) fn new(stream: S, activity: Arc<Activity>) -> Self {
        Self { stream, activity }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.activity.note_write(written.is_pending());
        written
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.activity.note_write(flushed.is_pending());
        flushed
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.activity.note_write(written.is_pending());
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests;
