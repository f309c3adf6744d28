//! Services.
//!
//! Addresses and node ports are allocated elsewhere; here is what can be said without them.
//!
//! Upstream: `pkg/apis/core/v1/defaults.go`, `pkg/registry/core/service/strategy.go`,
//! `pkg/registry/core/service/storage/storage.go`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::NameRule;
use super::checks::{self, PROTOCOLS};
use super::fill::Fill::{Bool, Empty, OptionalText, Text};
use super::fill::{each, fill};
use super::labels;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::{FieldError, Mistake};
use crate::object::{Object, at};

/// Three hours, in which a client comes back to the same pod.
const AFFINITY_SECONDS: i64 = 10_800;
const AFFINITY_SECONDS_MAX: i64 = 86_400;

pub(super) static SERVICE: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.sessionAffinity", Text("None")),
        ("spec.type", Text("ClusterIP")),
        ("spec.ports[].protocol", Text("TCP")),
    ],
    default: default_service,
    fresh_status: true,
    create: |service, _| {
        each(service, "status", &mut |status| {
            fill(status, &[("loadBalancer", Empty)])
        });
    },
    update: |new, old| {
        keep_allocated(new, old);
        drop_what_the_type_lost(new, old);
    },
    check: check_service,
    check_update: check_addresses_are_kept,
    fields: &["spec.clusterIP", "spec.type"],
    // A label may start with a digit since services are no longer environment variables alone.
    names: NameRule::Label,
    creates_on_update: true,
    ..Sheet::PLAIN
};

fn default_service(service: &mut Object) {
    each(service, "spec", &mut |spec| {
        let text = |field: &str| {
            spec.get(field)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (kind, affinity) = (text("type"), text("sessionAffinity"));
        let timeout = &spec.get("sessionAffinityConfig").unwrap_or(&Value::Null)["clientIP"]["timeoutSeconds"];
        if affinity == "ClientIP" && timeout.is_null() {
            let config = json!({"clientIP": {"timeoutSeconds": AFFINITY_SECONDS}});
            spec.insert("sessionAffinityConfig".to_owned(), config);
        } else if affinity == "None" {
            spec.remove("sessionAffinityConfig");
        }
        let has_outer_addresses = spec
            .get("externalIPs")
            .and_then(Value::as_array)
            .is_some_and(|all| !all.is_empty());
        let is_reachable = matches!(kind.as_str(), "NodePort" | "LoadBalancer")
            || (kind == "ClusterIP" && has_outer_addresses);
        if is_reachable {
            fill(spec, &[("externalTrafficPolicy", Text("Cluster"))]);
        }
        if kind != "ExternalName" {
            fill(spec, &[("internalTrafficPolicy", OptionalText("Cluster"))]);
        }
        if kind == "LoadBalancer" {
            fill(spec, &[("allocateLoadBalancerNodePorts", Bool(true))]);
        }
        each(spec, "ports[]", &mut |port| {
            let target = port.get("targetPort").unwrap_or(&Value::Null);
            if target.is_null() || target == 0 || target == "" {
                let number = port.get("port").cloned().unwrap_or(json!(0));
                port.insert("targetPort".to_owned(), number);
            }
        });
    });
    if at(service, "spec.type") == "LoadBalancer" {
        each(service, "status.loadBalancer.ingress[]", &mut |ingress| {
            if ingress
                .get("ip")
                .and_then(Value::as_str)
                .is_some_and(|ip| !ip.is_empty())
            {
                fill(ingress, &[("ipMode", OptionalText("VIP"))]);
            }
        });
    }
}

/// Addresses and node ports that were allocated stay, though an update leaves them out.
fn keep_allocated(new: &mut Object, old: &Object) {
    let kind = |object: &Object| {
        at(object, "spec.type")
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let (after, before) = (kind(new), kind(old));
    let spec_before = at(old, "spec").clone();
    let is_empty = |value: Option<&Value>| match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(_) => false,
    };
    each(new, "spec", &mut |spec| {
        if after != "ExternalName" && before != "ExternalName" {
            for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
                if is_empty(spec.get(field)) && !is_empty(spec_before.get(field)) {
                    spec.insert(field.to_owned(), spec_before[field].clone());
                }
            }
        }
        let has_node_ports = |kind: &str| matches!(kind, "NodePort" | "LoadBalancer");
        if !has_node_ports(&after) || !has_node_ports(&before) {
            return;
        }
        let ports_before = spec_before["ports"].as_array().cloned().unwrap_or_default();
        let taken = spec
            .get("ports")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        each(spec, "ports[]", &mut |port| {
            let is_given = port
                .get("nodePort")
                .and_then(Value::as_i64)
                .is_some_and(|n| n != 0);
            let name = port.get("name").unwrap_or(&Value::Null);
            let same = ports_before.iter().find(|before| &before["name"] == name);
            let Some(number) = same.map(|before| before["nodePort"].clone()) else {
                return;
            };
            let is_free = !taken.iter().any(|other| other["nodePort"] == number);
            if !is_given && is_free && number.is_number() {
                port.insert("nodePort".to_owned(), number);
            }
        });
    });
}

/// An address stays with its service, unless the service was or becomes a mere name.
fn check_addresses_are_kept(new: &Object, old: &Object, errors: &mut Errors) {
    let spec = Spot::of(new, "spec");
    let kinds = [spec.get("type").value(), at(old, "spec.type")];
    if kinds.iter().any(|kind| *kind == "ExternalName") {
        return;
    }
    let before = at(old, "spec.clusterIPs")
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let addresses = spec.get("clusterIPs");
    let Some(first) = before.first() else {
        return;
    };
    if addresses
        .items()
        .next()
        .is_some_and(|address| address.value() != first)
    {
        let field = format!("{}[0]", addresses.path());
        let all = addresses.value().clone();
        errors.push(FieldError::invalid(field, all, "may not change once set"));
    }
}

/// Whoever changes the type need not clear by hand what only the old type had.
fn drop_what_the_type_lost(new: &mut Object, old: &Object) {
    let kind = |object: &Object| {
        at(object, "spec.type")
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let (after, before) = (kind(new), kind(old));
    if after == before {
        return;
    }
    let spec_before = at(old, "spec").clone();
    let needs_node_port = |kind: &str| matches!(kind, "NodePort" | "LoadBalancer");
    each(new, "spec", &mut |spec| {
        let mut drop_if_kept = |field: &str| {
            if spec.get(field) == Some(&spec_before[field]) {
                spec.remove(field);
            }
        };
        if needs_node_port(&before) && !needs_node_port(&after) {
            drop_if_kept("externalTrafficPolicy");
        }
        if before == "LoadBalancer" {
            for field in [
                "allocateLoadBalancerNodePorts",
                "loadBalancerClass",
                "healthCheckNodePort",
            ] {
                drop_if_kept(field);
            }
        }
        if before == "ExternalName" {
            drop_if_kept("externalName");
        }
        if after == "ExternalName" {
            for field in [
                "clusterIP",
                "clusterIPs",
                "ipFamilies",
                "ipFamilyPolicy",
                "internalTrafficPolicy",
            ] {
                drop_if_kept(field);
            }
        }
        if needs_node_port(&before) && !needs_node_port(&after) {
            let ports = spec_before["ports"].as_array().cloned().unwrap_or_default();
            each(spec, "ports[]", &mut |port| {
                let same_as = |other: &Value| Some(&other["nodePort"]) == port.get("nodePort");
                if ports.iter().any(same_as) {
                    port.remove("nodePort");
                }
            });
        }
    });
}

fn check_service(service: &Object, errors: &mut Errors) {
    let spec = Spot::of(service, "spec");
    let (kind, ports) = (spec.get("type"), spec.get("ports"));
    let is_headless = spec.get("clusterIP").text() == "None";
    if ports.is_empty() && !is_headless && kind.text() != "ExternalName" {
        errors.push(ports.required(""));
    }
    match kind.text() {
        "LoadBalancer" | "NodePort" if is_headless => {
            let why = format!("may not be set to 'None' for {} services", kind.text());
            errors.push(FieldError::invalid("spec.clusterIPs[0]", "None", why));
        }
        "ExternalName" => {
            for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
                if !spec.get(field).is_empty() {
                    errors.push(
                        spec.get(field)
                            .forbidden("may not be set for ExternalName services"),
                    );
                }
            }
            let name = spec.get("externalName");
            if checks::required(&name, errors) {
                let whole = Value::from(name.text().trim_end_matches('.'));
                checks::name(
                    &spec.told_as("externalName", &whole),
                    NameRule::Subdomain,
                    errors,
                );
            }
        }
        _ => {}
    }
    check_ports(&ports, kind.text(), errors);
    labels::check_labels(&spec.get("selector"), errors);
    checks::one_of(&spec.get("sessionAffinity"), &["ClientIP", "None"], errors);
    let config = spec.get("sessionAffinityConfig");
    let client = config.get("clientIP");
    let timeout = client.get("timeoutSeconds");
    if timeout
        .int()
        .is_some_and(|seconds| !(1..=AFFINITY_SECONDS_MAX).contains(&seconds))
    {
        errors.push(timeout.invalid(format!(
            "must be greater than 0 and less than {AFFINITY_SECONDS_MAX}"
        )));
    }
    let known = &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    checks::one_of(&kind, known, errors);
    if kind.text() != "LoadBalancer" {
        for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
            if spec.get(field).is_set() {
                errors.push(
                    spec.get(field)
                        .forbidden("may only be used when `type` is 'LoadBalancer'"),
                );
            }
        }
    }
    let outer = spec.get("externalTrafficPolicy");
    if !outer.is_empty() {
        checks::one_of(&outer, &["Cluster", "Local"], errors);
    }
    checks::one_of_if_set(
        &spec.get("internalTrafficPolicy"),
        &["Cluster", "Local"],
        errors,
    );
}

fn check_ports(ports: &Spot, kind: &str, errors: &mut Errors) {
    let count = ports.items().count();
    let (mut names, mut numbers, mut outer) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for port in ports.items() {
        let name = port.get("name");
        if name.is_empty() && count > 1 {
            errors.push(name.required(""));
        } else if !name.is_empty() {
            checks::name(&name, NameRule::Label, errors);
            if !names.insert(name.text()) {
                errors.push(name.duplicate());
            }
        }
        checks::port_number(&port.get("port"), errors);
        checks::one_of(&port.get("protocol"), PROTOCOLS, errors);
        checks::port_number_or_name(&port.get("targetPort"), errors);
    }
    for port in ports.items() {
        let (protocol, node) = (port.get("protocol").text(), port.get("nodePort"));
        if let Some(number) = node.int().filter(|number| *number != 0) {
            if kind == "ClusterIP" {
                errors.push(node.forbidden("may not be used when `type` is 'ClusterIP'"));
            }
            if !outer.insert((protocol, number)) {
                errors.push(node.duplicate());
            }
        }
        if !numbers.insert((protocol, port.get("port").int())) {
            let pair = json!({"protocol": protocol, "port": port.get("port").value()});
            errors.push(FieldError {
                field: port.path(),
                mistake: Mistake::Duplicate(pair),
                detail: String::new(),
            });
        }
    }
}
