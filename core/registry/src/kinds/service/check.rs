//! The mistakes in a service.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::NameRule;
use super::super::checks::{self, PROTOCOLS};
use super::super::spot::{Errors, Spot};
use super::super::{ip, labels};
use super::changes::{is_headless, is_reachable};
use crate::field_error::{FieldError, Mistake};
use crate::object::{Meta, Object, at};

const AFFINITY_SECONDS_MAX: i64 = 86_400;
const OLD_HINTS: &str = "service.kubernetes.io/topology-aware-hints";
const HINTS: &str = "service.kubernetes.io/topology-mode";
const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
pub(super) const BALANCERS_ONLY: &str = "may only be used when `type` is 'LoadBalancer'";

/// The mistakes in any state of a service; what was accepted before stays accepted.
pub(super) fn check(service: &Object, old: Option<&Object>, errors: &mut Errors) {
    check_hints(service, errors);
    let spec = Spot::of(service, "spec");
    let (kind, ports) = (spec.get("type"), spec.get("ports"));
    let headless = is_headless(service);
    if ports.is_empty() && !headless && kind.text() != "ExternalName" {
        errors.push(ports.required(""));
    }
    match kind.text() {
        "LoadBalancer" | "NodePort" if headless => {
            let why = format!("may not be set to 'None' for {} services", kind.text());
            errors.push(FieldError::invalid("spec.clusterIPs[0]", "None", why));
        }
        "ExternalName" => check_name(&spec, errors),
        _ => {}
    }
    check_ports(&ports, errors);
    labels::check_labels(&spec.get("selector"), errors);
    check_affinity(&spec, errors);
    let before = |path: &str| -> Vec<&str> {
        let all = old.and_then(|old| at(old, path).as_array());
        let texts = all.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::trim).collect()
    };
    check_outer_addresses(&spec, &before("spec.externalIPs"), errors);
    let known = &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    checks::one_of(&kind, known, errors);
    check_node_ports(&ports, kind.text(), errors);
    check_sources(
        service,
        old,
        &before("spec.loadBalancerSourceRanges"),
        errors,
    );
    if kind.text() != "LoadBalancer" {
        for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
            if spec.get(field).is_set() {
                errors.push(spec.get(field).forbidden(BALANCERS_ONLY));
            }
        }
    } else if spec.get("loadBalancerClass").is_set() {
        labels::check_qualified_name(&spec.get("loadBalancerClass"), errors);
    }
    check_traffic(service, &spec, errors);
}

fn check_hints(service: &Object, errors: &mut Errors) {
    let annotations = &service.meta()["annotations"];
    let (mode, hints) = (&annotations[HINTS], &annotations[OLD_HINTS]);
    if mode.is_string() && hints.is_string() && mode != hints {
        let why = format!("must match annotations[{OLD_HINTS}] when both are specified");
        let field = format!("metadata.annotations[{HINTS}]");
        errors.push(FieldError::invalid(field, mode.clone(), why));
    }
}

/// A service that is only a name for something outside has no addresses.
fn check_name(spec: &Spot, errors: &mut Errors) {
    for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if !spec.get(field).is_empty() {
            let why = "may not be set for ExternalName services";
            errors.push(spec.get(field).forbidden(why));
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

fn check_ports(ports: &Spot, errors: &mut Errors) {
    let count = ports.items().count();
    let mut names = BTreeSet::new();
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
        let language = port.get("appProtocol");
        if language.is_set() {
            labels::check_qualified_name(&language, errors);
        }
    }
}

fn check_affinity(spec: &Spot, errors: &mut Errors) {
    let affinity = spec.get("sessionAffinity");
    checks::one_of(&affinity, &["ClientIP", "None"], errors);
    let config = spec.get("sessionAffinityConfig");
    let client = config.get("clientIP");
    let timeout = client.get("timeoutSeconds");
    if affinity.text() == "ClientIP"
        && timeout
            .int()
            .is_some_and(|seconds| !(1..=AFFINITY_SECONDS_MAX).contains(&seconds))
    {
        errors.push(timeout.invalid(format!(
            "must be greater than 0 and less than {AFFINITY_SECONDS_MAX}"
        )));
    }
}

fn check_outer_addresses(spec: &Spot, before: &[&str], errors: &mut Errors) {
    let addresses = spec.get("externalIPs");
    for address in addresses.items() {
        let text = address.text();
        let mistake = ip::mistake(text).filter(|_| !before.contains(&text));
        match mistake {
            Some(why) => errors.push(address.invalid(why)),
            None => {
                let all = ip::special_mistakes(text).into_iter();
                errors.extend(all.map(|why| address.invalid(why)));
            }
        }
    }
}

/// Node ports and ports must differ, or else their protocols.
fn check_node_ports(ports: &Spot, kind: &str, errors: &mut Errors) {
    let (mut numbers, mut outer) = (BTreeSet::new(), BTreeSet::new());
    let given = |port: &Spot| port.get("nodePort").int().filter(|number| *number != 0);
    if kind == "ClusterIP" {
        for port in ports.items().filter(|port| given(port).is_some()) {
            let why = "may not be used when `type` is 'ClusterIP'";
            errors.push(port.get("nodePort").forbidden(why));
        }
    }
    for port in ports.items() {
        if let Some(number) = given(&port)
            && !outer.insert((port.get("protocol").text(), number))
        {
            errors.push(port.get("nodePort").duplicate());
        }
    }
    for port in ports.items() {
        let protocol = port.get("protocol").text();
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

/// Where a load balancer lets in from: a field, or the annotation that was before it.
fn check_sources(service: &Object, old: Option<&Object>, before: &[&str], errors: &mut Errors) {
    let is_balancer = at(service, "spec.type") == "LoadBalancer";
    let ranges = at(service, "spec.loadBalancerSourceRanges")
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    if !ranges.is_empty() {
        let field = "spec.LoadBalancerSourceRanges";
        if !is_balancer {
            errors.push(FieldError::forbidden(field, BALANCERS_ONLY));
        }
        for (at, range) in ranges.iter().enumerate() {
            let text = range.as_str().unwrap_or_default().trim();
            let mistake = ip::range_mistake(text).filter(|_| !before.contains(&text));
            if let Some(why) = mistake {
                errors.push(FieldError::invalid(format!("{field}[{at}]"), text, why));
            }
        }
        return;
    }
    let annotation = |object: &Object| object.meta()["annotations"][SOURCE_RANGES].clone();
    let Value::String(written) = annotation(service) else {
        return;
    };
    let field = format!("metadata.annotations[{SOURCE_RANGES}]");
    if !is_balancer {
        errors.push(FieldError::forbidden(field.clone(), BALANCERS_ONLY));
    }
    let is_kept = old.is_some_and(|old| annotation(old) == written.as_str());
    if !is_kept && !written.trim().is_empty() {
        for range in written.split(',').map(str::trim) {
            if let Some(why) = ip::range_mistake(range) {
                errors.push(FieldError::invalid(field.clone(), range, why));
            }
        }
    }
}

fn check_traffic(service: &Object, spec: &Spot, errors: &mut Errors) {
    let outer = spec.get("externalTrafficPolicy");
    if is_reachable(service) {
        checks::one_of(&outer, &["Cluster", "Local"], errors);
    } else if !outer.is_empty() {
        errors.push(outer.invalid("may only be set for externally-accessible services"));
    }
    let health = spec.get("healthCheckNodePort");
    let needs_health = spec.get("type").text() == "LoadBalancer" && outer.text() == "Local";
    let is_given = health.int().is_some_and(|port| port != 0);
    if is_given && !needs_health {
        let why =
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        errors.push(health.invalid(why));
    } else if is_given {
        checks::port_number(&health, errors);
    }
    checks::one_of_if_set(
        &spec.get("internalTrafficPolicy"),
        &["Cluster", "Local"],
        errors,
    );
    let known = &["PreferClose", "PreferSameZone", "PreferSameNode"];
    checks::one_of_if_set(&spec.get("trafficDistribution"), known, errors);
}

/// The mistakes in where load balancers say they are.
pub(super) fn check_status(new: &Object, old: &Object, errors: &mut Errors) {
    let status = Spot::of(new, "status");
    let balancer = status.get("loadBalancer");
    let points = balancer.get("ingress");
    if at(new, "spec.type") != "LoadBalancer" {
        if !points.is_empty() {
            errors.push(points.forbidden("may only be used when `spec.type` is 'LoadBalancer'"));
        }
        return;
    }
    let before = at(old, "status.loadBalancer.ingress").as_array();
    let before: Vec<&Value> = before.into_iter().flatten().map(|one| &one["ip"]).collect();
    for point in points.items() {
        let (address, mode) = (point.get("ip"), point.get("ipMode"));
        if !address.is_empty()
            && !before.contains(&address.value())
            && let Some(why) = ip::mistake(address.text())
        {
            errors.push(address.invalid(why));
        }
        match (mode.is_set(), address.is_empty()) {
            (false, false) => errors.push(mode.required("must be specified when `ip` is set")),
            (true, true) => {
                errors.push(mode.forbidden("may not be specified when `ip` is not set"))
            }
            (true, false) => checks::one_of(&mode, &["Proxy", "VIP"], errors),
            (false, true) => {}
        }
        let host = point.get("hostname");
        if !host.is_empty() {
            checks::name(&host, NameRule::Subdomain, errors);
            if ip::sloppy(host.text()).is_some() {
                errors.push(host.invalid("must be a DNS name, not an IP address"));
            }
        }
    }
}
