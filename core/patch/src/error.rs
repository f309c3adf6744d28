//! Why a patch is refused, in upstream's words.
//!
//! What a server answers has a code, a reason, a message and causes; all four are upstream's, which
//! is why a patch that names no merge key is answered with 500: there it is an error that nobody
//! translates into a status.

use flyball_api::StatusCause;

/// What went wrong, as far as a client can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The patch is not a patch of its kind.
    BadRequest,
    /// The patch does not fit the object.
    Invalid,
    /// The patch asks for more than a server does at once.
    TooLarge,
    /// Others own what the patch wants to change.
    Conflict,
    /// Upstream has no class for it, and answers with 500 and no reason.
    Unclassified,
}

impl Class {
    /// The HTTP status.
    pub fn code(self) -> u16 {
        match self {
            Class::BadRequest => 400,
            Class::Invalid => 422,
            Class::TooLarge => 413,
            Class::Conflict => 409,
            Class::Unclassified => 500,
        }
    }

    /// The word for programs; empty if upstream gives none.
    pub fn reason(self) -> &'static str {
        match self {
            Class::BadRequest => "BadRequest",
            Class::Invalid => "Invalid",
            Class::TooLarge => "RequestEntityTooLarge",
            Class::Conflict => "Conflict",
            Class::Unclassified => "",
        }
    }
}

/// A patch that is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PatchRefused {
    /// What went wrong, for programs.
    pub class: Class,
    /// What went wrong, for people, in upstream's words.
    pub message: String,
    /// The single mistakes, if upstream lists them.
    pub causes: Vec<StatusCause>,
    /// What upstream knows but does not tell its clients; empty if it tells everything.
    pub detail: String,
}

impl PatchRefused {
    fn of(class: Class, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            causes: Vec::new(),
            detail: String::new(),
        }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::of(Class::BadRequest, message)
    }

    pub(crate) fn unclassified(message: impl Into<String>) -> Self {
        Self::of(Class::Unclassified, message)
    }

    /// Upstream keeps to itself which operation did not fit.
    pub(crate) fn does_not_fit(detail: impl Into<String>) -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self {
            detail: detail.into(),
            ..Self::of(Class::Invalid, message)
        }
    }

    pub(crate) fn too_large(what: &str) -> Self {
        Self::of(Class::TooLarge, format!("Request entity too large: {what}"))
    }

    pub(crate) fn conflict(message: String, causes: Vec<StatusCause>) -> Self {
        Self {
            causes,
            ..Self::of(Class::Conflict, message)
        }
    }
}
