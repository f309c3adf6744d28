//! What is answered.

use bytes::Bytes;
use serde_json::Value;

use crate::failure::Failure;
use crate::indent::indented;
use crate::listing::Listing;
use crate::negotiation::{Choice, Media, Offer, choose};
use crate::watch::Watch;

/// What a request leads to.
#[derive(Debug)]
pub enum Reply {
    /// An answer.
    Answer(Answer),
    /// A collection, to be written by whoever has the time: the registry is not needed for it.
    List(Box<Listing>),
    /// A stream of changes, to be moved on with [`Registry::poll`](crate::Registry::poll).
    Watch(Box<Watch>),
    /// Nothing that is kept here. Whoever asks may see the path, so a page of the server itself may be
    /// shown, such as its health.
    Page,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub code: u16,
    /// What the body is written in, as it is.
    pub content_type: &'static str,
    /// The body.
    pub body: Bytes,
    /// How to lay the body out.
    pub layout: Layout,
    /// What to tell whoever asked, beside the answer.
    pub warnings: Vec<String>,
    /// After how many seconds it makes sense to ask again; 0 if that is not known.
    pub retry_after_seconds: u32,
    /// What names this state of a document, for who has it already; empty if nothing does.
    pub etag: String,
}

/// How the body of an answer is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// As it is.
    Fixed,
    /// It is JSON on one line, to be shown as whoever asks wants it.
    Asked {
        /// What to write it in.
        media: Media,
        /// Whether to lay it out for people, whatever the program that asks.
        indented: bool,
    },
}

impl Default for Layout {
    fn default() -> Self {
        Choice::default().layout()
    }
}

impl Choice {
    pub(crate) fn layout(self) -> Layout {
        Layout::Asked {
            media: self.media,
            indented: self.indented,
        }
    }
}

impl Answer {
    /// An answer with this body.
    pub(crate) fn new(code: u16, body: impl Into<Bytes>) -> Self {
        Self {
            code,
            content_type: "application/json",
            body: body.into(),
            layout: Layout::default(),
            warnings: Vec::new(),
            retry_after_seconds: 0,
            etag: String::new(),
        }
    }

    /// A success with this document.
    pub(crate) fn document(document: &Value) -> Self {
        Self::new(200, document.to_string())
    }

    /// What came of a request, be it a refusal: what was to be told meanwhile is told with both.
    pub(crate) fn of(outcome: Result<Self, Failure>) -> Self {
        outcome.unwrap_or_else(Self::from)
    }

    /// The same answer with these warnings, before those that it has.
    pub(crate) fn warned(mut self, warnings: Vec<String>) -> Self {
        self.warnings.splice(0..0, warnings);
        self
    }

    /// The same answer, to be laid out as agreed.
    pub(crate) fn shown(mut self, choice: Choice) -> Self {
        if self.layout != Layout::Fixed {
            self.layout = choice.layout();
        }
        self
    }

    /// The same answer, laid out for people whoever asks.
    pub(crate) fn for_people(mut self) -> Self {
        self.body = indented(&self.body).into();
        self.layout = Layout::Fixed;
        self
    }

    /// Whether it is to be written in something else than JSON.
    pub fn is_converted(&self) -> bool {
        matches!(self.layout, Layout::Asked { media, .. } if media != Media::Json)
    }

    /// A refusal as whoever accepts this can read it; who accepts nothing of ours gets what people can
    /// read.
    pub fn refusal(failure: Failure, accept: &str) -> Self {
        Self::from(failure).refused(accept)
    }

    /// The same answer, which is a refusal, as whoever accepts this can read it.
    pub(crate) fn refused(self, accept: &str) -> Self {
        match choose(accept, Offer::Plain) {
            Ok(choice) => self.shown(choice),
            Err(_) => self.for_people(),
        }
    }
}

impl From<Failure> for Answer {
    fn from(mut failure: Failure) -> Self {
        let warnings = failure.take_warnings();
        let details = failure.0.details.as_ref();
        let retry_after_seconds = details.map_or(0, |details| details.retry_after_seconds);
        Self {
            retry_after_seconds,
            warnings,
            ..Self::new(failure.code(), failure.body())
        }
    }
}
