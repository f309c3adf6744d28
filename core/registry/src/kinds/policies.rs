//! What holds for many pods: PodDisruptionBudgets and HorizontalPodAutoscalers.
//!
//! Upstream: `pkg/apis/policy/validation/validation.go`, `pkg/apis/autoscaling/{v2/defaults.go,validation}`.

use serde_json::{Value, json};

use super::NameRule;
use super::checks;
use super::conditions;
use super::fill::Fill::{Empty, Int, Nonzero, OptionalText};
use super::fill::{each, fill};
use super::labels;
use super::metrics;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::object::Object;

const WINDOW_SECONDS_MAX: i64 = 3600;
const PERIOD_SECONDS_MAX: i64 = 1800;

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
    check_status: |budget, _, errors| {
        let status = Spot::of(budget, "status");
        conditions::check(&status.get("conditions"), errors);
        for field in [
            "disruptionsAllowed",
            "currentHealthy",
            "desiredHealthy",
            "expectedPods",
        ] {
            checks::not_negative(&status.get(field), errors);
        }
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
    check_status: |scaler, _, errors| {
        let status = Spot::of(scaler, "status");
        for field in ["currentReplicas", "desiredReplicas"] {
            checks::not_negative(&status.get(field), errors);
        }
    },
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
                fill(rules, &[("selectPolicy", OptionalText("Max"))]);
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
    if let Some(why) = metrics::version_mistake(version.text(), true) {
        errors.push(version.invalid_text(why));
    }
    let metrics = spec.get("metrics");
    for metric in metrics.items() {
        metrics::check(&metric, errors);
    }
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
    let behavior = spec.get("behavior");
    for direction in ["scaleUp", "scaleDown"] {
        let rules = behavior.get(direction);
        let window = rules.get("stabilizationWindowSeconds");
        if window.int().is_some_and(|seconds| seconds < 0) {
            errors.push(window.invalid("must be greater than or equal to zero"));
        }
        if window
            .int()
            .is_some_and(|seconds| seconds > WINDOW_SECONDS_MAX)
        {
            let why = format!("must be less than or equal to {WINDOW_SECONDS_MAX}");
            errors.push(window.invalid(why));
        }
        let known = &["Disabled", "Max", "Min"];
        checks::one_of_if_set(&rules.get("selectPolicy"), known, errors);
        let policies = rules.get("policies");
        if rules.is_set() && policies.is_empty() {
            errors.push(policies.required("must specify at least one Policy"));
        }
        for policy in policies.items() {
            let kind = policy.get("type");
            if !["Percent", "Pods"].contains(&kind.text()) {
                errors.push(kind.not_supported(&["Percent", "Pods"]));
            }
            let period = policy.get("periodSeconds");
            checks::positive(&policy.get("value"), errors);
            checks::positive(&period, errors);
            if period.number() > PERIOD_SECONDS_MAX {
                let why = format!("must be less than or equal to {PERIOD_SECONDS_MAX}");
                errors.push(period.invalid(why));
            }
        }
        checks::quantity_not_negative(&rules.get("tolerance"), errors);
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
