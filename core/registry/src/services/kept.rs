//! What an update of a service leaves out although it is allocated, and the two names of an address.
//!
//! Upstream: `pkg/registry/core/service/storage/storage.go`.

use std::collections::{BTreeMap, BTreeSet};

use super::spec::Spec;

/// Whoever sends a service again without what was allocated for it means to keep that.
pub(super) fn keep(new: &mut Spec, old: &Spec) {
    if new.needs_cluster_ip() && old.needs_cluster_ip() {
        if new.cluster_ip.is_empty() {
            new.cluster_ip.clone_from(&old.cluster_ip);
        }
        if new.cluster_ips.is_empty() {
            new.cluster_ips.clone_from(&old.cluster_ips);
        }
    }
    if new.needs_node_port() && old.needs_node_port() {
        let before: BTreeSet<i64> = old.node_ports().collect();
        let used: BTreeSet<i64> = new
            .node_ports()
            .filter(|port| before.contains(port))
            .collect();
        // Of ports with one name the last counts.
        let named = old.ports.iter().map(|one| (&one.name, one.node_port));
        let named: BTreeMap<&String, i64> = named.collect();
        for port in new.ports.iter_mut().filter(|port| port.node_port == 0) {
            let number = named.get(&port.name).copied().unwrap_or_default();
            if !used.contains(&number) {
                port.node_port = number;
            }
        }
    }
    if new.needs_health_port() && old.needs_health_port() && new.health_port == 0 {
        new.health_port = old.health_port;
    }
}

/// Clients of old know only `clusterIP`; what they say of it goes for `clusterIPs` too.
pub(super) fn normalize(new: &mut Spec, old: Option<&Spec>) {
    let Some(old) = old else {
        if !new.cluster_ip.is_empty() && new.cluster_ips.is_empty() {
            new.cluster_ips = vec![new.cluster_ip.clone()];
        }
        return;
    };
    let same_ip = new.cluster_ip == old.cluster_ip;
    if new.cluster_ips.is_empty() && same_ip {
        new.cluster_ips.clone_from(&old.cluster_ips);
    }
    if !same_ip && new.cluster_ips == old.cluster_ips {
        new.cluster_ips = match new.cluster_ip.as_str() {
            "" => Vec::new(),
            ip => vec![ip.to_owned()],
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::spec::Port;

    fn spec(cluster_ip: &str, cluster_ips: &[&str]) -> Spec {
        Spec {
            kind: "ClusterIP".to_owned(),
            cluster_ip: cluster_ip.to_owned(),
            cluster_ips: cluster_ips.iter().map(|ip| (*ip).to_owned()).collect(),
            ..Spec::default()
        }
    }

    #[test]
    fn both_names_of_an_address_agree() {
        for (new, old, expected) in [
            (spec("1", &[]), None, spec("1", &["1"])),
            (spec("1", &["2"]), None, spec("1", &["2"])),
            (spec("1", &[]), Some(spec("1", &["1"])), spec("1", &["1"])),
            (
                spec("2", &["1"]),
                Some(spec("1", &["1"])),
                spec("2", &["2"]),
            ),
            (spec("", &["1"]), Some(spec("1", &["1"])), spec("", &[])),
            (
                spec("2", &["3"]),
                Some(spec("1", &["1"])),
                spec("2", &["3"]),
            ),
        ] {
            let mut is = new.clone();
            normalize(&mut is, old.as_ref());
            assert_eq!(is, expected, "{new:?} after {old:?}");
        }
    }

    #[test]
    fn node_ports_stay_with_the_names_of_their_ports() {
        let port = |name: &str, node_port| Port {
            name: name.to_owned(),
            node_port,
            ..Port::default()
        };
        let spec = |ports: &[Port]| Spec {
            kind: "NodePort".to_owned(),
            ports: ports.to_vec(),
            ..Spec::default()
        };
        let old = spec(&[port("a", 1), port("b", 2)]);
        for (new, expected) in [
            (
                spec(&[port("b", 0), port("c", 0)]),
                spec(&[port("b", 2), port("c", 0)]),
            ),
            (
                spec(&[port("a", 0), port("b", 1)]),
                spec(&[port("a", 0), port("b", 1)]),
            ),
        ] {
            let mut is = new;
            keep(&mut is, &old);
            assert_eq!(is, expected);
        }
    }
}
