//! Reads past all caches: what a controller asks the server itself.

use std::time::Duration;

use flyball_api::{Kind, Text, Uid};

use crate::{Action, Subresource, Target, Want};

/// One read.
#[derive(Clone, Debug)]
pub struct Read {
    /// What is asked.
    pub question: Question,
    /// How old an answer to the same question of another sync may be; zero for a request of its
    /// own.
    pub age_max: Duration,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// An object, or a subresource of it.
    Get {
        /// Which.
        target: Target,
        /// Which part of it.
        subresource: Subresource,
        /// How much of it.
        want: Want,
    },
    /// Whether an incarnation still exists. That one does not is true for ever, so an
    /// [`Engine`](crate::Engine) that was told once may answer by itself.
    Exists {
        /// Which object.
        target: Target,
        /// Which incarnation.
        uid: Uid,
    },
    /// The objects of a kind in a namespace, or in all of them if it is empty.
    List {
        /// Their kind.
        kind: Kind,
        /// The namespace.
        namespace: Text,
        /// How many are wanted; the others are only counted.
        items_max: usize,
        /// How much of each.
        want: Want,
    },
    /// Whatever an API answers under a path, such as the metrics of pods.
    Path {
        /// The path.
        path: String,
        /// The parameters of the query, unescaped.
        query: Vec<(&'static str, String)>,
    },
    /// Which resources the server has.
    Discovery,
}

impl Read {
    /// Reads an object.
    pub fn get(target: Target) -> Self {
        Self::of(Question::Get {
            target,
            subresource: Subresource::NONE,
            want: Want::Whole,
        })
    }

    /// Asks whether an incarnation still exists.
    pub fn exists(target: Target, uid: Uid) -> Self {
        Self::of(Question::Exists { target, uid })
    }

    /// Lists the metadata of the objects of a kind in a namespace, or in all of them if it is
    /// empty.
    pub fn list(kind: Kind, namespace: &str, items_max: usize) -> Self {
        Self::of(Question::List {
            kind,
            namespace: namespace.into(),
            items_max,
            want: Want::Metadata,
        })
    }

    /// Asks which resources the server has.
    pub fn discovery() -> Self {
        Self::of(Question::Discovery)
    }

    /// A request of its own.
    pub fn of(question: Question) -> Self {
        Self {
            question,
            age_max: Duration::ZERO,
        }
    }

    /// The same question; an answer to another sync may be this old.
    pub fn not_older_than(self, age_max: Duration) -> Self {
        Self { age_max, ..self }
    }

    /// What the API calls it.
    pub fn name(&self) -> &'static str {
        match self.question {
            Question::Get { .. } | Question::Exists { .. } | Question::Path { .. } => "get",
            Question::List { .. } => "list",
            Question::Discovery => "discover",
        }
    }
}

impl From<Read> for Action {
    fn from(read: Read) -> Self {
        Self::Read(read)
    }
}
