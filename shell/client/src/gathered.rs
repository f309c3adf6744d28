//! A socket that is read in large portions.
//!
//! TLS reads 4 kB at a time, and every read is a call into the kernel. A watch under load has ten
//! times as much waiting. So all that waits is read at once into room that all connections share,
//! and what the reader has no room for is kept until it asks again.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use futures::FutureExt;
use futures::future::BoxFuture;
use http::Uri;
use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::{BoxError, Service};

use crate::connection::Reset;

/// How much is read at once.
const PORTION_BYTES: usize = 64 << 10;

/// Opens sockets that are read in large portions.
#[derive(Clone)]
pub(crate) struct GatheringConnector {
    tcp: HttpConnector,
    room: Room,
}

type Room = Arc<Mutex<Vec<u8>>>;

impl GatheringConnector {
    pub(crate) fn new(tcp: HttpConnector) -> Self {
        Self {
            tcp,
            room: Arc::new(Mutex::new(vec![0; PORTION_BYTES])),
        }
    }
}

impl Service<Uri> for GatheringConnector {
    type Response = Gathered;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Gathered, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let room = self.room.clone();
        let opening = self.tcp.call(server);
        let gathered = opening.map(|socket| {
            Ok(Gathered {
                socket: socket?,
                held: Bytes::new(),
                room,
                reset: Reset::default(),
            })
        });
        gathered.boxed()
    }
}

/// A socket and what was read of it in advance.
pub(crate) struct Gathered {
    socket: TokioIo<TcpStream>,
    held: Bytes,
    room: Room,
    reset: Reset,
}

impl Gathered {
    fn hand_out(&mut self, out: &mut ReadBufCursor<'_>) {
        let count = self.held.len().min(out.remaining());
        out.put_slice(&self.held[..count]);
        self.held.advance(count);
        if self.held.is_empty() {
            self.held = Bytes::new();
        }
    }
}

impl Read for Gathered {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut out: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.held.is_empty() {
            let mut room = this.room.lock().unwrap_or_else(PoisonError::into_inner);
            let mut portion = ReadBuf::new(&mut room);
            ready!(Pin::new(&mut this.socket).poll_read(context, portion.unfilled()))?;
            let (now, later) = portion
                .filled()
                .split_at(portion.filled().len().min(out.remaining()));
            out.put_slice(now);
            if !later.is_empty() {
                this.held = Bytes::copy_from_slice(later);
            }
            return Poll::Ready(Ok(()));
        }
        this.hand_out(&mut out);
        Poll::Ready(Ok(()))
    }
}

impl Write for Gathered {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

impl Connection for Gathered {
    fn connected(&self) -> Connected {
        self.socket.connected().extra(self.reset.clone())
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        if self.reset.is_requested() {
            // A socket that refuses is broken already.
            let _ = self.socket.inner().set_zero_linger();
        }
    }
}
