//! What belongs to what: objects whose owners are gone go as well.
//!
//! ```text
//! objects of every kind ──collector──→ dependents deleted, set free or waited for
//! ```
//!
//! The kinds are known only at run time, from discovery; of most objects no more than the metadata
//! is ever seen.

mod collector;

pub use collector::{AbsentOwners, GarbageCollector, Item, Observation, graph};
