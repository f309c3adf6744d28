//! Trouble for the garbage collector: whatever it does not know, nothing goes whose owner lives.

mod discovery;
mod family;
mod kills;
mod ledger;
mod nonsense;
mod stale;

pub(super) use discovery::check as discovery;
pub(super) use kills::check as kills;
pub(super) use nonsense::check as nonsense;
pub(super) use stale::check as stale;

/// The only controller that is put to the test here.
pub(super) const CONTROLLERS: &[&str] = &["garbage-collector-controller"];
