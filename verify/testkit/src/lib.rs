//! Test machinery for controllers: a world to act in, cases to read, laws to keep.
//!
//! ```text
//! World ─log→ Caches ─snapshot, changes→ Runner (Engine) ─actions→ World
//! ```
//!
//! - [`World`] is a small model of an API server, in memory, with its history and its faults.
//! - [`Runner`] drives one controller over a world and tells what it did as text.
//! - [`check_cases`] compares what one sync does with what a YAML file says it does.
//! - [`laws!`] turns a generator of worlds into six property tests that every controller passes.
//! - [`builders`] and [`kubelet`] make objects and play everybody else.
//!
//! A development dependency only. Misuse panics with a message: whoever calls this is a test.

pub mod builders;
mod caches;
mod cases;
pub mod kubelet;
pub mod laws;
mod perform;
mod run;
mod text;
mod world;

pub use caches::Caches;
pub use cases::{CaseKey, case_differences, check_cases, check_cases_in};
pub use laws::Lawful;
pub use run::{Moment, Runner, Stage, Sync, Witness, settle, transcript};
pub use text::flow;
pub use world::{Fault, Id, World, Written};

#[doc(hidden)]
pub use proptest;
