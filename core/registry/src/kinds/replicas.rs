//! Workloads of many equal pods: Deployment, ReplicaSet, ReplicationController, DaemonSet.
//!
//! Upstream: `pkg/apis/apps/v1/defaults.go`, `pkg/apis/apps/validation/validation.go`,
//! `pkg/registry/apps/*/strategy.go`, `pkg/registry/core/replicationcontroller/strategy.go`.

use flyball_api::Selector;
use serde_json::{Value, json};

use super::checks::{self, same};
use super::fill::Fill::{Empty, Int, Text};
use super::fill::{each, fill};
use super::labels;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use super::statuses::Counts;
use super::templates;
use crate::object::{Meta, Object, at};

pub(super) static DEPLOYMENT: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.replicas", Int(1)),
        ("spec.strategy", Empty),
        ("spec.strategy.type", Text("RollingUpdate")),
        ("spec.revisionHistoryLimit", Int(10)),
        ("spec.progressDeadlineSeconds", Int(600)),
        ("spec.template", Empty),
    ],
    templates: &["spec.template"],
    default: |deployment| {
        roll(deployment, "spec.strategy", &json!("25%"), &json!("25%"));
    },
    fresh_status: true,
    update_status: |new, old| {
        let meta = new.meta_mut();
        match old.meta().get("labels") {
            Some(labels) => meta.insert("labels".to_owned(), labels.clone()),
            None => meta.remove("labels"),
        };
    },
    generation: &["spec"],
    counts_annotations: true,
    check: check_deployment,
    check_status: |new, old, errors| {
        let counts = Counts {
            all: &[
                "observedGeneration",
                "replicas",
                "updatedReplicas",
                "readyReplicas",
                "availableReplicas",
                "unavailableReplicas",
                "terminatingReplicas",
                "collisionCount",
            ],
            parts: &["updatedReplicas", "readyReplicas", "availableReplicas"],
            ready: "readyReplicas",
        };
        counts.check(new, old, errors);
    },
    check_update: check_selector_is_kept,
    ..Sheet::PLAIN
};

/// What ReplicaSets and ReplicationControllers count.
const REPLICA_COUNTS: Counts = Counts {
    all: &[
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ],
    parts: &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
    ready: "readyReplicas",
};

pub(super) static REPLICA_SET: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.replicas", Int(1)),
        ("spec.template", Empty),
    ],
    templates: &["spec.template"],
    fresh_status: true,
    create: |object, _| count_nothing(object),
    generation: &["spec"],
    check: |object, errors| {
        let spec = Spot::of(object, "spec");
        checks::not_negative(&spec.get("replicas"), errors);
        checks::not_negative(&spec.get("minReadySeconds"), errors);
        checks::given(&spec.get("selector"), errors);
        templates::check_with_selector(&spec, "ReplicaSet", "deployment", errors);
    },
    check_update: check_selector_is_kept,
    check_status: |new, old, errors| REPLICA_COUNTS.check(new, old, errors),
    ..Sheet::PLAIN
};

pub(super) static REPLICATION_CONTROLLER: Sheet = Sheet {
    defaults: &[("spec", Empty), ("spec.replicas", Int(1))],
    templates: &["spec.template"],
    default: |object| {
        let labels = at(object, "spec.template.metadata.labels").clone();
        if !labels.is_object() {
            return;
        }
        each(object, "spec", &mut |spec| lend(spec, "selector", &labels));
        lend(object.meta_mut(), "labels", &labels);
    },
    fresh_status: true,
    create: |object, _| count_nothing(object),
    generation: &["spec"],
    check: check_replication_controller,
    check_status: |new, old, errors| REPLICA_COUNTS.check(new, old, errors),
    fields: &["status.replicas"],
    ..Sheet::PLAIN
};

pub(super) static DAEMON_SET: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.updateStrategy", Empty),
        ("spec.updateStrategy.type", Text("RollingUpdate")),
        ("spec.revisionHistoryLimit", Int(10)),
        ("spec.template", Empty),
    ],
    templates: &["spec.template"],
    default: |object| {
        roll(object, "spec.updateStrategy", &json!(1), &json!(0));
        // It is a field of upstream's own type, so it is there before anybody counts.
        let before = template_generation(object);
        set_template_generation(object, before);
    },
    fresh_status: true,
    create: |object, _| {
        let counts = [
            "currentNumberScheduled",
            "numberMisscheduled",
            "desiredNumberScheduled",
            "numberReady",
        ];
        each(object, "status", &mut |status| {
            for count in counts {
                status.insert(count.to_owned(), json!(0));
            }
        });
        let given = template_generation(object);
        set_template_generation(object, given.max(1));
    },
    update: |new, old| {
        let before = template_generation(old);
        let is_changed = !same(at(new, "spec.template"), at(old, "spec.template"));
        set_template_generation(new, before + i64::from(is_changed));
    },
    update_status: |new, old| set_template_generation(new, template_generation(old)),
    generation: &["spec"],
    check: check_daemon_set,
    check_whole_update: Some(|new, old, errors| {
        check_selector_is_kept(new, old, errors);
        check_daemon_set(new, errors);
    }),
    check_status: |new, old, errors| {
        let counts = Counts {
            all: &[
                "currentNumberScheduled",
                "numberMisscheduled",
                "desiredNumberScheduled",
                "numberReady",
                "observedGeneration",
                "updatedNumberScheduled",
                "numberAvailable",
                "numberUnavailable",
                "collisionCount",
            ],
            parts: &[],
            ready: "",
        };
        counts.check(new, old, errors);
    },
    ..Sheet::PLAIN
};

/// How many replicas there are is always said.
fn count_nothing(object: &mut Object) {
    each(object, "status", &mut |status| {
        fill(status, &[("replicas", Int(0))])
    });
}

/// Gives a field that has nothing what another place has.
fn lend(object: &mut Object, field: &str, value: &Value) {
    let is_empty = object
        .get(field)
        .and_then(Value::as_object)
        .is_none_or(|map| map.is_empty());
    if is_empty {
        object.insert(field.to_owned(), value.clone());
    }
}

/// Fills in how fast to roll, where rolling is the strategy.
fn roll(object: &mut Object, way: &str, unavailable: &Value, surge: &Value) {
    each(object, way, &mut |strategy| {
        if strategy.get("type").and_then(Value::as_str) != Some("RollingUpdate") {
            return;
        }
        fill(strategy, &[("rollingUpdate", Empty)]);
        each(strategy, "rollingUpdate", &mut |rolling| {
            for (field, value) in [("maxUnavailable", unavailable), ("maxSurge", surge)] {
                if rolling.get(field).is_none_or(Value::is_null) {
                    rolling.insert(field.to_owned(), value.clone());
                }
            }
        });
    });
}

const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// The number of templates a DaemonSet has had, which v1 keeps in an annotation.
fn template_generation(object: &Object) -> i64 {
    let text = object.meta()["annotations"][TEMPLATE_GENERATION].as_str();
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn set_template_generation(object: &mut Object, number: i64) {
    let number = number.to_string();
    if let Some(annotations) = super::fill::map_in(object.meta_mut(), "annotations") {
        annotations.insert(TEMPLATE_GENERATION.to_owned(), number.into());
    }
}

fn check_selector_is_kept(new: &Object, old: &Object, errors: &mut Errors) {
    let spec = Spot::of(new, "spec");
    checks::immutable(&spec.get("selector"), at(old, "spec.selector"), errors);
}

fn check_deployment(object: &Object, errors: &mut Errors) {
    let spec = Spot::of(object, "spec");
    checks::not_negative(&spec.get("replicas"), errors);
    checks::given(&spec.get("selector"), errors);
    templates::check_with_selector(&spec, "ReplicaSet", "deployment", errors);
    let strategy = spec.get("strategy");
    let rolling = strategy.get("rollingUpdate");
    match strategy.get("type").text() {
        "Recreate" => {
            if rolling.is_set() {
                errors.push(
                    rolling.forbidden("may not be specified when strategy `type` is 'Recreate'"),
                );
            }
        }
        "RollingUpdate" => {
            let (unavailable, surge) = (rolling.get("maxUnavailable"), rolling.get("maxSurge"));
            checks::number_or_percent(&unavailable, errors);
            checks::number_or_percent(&surge, errors);
            if checks::is_zero_share(&unavailable) && checks::is_zero_share(&surge) {
                errors.push(unavailable.invalid("may not be 0 when `maxSurge` is 0"));
            }
            checks::at_most_hundred_percent(&unavailable, errors);
        }
        _ => errors.push(told_whole(&strategy, &["Recreate", "RollingUpdate"])),
    }
    for field in [
        "minReadySeconds",
        "revisionHistoryLimit",
        "progressDeadlineSeconds",
    ] {
        checks::not_negative(&spec.get(field), errors);
    }
    let deadline = spec.get("progressDeadlineSeconds");
    let ready = spec.get("minReadySeconds").int().unwrap_or(0);
    if deadline.int().is_some_and(|seconds| seconds <= ready) {
        errors.push(deadline.invalid("must be greater than minReadySeconds"));
    }
}

/// Upstream shows the whole strategy when its type is unknown.
fn told_whole(strategy: &Spot, known: &[&str]) -> crate::field_error::FieldError {
    crate::field_error::FieldError::not_supported(strategy.path(), strategy.value().clone(), known)
}

fn check_replication_controller(object: &Object, errors: &mut Errors) {
    let spec = Spot::of(object, "spec");
    checks::not_negative(&spec.get("minReadySeconds"), errors);
    let selector = spec.get("selector");
    checks::required(&selector, errors);
    checks::not_negative(&spec.get("replicas"), errors);
    let template = spec.get("template");
    if !template.is_set() {
        errors.push(template.required(""));
        return;
    }
    let pairs = selector
        .entries()
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)));
    templates::check_selected(&template, &Selector::from_map(pairs), errors);
    templates::check(&template, errors);
    templates::check_runs_forever(&template, "ReplicationController", errors);
}

fn check_daemon_set(object: &Object, errors: &mut Errors) {
    let spec = Spot::of(object, "spec");
    let (selector, template) = (spec.get("selector"), spec.get("template"));
    labels::check_selector(&selector, errors);
    let compiled = labels::compiled(selector.value());
    let meta = template.get("metadata");
    let own = meta.get("labels");
    if compiled.is_some_and(|compiled| !labels::accepts(&compiled, own.value())) {
        errors.push(own.invalid("`selector` does not match template `labels`"));
    }
    if selector.is_set() && templates::is_empty_selector(selector.value()) {
        errors.push(selector.invalid("empty selector is invalid for daemonset"));
    }
    templates::check(&template, errors);
    templates::check_runs_forever(&template, "DaemonSet", errors);
    checks::not_negative(&spec.get("minReadySeconds"), errors);
    let strategy = spec.get("updateStrategy");
    match strategy.get("type").text() {
        "OnDelete" => {}
        "RollingUpdate" => {
            let rolling = strategy.get("rollingUpdate");
            let (unavailable, surge) = (rolling.get("maxUnavailable"), rolling.get("maxSurge"));
            for share in [&unavailable, &surge] {
                checks::number_or_percent(share, errors);
            }
            for share in [&unavailable, &surge] {
                checks::at_most_hundred_percent(share, errors);
            }
            match (
                checks::is_zero_share(&unavailable),
                checks::is_zero_share(&surge),
            ) {
                (false, false) => {
                    errors.push(surge.invalid("may not be set when maxUnavailable is non-zero"));
                }
                (true, true) => errors.push(unavailable.required("cannot be 0 when maxSurge is 0")),
                _ => {}
            }
        }
        _ => errors.push(told_whole(&strategy, &["RollingUpdate", "OnDelete"])),
    }
    checks::not_negative(&spec.get("revisionHistoryLimit"), errors);
}
