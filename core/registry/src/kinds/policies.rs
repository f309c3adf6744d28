//! Limits and promises: LimitRanges, ResourceQuotas, PodDisruptionBudgets, HorizontalPodAutoscalers.
//!
//! Upstream: `pkg/apis/core/{v1/defaults.go,validation/validation.go}`,
//! `pkg/apis/policy/validation/validation.go`, `pkg/apis/autoscaling/{v2/defaults.go,validation}`.

use std::collections::BTreeSet;

use flyball_api::Quantity;
use serde_json::{Value, json};

use super::NameRule;
use super::checks::{self, quantity};
use super::fill::Fill::{Empty, Int, Nonzero, Text};
use super::fill::{each, fill, map_in};
use super::labels;
use super::metrics;
use super::pod;
use super::quantities;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::object::{Object, at};

pub(super) static LIMIT_RANGE: Sheet = Sheet {
    defaults: &[("spec", Empty)],
    default: |range| {
        each(range, "spec.limits[]", &mut |limit| {
            for list in [
                "max",
                "min",
                "default",
                "defaultRequest",
                "maxLimitRequestRatio",
            ] {
                pod::round_list(limit, list);
            }
            if limit.get("type").and_then(Value::as_str) == Some("Container") {
                default_container_limit(limit);
            }
        });
    },
    check: check_limit_range,
    creates_on_update: true,
    ..Sheet::PLAIN
};

/// What a container gets that asks for nothing: at most the maximum, at least the minimum.
fn default_container_limit(limit: &mut Object) {
    for (to, from) in [
        ("default", "max"),
        ("defaultRequest", "default"),
        ("defaultRequest", "min"),
    ] {
        let Some(Value::Object(source)) = limit.get(from).cloned() else {
            continue;
        };
        if let Some(list) = map_in(limit, to).filter(|_| !source.is_empty()) {
            for (name, amount) in source {
                list.entry(name).or_insert(amount);
            }
        }
    }
}

fn check_limit_range(range: &Object, errors: &mut Errors) {
    let spec = Spot::of(range, "spec");
    let limits = spec.get("limits");
    let mut kinds = BTreeSet::new();
    for limit in limits.items() {
        let kind = limit.get("type");
        if !kinds.insert(kind.text()) {
            errors.push(kind.duplicate());
        }
        for list in [
            "max",
            "min",
            "default",
            "defaultRequest",
            "maxLimitRequestRatio",
        ] {
            let list = limit.get(list);
            for (name, _) in list.entries() {
                quantities::check_name(&list.key(name), name, errors);
            }
        }
        if kind.text() == "Pod" {
            for list in [limit.get("default"), limit.get("defaultRequest")] {
                if !list.is_empty() {
                    errors.push(list.forbidden("may not be specified when `type` is 'Pod'"));
                }
            }
        }
        check_order(&limit, errors);
    }
}

/// The least, the default and the most of a resource must be in this order.
fn check_order(limit: &Spot, errors: &mut Errors) {
    const PAIRS: [(&str, &str, &str, &str, &str); 6] = [
        ("min", "max", "min", "min value", "max value"),
        (
            "min",
            "defaultRequest",
            "defaultRequest",
            "min value",
            "default request value",
        ),
        (
            "defaultRequest",
            "max",
            "defaultRequest",
            "default request value",
            "max value",
        ),
        (
            "defaultRequest",
            "default",
            "defaultRequest",
            "default request value",
            "default limit value",
        ),
        ("min", "default", "default", "min value", "default value"),
        ("default", "max", "default", "default value", "max value"),
    ];
    let is_pod = limit.get("type").text() == "Pod";
    for (low, high, told, low_words, high_words) in PAIRS {
        // Pods have no defaults, which is told already.
        if is_pod && [low, high].iter().any(|list| list.starts_with("default")) {
            continue;
        }
        let (low, high) = (limit.get(low), limit.get(high));
        for (name, value) in low.entries() {
            let amounts = quantity(value).zip(quantity(high.key(name).value()));
            let Some((small, large)) = amounts.filter(|(small, large)| small > large) else {
                continue;
            };
            let list = limit.get(told);
            let why = format!("{low_words} {small} is greater than {high_words} {large}");
            errors.push(FieldError::invalid(
                list.key(name).path(),
                list.key(name).value().clone(),
                why,
            ));
        }
    }
    let ratios = limit.get("maxLimitRequestRatio");
    for (name, value) in ratios.entries() {
        if quantity(value).is_some_and(|ratio| ratio < Quantity::from_integer(1)) {
            let spot = ratios.key(name);
            errors.push(spot.invalid(format!("ratio {} is less than 1", spot.text())));
        }
    }
}

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
];

pub(super) static RESOURCE_QUOTA: Sheet = Sheet {
    defaults: &[("spec", Empty)],
    default: |quota| each(quota, "spec", &mut |spec| pod::round_list(spec, "hard")),
    fresh_status: true,
    check: |quota, errors| {
        let spec = Spot::of(quota, "spec");
        let hard = spec.get("hard");
        for (name, _) in hard.entries() {
            let amount = hard.key(name);
            check_quota_name(&amount, name, errors);
            quantities::check_amount(&amount, name, errors);
        }
        let scopes = spec.get("scopes");
        for scope in scopes.items() {
            if !SCOPES.contains(&scope.text()) {
                errors.push(FieldError::invalid(
                    scopes.path(),
                    scopes.value().clone(),
                    "unsupported scope",
                ));
            }
        }
        for (one, other) in [
            ("Terminating", "NotTerminating"),
            ("BestEffort", "NotBestEffort"),
        ] {
            let has = |name: &str| scopes.items().any(|scope| scope.text() == name);
            if has(one) && has(other) {
                errors.push(scopes.invalid("conflicting scopes"));
            }
        }
    },
    check_update: |new, old, errors| {
        let spec = Spot::of(new, "spec");
        checks::immutable(&spec.get("scopes"), at(old, "spec.scopes"), errors);
    },
    ..Sheet::PLAIN
};

fn check_quota_name(spot: &Spot, name: &str, errors: &mut Errors) {
    quantities::check_name(spot, name, errors);
    if !name.contains('/') && !quantities::is_quota_resource(name) {
        let why = "must be a standard resource for quota";
        errors.push(FieldError::invalid(spot.path(), name, why));
    }
}

pub(super) static POD_DISRUPTION_BUDGET: Sheet = Sheet {
    names: NameRule::PathSegment,
    defaults: &[("spec", Empty)],
    fresh_status: true,
    create: |budget, _| {
        each(budget, "status", &mut |status| {
            fill(
                status,
                &[
                    ("currentHealthy", Int(0)),
                    ("desiredHealthy", Int(0)),
                    ("disruptionsAllowed", Int(0)),
                    ("expectedPods", Int(0)),
                ],
            );
        });
    },
    generation: &["spec"],
    check: |budget, errors| {
        let spec = Spot::of(budget, "spec");
        let shares = ["minAvailable", "maxUnavailable"].map(|field| spec.get(field));
        if shares.iter().all(Spot::is_set) {
            errors.push(spec.invalid("minAvailable and maxUnavailable cannot be both set"));
        }
        for share in shares.iter().filter(|share| share.is_set()) {
            checks::number_or_percent(share, errors);
            checks::at_most_hundred_percent(share, errors);
        }
        labels::check_selector(&spec.get("selector"), errors);
        let policy = spec.get("unhealthyPodEvictionPolicy");
        checks::one_of_if_set(&policy, &["AlwaysAllow", "IfHealthyBudget"], errors);
    },
    ..Sheet::PLAIN
};

pub(super) static AUTOSCALER: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.minReplicas", Int(1)),
        ("spec.scaleTargetRef", Empty),
    ],
    default: default_autoscaler,
    create: |scaler, _| {
        let status = json!({"currentMetrics": null, "desiredReplicas": 0});
        scaler.insert("status".to_owned(), status);
    },
    check: check_autoscaler,
    ..Sheet::PLAIN
};

fn default_autoscaler(scaler: &mut Object) {
    each(scaler, "spec", &mut |spec| {
        let has_metrics = spec
            .get("metrics")
            .and_then(Value::as_array)
            .is_some_and(|all| !all.is_empty());
        if !has_metrics {
            let target = json!({"type": "Utilization", "averageUtilization": 80});
            let metric = json!({"type": "Resource", "resource": {"name": "cpu", "target": target}});
            spec.insert("metrics".to_owned(), json!([metric]));
        }
        if !spec.get("behavior").is_some_and(Value::is_object) {
            return;
        }
        fill(
            spec,
            &[("behavior.scaleUp", Empty), ("behavior.scaleDown", Empty)],
        );
        fill(
            spec,
            &[("behavior.scaleUp.stabilizationWindowSeconds", Int(0))],
        );
        let percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
        let pods = json!({"type": "Pods", "value": 4, "periodSeconds": 15});
        for (way, policies) in [
            ("behavior.scaleUp", json!([pods, percent])),
            ("behavior.scaleDown", json!([percent])),
        ] {
            each(spec, way, &mut |rules| {
                fill(rules, &[("selectPolicy", Text("Max"))]);
                if rules.get("policies").is_none_or(Value::is_null) {
                    rules.insert("policies".to_owned(), policies.clone());
                }
            });
        }
    });
}

fn check_autoscaler(scaler: &Object, errors: &mut Errors) {
    let spec = Spot::of(scaler, "spec");
    let (least, most) = (spec.get("minReplicas"), spec.get("maxReplicas"));
    if least.int().is_some_and(|replicas| replicas < 1) {
        errors.push(least.invalid("must be greater than or equal to 1"));
    }
    let replicas = most.int().unwrap_or(0);
    if replicas == 0 {
        errors.push(most.required("must be set and greater than 0"));
    } else if replicas < 0 {
        errors.push(most.invalid("must be greater than or equal to 1"));
    }
    if least.int().is_some_and(|least| replicas < least) {
        errors.push(FieldError::invalid(
            most.path(),
            replicas,
            "must be greater than or equal to `minReplicas`",
        ));
    }
    let target = spec.get("scaleTargetRef");
    for field in ["kind", "name"] {
        checks::required_name(&target.get(field), NameRule::PathSegment, errors);
    }
    let version = target.get("apiVersion");
    if !version.text().contains('/') {
        let why = "apiVersion must specify API group";
        errors.push(FieldError::invalid(version.path(), version.text(), why));
    }
    let metrics = spec.get("metrics");
    let outside = ["Object", "External"];
    if least.int() == Some(0)
        && !metrics
            .items()
            .any(|metric| outside.contains(&metric.get("type").text()))
    {
        errors.push(metrics.forbidden(
            "must specify at least one Object or External metric to support scaling to zero replicas",
        ));
    }
    for metric in metrics.items() {
        metrics::check(&metric, errors);
    }
    let behavior = spec.get("behavior");
    for direction in ["scaleUp", "scaleDown"] {
        let rules = behavior.get(direction);
        let window = rules.get("stabilizationWindowSeconds");
        checks::not_negative(&window, errors);
        if window.int().is_some_and(|seconds| seconds > 3600) {
            errors.push(window.invalid("must be less than or equal to 3600"));
        }
        let known = &["Disabled", "Max", "Min"];
        checks::one_of_if_set(&rules.get("selectPolicy"), known, errors);
        let policies = rules.get("policies");
        if rules.is_set() && policies.is_empty() {
            errors.push(policies.required("must specify at least one Policy"));
        }
    }
}

/// Limits of the old version of the kind: one measure, written as a number of its own.
pub(super) static AUTOSCALER_V1: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.minReplicas", Int(1)),
        ("spec.scaleTargetRef", Empty),
        ("spec.targetCPUUtilizationPercentage", Nonzero(80)),
    ],
    default: |_| {},
    create: |scaler, _| {
        scaler.insert(
            "status".to_owned(),
            json!({"currentReplicas": 0, "desiredReplicas": 0}),
        );
    },
    ..AUTOSCALER
};
