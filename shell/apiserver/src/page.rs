//! Pages of the server itself, as text: health, metrics, what it says when there is nothing.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Response, StatusCode};

use crate::body::Body;

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) code: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
    /// Whether a browser may guess what it is.
    pub(crate) is_sniffable: bool,
    pub(crate) retry_after_seconds: u32,
}

impl Page {
    /// Text.
    pub(crate) fn text(code: u16, text: impl Into<Bytes>) -> Self {
        Self {
            code,
            content_type: "text/plain; charset=utf-8",
            body: text.into(),
            is_sniffable: true,
            retry_after_seconds: 0,
        }
    }

    /// A refusal, with the line break that Go puts behind it.
    pub(crate) fn error(code: u16, text: &str) -> Self {
        Self {
            is_sniffable: false,
            ..Self::text(code, format!("{text}\n"))
        }
    }

    /// There is no such page.
    pub(crate) fn not_found() -> Self {
        Self::error(404, "404 page not found")
    }

    /// There are too many requests.
    pub(crate) fn too_many_requests() -> Self {
        Self {
            retry_after_seconds: 1,
            ..Self::error(429, "Too many requests, please try again later.")
        }
    }

    /// The answer with this page.
    pub(crate) fn respond(self) -> Response<Body> {
        let mut response = Response::new(Body::whole(self.body));
        *response.status_mut() = StatusCode::from_u16(self.code).unwrap_or_default();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        if !self.is_sniffable {
            headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        }
        if self.retry_after_seconds > 0 {
            headers.insert(RETRY_AFTER, self.retry_after_seconds.into());
        }
        response
    }
}
