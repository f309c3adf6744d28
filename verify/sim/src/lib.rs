//! The proving ground: a whole cluster in one thread, on virtual time, with faults, from one seed.
//!
//! What runs here is the production code minus transport: `core/registry` and `core/storage` as
//! the API server, `core/informer`, `core/plan`, `core/election` and `core/recorder` in every
//! replica, and the controllers as they are. A [`Step`] is the only thing that can happen; faults
//! and users' edits are data in a [`Plan`] that a seed draws.
//!
//! A run has two phases. First faults rage, and the [`invariants`] are checked after every step.
//! Then they stop, and everything must reach its desired state within a bound and stay there: no
//! write for one virtual hour.
//!
//! [`Sim`] is the way in.

mod agenda;
mod bugs;
mod calm;
mod chance;
mod cluster;
mod coverage;
mod driver;
mod faults;
pub mod invariants;
mod many;
mod parts;
mod plan;
mod replica;
pub mod report;
mod server;
mod shrink;
mod sim;
mod step;
mod systematic;
mod tally;
mod trace;
mod truth;
mod workload;

pub use bugs::{BUGS, Bug};
pub use coverage::{Coverage, ELSEWHERE, RULES, Reached};
pub use faults::{Fault, KINDS as FAULT_KINDS, Meddling, Mishap};
pub use invariants::Violation;
pub use many::{Failure, Replays, Summary, many, replays};
pub use parts::Part;
pub use plan::{Plan, Planned, When};
pub use shrink::shrink;
pub use sim::{Outcome, Sim};
pub use step::{Deed, Life, Step};
pub use systematic::{Counted, Systematic, systematic};
pub use tally::Tally;
pub use truth::{Changed, Thing, Truth};
pub use workload::Edit;
