//! What can be seen of requests from outside, for metrics.

use std::time::Duration;

/// One request that came to an end.
#[derive(Clone, Copy, Debug)]
pub struct RequestSeen<'a> {
    /// The HTTP method.
    pub method: &'a str,
    /// The server's host and port.
    pub host: &'a str,
    /// The status code; `None` if no answer came.
    pub code: Option<u16>,
    /// How long the answer took.
    pub took: Duration,
    /// How long the request was held back by the client's rate limit.
    pub held: Duration,
}

/// Whoever counts requests.
pub trait Observer: Send + Sync {
    /// A request came to an end.
    fn request(&self, seen: RequestSeen<'_>);
}
