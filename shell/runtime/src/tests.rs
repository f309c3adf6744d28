//! The runtime against a server in the same process, with time on a leash.

mod api;
mod candidates;
mod discovering;
mod events;
mod executing;
mod feeding;
mod leases;
mod stopping;
