//! Runs pure controllers on a real cluster.
//!
//! Owns no decision: informers say what to ask the server, engines say what to do, the election
//! says who may. This crate carries it out on tokio and keeps the bounds: one watch and one cache
//! per kind, no buffer between a watch and the queues, a fixed number of requests under way, the
//! term checked before each write.
//!
//! [`start`] is the way in; [`Running::stop`] the way out.

mod caches;
mod clock;
mod decisions;
mod discovery;
mod election;
mod events;
mod executor;
mod feed;
mod health;
mod loop_thread;
mod loops;
mod metrics;
mod recent;
mod run;
mod stop;
mod term;
#[cfg(test)]
mod tests;
mod turns;

pub use clock::Clock;
pub use decisions::{Decision, Decisions, Deed};
pub use election::ElectionOptions;
pub use health::{Check, Health};
pub use loop_thread::LoopThread;
pub use metrics::{CONTENT_TYPE, Metrics};
pub use run::{Controlled, Running, Setup, start};
pub use term::Term;
pub use turns::{TURNS_AFAR, TURNS_WITHIN, event_loop};
