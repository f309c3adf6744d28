//! What nobody needs any more goes away.
//!
//! ```text
//! Namespace ──namespace──→ emptied, and let go
//! Pod ──pod_garbage──→ deleted: too many finished, its node gone or out of service, never placed
//! Job ──ttl_after_finished──→ deleted: finished for as long as it said
//! ```
//!
//! All of them delete what others have made, so each looks at the server itself before it does anything
//! that a stale cache could get wrong, and names the incarnation that it means.

mod namespace;
mod pod_garbage;
mod ttl_after_finished;

pub use namespace::{NamespaceController, Observation as NamespaceObservation};
pub use pod_garbage::{
    Key as PodGarbageKey, Observation as PodGarbageObservation, PodGarbageCollector,
    PodGarbageSettings,
};
pub use ttl_after_finished::{Observation as TtlObservation, TtlAfterFinishedController};
