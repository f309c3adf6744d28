//! The work queue: which key a controller looks at next, and when.
//!
//! It owns the arrow `route ─key→ work queue ─key→ observe`. Changes put keys in, workers take
//! keys out, and the queue promises, whatever the order of calls:
//!
//! - **once**: a key waits at most once and is never processed twice at the same time; added while
//!   it is being processed, it comes back when that processing is done;
//! - **at least once after the add**: no accepted add is ever lost. A key that does not fit is
//!   reported ([`Added::Overflow`]), never dropped in silence;
//! - **in order**: first in, first out among keys of one namespace and one [`Priority`];
//! - **fair**: namespaces take turns, priorities age, and so every wait is bounded (below);
//! - **calm**: failures back off per key and share one overall budget, and a failure only counts
//!   if its delay was honoured;
//! - **small**: a key that has nothing waiting, running or delayed leaves no trace, and the number
//!   of keys is capped.
//!
//! The queue is a plain value. It reads no clock: every call says what time it is, as the time
//! since an origin of the caller's choice. A `now` earlier than one already seen counts as that
//! one, so time never runs backwards. The same calls give the same answers, always.
//!
//! # How long a key can wait
//!
//! Each namespace has a lane per priority; the lanes of one priority are served in turn, one key
//! per turn. Priorities are served from high to low, but a priority whose oldest key has waited
//! [`Options::aging`] takes turns with those above it. Let a key have `ahead` keys in front of it
//! in its lane, and let at most `lanes` lanes of its priority be occupied while it waits. Then
//! [`WorkQueue::next`] returns it
//!
//! - within `lanes × (ahead + 1)` calls, if no key of another priority is served meanwhile;
//! - within `3 × lanes × (ahead + 1)` calls counted from the moment it has waited `aging` (from
//!   the start, if it is [`Priority::High`]), whatever else is added: 3 is the number of
//!   priorities.
//!
//! A namespace with 100,000 keys thus costs a key in another one a single turn. `ahead` never
//! grows while the key waits; when the key is raised to another priority both counts start afresh
//! there, which can happen twice at most.
//!
//! # Adds that are delayed
//!
//! [`WorkQueue::add_after`] promises a run that starts at or after its time; asked several times,
//! the earliest time is kept. As upstream, a direct add does not cancel it: an early run is not
//! the run that was asked for. Two runs become one when the time comes while the key already
//! waits. A retry after a failure is another matter: it wants one more run, no matter when, so
//! *any* run that starts takes the pending retry with it. Upstream runs such a key a second time
//! for nothing.
//!
//! # A worker's round
//!
//! ```
//! use flyball_workqueue::{Options, Priority, Retry, WorkQueue};
//! use std::time::Duration;
//!
//! let mut queue = WorkQueue::new(Options::default());
//! let mut now = Duration::ZERO;
//! queue.add("web", "shop", Priority::Normal, now);
//!
//! assert_eq!(queue.next(now), Some("web"));
//! assert_eq!(queue.retry(&"web", now), Retry::After(Duration::from_millis(5)));
//! queue.done(&"web", now);
//!
//! assert_eq!(queue.next(now), None);
//! now = queue.wake_at().unwrap();
//! assert_eq!(queue.next(now), Some("web"));
//! queue.forget(&"web");
//! queue.done(&"web", now);
//! assert!(queue.is_idle());
//! ```
//!
//! # Reading on
//!
//! One power per file: `queue` ties them together (`answers` is what it
//! says), `entries` knows the keys, `lanes` decides the
//! order (`chain` is its list), `delay` the time, `backoff` and `bucket` the patience, `metrics`
//! counts.

mod answers;
mod backoff;
mod bucket;
mod chain;
mod delay;
mod entries;
mod lanes;
mod metrics;
mod moment;
mod options;
mod queue;

pub use answers::{Added, Retry};
pub use metrics::{Histogram, Metrics};
pub use options::{Options, Priority};
pub use queue::WorkQueue;
