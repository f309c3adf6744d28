//! A request as the registry takes it.

use flyball_rbac::User;
use flyball_registry::{Method, Request};
use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, USER_AGENT};

use crate::server::now;
use flyball_https::Target;

/// A request whose body is not looked at yet.
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a http::Method,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) target: &'a Target,
    pub(crate) user: &'a User,
    /// Whom the user wants to be.
    pub(crate) wanted: Option<&'a User>,
}

impl<'a> Asked<'a> {
    /// A header as text; empty if it is not there or no text.
    pub(crate) fn header(&self, name: HeaderName) -> &'a str {
        let value = self.headers.get(name);
        value
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// Leaves a trace of who was refused what.
    pub(crate) fn log_refusal(&self, body: &[u8]) {
        let told: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        let why = told["message"].as_str().unwrap_or_default();
        let (user, path) = (&self.user.name, &self.target.path);
        tracing::info!(%user, method = %self.method, %path, why, "Forbidden");
    }

    /// The request as the registry takes it.
    pub(crate) fn request(&self, body: &'a [u8]) -> Request<'a> {
        Request {
            method: match self.method.as_str() {
                "GET" => Method::Get,
                "HEAD" => Method::Head,
                "POST" => Method::Post,
                "PUT" => Method::Put,
                "PATCH" => Method::Patch,
                "DELETE" => Method::Delete,
                "OPTIONS" => Method::Options,
                _ => Method::Other,
            },
            path: &self.target.path,
            query: &self.target.query,
            body,
            content_type: self.header(CONTENT_TYPE),
            accept: self.header(ACCEPT),
            user: self.user,
            agent: self.header(USER_AGENT),
            now: now(),
        }
    }
}
