//! Runs a [`Process`](flyball_process::Process) of controllers on a real cluster.
//!
//! Owns no decision: the process says what to list and watch, when a controller may plan, what may
//! be written, and in which order to stop. This crate carries that out on tokio and keeps the
//! bounds: one watch and one cache per kind, no buffer between a watch and the queues, a fixed
//! number of requests under way, and the permission asked for before each write.
//!
//! ```text
//! feed ─ loop ─ election ─ discovery ─ events     (tasks)
//!   └──────┴──────┬───┴────────┴─────────┘
//!               Shared ─ one lock ─ Process
//!                 └─ effects ─→ commands, wake-ups, permission, logs
//! ```
//!
//! [`start`] is the way in; [`Running::stop`] the way out.

mod clock;
mod coalesced_reads;
mod decisions;
mod discovery;
mod effects;
mod election;
mod events;
mod executor;
mod feed;
mod feeds;
mod health;
mod lease_watch;
mod loop_thread;
mod loops;
mod metrics;
mod news;
mod permission;
mod run;
mod shared;
mod stop;
#[cfg(test)]
mod tests;
mod turns;

pub use clock::Clock;
pub use decisions::{Decision, Decisions, Deed};
pub use election::ElectionOptions;
pub use health::{Check, Health};
pub use loop_thread::LoopThread;
pub use metrics::{CONTENT_TYPE, Metrics};
pub use run::{Controlled, Running, Setup, StartFailed, start};
pub use turns::{TURNS_AFAR, TURNS_WITHIN, event_loop};
