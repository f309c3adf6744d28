//! What a cluster is made of: Namespaces, Leases, RuntimeClasses, PriorityClasses.
//!
//! Upstream: `pkg/registry/core/namespace/strategy.go`, `pkg/apis/core/validation/validation.go`,
//! `pkg/apis/{coordination,scheduling,node}/validation/validation.go`.

use serde_json::{Value, json};

use super::NameRule;
use super::checks;
use super::fill::Fill::{Empty, OptionalText, Text};
use super::fill::{each, map_in};
use super::labels;
use super::pod;
use super::quantities;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
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
    },
    // A name that was drawn is not there when labels are judged.
    conclude: label_with_name,
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
    update_part: |part, new, old, _| {
        if part == "finalize" {
            new.insert("status".to_owned(), at(old, "status").clone());
        }
    },
    check: |namespace, errors| check_namespace_finalizers(namespace, false, errors),
    check_part: |part, new, _, errors| {
        if part == "finalize" {
            check_namespace_finalizers(new, true, errors);
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

/// Upstream tells which finalizer is wrong only to who finalizes.
fn check_namespace_finalizers(namespace: &Object, is_numbered: bool, errors: &mut Errors) {
    let spec = Spot::of(namespace, "spec");
    let finalizers = spec.get("finalizers");
    for finalizer in finalizers.items() {
        let name = finalizer.text();
        let place = || match is_numbered {
            true => finalizer.path(),
            false => finalizers.path(),
        };
        for why in labels::key_mistakes(name) {
            errors.push(FieldError::invalid(place(), name, why));
        }
        if !name.contains('/') && !matches!(name, "kubernetes" | "orphan" | "foregroundDeletion") {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(FieldError::invalid(place(), name, why));
        }
    }
}

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
        let policy = Spot::of(class, "preemptionPolicy");
        if policy.is_set() {
            checks::one_of(&policy, &["PreemptLowerPriority", "Never"], errors);
        }
    },
    check_whole_update: Some(|new, old, errors| {
        let number = |class: &Object| at(class, "value").as_i64().unwrap_or(0);
        if number(new) != number(old) {
            errors.push(FieldError::forbidden(
                "value",
                "may not be changed in an update.",
            ));
        }
        let policy = Spot::of(new, "preemptionPolicy");
        checks::immutable(&policy, at(old, "preemptionPolicy"), errors);
    }),
    ..Sheet::PLAIN
};

pub(super) static RUNTIME_CLASS: Sheet = Sheet {
    check: |class, errors| {
        let handler = Spot::of(class, "handler");
        if checks::required(&handler, errors) {
            checks::name(&handler, NameRule::Label, errors);
        }
        let overhead = Spot::of(class, "overhead");
        if overhead.is_set() {
            let fixed = overhead.get("podFixed");
            quantities::check_overhead_of(&fixed, &overhead, errors);
        }
        let scheduling = Spot::of(class, "scheduling");
        labels::check_labels(&scheduling.get("nodeSelector"), errors);
        check_class_tolerations(&scheduling.get("tolerations"), errors);
    },
    check_update: |new, old, errors| {
        let handler = Spot::of(new, "handler");
        checks::immutable_text(&handler, at(old, "handler"), errors);
    },
    creates_on_update: true,
    ..Sheet::PLAIN
};

fn check_class_tolerations(tolerations: &Spot, errors: &mut Errors) {
    pod::check_tolerations(tolerations, errors);
    for (at, toleration) in tolerations.items().enumerate() {
        let is_again = |other: &Spot| checks::same(other.value(), toleration.value());
        if tolerations.items().take(at).any(|other| is_again(&other)) {
            errors.push(toleration.duplicate());
        }
    }
}
