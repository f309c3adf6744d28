//! One request, as it is sent to both servers and as it is shown to whoever reads a difference.

use std::fmt;

use anyhow::Result;
use kube::client::Body;

use super::links::Links;

/// Who the requests say they are from: owners of fields are named after it.
const AGENT: &str = "parity/1.0";

/// The media type of bodies in protobuf.
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// A request that no server has been asked yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    /// Without the query.
    pub(crate) path: String,
    /// Not escaped.
    pub(crate) query: Vec<(String, String)>,
    pub(crate) content_type: String,
    pub(crate) accept: String,
    pub(crate) body: String,
    /// The collection of which the answer may be that of an earlier moment; empty if it cannot.
    pub(crate) cached: String,
}

impl Request {
    /// A request without a body that takes JSON.
    pub(crate) fn new(method: &'static str, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            accept: "application/json".to_owned(),
            ..Self::default()
        }
    }

    /// The same request with a body of JSON.
    pub(crate) fn with_json(self, body: &serde_json::Value) -> Self {
        self.with_body("application/json", body.to_string())
    }

    /// The same request with a body.
    pub(crate) fn with_body(mut self, content_type: &str, body: String) -> Self {
        self.content_type = content_type.to_owned();
        self.body = body;
        self
    }

    /// The same request, which a cache of a collection may answer for an earlier moment.
    pub(crate) fn cached(mut self, collection: impl Into<String>) -> Self {
        self.cached = collection.into();
        self
    }

    /// The same request with one more pair in its query.
    pub(crate) fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        self.query.push((key.to_owned(), value.into()));
        self
    }

    /// Whether it may change something.
    pub(crate) fn is_write(&self) -> bool {
        self.method != "GET"
    }

    /// The request in the words of the other server: its identities instead of these.
    pub(crate) fn translated(&self, links: &Links) -> Self {
        let query = self.query.iter().map(|(key, value)| {
            let value = match key.as_str() {
                "resourceVersion" => links.version(value),
                "continue" => links.token(value),
                _ => links.text(value),
            };
            (key.clone(), value)
        });
        Self {
            path: links.text(&self.path),
            cached: links.text(&self.cached),
            query: query.collect(),
            body: links.text(&self.body),
            ..self.clone()
        }
    }

    /// The request with all its texts put into other words.
    pub(crate) fn with_each(&self, words: impl Fn(&str) -> String) -> Self {
        let query = self.query.iter();
        Self {
            path: words(&self.path),
            cached: words(&self.cached),
            query: query
                .map(|(key, value)| (key.clone(), words(value)))
                .collect(),
            body: words(&self.body),
            ..self.clone()
        }
    }

    /// The request for kube's client.
    pub(crate) fn http(&self) -> Result<http::Request<Body>> {
        let mut builder = http::Request::builder()
            .method(self.method)
            .uri(self.target())
            .header("User-Agent", AGENT);
        if !self.accept.is_empty() {
            builder = builder.header("Accept", &self.accept);
        }
        if !self.content_type.is_empty() {
            builder = builder.header("Content-Type", &self.content_type);
        }
        Ok(builder.body(Body::from(self.bytes()))?)
    }

    /// The body as it is sent. Bodies in protobuf are kept as JSON, so that they can be put into other words and read.
    fn bytes(&self) -> Vec<u8> {
        let value = (self.content_type == PROTOBUF).then(|| serde_json::from_str(&self.body).ok());
        let encoded = value
            .flatten()
            .and_then(|value| flyball_protobuf::encode(&value));
        encoded.unwrap_or_else(|| self.body.clone().into_bytes())
    }

    fn target(&self) -> String {
        let mut target = escape(&self.path, b"/-_.~:");
        for (at, (key, value)) in self.query.iter().enumerate() {
            target.push(if at == 0 { '?' } else { '&' });
            target.push_str(&escape(key, b"-_.~"));
            target.push('=');
            target.push_str(&escape(value, b"-_.~"));
        }
        target
    }

    /// Method and target in one line, by which explanations know it.
    pub(crate) fn line(&self) -> String {
        let pairs = self
            .query
            .iter()
            .map(|(key, value)| format!("{key}={value}"));
        let query = pairs.collect::<Vec<_>>().join("&");
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{} {}{mark}{query}", self.method, self.path)
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.line())?;
        if self.accept != "application/json" {
            write!(f, "\n  Accept: {}", self.accept)?;
        }
        if !self.content_type.is_empty() {
            write!(f, "\n  Content-Type: {}", self.content_type)?;
        }
        if !self.body.is_empty() {
            write!(f, "\n  {}", self.body)?;
        }
        Ok(())
    }
}

fn escape(text: &str, kept: &[u8]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}
