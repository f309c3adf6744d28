//! The laws of the queue under any sequence of calls.
//!
//! `agreement` plays random sequences on the queue and on a naive model of its contract and
//! compares every answer; `waiting` checks the written bound on the wait and that no key is lost,
//! without knowing how the queue chooses.

mod agreement;
mod model;
mod waiting;
