//! Failures: why a sync could not go on, what helps, and what it waits for meanwhile.

use flyball_api::{ApiError, DecodeError, Remedy};

use crate::Wait;

/// Why a sync failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Why, for people.
    pub text: String,
    /// What helps.
    pub remedy: Remedy,
    /// What is waited for, unless the report of the sync names something better.
    pub wait: Box<Wait>,
}

impl Failure {
    /// A failed request to an object in `namespace`.
    pub fn of(error: &ApiError, namespace: &str) -> Self {
        Self {
            text: error.to_string(),
            remedy: error.remedy(),
            wait: Wait::answer(error, namespace).into(),
        }
    }

    /// Only a user's edit helps, which is what is waited for.
    pub fn until_edited(text: String, wait: Wait) -> Self {
        Self {
            text,
            remedy: Remedy::Edit,
            wait: wait.into(),
        }
    }

    /// The same failure in other words.
    pub fn in_words(self, text: String) -> Self {
        Self { text, ..self }
    }
}

impl From<&ApiError> for Failure {
    fn from(error: &ApiError) -> Self {
        Self {
            text: error.to_string(),
            remedy: error.remedy(),
            wait: Box::new(Wait::Answer {
                code: error.code(),
                reason: error.reason().into(),
            }),
        }
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self {
            text,
            remedy: Remedy::Retry,
            wait: Wait::RETRY.into(),
        }
    }
}

impl From<&str> for Failure {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        error.to_string().into()
    }
}
