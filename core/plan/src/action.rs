//! Actions: what a controller wants done, as data.
//!
//! Signatures, whose keys live in the shell, and calls of a cloud provider will be further variants
//! of [`Action`], with answers of their own.

use flyball_api::views::ObjectReference;
use flyball_api::{Kind, LeanMeta};

use crate::{Question, Read, Write};

/// One thing to do.
#[derive(Clone, Debug)]
pub enum Action {
    /// Change something on the server.
    Write(Write),
    /// Ask the server itself, past all caches.
    Read(Read),
    /// Tell people.
    Record(Record),
}

impl Action {
    /// The write, if it is one.
    pub fn write(&self) -> Option<&Write> {
        match self {
            Self::Write(write) => Some(write),
            _ => None,
        }
    }

    /// The write, if it is one, to be changed.
    pub fn write_mut(&mut self) -> Option<&mut Write> {
        match self {
            Self::Write(write) => Some(write),
            _ => None,
        }
    }

    /// The read, if it is one.
    pub fn read(&self) -> Option<&Read> {
        match self {
            Self::Read(read) => Some(read),
            _ => None,
        }
    }

    /// Whether this changes an object (events are not objects that anyone plans by).
    pub fn is_write(&self) -> bool {
        matches!(self, Self::Write(_))
    }

    /// The kind that it is about; `None` for records and discoveries.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Write(write) => Some(write.target.kind),
            Self::Read(read) => match &read.question {
                Question::Get { target, .. } | Question::Exists { target, .. } => Some(target.kind),
                Question::List { kind, .. } => Some(*kind),
                Question::Path { .. } | Question::Discovery => None,
            },
            Self::Record(_) => None,
        }
    }

    /// The verb, as the API calls it.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Write(write) => write.name(),
            Self::Read(read) => read.name(),
            Self::Record(_) => "record",
        }
    }
}

/// How serious a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordKind {
    /// All is well.
    Normal,
    /// Something needs attention.
    Warning,
}

/// What to tell people about an object; the recorder turns it into an Event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it is about.
    pub about: ObjectReference,
    /// How serious it is.
    pub kind: RecordKind,
    /// Why, in one word for machines.
    pub reason: &'static str,
    /// What happened, for people.
    pub message: String,
}

impl Record {
    /// Says something about an object.
    pub fn on(
        kind_of_object: Kind,
        meta: &LeanMeta,
        kind: RecordKind,
        reason: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            about: ObjectReference::of(kind_of_object, meta),
            kind,
            reason,
            message: message.into(),
        }
    }
}

impl From<Record> for Action {
    fn from(record: Record) -> Self {
        Self::Record(record)
    }
}
