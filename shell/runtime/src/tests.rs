//! The runtime against a server in the same process, with time under control.

mod api;
mod candidates;
mod carrying;
mod discovering;
mod events;
mod executing;
mod feeding;
mod leases;
mod permits;
mod publishing;
mod readiness;
mod stopping;
mod toys;
