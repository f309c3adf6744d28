//! What is answered.

use bytes::Bytes;
use serde_json::Value;

use crate::failure::Failure;
use crate::watch::Watch;

/// What a request leads to.
#[derive(Debug)]
pub enum Reply {
    /// An answer.
    Answer(Answer),
    /// A stream of changes, to be moved on with [`Registry::poll`](crate::Registry::poll).
    Watch(Box<Watch>),
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub code: u16,
    /// What the body is written in.
    pub content_type: &'static str,
    /// The body.
    pub body: Bytes,
    /// What to tell whoever asked, beside the answer.
    pub warnings: Vec<String>,
}

impl Answer {
    /// An answer with this body.
    pub(crate) fn new(code: u16, body: impl Into<Bytes>) -> Self {
        Self {
            code,
            content_type: "application/json",
            body: body.into(),
            warnings: Vec::new(),
        }
    }

    /// A success with plain text.
    pub(crate) fn text(text: &'static str) -> Self {
        Self {
            content_type: "text/plain; charset=utf-8",
            ..Self::new(200, text)
        }
    }

    /// A success with this document.
    pub(crate) fn document(document: &Value) -> Self {
        Self::new(200, document.to_string())
    }

    /// The same answer with these warnings, before those that it has.
    pub(crate) fn warned(mut self, warnings: Vec<String>) -> Self {
        self.warnings.splice(0..0, warnings);
        self
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        Self::new(failure.code(), failure.body())
    }
}
