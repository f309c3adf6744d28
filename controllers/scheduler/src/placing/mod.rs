//! Places pods one after the other on a picture of all nodes.
//!
//! ```text
//! pending pods, by importance ─→ class ─filter→ feasible nodes ─score→ node ─assume→ board
//!                                    └─no node→ preemption: whom to delete
//! ```
//!
//! A [`Board`](board::Board) holds what each node has left; a placed pod is drawn in at once, so
//! that the next one sees it. A [`Class`](class::Class) holds what is the same for all pods that
//! are placed alike, above all what had to be counted over every pod there is; it is counted once
//! per batch and kept up with each placement. So a pod costs a look at each node, not at each pod.

mod batch;
mod board;
mod class;
mod company;
mod filter;
mod preemption;
mod score;
mod spreading;
mod topology;
mod verdict;

#[cfg(test)]
pub(crate) use batch::{BURST, VICTIMS_MAX};
pub(crate) use batch::{Decision, FAILURES_MAX, Failure, Nomination, decide};
#[cfg(test)]
pub(crate) use board::Work;
