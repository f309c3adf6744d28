//! The verbs of writes. All that differs between them stands in [`Verb::facts`]: a new verb is a
//! variant and an arm there.

use flyball_api::request::Method;

/// What a write does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Creates an object, or posts to the subresource of one.
    Create,
    /// Changes fields by a strategic merge patch.
    StrategicPatch,
    /// Changes fields by a JSON merge patch, which every kind understands.
    MergePatch,
    /// Replaces an object or a subresource.
    Update,
    /// Applies a configuration on the server's side. With a UID in its metadata it cannot recreate
    /// what was deleted.
    Apply {
        /// Who manages the fields.
        manager: &'static str,
        /// Whether fields are taken from other managers.
        force: bool,
    },
    /// Deletes an object.
    Delete {
        /// What happens to its dependents; the kind's default if absent.
        propagation: Option<Propagation>,
        /// How long it may take to stop; as long as it asked for if absent. Zero removes it at
        /// once: for callers who know that it has stopped, or that it does not matter.
        grace_seconds: Option<u32>,
    },
    /// Deletes all objects of a kind in a namespace.
    DeleteCollection {
        /// What happens to their dependents; the kind's default if absent.
        propagation: Option<Propagation>,
    },
}

/// What happens to the dependents of a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Propagation {
    /// They are deleted afterwards.
    Background,
    /// They are deleted first.
    Foreground,
    /// They stay.
    Orphan,
}

impl Propagation {
    /// The word for it in `DeleteOptions`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Background => "Background",
            Self::Foreground => "Foreground",
            Self::Orphan => "Orphan",
        }
    }
}

/// What a write must demand of the object that it goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Nothing: there is no such object yet.
    Nothing,
    /// The incarnation or the version.
    Either,
    /// The incarnation.
    Uid,
    /// That it is one namespace, never all of them.
    Namespace,
}

/// How the caches show that a write took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The kind reaches the version that the answer tells.
    Version,
    /// The incarnation is terminating, or gone.
    Gone,
    /// The object has another version than the one that was demanded.
    Change,
    /// Not at all.
    Nothing,
}

/// What an answer to a write is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    /// The object that was written.
    Object,
    /// The object, or a mere Status.
    Either,
    /// A list of what was deleted.
    List,
}

/// Where the server looks for what a write demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demands {
    /// In the metadata of the body.
    Body,
    /// In `DeleteOptions`, which are made from the write.
    DeleteOptions,
}

/// What a verb means to everything that carries writes out, checks or prints them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// What the API calls it.
    pub(crate) name: &'static str,
    /// Words for transcripts.
    pub(crate) words: &'static str,
    pub(crate) method: Method,
    pub(crate) guard: Guard,
    pub(crate) demands: Demands,
    pub(crate) shows: Shows,
    pub(crate) answers: Answers,
}

/// A patch of an object.
const PATCH: Facts = Facts {
    name: "patch",
    words: "patch",
    method: Method::StrategicPatch,
    guard: Guard::Either,
    demands: Demands::Body,
    shows: Shows::Version,
    answers: Answers::Object,
};

impl Verb {
    pub(crate) fn facts(self) -> Facts {
        match self {
            Self::Create => Facts {
                name: "create",
                words: "create",
                method: Method::Post,
                guard: Guard::Nothing,
                ..PATCH
            },
            Self::StrategicPatch => PATCH,
            Self::MergePatch => Facts {
                words: "merge into",
                method: Method::MergePatch,
                ..PATCH
            },
            Self::Update => Facts {
                name: "update",
                words: "update",
                method: Method::Put,
                ..PATCH
            },
            Self::Apply { .. } => Facts {
                words: "apply",
                method: Method::ApplyPatch,
                guard: Guard::Uid,
                ..PATCH
            },
            Self::Delete { .. } => Facts {
                name: "delete",
                words: "delete",
                method: Method::Delete,
                guard: Guard::Uid,
                demands: Demands::DeleteOptions,
                shows: Shows::Gone,
                answers: Answers::Either,
            },
            Self::DeleteCollection { .. } => Facts {
                name: "deletecollection",
                words: "delete every",
                method: Method::Delete,
                guard: Guard::Namespace,
                demands: Demands::DeleteOptions,
                shows: Shows::Nothing,
                answers: Answers::List,
            },
        }
    }
}
