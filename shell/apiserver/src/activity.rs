//! What goes on on a connection: requests, and whether what is sent is read.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::Instant;

/// What is known of a connection.
#[derive(Debug)]
pub(crate) struct Activity {
    requests: AtomicUsize,
    /// Since when nothing is asked, if nothing is.
    idle_since: Mutex<Instant>,
    /// Since when the client reads nothing of what is there for it.
    stalled_since: Mutex<Option<Instant>>,
    /// Somebody else needs the place.
    pub(crate) leave: Notify,
}

/// A request in progress, up to the last byte of its answer.
#[derive(Debug)]
pub(crate) struct InProgress(Arc<Activity>);

impl Activity {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            requests: AtomicUsize::new(0),
            idle_since: Mutex::new(Instant::now()),
            stalled_since: Mutex::new(None),
            leave: Notify::new(),
        })
    }

    pub(crate) fn begin(self: &Arc<Self>) -> InProgress {
        self.requests.fetch_add(1, Ordering::SeqCst);
        InProgress(self.clone())
    }

    /// Since when nothing is asked; `None` if something is.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        if self.requests.load(Ordering::SeqCst) > 0 {
            return None;
        }
        Some(
            *self
                .idle_since
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Since when the client reads nothing of what is there for it.
    pub(crate) fn stalled_since(&self) -> Option<Instant> {
        *self
            .stalled_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn note_write(&self, is_stalled: bool) {
        let mut since = self
            .stalled_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *since = match is_stalled {
            true => since.or_else(|| Some(Instant::now())),
            false => None,
        };
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        *self
            .0
            .idle_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.0.requests.fetch_sub(1, Ordering::SeqCst);
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
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_after_its_last_request() {
        let activity = Activity::new();
        let start = Instant::now();
        assert_eq!(activity.idle_since(), Some(start));
        let (one, other) = (activity.begin(), activity.begin());
        assert_eq!(activity.idle_since(), None);
        drop(one);
        assert_eq!(activity.idle_since(), None);
        tokio::time::advance(Duration::from_secs(5)).await;
        drop(other);
        assert_eq!(activity.idle_since(), Some(start + Duration::from_secs(5)));
    }

    #[tokio::test]
    async fn it_is_known_since_when_nothing_is_read() {
        let (near, mut far) = tokio::io::duplex(4);
        let activity = Activity::new();
        let mut near = Watched::new(near, activity.clone());
        near.write_all(b"abcd").await.unwrap();
        assert_eq!(activity.stalled_since(), None);
        let more = tokio::time::timeout(Duration::from_millis(1), near.write_all(b"e"));
        assert!(more.await.is_err());
        assert!(activity.stalled_since().is_some());
        far.read_exact(&mut [0; 4]).await.unwrap();
        near.write_all(b"e").await.unwrap();
        assert_eq!(activity.stalled_since(), None);
    }
}
