//! What nobody needs any more goes away.
//!
//! ```text
//! Pod ──pod_garbage──→ deleted: too many finished, its node gone or out of service, never placed
//! Job ──ttl_after_finished──→ deleted: finished for as long as it said
//! ```
//!
//! Both delete what others have made, so each looks at the server itself before it does anything
//! that a stale cache could get wrong, and names the incarnation that it means.

mod pod_garbage;
mod ttl_after_finished;

pub use pod_garbage::{
    Key as PodGarbageKey, Observation as PodGarbageObservation, PodGarbageCollector,
    PodGarbageSettings,
};
pub use ttl_after_finished::{Observation as TtlObservation, TtlAfterFinishedController};
