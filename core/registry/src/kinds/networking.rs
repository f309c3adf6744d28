//! Ways in and out: Ingresses, IngressClasses, NetworkPolicies.
//!
//! Upstream: `pkg/apis/networking/{v1/defaults.go,validation/validation.go}`.

use serde_json::Value;

use super::NameRule;
use super::checks;
use super::fill::Fill::{By, Empty, OptionalText};
use super::fill::{each, fill};
use super::labels;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::object::{Object, at};

const PATH_TYPES: &[&str] = &["Exact", "ImplementationSpecific", "Prefix"];
const ODD_SEQUENCES: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];

pub(super) static INGRESS: Sheet = Sheet {
    defaults: &[("spec", Empty)],
    fresh_status: true,
    create: |ingress, _| {
        each(ingress, "status", &mut |status| {
            fill(status, &[("loadBalancer", Empty)])
        });
    },
    generation: &["spec"],
    check: check_ingress,
    ..Sheet::PLAIN
};

pub(super) static INGRESS_CLASS: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.parameters.scope", OptionalText("Cluster")),
    ],
    generation: &["spec"],
    check_update: |new, old, errors| {
        let spec = Spot::of(new, "spec");
        checks::immutable(&spec.get("controller"), at(old, "spec.controller"), errors);
    },
    ..Sheet::PLAIN
};

pub(super) static NETWORK_POLICY: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.podSelector", Empty),
        ("spec.ingress[].ports[].protocol", OptionalText("TCP")),
        ("spec.egress[].ports[].protocol", OptionalText("TCP")),
        ("spec.policyTypes", By(policy_types)),
    ],
    generation: &["spec"],
    check: |policy, errors| {
        let spec = Spot::of(policy, "spec");
        labels::check_selector(&spec.get("podSelector"), errors);
        let types = spec.get("policyTypes");
        if types.items().count() > 2 {
            errors.push(types.invalid("may not specify more than two policyTypes"));
        }
        for kind in types.items() {
            checks::one_of_if_set(&kind, &["Ingress", "Egress"], errors);
        }
        for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
            let rules = spec.get(direction);
            for rule in rules.items() {
                check_policy_rule(&rule, peers, errors);
            }
        }
    },
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

fn check_policy_rule(rule: &Spot, peers: &'static str, errors: &mut Errors) {
    let ports = rule.get("ports");
    for port in ports.items() {
        let protocol = port.get("protocol");
        checks::one_of_if_set(&protocol, &["TCP", "UDP", "SCTP"], errors);
        let number = port.get("port");
        if number.is_set() {
            checks::port_number_or_name(&number, errors);
        }
    }
    let peers = rule.get(peers);
    for peer in peers.items() {
        let [pods, namespaces, block] =
            ["podSelector", "namespaceSelector", "ipBlock"].map(|field| peer.get(field));
        let selects = pods.is_set() || namespaces.is_set();
        if !selects && !block.is_set() {
            errors.push(peer.required("must specify a peer"));
        } else if selects && block.is_set() {
            errors.push(peer.forbidden("may not specify both ipBlock and another peer"));
        }
        labels::check_selector(&pods, errors);
        labels::check_selector(&namespaces, errors);
    }
}

fn check_ingress(ingress: &Object, errors: &mut Errors) {
    let spec = Spot::of(ingress, "spec");
    let (rules, otherwise) = (spec.get("rules"), spec.get("defaultBackend"));
    if rules.is_empty() && !otherwise.is_set() {
        errors.push(FieldError::invalid(
            "spec",
            rules.value().clone(),
            "either `defaultBackend` or `rules` must be specified",
        ));
    }
    if otherwise.is_set() {
        check_backend(&otherwise, errors);
    }
    for rule in rules.items() {
        let host = rule.get("host");
        if !host.is_empty() && !host.text().contains('*') {
            checks::name(&host, NameRule::Subdomain, errors);
        }
        let http = rule.get("http");
        let paths = http.get("paths");
        if http.is_set() && paths.is_empty() {
            errors.push(paths.required(""));
        }
        for path in paths.items() {
            check_path(&path, errors);
        }
    }
    let class = spec.get("ingressClassName");
    if class.is_set() {
        checks::name(&class, NameRule::Subdomain, errors);
    }
}

fn check_path(path: &Spot, errors: &mut Errors) {
    let (kind, text) = (path.get("pathType"), path.get("path"));
    if !kind.is_set() {
        errors.push(kind.required("pathType must be specified"));
        return;
    }
    let is_relative = !text.text().starts_with('/');
    match kind.text() {
        "Exact" | "Prefix" => {
            if is_relative {
                errors.push(FieldError::invalid(
                    text.path(),
                    text.text(),
                    "must be an absolute path",
                ));
            }
            for odd in ODD_SEQUENCES {
                if text.text().contains(odd) {
                    errors.push(text.invalid(format!("must not contain '{odd}'")));
                }
            }
            for odd in ["/..", "/."] {
                if text.text().ends_with(odd) {
                    errors.push(text.invalid(format!("cannot end with '{odd}'")));
                }
            }
        }
        "ImplementationSpecific" => {
            if !text.is_empty() && is_relative {
                errors.push(text.invalid("must be an absolute path"));
            }
        }
        _ => errors.push(kind.not_supported(PATH_TYPES)),
    }
    check_backend(&path.get("backend"), errors);
}

fn check_backend(backend: &Spot, errors: &mut Errors) {
    let (service, resource) = (backend.get("service"), backend.get("resource"));
    match (service.is_set(), resource.is_set()) {
        (true, true) => {
            let why = "cannot set both resource and service backends";
            errors.push(FieldError::invalid(backend.path(), "", why));
        }
        (false, false) => {
            let why = "resource or service backend is required";
            errors.push(FieldError::invalid(backend.path(), "", why));
        }
        (false, true) => {
            checks::required(&resource.get("kind"), errors);
            checks::required(&resource.get("name"), errors);
        }
        (true, false) => {
            checks::required_name(&service.get("name"), NameRule::Label, errors);
            let port = service.get("port");
            let (name, number) = (port.get("name"), port.get("number"));
            match (
                !name.is_empty(),
                number.int().is_some_and(|number| number != 0),
            ) {
                (true, true) => {
                    let why = "cannot set both port name & port number";
                    errors.push(FieldError::invalid(backend.path(), "", why));
                }
                (true, false) => checks::port_name(&name, errors),
                (false, true) => checks::port_number(&number, errors),
                (false, false) => errors.push(backend.required("port name or number is required")),
            }
        }
    }
}
