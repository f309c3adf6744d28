//! Services.
//!
//! Addresses and node ports are allocated elsewhere, before these rules see the object.
//!
//! Upstream: `pkg/apis/core/v1/defaults.go`, `pkg/registry/core/service/strategy.go`,
//! `pkg/apis/core/validation/validation.go`.

mod changes;
mod check;
mod warnings;

use serde_json::{Value, json};

use super::NameRule;
use super::fill::Fill::{Bool, Empty, OptionalText, Text};
use super::fill::{each, fill};
use super::sheet::Sheet;
use crate::object::{Object, at};

/// Three hours, in which a client comes back to the same pod.
const AFFINITY_SECONDS: i64 = 10_800;

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
    update: changes::drop_what_the_type_lost,
    hide,
    reveal,
    check: |service, errors| check::check(service, None, errors),
    check_whole_update: Some(|new, old, errors| {
        changes::check(new, old, errors);
        check::check(new, Some(old), errors);
    }),
    check_status: check::check_status,
    warnings: warnings::warnings,
    fields: &["spec.clusterIP", "spec.type"],
    // A label may start with a digit since services are no longer environment variables alone.
    names: NameRule::Label,
    creates_on_update: true,
    ..Sheet::PLAIN
};

/// What only has a name elsewhere keeps the policy that it had before. Nothing is routed to it, so upstream does not
/// tell it, and yet notices when it is left out.
fn hide(service: &Object) -> Option<(Object, String)> {
    let policy = at(service, "spec.internalTrafficPolicy").as_str()?;
    if at(service, "spec.type") != "ExternalName" {
        return None;
    }
    let mut told = service.clone();
    each(&mut told, "spec", &mut |spec| {
        spec.remove("internalTrafficPolicy");
    });
    Some((told, policy.to_owned()))
}

fn reveal(service: &mut Object, policy: &str) {
    if policy.is_empty() {
        return;
    }
    each(service, "spec", &mut |spec| {
        spec.insert("internalTrafficPolicy".to_owned(), policy.into());
    });
}

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
