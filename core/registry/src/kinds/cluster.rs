//! What a cluster is made of: Namespaces, Nodes, Leases, RuntimeClasses, PriorityClasses.
//!
//! Upstream: `pkg/registry/core/{namespace,node}/strategy.go`, `pkg/apis/core/validation/validation.go`,
//! `pkg/apis/{coordination,scheduling,node}/validation/validation.go`.

use std::collections::BTreeSet;

use flyball_api::Quantity;
use serde_json::{Value, json};

use super::NameRule;
use super::checks;
use super::fill::Fill::{Empty, Int, OptionalText, Text};
use super::fill::{each, map_in};
use super::labels;
use super::pod;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::{FieldError, Mistake};
use crate::object::{Meta, Object, at};

/// The highest priority that is not kept for the system.
const USER_PRIORITY_MAX: i64 = 1_000_000_000;

pub(super) static NAMESPACE: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("status", Empty),
        ("status.phase", Text("Active")),
    ],
    default: label_with_name,
    create: |namespace, _| {
        namespace.insert("status".to_owned(), json!({"phase": "Active"}));
        each(namespace, "spec", &mut |spec| {
            let all = spec.entry("finalizers").or_insert_with(|| json!([]));
            if let Value::Array(all) = all {
                if !all.iter().any(|one| one == "kubernetes") {
                    all.push("kubernetes".into());
                }
            } else {
                *all = json!(["kubernetes"]);
            }
        });
        label_with_name(namespace);
    },
    update: |new, old| {
        // Only the subresource of that name finalizes.
        let before = at(old, "spec.finalizers").clone();
        if let Some(spec) = map_in(new, "spec") {
            match before.is_null() {
                true => spec.remove("finalizers"),
                false => spec.insert("finalizers".to_owned(), before),
            };
        }
    },
    check: |namespace, errors| {
        let spec = Spot::of(namespace, "spec");
        let finalizers = spec.get("finalizers");
        for finalizer in finalizers.items() {
            let name = finalizer.text();
            for why in labels::key_mistakes(name) {
                errors.push(FieldError::invalid(finalizers.path(), name, why));
            }
            if !name.contains('/')
                && !matches!(name, "kubernetes" | "orphan" | "foregroundDeletion")
            {
                errors.push(FieldError::invalid(
                    finalizers.path(),
                    name,
                    "name is neither a standard finalizer name nor is it fully qualified",
                ));
            }
        }
    },
    check_status: |namespace, _, errors| {
        let phase = at(namespace, "status.phase").clone();
        let (expected, when) = match namespace.is_deleting() {
            true => ("Terminating", "`deletionTimestamp` is not empty"),
            false => ("Active", "`deletionTimestamp` is empty"),
        };
        if phase != expected {
            let why = format!("may only be '{expected}' if {when}");
            errors.push(FieldError::invalid("status.Phase", phase, why));
        }
    },
    fields: &["status.phase", "name"],
    names: NameRule::Label,
    ..Sheet::PLAIN
};

/// A namespace can be selected by its name.
fn label_with_name(namespace: &mut Object) {
    let name = namespace.name().to_owned();
    if name.is_empty() {
        return;
    }
    if let Some(labels) = map_in(namespace.meta_mut(), "labels") {
        labels.insert("kubernetes.io/metadata.name".to_owned(), name.into());
    }
}

pub(super) static NODE: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("status", Empty),
        ("status.daemonEndpoints", Empty),
        ("status.daemonEndpoints.kubeletEndpoint", Empty),
        ("status.daemonEndpoints.kubeletEndpoint.Port", Int(0)),
        ("status.nodeInfo", Empty),
        ("status.nodeInfo.architecture", OptionalText("")),
        ("status.nodeInfo.bootID", OptionalText("")),
        ("status.nodeInfo.containerRuntimeVersion", OptionalText("")),
        ("status.nodeInfo.kernelVersion", OptionalText("")),
        ("status.nodeInfo.kubeProxyVersion", OptionalText("")),
        ("status.nodeInfo.kubeletVersion", OptionalText("")),
        ("status.nodeInfo.machineID", OptionalText("")),
        ("status.nodeInfo.operatingSystem", OptionalText("")),
        ("status.nodeInfo.osImage", OptionalText("")),
        ("status.nodeInfo.systemUUID", OptionalText("")),
    ],
    default: |node| {
        each(node, "status", &mut |status| {
            pod::round_list(status, "capacity");
            pod::round_list(status, "allocatable");
            if status.get("allocatable").is_none_or(Value::is_null)
                && let Some(capacity) = status.get("capacity").cloned()
            {
                status.insert("allocatable".to_owned(), capacity);
            }
        });
    },
    check: check_node,
    check_update: check_node_update,
    fields: &["spec.unschedulable"],
    ..Sheet::PLAIN
};

fn check_node(node: &Object, errors: &mut Errors) {
    let spec = Spot::of(node, "spec");
    // Upstream looks for taints in the metadata when it tells of them.
    let meta = Spot::of(node, "metadata");
    let taints = meta.told_as("taints", spec.get("taints").value());
    let mut seen = BTreeSet::new();
    for taint in taints.items() {
        let (key, value, effect) = (taint.get("key"), taint.get("value"), taint.get("effect"));
        errors.extend(
            labels::key_mistakes(key.text())
                .into_iter()
                .map(|why| key.invalid(why)),
        );
        let wrong = labels::value_mistakes(value.text());
        if !wrong.is_empty() {
            errors.push(value.invalid(wrong.join(";")));
        }
        checks::one_of(
            &effect,
            &["NoSchedule", "PreferNoSchedule", "NoExecute"],
            errors,
        );
        if !seen.insert((key.text(), effect.text())) {
            errors.push(FieldError {
                field: taint.path(),
                mistake: Mistake::Duplicate(taint.value().clone()),
                detail: "taints must be unique by key and effect pair".to_owned(),
            });
        }
    }
    let status = Spot::of(node, "status");
    for list in [status.get("capacity"), status.get("allocatable")] {
        for (name, amount) in list.entries() {
            if checks::quantity(amount).is_some_and(|amount| amount < Quantity::ZERO) {
                let field = format!("{}.{name}", list.path());
                let why = "must be greater than or equal to 0";
                errors.push(FieldError::invalid(field, amount.clone(), why));
            }
        }
    }
    let ranges = spec.get("podCIDRs");
    for range in ranges.items() {
        if !is_cidr(range.text()) {
            errors.push(
                range.invalid("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
            );
        }
    }
}

fn is_cidr(text: &str) -> bool {
    text.split_once('/').is_some_and(|(address, bits)| {
        let most = match address.parse() {
            Ok(core::net::IpAddr::V4(_)) => 32,
            Ok(core::net::IpAddr::V6(_)) => 128,
            Err(_) => return false,
        };
        bits.parse::<u8>().is_ok_and(|bits| bits <= most)
    })
}

fn check_node_update(new: &Object, old: &Object, errors: &mut Errors) {
    let (spec, before) = (Spot::of(new, "spec"), at(old, "spec"));
    let ranges = spec.get("podCIDRs");
    let had = before["podCIDRs"]
        .as_array()
        .is_some_and(|all| !all.is_empty());
    if had && ranges.value() != &before["podCIDRs"] {
        errors.push(
            ranges.forbidden("node updates may not change podCIDR except from \"\" to valid"),
        );
    }
    let provider = spec.get("providerID");
    let had = before["providerID"]
        .as_str()
        .is_some_and(|id| !id.is_empty());
    if had && provider.value() != &before["providerID"] {
        errors.push(
            provider.forbidden("node updates may not change providerID except from \"\" to valid"),
        );
    }
}

pub(super) static LEASE: Sheet = Sheet {
    defaults: &[("spec", Empty)],
    create: |lease, _| drop_coordination(lease),
    update: |lease, _| drop_coordination(lease),
    check: |lease, errors| {
        let spec = Spot::of(lease, "spec");
        let duration = spec.get("leaseDurationSeconds");
        if duration.int().is_some_and(|seconds| seconds <= 0) {
            errors.push(duration.invalid("must be greater than 0"));
        }
        checks::not_negative(&spec.get("leaseTransitions"), errors);
    },
    creates_on_update: true,
    ..Sheet::PLAIN
};

/// Coordinated elections are off by default upstream, and so are the fields for them.
fn drop_coordination(lease: &mut Object) {
    each(lease, "spec", &mut |spec| {
        spec.retain(|field, _| field != "strategy" && field != "preferredHolder")
    });
}

pub(super) static PRIORITY_CLASS: Sheet = Sheet {
    defaults: &[("preemptionPolicy", OptionalText("PreemptLowerPriority"))],
    generation: &["value"],
    check: |class, errors| {
        let is_system = class.name().starts_with("system-");
        let value = Spot::of(class, "value");
        let is_own = matches!(
            class.name(),
            "system-cluster-critical" | "system-node-critical"
        );
        if is_system && !is_own {
            errors.push(FieldError::forbidden(
                "metadata.name",
                "priority class names with 'system-' prefix are reserved for system use only. error: ".to_owned()
                    + &format!("{} is not a known system priority class", class.name()),
            ));
        }
        if !is_system && value.int().is_some_and(|value| value > USER_PRIORITY_MAX) {
            errors.push(value.forbidden(format!(
                "maximum allowed value of a user defined priority is {USER_PRIORITY_MAX}"
            )));
        }
        let policies = &["PreemptLowerPriority", "Never"];
        checks::one_of_if_set(&Spot::of(class, "preemptionPolicy"), policies, errors);
    },
    check_update: |new, old, errors| {
        let number = |class: &Object| at(class, "value").as_i64().unwrap_or(0);
        if number(new) != number(old) {
            errors.push(FieldError::forbidden(
                "value",
                "may not be changed in an update.",
            ));
        }
        let policy = Spot::of(new, "preemptionPolicy");
        checks::immutable(&policy, at(old, "preemptionPolicy"), errors);
    },
    ..Sheet::PLAIN
};

pub(super) static RUNTIME_CLASS: Sheet = Sheet {
    check: |class, errors| {
        let handler = Spot::of(class, "handler");
        checks::name(&handler, NameRule::Label, errors);
    },
    check_update: |new, old, errors| {
        let handler = Spot::of(new, "handler");
        checks::immutable(&handler, at(old, "handler"), errors);
    },
    creates_on_update: true,
    ..Sheet::PLAIN
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_addresses_has_a_length_that_fits() {
        for (text, fits) in [
            ("10.0.0.0/24", true),
            ("2001:db8::/64", true),
            ("10.0.0.0/33", false),
            ("10.0.0.0", false),
            ("x/1", false),
        ] {
            assert_eq!(is_cidr(text), fits, "{text}");
        }
    }
}
