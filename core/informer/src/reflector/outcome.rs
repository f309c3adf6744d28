//! The outcome of a step: a command, a change of the cache, and what else is to be known.

use std::sync::Arc;
use std::time::Duration;

use flyball_api::{Kind, Text};

use super::{Command, Notice, Problem, Sign};
use crate::store::objects::Objects;

/// What a step leads to.
pub(crate) struct Outcome<T> {
    pub(crate) command: Option<Command>,
    pub(crate) delta: Option<Delta<T>>,
    /// Once the delta, if any, is applied, the cache is complete up to this version.
    pub(crate) seen: Option<Text>,
    pub(crate) notice: Option<Notice>,
    pub(crate) sign: Option<Sign>,
}

/// What is to change in the cache.
pub(crate) enum Delta<T> {
    /// An object came or changed.
    Put(Arc<T>),
    /// An object went; this is its final state.
    Delete(Arc<T>),
    /// These and no others are the objects there are.
    Replace(Objects<T>),
}

impl<T> Outcome<T> {
    pub(super) fn nothing() -> Self {
        Self {
            command: None,
            delta: None,
            seen: None,
            notice: None,
            sign: None,
        }
    }

    pub(super) fn command(command: Command) -> Self {
        Self {
            command: Some(command),
            ..Self::nothing()
        }
    }

    pub(super) fn delta(delta: Delta<T>) -> Self {
        Self {
            delta: Some(delta),
            ..Self::nothing()
        }
    }

    pub(super) fn with_notice(
        self,
        kind: Kind,
        problem: Problem,
        retry_in: Option<Duration>,
    ) -> Self {
        Self {
            notice: Some(Notice {
                kind,
                problem,
                retry_in,
            }),
            ..self
        }
    }

    pub(super) fn with_sign(self, sign: Option<Sign>) -> Self {
        Self { sign, ..self }
    }
}
