//! The ports of nodes that services hold.
//!
//! The lower part of the range is left to those who ask for a certain port, for as long as the
//! upper part has room.
//!
//! Upstream: `pkg/registry/core/service/portallocator/{allocator,operation}.go`,
//! `pkg/registry/core/service/allocator/bitmap.go`.

use std::collections::BTreeSet;

use super::spec::Spec;
use crate::request::Chance;

const FIRST: i64 = 30_000;
const LAST: i64 = 32_767;
const COUNT: usize = (LAST - FIRST + 1) as usize;
/// How many ports at the start of the range are drawn last: a 32nd of it.
const RESERVED: usize = COUNT / 32;

/// The port before the first that a dry run makes up.
const MADE_UP: i64 = 32_768;

/// Which ports are taken, and how often: what several services hold is free when all of them are gone.
#[derive(Clone, Debug)]
pub(crate) struct NodePorts {
    holders: Box<[u32]>,
}

impl Default for NodePorts {
    fn default() -> Self {
        let holders = vec![0; COUNT].into_boxed_slice();
        Self { holders }
    }
}

/// Why a port is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PortRefused {
    Full,
    Taken,
    NotInRange,
}

impl std::fmt::Display for PortRefused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Full => write!(f, "range is full"),
            Self::Taken => write!(f, "provided port is already allocated"),
            Self::NotInRange => write!(
                f,
                "provided port is not in the valid range. The range of valid ports is {FIRST}-{LAST}"
            ),
        }
    }
}

impl NodePorts {
    /// Takes note of a service that was one thing and is another now.
    pub(crate) fn note(&mut self, before: Option<&Spec>, after: Option<&Spec>) {
        for (spec, is_held) in [(before, false), (after, true)] {
            let Some(spec) = spec else { continue };
            let health = spec.needs_health_port().then_some(spec.health_port);
            for port in spec.node_ports().chain(health) {
                let holders = place(port).and_then(|at| self.holders.get_mut(at));
                if let Some(holders) = holders {
                    *holders = match is_held {
                        true => holders.saturating_add(1),
                        false => holders.saturating_sub(1),
                    };
                }
            }
        }
    }

    pub(super) fn is_taken(&self, port: i64) -> bool {
        let holders = place(port).and_then(|at| self.holders.get(at));
        holders.is_some_and(|holders| *holders > 0)
    }
}

fn place(port: i64) -> Option<usize> {
    (FIRST..=LAST)
        .contains(&port)
        .then(|| usize::try_from(port - FIRST).unwrap_or_default())
}

/// The ports that one write is about to take.
pub(super) struct Draft<'a> {
    ports: &'a NodePorts,
    drawn: BTreeSet<i64>,
    dry_run: bool,
}

impl<'a> Draft<'a> {
    pub(super) fn new(ports: &'a NodePorts, dry_run: bool) -> Self {
        Self {
            ports,
            drawn: BTreeSet::new(),
            dry_run,
        }
    }

    /// Takes a certain port. A dry run does not look at the range, as upstream's does not.
    pub(super) fn take(&mut self, port: i64) -> Result<(), PortRefused> {
        if !self.dry_run && place(port).is_none() {
            return Err(PortRefused::NotInRange);
        }
        if self.ports.is_taken(port) || self.drawn.contains(&port) {
            return Err(PortRefused::Taken);
        }
        self.drawn.insert(port);
        Ok(())
    }

    /// Takes any port. A dry run makes up one that no service can have.
    pub(super) fn next(&mut self, chance: &mut Chance<'_>) -> Result<i64, PortRefused> {
        let port = match self.dry_run {
            true => self.drawn.last().copied().unwrap_or(MADE_UP) + 1,
            false => {
                let upper = self.scan(RESERVED, COUNT, chance);
                let found = upper.or_else(|| self.scan(0, RESERVED, chance));
                found.ok_or(PortRefused::Full)?
            }
        };
        self.drawn.insert(port);
        Ok(port)
    }

    /// The first free port behind a random one, within a part of the range.
    fn scan(&self, from: usize, to: usize, chance: &mut Chance<'_>) -> Option<i64> {
        let size = to - from;
        let start = ((chance.0)() % size as u64) as usize;
        let ports = (0..size).map(|step| FIRST + (from + (start + step) % size) as i64);
        ports
            .into_iter()
            .find(|port| !self.ports.is_taken(*port) && !self.drawn.contains(port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::spec::Port;

    fn spec_with(ports: impl IntoIterator<Item = i64>) -> Spec {
        let port = |node_port| Port {
            node_port,
            ..Port::default()
        };
        Spec {
            kind: "NodePort".to_owned(),
            ports: ports.into_iter().map(port).collect(),
            ..Spec::default()
        }
    }

    #[test]
    fn ports_below_the_reserved_part_are_drawn_last() {
        let mut ports = NodePorts::default();
        let mut number = 0;
        let mut draw = || {
            number += 7;
            number
        };
        for drawn in 0..COUNT {
            let mut draft = Draft::new(&ports, false);
            let port = draft.next(&mut Chance(&mut draw)).unwrap();
            let is_reserved = port < FIRST + RESERVED as i64;
            assert_eq!(is_reserved, drawn >= COUNT - RESERVED, "{drawn}: {port}");
            ports.note(None, Some(&spec_with([port])));
        }
        let mut draft = Draft::new(&ports, false);
        assert_eq!(draft.next(&mut Chance(&mut draw)), Err(PortRefused::Full));
        ports.note(Some(&spec_with([31_000])), None);
        let mut draft = Draft::new(&ports, false);
        assert_eq!(draft.next(&mut Chance(&mut draw)), Ok(31_000));
    }

    #[test]
    fn a_port_is_given_once() {
        let mut ports = NodePorts::default();
        ports.note(None, Some(&spec_with([30_001])));
        let mut draft = Draft::new(&ports, false);
        assert_eq!(draft.take(30_001), Err(PortRefused::Taken));
        assert_eq!(draft.take(30_002), Ok(()));
        assert_eq!(draft.take(30_002), Err(PortRefused::Taken));
        assert_eq!(draft.take(80), Err(PortRefused::NotInRange));
        let told = PortRefused::NotInRange.to_string();
        assert!(told.ends_with("The range of valid ports is 30000-32767"));
    }

    #[test]
    fn a_dry_run_makes_ports_up() {
        let ports = NodePorts::default();
        let mut draft = Draft::new(&ports, true);
        let mut draw = || 0;
        assert_eq!(draft.take(80), Ok(()));
        assert_eq!(draft.next(&mut Chance(&mut draw)), Ok(81));
        let mut draft = Draft::new(&ports, true);
        assert_eq!(draft.next(&mut Chance(&mut draw)), Ok(32_769));
    }
}
