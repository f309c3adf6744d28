//! NetworkPolicies.
//!
//! Upstream: `pkg/apis/networking/{v1/defaults.go,validation/validation.go}`.

use serde_json::{Value, json};

use super::checks;
use super::fill::Fill::{By, Empty, OptionalText};
use super::fill::{each, fill};
use super::ip;
use super::labels;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::object::{Object, at};

const DIRECTIONS: [(&str, &str); 2] = [("ingress", "from"), ("egress", "to")];

pub(super) static NETWORK_POLICY: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.podSelector", Empty),
        ("spec.ingress[].ports[].protocol", OptionalText("TCP")),
        ("spec.egress[].ports[].protocol", OptionalText("TCP")),
        ("spec.policyTypes", By(policy_types)),
    ],
    default: |policy| {
        // Types that are sent empty are as good as none.
        each(policy, "spec", &mut |spec| {
            if spec.get("policyTypes") == Some(&json!([])) {
                spec.remove("policyTypes");
                fill(spec, &[("policyTypes", By(policy_types))]);
            }
        });
    },
    generation: &["spec"],
    counts_empty: "spec",
    check: |policy, errors| check(policy, &[], errors),
    check_whole_update: Some(|new, old, errors| check(new, &ranges(old), errors)),
    ..Sheet::PLAIN
};

/// A policy that does not say what it is about is about what comes in, and about what goes out if it
/// has rules for that.
fn policy_types(spec: &Object) -> Option<Value> {
    let has_egress = spec
        .get("egress")
        .and_then(Value::as_array)
        .is_some_and(|all| !all.is_empty());
    let types = if has_egress {
        vec!["Ingress", "Egress"]
    } else {
        vec!["Ingress"]
    };
    Some(types.into())
}

/// The ranges that a policy has already, which it may keep however they are written.
fn ranges(policy: &Object) -> Vec<&str> {
    let mut found = Vec::new();
    for (direction, peers) in DIRECTIONS {
        for rule in at(policy, "spec")[direction]
            .as_array()
            .into_iter()
            .flatten()
        {
            for peer in rule[peers].as_array().into_iter().flatten() {
                let block = &peer["ipBlock"];
                found.extend(block["cidr"].as_str());
                found.extend(
                    block["except"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(Value::as_str),
                );
            }
        }
    }
    found
}

fn check(policy: &Object, before: &[&str], errors: &mut Errors) {
    let spec = Spot::of(policy, "spec");
    labels::check_selector(&spec.get("podSelector"), errors);
    for (direction, peers) in DIRECTIONS {
        let rules = spec.get(direction);
        for rule in rules.items() {
            let ports = rule.get("ports");
            ports.items().for_each(|port| check_port(&port, errors));
            let peers = rule.get(peers);
            peers
                .items()
                .for_each(|peer| check_peer(&peer, before, errors));
        }
    }
    let types = spec.get("policyTypes");
    if types.items().count() > 2 {
        errors.push(types.invalid("may not specify more than two policyTypes"));
        return;
    }
    for kind in types.items() {
        checks::one_of_if_set(&kind, &["Ingress", "Egress"], errors);
    }
}

fn check_port(port: &Spot, errors: &mut Errors) {
    checks::one_of_if_set(&port.get("protocol"), &["TCP", "UDP", "SCTP"], errors);
    let (number, end) = (port.get("port"), port.get("endPort"));
    match number.value() {
        Value::Null => {
            if end.is_set() {
                errors.push(end.invalid("may not be specified when `port` is not specified"));
            }
        }
        Value::String(_) => {
            if end.is_set() {
                errors.push(end.invalid("may not be specified when `port` is non-numeric"));
            }
            checks::port_name(&number, errors);
        }
        _ => {
            checks::port_number(&number, errors);
            if end.int().is_some_and(|end| end < number.number()) {
                let told = port.told_as("endPort", number.value());
                errors.push(told.invalid("must be greater than or equal to `port`"));
            }
            if end.is_set() {
                checks::port_number(&end, errors);
            }
        }
    }
}

fn check_peer(peer: &Spot, before: &[&str], errors: &mut Errors) {
    let [pods, namespaces, block] =
        ["podSelector", "namespaceSelector", "ipBlock"].map(|field| peer.get(field));
    labels::check_selector(&pods, errors);
    labels::check_selector(&namespaces, errors);
    if block.is_set() {
        check_block(&block, before, errors);
    }
    let selects = pods.is_set() || namespaces.is_set();
    if !selects && !block.is_set() {
        errors.push(peer.required("must specify a peer"));
    } else if selects && block.is_set() {
        errors.push(peer.forbidden("may not specify both ipBlock and another peer"));
    }
}

fn check_block(block: &Spot, before: &[&str], errors: &mut Errors) {
    let range = block.get("cidr");
    if !checks::required(&range, errors) {
        return;
    }
    checks::range(&range, before, errors);
    if ip::range_family(range.text()).is_none() {
        return;
    }
    let except = block.get("except");
    for inner in except.items() {
        checks::range(&inner, before, errors);
        if ip::range_family(inner.text()).is_some()
            && !ip::is_strictly_within(inner.text(), range.text())
        {
            errors.push(inner.invalid("must be a strict subset of `cidr`"));
        }
    }
}
