//! Events as upstream records them: correlated, aggregated, and never a flood.
//!
//! A [`Record`](flyball_plan::Record) of a controller becomes an Event here, or one more count on
//! an Event that says the same, or nothing at all when one object has been talked about too much.
//! Pure: whoever owns the recorder sends what it returns and tells it what came of it.
//!
//! Upstream: `client-go/tools/record/{event,events_cache}.go`.

mod recent;
mod recorder;
#[cfg(test)]
mod tests;

pub use recorder::{EventWrite, Recorder};
