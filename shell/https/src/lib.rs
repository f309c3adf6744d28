//! What every HTTPS server of ours needs: the handshake, connections that can be asked to end, the
//! request's target, and what `/metrics` says of the process.
//!
//! Who may come in, what is served and how long anyone may take is for the servers to say: the
//! manager's (`flyball-serving`) and the embedded API server (`flyball-apiserver`).

mod connection;
mod handshake;
mod process;
mod target;

pub use connection::{Connection, http1};
pub use handshake::secure;
pub use process::Process;
pub use target::{Target, unescaped};
