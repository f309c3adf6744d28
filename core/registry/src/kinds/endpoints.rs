//! What stands behind services: Endpoints and EndpointSlices.
//!
//! Upstream: `pkg/apis/core/{v1/defaults.go,validation/validation.go}`,
//! `pkg/apis/discovery/{v1/defaults.go,validation/validation.go}`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::NameRule;
use super::checks::{self, PROTOCOLS, same};
use super::fill::Fill::{Empty, OptionalText, Text};
use super::fill::each;
use super::ip;
use super::labels;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::names;
use crate::object::{Meta, Object, at};

const ENDPOINTS_MAX: usize = 1000;
const ADDRESSES_MAX: usize = 100;
const PORTS_MAX: usize = 20_000;
const TOPOLOGY_MAX: usize = 16;
const HINTS_MAX: usize = 8;

pub(super) static ENDPOINTS: Sheet = Sheet {
    defaults: &[("subsets[].ports[].protocol", Text("TCP"))],
    check: check_endpoints,
    check_whole_update: Some(|new, old, errors| {
        // What was stored before is left alone.
        if !same(at(new, "subsets"), at(old, "subsets")) {
            check_endpoints(new, errors);
        }
    }),
    creates_on_update: true,
    ..Sheet::PLAIN
};

pub(super) static ENDPOINT_SLICE: Sheet = Sheet {
    defaults: &[
        ("ports[].name", OptionalText("")),
        ("ports[].protocol", OptionalText("TCP")),
        ("endpoints[].conditions", Empty),
    ],
    create: |slice, _| drop_topology(slice),
    update: |new, old| {
        let topologies = |slice: &Object| -> Vec<Value> {
            let all = at(slice, "endpoints").as_array().into_iter().flatten();
            all.map(|endpoint| endpoint["deprecatedTopology"].clone())
                .collect()
        };
        if topologies(new) != topologies(old) {
            drop_topology(new);
            // It was a change when it was sent.
            let generation = old.generation() + 1;
            let meta = new.meta_mut();
            meta.insert("generation".to_owned(), generation.into());
        }
    },
    generation: &["addressType", "endpoints", "ports", "metadata.labels"],
    check: |slice, errors| check_slice(slice, None, errors),
    check_whole_update: Some(|new, old, errors| {
        check_slice(new, Some(old), errors);
        let kind = Spot::of(new, "addressType");
        checks::immutable(&kind, at(old, "addressType"), errors);
    }),
    ..Sheet::PLAIN
};

/// A field of an older version that cannot be written any more.
fn drop_topology(slice: &mut Object) {
    each(slice, "endpoints[]", &mut |endpoint| {
        endpoint.remove("deprecatedTopology");
    });
}

fn check_endpoints(endpoints: &Object, errors: &mut Errors) {
    let subsets = Spot::of(endpoints, "subsets");
    for subset in subsets.items() {
        let lists = ["addresses", "notReadyAddresses"].map(|field| subset.get(field));
        if lists.iter().all(Spot::is_empty) {
            errors.push(subset.required("must specify `addresses` or `notReadyAddresses`"));
        }
        for list in &lists {
            list.items()
                .for_each(|address| check_address(&address, errors));
        }
        let ports = subset.get("ports");
        let count = ports.items().count();
        for port in ports.items() {
            let name = port.get("name");
            if name.is_empty() && count > 1 {
                errors.push(name.required(""));
            } else if !name.is_empty() {
                checks::name(&name, NameRule::Label, errors);
            }
            checks::port_number(&port.get("port"), errors);
            checks::one_of(&port.get("protocol"), PROTOCOLS, errors);
            check_language(&port, errors);
        }
    }
}

fn check_language(port: &Spot, errors: &mut Errors) {
    let language = port.get("appProtocol");
    if language.is_set() {
        labels::check_qualified_name(&language, errors);
    }
}

fn check_address(address: &Spot, errors: &mut Errors) {
    let (ip, host, node) = (
        address.get("ip"),
        address.get("hostname"),
        address.get("nodeName"),
    );
    checks::address(&ip, &[], errors);
    if !host.is_empty() {
        checks::name(&host, NameRule::Label, errors);
    }
    if node.is_set() {
        checks::name(&node, NameRule::Subdomain, errors);
    }
    check_reachable(&ip, errors);
}

/// An address behind which a pod can be.
fn check_reachable(ip: &Spot, errors: &mut Errors) {
    let wrong = ip::special_mistakes(ip.text()).into_iter();
    errors.extend(wrong.map(|why| ip.invalid_text(why)));
}

fn check_slice(slice: &Object, old: Option<&Object>, errors: &mut Errors) {
    let kind = Spot::of(slice, "addressType");
    checks::one_of(&kind, &["FQDN", "IPv4", "IPv6"], errors);
    check_ports(&Spot::of(slice, "ports"), errors);
    let endpoints = Spot::of(slice, "endpoints");
    if old.is_some_and(|old| same(at(old, "endpoints"), endpoints.value())) {
        return;
    }
    if endpoints.items().count() > ENDPOINTS_MAX {
        errors.push(endpoints.too_many(ENDPOINTS_MAX));
        return;
    }
    for endpoint in endpoints.items() {
        let addresses = endpoint.get("addresses");
        if addresses.is_empty() {
            errors.push(addresses.required("must contain at least 1 address"));
        } else if addresses.items().count() > ADDRESSES_MAX {
            errors.push(addresses.too_many(ADDRESSES_MAX));
        }
        for address in addresses.items() {
            check_slice_address(kind.text(), &addresses, &address, errors);
        }
        let node = endpoint.get("nodeName");
        if node.is_set() {
            checks::name(&node, NameRule::Subdomain, errors);
        }
        let topology = endpoint.get("deprecatedTopology");
        let count = topology.entries().count();
        if count > TOPOLOGY_MAX {
            errors.push(FieldError::too_many(topology.path(), count, TOPOLOGY_MAX));
        }
        labels::check_labels(&topology, errors);
        let host = endpoint.get("hostname");
        if host.is_set() {
            checks::name(&host, NameRule::Label, errors);
        }
        check_hints(&endpoint.get("hints"), errors);
    }
}

fn check_slice_address(kind: &str, addresses: &Spot, address: &Spot, errors: &mut Errors) {
    let before = errors.len();
    let is_v4 = address.text().parse::<core::net::Ipv4Addr>().is_ok();
    let told = |why: &str| FieldError::invalid(addresses.path(), address.text(), why);
    match kind {
        "IPv4" => {
            checks::address(address, &[], errors);
            if errors.len() == before && !is_v4 {
                errors.push(told("must be an IPv4 address"));
            }
        }
        "IPv6" => {
            let wrong = ip::canonical_mistake(address.text());
            errors.extend(wrong.map(|why| address.invalid(why)));
            if errors.len() == before && is_v4 {
                errors.push(told("must be an IPv6 address"));
            }
        }
        "FQDN" => {
            check_full_name(address, errors);
            return;
        }
        _ => return,
    }
    if ip::canonical_mistake(address.text()).is_none() || errors.len() == before {
        check_reachable(address, errors);
    }
}

/// A name with at least one dot in it.
fn check_full_name(name: &Spot, errors: &mut Errors) {
    if !checks::required(name, errors) {
        return;
    }
    let text = name.text().strip_suffix('.').unwrap_or(name.text());
    let wrong = names::mistakes(NameRule::Subdomain, text, false);
    if !wrong.is_empty() {
        errors.extend(
            wrong
                .into_iter()
                .map(|why| FieldError::invalid(name.path(), text, why)),
        );
    } else if !text.contains('.') {
        let why = "should be a domain with at least two segments separated by dots";
        errors.push(FieldError::invalid(name.path(), text, why));
    }
}

fn check_ports(ports: &Spot, errors: &mut Errors) {
    if ports.items().count() > PORTS_MAX {
        errors.push(ports.too_many(PORTS_MAX));
        return;
    }
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let name = port.get("name");
        if !name.is_empty() {
            checks::name(&name, NameRule::Label, errors);
        }
        if !names.insert(name.text()) {
            errors.push(name.duplicate());
        }
        let protocol = port.get("protocol");
        checks::given(&protocol, errors);
        checks::one_of_if_set(&protocol, PROTOCOLS, errors);
        check_language(&port, errors);
    }
}

fn check_hints(hints: &Spot, errors: &mut Errors) {
    for (field, is_zone) in [("forZones", true), ("forNodes", false)] {
        let all = hints.get(field);
        if all.items().count() > HINTS_MAX {
            errors.push(all.too_many(HINTS_MAX));
            return;
        }
        let mut seen = BTreeSet::new();
        for hint in all.items() {
            let name = hint.get("name");
            if !seen.insert(name.text()) {
                errors.push(name.duplicate());
            }
            let wrong = match is_zone {
                true => labels::value_mistakes(name.text()),
                false => names::mistakes(NameRule::Subdomain, name.text(), false),
            };
            errors.extend(wrong.into_iter().map(|why| name.invalid_text(why)));
        }
    }
}
