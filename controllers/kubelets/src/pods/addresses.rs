//! Addresses for pods: from the range of their node, each to one pod at a time.
//!
//! A pod tries the address that its identity leads to and takes the next that is free, so that an
//! address is seldom used again soon after it was given up.

use core::net::Ipv4Addr;
use std::collections::HashSet;
use std::sync::Arc;

use flyball_api::Text;

use crate::views::{Node, Pod};
use crate::{Settings, hash};

/// The block that ranges are cut from where nobody gave the node one.
const BLOCK: Range = Range {
    first: u32::from_be_bytes([10, 0, 0, 0]),
    size: 1 << 24,
};

/// The smallest range of a node, as upstream's node IPAM gives it out: a /24.
const SIZE_MIN: u32 = 256;

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: u32,
    size: u32,
}

/// The addresses of one node's pods.
pub(super) struct Addresses<'a> {
    range: Option<Range>,
    pods: &'a [Arc<Pod>],
    /// What is taken; counted when the first address is needed.
    taken: Option<HashSet<u32>>,
}

impl<'a> Addresses<'a> {
    pub(super) fn of(settings: &Settings, node: &Node, pods: &'a [Arc<Pod>]) -> Self {
        let range = match node.spec.pod_cidr.as_str() {
            "" => Some(own_range(settings, &node.metadata.name)),
            given => Range::read(given),
        };
        Self {
            range,
            pods,
            taken: None,
        }
    }

    /// An address for a pod that has none; `None` if there is none left.
    pub(super) fn take(&mut self, pod: &Pod) -> Option<Text> {
        let range = self.range?;
        let pods = self.pods;
        let taken = self.taken.get_or_insert_with(|| in_use(pods));
        // The first two are the network's and its gateway's, the last is for broadcasts.
        let usable = range.size.checked_sub(3).filter(|usable| *usable > 0)?;
        let start = hash::of(&pod.metadata.uid.to_string()) % u64::from(usable);
        let start = u32::try_from(start).ok()?;
        let free = (0..usable)
            .map(|step| range.first + 2 + (start + step) % usable)
            .find(|address| !taken.contains(address))?;
        taken.insert(free);
        Some(Ipv4Addr::from(free).to_string().into())
    }
}

/// The addresses of pods that have not ended.
fn in_use(pods: &[Arc<Pod>]) -> HashSet<u32> {
    let alive = pods.iter().filter(|pod| !pod.status.phase.is_terminal());
    let addresses = alive.filter_map(|pod| pod.status.pod_ip.parse::<Ipv4Addr>().ok());
    addresses.map(u32::from).collect()
}

/// A range for a node that nobody gave one, twice as large as the pods it may have. Nodes that are
/// numbered here have the lower half of the block, one after the other; all others share the
/// upper half by their names, where two may meet.
fn own_range(settings: &Settings, name: &str) -> Range {
    let size = settings.capacity.pods.saturating_mul(2).saturating_add(3);
    let size = size.clamp(SIZE_MIN, BLOCK.size >> 4).next_power_of_two();
    let half = BLOCK.size / size / 2;
    let number = settings
        .number(name)
        .and_then(|number| u32::try_from(number).ok());
    let place = match number {
        Some(number) => number % half,
        None => half + u32::try_from(hash::of(name) % u64::from(half)).unwrap_or(0),
    };
    Range {
        first: BLOCK.first + place * size,
        size,
    }
}

impl Range {
    /// Reads `10.244.3.0/24`. Ranges of the other family are not used here.
    fn read(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/')?;
        let address = u32::from(address.parse::<Ipv4Addr>().ok()?);
        let bits: u32 = bits.parse().ok().filter(|bits| (8..=30).contains(bits))?;
        let size = 1 << (32 - bits);
        Some(Self {
            first: address & !(size - 1),
            size,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::views::Phase;

    fn pod(uid: &str, ip: &str) -> Arc<Pod> {
        let mut pod = Pod::default();
        pod.metadata.uid = uid.into();
        pod.status.pod_ip = ip.into();
        Arc::new(pod)
    }

    fn node(name: &str, pod_cidr: &str) -> Node {
        let mut node = Node::default();
        node.metadata.name = name.into();
        node.spec.pod_cidr = pod_cidr.into();
        node
    }

    #[test]
    fn reads_ranges_and_refuses_what_is_none() {
        let range = |first: [u8; 4], size| {
            let first = u32::from_be_bytes(first);
            Some(Range { first, size })
        };
        assert_eq!(Range::read("10.244.3.0/24"), range([10, 244, 3, 0], 256));
        assert_eq!(Range::read("10.244.3.77/26"), range([10, 244, 3, 64], 64));
        for odd in [
            "",
            "10.0.0.0",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/0",
            "fd00::/64",
            "a/24",
        ] {
            assert_eq!(Range::read(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn numbered_nodes_have_ranges_of_their_own() {
        let settings = Settings::default();
        let ranges: HashSet<u32> = (0..20_000)
            .map(|i| own_range(&settings, &format!("node-{i}")).first)
            .collect();
        assert_eq!(ranges.len(), 20_000);
        let other = own_range(&settings, "worker").first;
        assert!(other >= u32::from_be_bytes([10, 128, 0, 0]));
    }

    #[test]
    fn an_address_is_free_again_when_its_pod_has_ended() {
        let mut ended = Pod::clone(&pod("a", "10.9.0.2"));
        ended.status.phase = Phase::Succeeded;
        // Five addresses are usable in a range of eight.
        let ips = ["10.9.0.3", "10.9.0.4", "10.9.0.5", "10.9.0.6"];
        let mut pods: Vec<_> = ips.iter().map(|ip| pod(ip, ip)).collect();
        pods.push(Arc::new(ended));
        let node = node("n", "10.9.0.0/29");
        let mut addresses = Addresses::of(&Settings::default(), &node, &pods);
        assert_eq!(addresses.take(&pod("x", "")).as_deref(), Some("10.9.0.2"));
        assert_eq!(addresses.take(&pod("y", "")), None, "all are taken");
    }

    proptest! {
        #[test]
        fn no_address_is_given_twice_and_none_is_wasted(bits in 24_u32..=30, wanted in 1_usize..300) {
            let node = node("n", &format!("10.9.0.0/{bits}"));
            let mut addresses = Addresses::of(&Settings::default(), &node, &[]);
            let given: Vec<_> = (0..wanted)
                .map_while(|i| addresses.take(&pod(&format!("pod-{i}"), "")))
                .collect();
            let usable = (1_usize << (32 - bits)) - 3;
            prop_assert_eq!(given.len(), wanted.min(usable));
            prop_assert_eq!(given.iter().collect::<HashSet<_>>().len(), given.len());
        }
    }
}
