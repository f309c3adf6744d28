//! From a server's watch to immutable caches and coalesced changes.
//!
//! ```text
//! api ─watch→ Reflector ─delta→ Store + DeltaQueue ─pop→ Change
//!                                 └─view→ Snapshot
//! ```
//!
//! An [`Informer`] is these three for one kind. It is a value: it is fed what the server said and
//! answers with what to ask next. The shell runs it through [`AnyInformer`] without knowing its
//! type, and hands [`Snapshot`]s and [`Change`]s to controllers. Nothing in here knows a clock, a
//! socket or a random number: time and jitter are arguments.
//!
//! Nothing is unbounded: a kind costs one entry per object in the cache and at most one more in the
//! queue of changes.
//!
//! This crate owns the arrows from *watch* to *change*.

mod change;
mod delta;
mod informer;
mod reflector;
mod snapshot;
mod store;
#[cfg(test)]
mod testing;
mod watch;

pub use change::{Change, ChangeOf};
pub use informer::{AnyInformer, Informer, Readiness, Stepped};
pub use reflector::{Command, Input, ListRequest, Notice, Problem, Sign, WatchRequest};
pub use snapshot::{AnyView, Brief, Snapshot, SnapshotBuilder};
pub use store::{Store, StoreView};
pub use watch::{View, Watch, metadata_informer};
