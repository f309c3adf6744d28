//! Scripted elections, and random ones with several candidates on one Lease.

mod go;
mod race;
mod rules;
mod server;
mod world;
