//! Stages: the actions that a sync wants done before it goes on.

use std::fmt;

use crate::Action;

/// How a set of actions is paced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// One after the other; the first failure skips the rest.
    #[default]
    InOrder,
    /// All at once; a failure skips nothing.
    Together,
    /// In batches of 1, 2, 4, 8 …; a failure in one batch skips all later batches.
    SlowStart,
}

/// Names a stage within a sync: by its name, or by name and number where the same is done for each
/// of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StageId {
    /// The name.
    pub name: &'static str,
    /// The number, from 0.
    pub index: usize,
}

impl From<&'static str> for StageId {
    fn from(name: &'static str) -> Self {
        Self { name, index: 0 }
    }
}

impl From<(&'static str, usize)> for StageId {
    fn from((name, index): (&'static str, usize)) -> Self {
        Self { name, index }
    }
}

impl fmt::Display for StageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            0 => f.write_str(self.name),
            index => write!(f, "{} {}", self.name, index + 1),
        }
    }
}

/// A set of actions of one stage of a sync.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    /// The name of the stage, by which the next step finds the answers.
    pub stage: &'static str,
    /// Which of several stages of that name.
    pub index: usize,
    /// What to do.
    pub items: Vec<Action>,
    /// How to pace it.
    pub pace: Pace,
}

impl Actions {
    /// The stage that they are.
    pub fn id(&self) -> StageId {
        StageId {
            name: self.stage,
            index: self.index,
        }
    }

    /// The actions of a stage.
    pub fn of(stage: impl Into<StageId>, pace: Pace, items: Vec<Action>) -> Self {
        let StageId { name, index } = stage.into();
        Self {
            stage: name,
            index,
            items,
            pace,
        }
    }

    /// Actions to be run one after the other.
    pub fn in_order(stage: &'static str, items: Vec<Action>) -> Self {
        Self {
            stage,
            index: 0,
            items,
            pace: Pace::InOrder,
        }
    }

    /// Actions to be run all at once.
    pub fn together(stage: &'static str, items: Vec<Action>) -> Self {
        Self {
            stage,
            index: 0,
            items,
            pace: Pace::Together,
        }
    }

    /// Actions to be run in growing batches.
    pub fn slow_start(stage: &'static str, items: Vec<Action>) -> Self {
        Self {
            stage,
            index: 0,
            items,
            pace: Pace::SlowStart,
        }
    }
}
