//! A process of controllers as a value: every decision of the runtime, and none of its effects.
//!
//! ```text
//! answer, line, deadline ─→ Process ─→ command, work, request ─→ (shell or simulator) ─→ answer …
//! ```
//!
//! This crate owns the orchestration between informers and controllers: the life of a cache, when
//! a controller may plan, the start and the end of a term, routing, resync, coalesced reads, and
//! the order of a stop. `shell/runtime` carries the decisions out on tokio; the simulator carries
//! out the same decisions one step at a time. Neither decides anything of its own.
//!
//! - **Complete or not shown.** What a cache holds and whether it is complete are published in one
//!   step ([`Process::publish`]); a controller plans from nothing else.
//! - **Rounds.** A round begins when a term is won from another holder, or when the server turns out
//!   to have another history. Every cache is then listed anew by a consistent request that was
//!   sent after that moment. A controller plans only from caches of the present round.
//! - **Histories.** A server restored from an older backup has another history. Versions that go
//!   back, and a Lease without our last renewal, give it away. After a lost connection nothing is
//!   written until the server has shown our last renewal.
//!
//! [`Process`] is the way in.

mod begin;
mod cache;
mod caches;
mod controllers;
mod discovery;
mod effect;
mod election;
mod flaws;
mod history;
mod process;
mod reads;
mod round;
mod stop;
mod teller;
#[cfg(test)]
mod tests;
mod touch;
mod views;

pub use cache::{CacheId, CacheState};
pub use caches::Fed;
pub use controllers::ControllerId;
pub use discovery::DiscoveryState;
pub use effect::{Effect, News};
pub use election::Elect;
pub use flaws::{Flaw, Flaws, Sound};
pub use history::HistoryState;
pub use process::{Moment, Process, Settings};
pub use reads::{Question, Reading};
pub use stop::Phase;
pub use teller::{Teller, Told};
pub use views::ViewConflict;
