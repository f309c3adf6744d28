//! Free loopback ports.
//!
//! Ports are taken below the kernel's range for outgoing connections, so that no client socket of a busy run
//! can sit on one between the probe and the server's bind, and never twice within this process.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Result, bail};

const FIRST: u32 = 15_000;
const COUNT: u32 = 16_000;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Returns a loopback port that nobody listens on. Processes start at different places in the range, so two
/// harnesses rarely probe the same port.
///
/// # Errors
/// When every port of the range is taken.
pub fn free_port() -> Result<u16> {
    let start = std::process::id().wrapping_mul(97);
    for _ in 0..COUNT {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let candidate = FIRST + start.wrapping_add(step) % COUNT;
        let port = u16::try_from(candidate)?;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    bail!(
        "no free loopback port between {FIRST} and {}",
        FIRST + COUNT
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_port_is_given_twice() {
        let ports: HashSet<u16> = (0..50).map(|_| free_port().unwrap()).collect();
        assert_eq!(ports.len(), 50);
    }
}
