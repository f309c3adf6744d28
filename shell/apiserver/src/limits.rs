//! What a connection may take of the server, in time and in memory.
//!
//! | the client… | …is cut off after |
//! |---|---|
//! | does not finish the TLS handshake or the head of a request | `head_timeout` |
//! | has asked for nothing | `idle_timeout`, or sooner when others need its place |
//! | does not send what it began, or does not read what it asked for | `stall_timeout`, or sooner when others need its place or its memory |
//!
//! Upstream: `apiserver/pkg/server/secure_serving.go`, for idle time and streams.

use std::time::Duration;

/// The bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Connections at once. One that comes later takes the place of one without credentials, of one
    /// that is idle or of one whose client takes nothing; it waits if there is none.
    pub(crate) connections_max: usize,
    /// The time for a handshake, and for the head of a request.
    pub(crate) head_timeout: Duration,
    /// How long a connection stays on which nothing is asked.
    pub(crate) idle_timeout: Duration,
    /// How long a client may make no progress with what is sent to it or expected of it.
    pub(crate) stall_timeout: Duration,
    /// How long requests may go on when the server stops.
    pub(crate) stop_grace: Duration,
    /// How large the head of a request may be.
    pub(crate) head_bytes_max: u32,
    /// HTTP/2 streams at once on one connection.
    pub(crate) streams_max: u32,
    /// How much of a body may arrive before it is looked at.
    pub(crate) window_bytes: u32,
    /// How much may wait to be sent on one stream.
    pub(crate) send_bytes_max: usize,
    /// Bytes of bodies and answers in memory, for all connections together.
    pub(crate) memory_bytes_max: usize,
    /// Bytes of bodies and answers in memory for one connection.
    pub(crate) connection_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 4096,
            head_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(90),
            stall_timeout: Duration::from_secs(60),
            stop_grace: Duration::from_secs(10),
            head_bytes_max: 256 << 10,
            streams_max: 100,
            window_bytes: 256 << 10,
            send_bytes_max: 128 << 10,
            memory_bytes_max: 96 << 20,
            connection_bytes_max: 16 << 20,
        }
    }
}
