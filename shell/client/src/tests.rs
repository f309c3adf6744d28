//! The client against scripted servers: in this process with time on a leash, and over loopback.

mod discovering;
mod pooling;
pub(crate) mod script;
mod sending;
mod watching;
mod wire;
