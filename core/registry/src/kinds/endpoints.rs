//! What stands behind services: Endpoints and EndpointSlices.
//!
//! Upstream: `pkg/apis/core/{v1/defaults.go,validation/validation.go}`,
//! `pkg/apis/discovery/{v1/defaults.go,validation/validation.go}`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::NameRule;
use super::checks::{self, PROTOCOLS};
use super::fill::Fill::{Empty, OptionalText, Text};
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::object::{Object, at};

pub(super) static ENDPOINTS: Sheet = Sheet {
    defaults: &[("subsets[].ports[].protocol", Text("TCP"))],
    check: check_endpoints,
    creates_on_update: true,
    ..Sheet::PLAIN
};

pub(super) static ENDPOINT_SLICE: Sheet = Sheet {
    defaults: &[
        ("ports[].name", OptionalText("")),
        ("ports[].protocol", Text("TCP")),
        ("endpoints[].conditions", Empty),
    ],
    default: |slice| {
        // Both are always written, and upstream does not tell empty from none.
        for list in ["endpoints", "ports"] {
            if slice
                .get(list)
                .and_then(Value::as_array)
                .is_none_or(Vec::is_empty)
            {
                slice.insert(list.to_owned(), Value::Null);
            }
        }
    },
    generation: &["addressType", "endpoints", "ports"],
    check: check_slice,
    check_update: |new, old, errors| {
        let kind = Spot::of(new, "addressType");
        checks::immutable(&kind, at(old, "addressType"), errors);
    },
    ..Sheet::PLAIN
};

fn check_endpoints(endpoints: &Object, errors: &mut Errors) {
    let subsets = Spot::of(endpoints, "subsets");
    for subset in subsets.items() {
        let lists = ["addresses", "notReadyAddresses"].map(|field| subset.get(field));
        if lists.iter().all(Spot::is_empty) {
            errors.push(subset.required("must specify `addresses` or `notReadyAddresses`"));
        }
        for list in &lists {
            for address in list.items() {
                check_address(&address.get("ip"), errors);
            }
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
        }
    }
}

fn check_address(ip: &Spot, errors: &mut Errors) {
    if ip.text().parse::<core::net::IpAddr>().is_err() {
        errors.push(ip.invalid("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
        errors.push(ip.invalid("must be a valid IP address"));
    }
}

fn check_slice(slice: &Object, errors: &mut Errors) {
    let kind = Spot::of(slice, "addressType");
    checks::one_of(&kind, &["FQDN", "IPv4", "IPv6"], errors);
    let endpoints = Spot::of(slice, "endpoints");
    for endpoint in endpoints.items() {
        let addresses = endpoint.get("addresses");
        if addresses.is_empty() {
            errors.push(addresses.required("must contain at least 1 address"));
        }
        for address in addresses.items() {
            match kind.text() {
                "FQDN" => checks::name(&address, NameRule::Subdomain, errors),
                "IPv4" if address.text().parse::<core::net::Ipv4Addr>().is_err() => {
                    errors.push(address.invalid("must be a valid IPv4 address"));
                }
                "IPv6" if address.text().parse::<core::net::Ipv6Addr>().is_err() => {
                    errors.push(address.invalid("must be a valid IPv6 address"));
                }
                _ => {}
            }
        }
    }
    let ports = Spot::of(slice, "ports");
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let name = port.get("name");
        if !name.is_empty() {
            checks::name(&name, NameRule::Label, errors);
        }
        if !names.insert(name.text()) {
            errors.push(name.duplicate());
        }
        checks::one_of(&port.get("protocol"), PROTOCOLS, errors);
    }
}
