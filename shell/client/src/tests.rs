//! The client against scripted servers: in this process with time on a leash, and over loopback.

mod dead_connections;
mod discovering;
mod given_up;
mod permits;
mod pipes;
mod pooling;
pub(crate) mod script;
mod sending;
mod watching;
mod wire;
