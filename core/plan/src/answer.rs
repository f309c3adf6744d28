//! Answers: what became of the actions of a sync, stage by stage.

use std::sync::Arc;

use flyball_api::discovery::Discovery;
use flyball_api::{ApiError, Opaque, Text, Uid};

use crate::{Action, Actions, Listing, Write};

/// What a successful write left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The name of the object, also where the server made it up.
    pub name: Text,
    /// Its identity.
    pub uid: Uid,
    /// Its version after the write; empty if the server did not say.
    pub resource_version: Text,
    /// The object, if it was wanted whole.
    pub object: Option<Opaque>,
}

/// What became of one action.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The write took effect.
    Done(Written),
    /// The object as the server has it now.
    Read(Opaque),
    /// What a list found.
    Listed(Arc<Listing>),
    /// The resources that the server has.
    Discovered(Arc<Discovery>),
    /// It failed.
    Failed(ApiError),
    /// It was not tried, because of an earlier failure.
    Skipped,
}

impl Answer {
    /// The failure, if it is one.
    pub fn error(&self) -> Option<&ApiError> {
        match self {
            Self::Failed(error) => Some(error),
            _ => None,
        }
    }
}

/// One stage of a sync: what was asked for and what became of it, in the same order.
#[derive(Clone, Debug)]
pub struct Round {
    /// What was asked for.
    pub actions: Actions,
    /// What became of it.
    pub answers: Vec<Answer>,
}

impl Round {
    /// The first failure.
    pub fn first_error(&self) -> Option<&ApiError> {
        self.answers.iter().find_map(Answer::error)
    }

    /// The namespace of the first write that failed.
    pub fn failed_namespace(&self) -> &str {
        let mut failed = self.writes().filter(|(_, answer)| answer.error().is_some());
        failed
            .next()
            .map_or("", |(write, _)| write.target.name.namespace.as_str())
    }

    /// The writes of this stage, each with its answer.
    pub fn writes(&self) -> impl Iterator<Item = (&Write, &Answer)> {
        let both = self.actions.items.iter().zip(&self.answers);
        both.filter_map(|(action, answer)| Some((action.write()?, answer)))
    }

    /// What the writes of this stage left behind.
    pub fn written(&self) -> impl Iterator<Item = &Written> {
        self.answers.iter().filter_map(|answer| match answer {
            Answer::Done(written) => Some(written),
            _ => None,
        })
    }
}

/// Everything that was answered so far in one sync.
#[derive(Clone, Debug, Default)]
pub struct Answers(Vec<Round>);

impl Answers {
    /// No answers yet: the first step of a sync.
    pub fn none() -> Self {
        Self::default()
    }

    /// The answers to one stage; `None` if that stage was not run in this sync.
    pub fn stage(&self, stage: &str) -> Option<&Round> {
        self.stage_at(stage, 0)
    }

    /// The answers to one of several stages of the same name.
    pub fn stage_at(&self, stage: &str, index: usize) -> Option<&Round> {
        let mut rounds = self.0.iter();
        rounds.find(|round| round.actions.index == index && round.actions.stage == stage)
    }

    /// Adds the answers to a stage.
    pub fn push(&mut self, actions: Actions, answers: Vec<Answer>) {
        debug_assert_eq!(actions.items.len(), answers.len());
        self.0.push(Round { actions, answers });
    }

    /// All actions of all stages, each with its answer.
    pub fn all(&self) -> impl Iterator<Item = (&Action, &Answer)> {
        let rounds = self.0.iter();
        rounds.flat_map(|round| round.actions.items.iter().zip(&round.answers))
    }

    /// How many stages were run.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was run yet.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
