//! Warnings about container ports that are in each other's way.
//!
//! Upstream: `warningsForPodPorts` in `pkg/api/pod/warnings.go`. It compares all pairs; here the earlier ports that a
//! port is in the way of are found in an index, and no more of them than fit into an answer.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::warnings::Room;

/// A port and where it is.
struct Port<'v> {
    place: String,
    name: &'v str,
    number: i64,
    protocol: &'v str,
    host_ip: &'v str,
    host_port: i64,
}

impl<'v> Port<'v> {
    fn read(place: String, port: &'v Value) -> Self {
        let text = |field: &str| port[field].as_str().unwrap_or_default();
        let number = |field: &str| port[field].as_i64().unwrap_or_default();
        Self {
            place,
            name: text("name"),
            number: number("containerPort"),
            protocol: text("protocol"),
            host_ip: text("hostIP"),
            host_port: number("hostPort"),
        }
    }
}

/// Adds the warnings about the ports of these containers.
pub(super) fn warn(containers: Vec<(String, &Value)>, told: &mut Vec<String>) {
    let mut all = Vec::new();
    for (place, container) in containers {
        let ports = container["ports"].as_array().into_iter().flatten();
        let read = ports.enumerate();
        all.extend(read.map(|(at, port)| Port::read(format!("{place}.ports[{at}]"), port)));
    }
    let mut room = Room::default();
    let mut tell = |warning: String| {
        room.take(&warning);
        told.push(warning);
        !room.is_full()
    };
    let mut index = Index::default();
    for (at, port) in all.iter().enumerate() {
        if !port.host_ip.is_empty() && port.host_port == 0 {
            let has_room = tell(format!(
                "{}: hostIP set without hostPort: {{Name:{} HostPort:0 ContainerPort:{} Protocol:{} HostIP:{}}}",
                port.place, port.name, port.number, port.protocol, port.host_ip
            ));
            if !has_room {
                return;
            }
        }
        for (other, how) in index.others(port) {
            let other = &all[other].place;
            if !tell(format!(
                "{}: {how} port definition with {other}",
                port.place
            )) {
                return;
            }
        }
        index.add(at, port);
    }
    let mut named: BTreeMap<&str, &String> = BTreeMap::new();
    for port in all.iter().filter(|port| !port.name.is_empty()) {
        let Some(other) = named.get(port.name) else {
            named.insert(port.name, &port.place);
            continue;
        };
        let has_room = tell(format!(
            "{}: duplicate port name {:?} with {other}, services and probes that select ports by name will use {other}",
            port.place, port.name
        ));
        if !has_room {
            return;
        }
    }
}

/// The ports before one, by what is compared.
#[derive(Default)]
struct Index<'v> {
    of: HashMap<(i64, &'v str), Same<'v>>,
}

/// Ports of one number and protocol, in order.
#[derive(Default)]
struct Same<'v> {
    all: Vec<usize>,
    /// By the port and the address of the host.
    hosts: HashMap<(i64, &'v str), Vec<usize>>,
    /// Those with any address, by the port of the host.
    addressed: HashMap<i64, Vec<usize>>,
    /// Those without a port of the host.
    inner: Vec<usize>,
}

/// More pairs than fit into an answer.
const PAIRS_MAX: usize = 4 * 1024;

impl<'v> Index<'v> {
    fn add(&mut self, at: usize, port: &Port<'v>) {
        let same = self.of.entry((port.number, port.protocol)).or_default();
        same.all.push(at);
        let host = same.hosts.entry((port.host_port, port.host_ip));
        host.or_default().push(at);
        if port.host_port == 0 {
            same.inner.push(at);
        }
        if !port.host_ip.is_empty() {
            same.addressed.entry(port.host_port).or_default().push(at);
        }
    }

    /// The ports before this one that it is in the way of, in order, and how.
    fn others(&self, port: &Port<'v>) -> Vec<(usize, &'static str)> {
        let Some(same) = self.of.get(&(port.number, port.protocol)) else {
            return Vec::new();
        };
        let take = |list: Option<&Vec<usize>>, how: &'static str| {
            let list = list.into_iter().flatten().take(PAIRS_MAX);
            list.map(|at| (*at, how)).collect::<Vec<_>>()
        };
        let equal = same.hosts.get(&(port.host_port, port.host_ip));
        let mut found = take(equal, "duplicate");
        let wide = match port.host_port {
            0 => Some(&same.all),
            _ => Some(&same.inner),
        };
        let is_equal = |at: usize| equal.is_some_and(|list| list.binary_search(&at).is_ok());
        let overlapping = take(wide, "overlapping").into_iter();
        found.extend(overlapping.filter(|(at, _)| !is_equal(*at)));
        if port.host_port != 0 {
            let ambiguous = match port.host_ip.is_empty() {
                true => same.addressed.get(&port.host_port),
                false => same.hosts.get(&(port.host_port, "")),
            };
            found.extend(take(ambiguous, "dangerously ambiguous"));
        }
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// All pairs, as upstream compares them.
    fn compared(ports: &[Value]) -> Vec<String> {
        let mut told = Vec::new();
        for (at, port) in ports.iter().enumerate() {
            for (before, other) in ports.iter().enumerate().take(at) {
                let same = |field: &str| port[field] == other[field];
                let has_ip = |port: &Value| port["hostIP"] != "";
                if !same("containerPort") || !same("protocol") {
                    continue;
                }
                let how = if same("hostIP") && same("hostPort") {
                    "duplicate"
                } else if port["hostPort"] == 0 || other["hostPort"] == 0 {
                    "overlapping"
                } else if same("hostPort") && has_ip(port) != has_ip(other) {
                    "dangerously ambiguous"
                } else {
                    continue;
                };
                told.push(format!(
                    "c.ports[{at}]: {how} port definition with c.ports[{before}]"
                ));
            }
        }
        told
    }

    #[test]
    fn the_index_finds_what_a_comparison_of_all_pairs_finds() {
        let mut random: u64 = 1;
        let mut draw = |below: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) % below
        };
        for _ in 0..500 {
            let mut port = || {
                let protocol = ["TCP", "UDP"][draw(2) as usize];
                let address = ["", "a", "b"][draw(3) as usize];
                json!({"containerPort": draw(2), "protocol": protocol, "hostPort": draw(3), "hostIP": address})
            };
            let ports: Vec<Value> = (0..8).map(|_| port()).collect();
            let container = json!({ "ports": ports });
            let mut told = Vec::new();
            warn(vec![("c".to_owned(), &container)], &mut told);
            told.retain(|warning| !warning.contains("hostIP set"));
            assert_eq!(told, compared(&ports), "{container}");
        }
    }

    #[test]
    fn no_more_pairs_are_told_than_fit_into_an_answer() {
        let ports: Vec<Value> = (0..20_000).map(|_| json!({"containerPort": 80})).collect();
        let container = json!({ "ports": ports });
        let mut told = Vec::new();
        warn(vec![("c".to_owned(), &container)], &mut told);
        assert!(told.len() < 200, "{}", told.len());
    }
}
