//! A controller is a pure function: it looks at a snapshot and says what to do.
//!
//! ```text
//! change ─route→ key ─→ work queue ─→ observe ─→ step ─actions→ (executor) ─answers→ step … rest
//! ```
//!
//! This crate owns the arrows from a change to the actions: the [`Controller`] trait, the data
//! it speaks in ([`Action`], [`Answer`], [`Step`], [`Report`]), the [`Engine`] that drives one
//! controller through its queue, and the [`Gate`] that keeps a key from being planned before the
//! caches have seen that key's own writes. What executes the actions is elsewhere: on a cluster
//! the shell, in the simulator a model of one.

mod action;
mod answer;
mod body;
mod controller;
mod descriptor;
mod engine;
mod failure;
mod following;
mod gate;
mod lint;
mod listing;
mod metric;
mod pacing;
mod read;
mod report;
mod rule;
pub mod rules;
mod settings;
mod sight;
mod stage;
mod sync;
mod target;
mod verb;
mod wait;
mod walk;
mod wire;
mod write;

pub use action::{Action, Record, RecordKind};
pub use answer::{Answer, Answers, Round, Written};
pub use body::Body;
pub use controller::{Controller, Key, Keys, Learnt, Now, Rest, Revisit, Step};
pub use descriptor::{Descriptor, FeatureGate};
pub use engine::{Driver, Endings, Engine, EngineStats, Finished, Next, Outcome, SyncId, Work};
pub use failure::Failure;
pub use following::Following;
pub use gate::Gate;
pub use lint::{Lint, lint};
pub use listing::{Listed, Listing};
pub use metric::{Amount, Metric, Tally};
pub use pacing::Progress;
pub use read::{Question, Read};
pub use report::{Again, DETAILS_MAX, Detail, Report};
pub use rule::{COMMON, OBJECT_GONE, OWN_WRITE_UNSEEN, Rule, TOO_MANY_STAGES, WRITE_FAILED};
pub use settings::{Configure, Settings};
pub use sight::Sight;
pub use stage::{Actions, Pace, StageId};
pub use sync::{Flow, Found, Sync, failed, stuck};
pub use target::{Precondition, Target};
pub use verb::{Propagation, Shows, Verb};
pub use wait::{Timer, Unseen, Until, Wait};
pub use walk::{Reports, Stop};
pub use wire::{answer_of, request_of};
pub use write::{Subresource, Want, Write};
