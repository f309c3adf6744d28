//! What changes of a service drop, and what they may not change.

use serde_json::{Value, json};

use super::super::labels;
use super::super::spot::{Errors, Spot};
use super::check::BALANCERS_ONLY;
use crate::field_error::FieldError;
use crate::object::{Object, at};

const KEPT: &str = "may not change once set";

fn kind(service: &Object) -> &str {
    at(service, "spec.type").as_str().unwrap_or_default()
}

fn needs_node_port(service: &Object) -> bool {
    matches!(kind(service), "NodePort" | "LoadBalancer")
}

fn needs_health_port(service: &Object) -> bool {
    kind(service) == "LoadBalancer" && at(service, "spec.externalTrafficPolicy") == "Local"
}

/// Whether it can be reached from outside the cluster.
pub(super) fn is_reachable(service: &Object) -> bool {
    let has_outer_addresses = at(service, "spec.externalIPs")
        .as_array()
        .is_some_and(|all| !all.is_empty());
    needs_node_port(service) || (kind(service) == "ClusterIP" && has_outer_addresses)
}

/// Whether it asks for no address.
pub(super) fn is_headless(service: &Object) -> bool {
    at(service, "spec.clusterIP") == "None"
}

fn node_ports(service: &Object) -> Vec<&Value> {
    let ports = at(service, "spec.ports").as_array().into_iter().flatten();
    let mut all: Vec<&Value> = ports.map(|port| &port["nodePort"]).collect();
    all.retain(|number| !number.is_null() && **number != 0);
    all.sort_by_key(|number| number.as_i64());
    all.dedup();
    all
}

/// Whoever changes the type need not clear by hand what only the old type had.
pub(super) fn drop_what_the_type_lost(new: &mut Object, old: &Object) {
    let same = |field: &str, new: &Object| {
        let path = format!("spec.{field}");
        at(new, &path) == at(old, &path)
    };
    let mut lost: Vec<&str> = Vec::new();
    if kind(old) != "ExternalName" && kind(new) == "ExternalName" {
        if same("clusterIPs", new) {
            lost.extend(["clusterIP", "clusterIPs"]);
        }
        let families = ["ipFamilies", "ipFamilyPolicy"];
        lost.extend(families.iter().filter(|field| same(field, new)));
    }
    let loses_ports = needs_node_port(old) && !needs_node_port(new);
    let had = node_ports(old);
    let drops_ports = loses_ports && node_ports(new).iter().all(|port| had.contains(port));
    let loses_health_port = needs_health_port(old) && !needs_health_port(new);
    if loses_health_port && same("healthCheckNodePort", new) {
        lost.push("healthCheckNodePort");
    }
    if kind(old) == "LoadBalancer" && kind(new) != "LoadBalancer" {
        let fields = ["allocateLoadBalancerNodePorts", "loadBalancerClass"];
        lost.extend(fields.iter().filter(|field| same(field, new)));
    }
    if is_reachable(old) && !is_reachable(new) && same("externalTrafficPolicy", new) {
        lost.push("externalTrafficPolicy");
    }
    let keeps_status = kind(new) == "LoadBalancer";
    if let Some(Value::Object(spec)) = new.get_mut("spec") {
        lost.iter().for_each(|field| drop(spec.remove(*field)));
        let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
        for port in ports.into_iter().flatten().filter(|_| drops_ports) {
            port.as_object_mut().map(|port| port.remove("nodePort"));
        }
    }
    if !keeps_status && let Some(status) = new.get_mut("status").and_then(Value::as_object_mut) {
        status.insert("loadBalancer".to_owned(), json!({}));
    }
}

/// What an update may not change: addresses and families, the class of a load balancer, and the port at
/// which nodes answer for it.
pub(super) fn check(new: &Object, old: &Object, errors: &mut Errors) {
    let is_name = |service: &Object| kind(service) == "ExternalName";
    if !is_name(new) && !is_name(old) {
        check_addresses(new, old, errors);
        if is_headless(new) == is_headless(old) && !is_headless(new) {
            check_families(new, old, errors);
        }
    }
    let spec = Spot::of(new, "spec");
    let class = spec.get("loadBalancerClass");
    if kind(new) == "LoadBalancer" && kind(old) == "LoadBalancer" {
        if class.value() != at(old, "spec.loadBalancerClass") {
            errors.push(class.invalid(KEPT));
        }
        if !class.is_empty() {
            labels::check_qualified_name(&class, errors);
        }
    }
    if kind(new) != "LoadBalancer" && class.is_set() {
        errors.push(class.forbidden(BALANCERS_ONLY));
    }
    let health = spec.get("healthCheckNodePort");
    if needs_health_port(new)
        && needs_health_port(old)
        && health.value() != at(old, "spec.healthCheckNodePort")
    {
        errors.push(health.forbidden("field is immutable"));
    }
}

fn list<'a>(service: &'a Object, path: &str) -> &'a [Value] {
    at(service, path).as_array().map_or(&[][..], Vec::as_slice)
}

fn check_addresses(new: &Object, old: &Object, errors: &mut Errors) {
    let path = "spec.clusterIPs";
    let (after, before) = (list(new, path), list(old, path));
    if is_headless(new) && is_headless(old) {
        return;
    }
    let mut wrong = |at: usize, why: &str| {
        let all = Value::from(after.to_vec());
        errors.push(FieldError::invalid(format!("{path}[{at}]"), all, why));
    };
    if after.len() == before.len() {
        let pairs = after.iter().zip(before).enumerate();
        pairs
            .filter(|(_, (after, before))| after != before)
            .for_each(|(at, _)| wrong(at, KEPT));
        return;
    }
    match (after.first(), before.first()) {
        (None, _) => wrong(0, "primary clusterIP can not be unset"),
        (Some(after), Some(before)) if after != before => wrong(0, KEPT),
        _ => {}
    }
    let is_single = at(new, "spec.ipFamilyPolicy") == "SingleStack";
    if before.len() > after.len() && after.len() == 1 && !is_single {
        let policy = at(new, "spec.ipFamilyPolicy").clone();
        let why = "must be set to 'SingleStack' when releasing the secondary clusterIP";
        errors.push(FieldError::invalid("spec.ipFamilyPolicy", policy, why));
    }
}

fn check_families(new: &Object, old: &Object, errors: &mut Errors) {
    let path = "spec.ipFamilies";
    let (after, before) = (list(new, path), list(old, path));
    if after.len() == before.len() {
        let changed = after.iter().zip(before).filter(|(new, old)| new != old);
        for _ in changed {
            let all = Value::from(after.to_vec());
            errors.push(FieldError::invalid(format!("{path}[0]"), all, KEPT));
        }
    }
}
