//! Leader election on a Lease, as a state machine without clock or network.
//!
//! It interoperates with client-go candidates: the same Lease, the same fields, the same timing
//! rules. Three things go beyond what they do, none of which they can notice: a standby is told
//! of changes as they happen instead of only polling, so it takes over at the moment the rules
//! allow; a clean stop releases the Lease; and a leader knows until when it may write without
//! asking anyone ([`Election::leads_until`]), so a process that was stopped and continued does not
//! write on a Lease that is no longer its own.
//!
//! Upstream: `client-go/tools/leaderelection/leaderelection.go`.

mod candidate;
mod election;
mod record;
mod settings;
#[cfg(test)]
mod tests;

pub use candidate::{Candidate, told};
pub use election::{Command, Election, Heard, Role};
pub use record::Record;
pub use settings::{BadSettings, Settings};
