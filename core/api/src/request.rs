//! Requests to an API server: what to do, to what, with which body.

use bytes::Bytes;

/// What can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Read.
    Get,
    /// Create.
    Post,
    /// Replace.
    Put,
    /// Change parts, as a strategic merge patch.
    StrategicPatch,
    /// Remove.
    Delete,
}

impl Method {
    /// What the body is written in, as the header says it.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::StrategicPatch => "application/strategic-merge-patch+json",
            _ => "application/json",
        }
    }
}

/// A request: method, path with query, body.
#[derive(Clone, Debug)]
pub struct Request {
    /// What to do.
    pub method: Method,
    /// To what: path and query.
    pub path: String,
    /// The JSON to send; empty for none.
    pub body: Bytes,
    /// Whether the answer's metadata is all that will be read of it.
    pub metadata_only: bool,
}

impl Request {
    /// A read.
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: Method::Get,
            path: path.into(),
            body: Bytes::new(),
            metadata_only: false,
        }
    }

    /// A request with a JSON body.
    pub fn with(method: Method, path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self {
            method,
            path: path.into(),
            body: body.into(),
            metadata_only: false,
        }
    }

    /// The same request, asking the server to answer with no more than the object's metadata.
    /// A server that does not know how answers in full.
    pub fn metadata_only(self) -> Self {
        Self {
            metadata_only: true,
            ..self
        }
    }

    /// How the answer should look, as the header says it.
    pub fn accept(&self) -> &'static str {
        if self.metadata_only {
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
        } else {
            "application/json"
        }
    }
}
