//! Services and what is behind and in front of them: endpoints, ingresses, policies, addresses.

use std::collections::BTreeSet;

use serde_json::Value;

use super::columns::{AGE, Column, NAME, Printer, cells, text as column};
use super::row::{Row, joined, labels, list, number, selector_or_none, shortened, text};

/// How many addresses, ports or hosts are shown of each object.
const SHOWN_MAX: usize = 3;

pub(super) const SERVICES: Printer = Printer {
    columns: &[
        NAME,
        column("Type", "How far it can be reached."),
        column("Cluster-IP", "Its address within the cluster."),
        column("External-IP", "Its addresses from outside."),
        column("Port(s)", "Its ports, with those on nodes."),
        AGE,
        column("Selector", "Which pods serve it, by their labels.").wide(),
    ],
    cells: |row| {
        let first = row.list("spec.clusterIPs").first().map(text);
        let single = Some(row.text("spec.clusterIP")).filter(|address| !address.is_empty());
        cells![
            row.name(),
            row.text("spec.type"),
            first.or(single).unwrap_or("<none>"),
            external_addresses(row),
            ports(row),
            row.age(),
            labels(row.at("spec.selector")),
        ]
    },
};

fn external_addresses(row: &Row<'_>) -> String {
    let external = row.list("spec.externalIPs").iter().map(text);
    match row.text("spec.type") {
        "ClusterIP" | "NodePort" => or(joined(external, ","), "<none>"),
        "LoadBalancer" => {
            let balancer = balancer(row);
            let parts = balancer.split(',').filter(|part| !part.is_empty());
            or(joined(parts.chain(external), ","), "<pending>")
        }
        "ExternalName" => row.text("spec.externalName").into(),
        _ => "<unknown>".into(),
    }
}

/// The addresses or names of a load balancer, each once, sorted.
fn balancer(row: &Row<'_>) -> String {
    let ingress = row.list("status.loadBalancer.ingress").iter();
    let points = ingress.map(|point| match text(&point["ip"]) {
        "" => text(&point["hostname"]),
        address => address,
    });
    let points: BTreeSet<&str> = points.filter(|point| !point.is_empty()).collect();
    joined(points, ",")
}

fn ports(row: &Row<'_>) -> String {
    let ports = row.list("spec.ports").iter().map(|port| {
        let (number, protocol) = (number(&port["port"]), text(&port["protocol"]));
        match super::row::number(&port["nodePort"]) {
            on_nodes if on_nodes > 0 => format!("{number}:{on_nodes}/{protocol}"),
            _ => format!("{number}/{protocol}"),
        }
    });
    or(ports.collect::<Vec<_>>().join(","), "<none>")
}

fn or(text: String, other: &str) -> String {
    if text.is_empty() { other.into() } else { text }
}

pub(super) const ENDPOINTS: Printer = Printer {
    columns: &[
        NAME,
        column("Endpoints", "The first addresses that serve."),
        AGE,
    ],
    cells: |row| cells![row.name(), endpoints(row), row.age()],
};

fn endpoints(row: &Row<'_>) -> String {
    let subsets = row.list("subsets");
    if subsets.is_empty() {
        return "<none>".into();
    }
    let mut all = Vec::new();
    for subset in subsets {
        let addresses = list(&subset["addresses"]);
        let ports = list(&subset["ports"]);
        if ports.is_empty() {
            // A headless service may have no ports.
            all.extend(
                addresses
                    .iter()
                    .map(|address| text(&address["ip"]).to_owned()),
            );
        }
        for port in ports {
            let port = number(&port["port"]);
            all.extend(
                addresses
                    .iter()
                    .map(|address| host_and_port(text(&address["ip"]), port)),
            );
        }
    }
    shortened(&all, SHOWN_MAX, ",")
}

/// An address that contains colons needs brackets before a port.
fn host_and_port(host: &str, port: i64) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

pub(super) const ENDPOINT_SLICES: Printer = Printer {
    columns: &[
        NAME,
        column("AddressType", "What kind of addresses it has."),
        column("Ports", "The first ports of its endpoints."),
        column("Endpoints", "The first addresses of its endpoints."),
        AGE,
    ],
    cells: |row| {
        let ports = row
            .list("ports")
            .iter()
            .map(|port| match port["port"].as_i64() {
                Some(number) => number.to_string(),
                None => port["name"].as_str().unwrap_or("*").to_owned(),
            });
        let endpoints = row.list("endpoints").iter();
        let addresses = endpoints
            .flat_map(|one| list(&one["addresses"]))
            .map(|one| text(one).to_owned());
        let shown = |all: Vec<String>| or(shortened(&all, SHOWN_MAX, ","), "<unset>");
        cells![
            row.name(),
            row.text("addressType"),
            shown(ports.collect()),
            shown(addresses.collect()),
            row.age(),
        ]
    },
};

pub(super) const INGRESSES: Printer = Printer {
    columns: &[
        NAME,
        column("Class", "The class that says who serves it."),
        column("Hosts", "The first hosts that its rules are about."),
        column("Address", "The addresses of its load balancer."),
        column("Ports", "The ports that are open."),
        AGE,
    ],
    cells: |row| {
        let tls = row.count("spec.tls") > 0;
        cells![
            row.name(),
            row.text_or("spec.ingressClassName", "<none>"),
            hosts(row),
            balancer(row),
            if tls { "80, 443" } else { "80" },
            row.age(),
        ]
    },
};

fn hosts(row: &Row<'_>) -> String {
    let rules = row.list("spec.rules");
    let mut shown = Vec::new();
    let mut more = false;
    for rule in rules {
        // As upstream: once three are shown any further rule counts, with a host or without.
        more |= shown.len() == SHOWN_MAX;
        let host = text(&rule["host"]);
        if !more && !host.is_empty() {
            shown.push(host);
        }
    }
    match shown.join(",") {
        none if none.is_empty() => "*".into(),
        all if more => format!("{all} + {} more...", rules.len() - SHOWN_MAX),
        all => all,
    }
}

pub(super) const INGRESS_CLASSES: Printer = Printer {
    columns: &[
        NAME,
        column("Controller", "Who serves ingresses of this class."),
        column("Parameters", "The object with further settings."),
        AGE,
    ],
    cells: |row| {
        let default = row.annotation("ingressclass.kubernetes.io/is-default-class") == Some("true");
        let parameters = match row.at("spec.parameters") {
            Value::Null => "<none>".into(),
            of => {
                let kind = text(&of["kind"]);
                let kind = match of["apiGroup"].as_str() {
                    Some(group) => format!("{kind}.{group}"),
                    None => kind.to_owned(),
                };
                format!("{kind}/{}", text(&of["name"]))
            }
        };
        cells![
            format!("{}{}", row.name(), if default { " (default)" } else { "" }),
            row.text("spec.controller"),
            parameters,
            row.age(),
        ]
    },
};

pub(super) const NETWORK_POLICIES: Printer = Printer {
    columns: &[
        NAME,
        column("Pod-Selector", "Which pods it is about, by their labels."),
        AGE,
    ],
    cells: |row| {
        cells![
            row.name(),
            selector_or_none(row.at("spec.podSelector")),
            row.age()
        ]
    },
};

pub(super) const SERVICE_CIDRS: Printer = Printer {
    columns: &[
        NAME,
        column("CIDRs", "The ranges that services get addresses from."),
        AGE,
    ],
    cells: |row| {
        let ranges = row.list("spec.cidrs").iter().map(text);
        cells![row.name(), joined(ranges, ","), row.age()]
    },
};

/// Upstream gives three cells for two columns, and so do we: what reads by position finds the same.
pub(super) const IP_ADDRESSES: Printer = Printer {
    columns: &[NAME, PARENT],
    cells: |row| {
        let parent = match row.at("spec.parentRef") {
            Value::Null => "<none>".into(),
            of => {
                let mut parent = text(&of["resource"]).to_lowercase();
                let after = [
                    (".", text(&of["group"]).to_lowercase()),
                    ("/", text(&of["namespace"]).into()),
                ];
                for (between, part) in after.iter().filter(|(_, part)| !part.is_empty()) {
                    parent.push_str(between);
                    parent.push_str(part);
                }
                format!("{parent}/{}", text(&of["name"]))
            }
        };
        cells![row.name(), parent, row.age()]
    },
};

const PARENT: Column = column("ParentRef", "What the address was given to.");
