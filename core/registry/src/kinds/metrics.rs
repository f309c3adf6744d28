//! What a HorizontalPodAutoscaler may aim at.
//!
//! Upstream: `pkg/apis/autoscaling/validation/validation.go`.

use flyball_api::Quantity;

use super::NameRule;
use super::checks::{self, quantity};
use super::quantities;
use super::spot::{Errors, Spot};

/// The kinds of measures, and the field that each is described in.
const SOURCES: [(&str, &str); 5] = [
    ("ContainerResource", "containerResource"),
    ("External", "external"),
    ("Object", "object"),
    ("Pods", "pods"),
    ("Resource", "resource"),
];

/// The fields in the order in which upstream looks at them.
const LOOKED_AT: [&str; 5] = [
    "object",
    "external",
    "pods",
    "resource",
    "containerResource",
];

/// The mistakes in one measure.
pub(super) fn check(metric: &Spot, errors: &mut Errors) {
    let kind = metric.get("type");
    if kind.is_empty() {
        errors.push(kind.required("must specify a metric source type"));
    }
    let known = SOURCES.map(|(kind, _)| kind);
    if !known.contains(&kind.text()) {
        errors.push(kind.not_supported(&known));
    }
    let described = LOOKED_AT.map(|field| metric.get(field));
    let mut given = described.iter().filter(|source| source.is_set());
    if let Some(source) = given.next() {
        check_source(source, errors);
    }
    let has_more = given.next().is_some();
    let expected = SOURCES.iter().find(|(one, _)| *one == kind.text());
    match expected {
        None => errors.push(kind.not_supported(&known)),
        Some((_, expected)) if !metric.get(expected).is_set() => {
            let why = "must populate information for the given metric source";
            errors.push(metric.get(expected).required(why));
        }
        Some(_) => {}
    }
    if has_more {
        let path = expected.map(|(_, field)| metric.get(field).path());
        for other in described.iter().filter(|source| source.is_set()) {
            if Some(other.path()) != path {
                errors.push(other.forbidden("must populate the given metric source only"));
            }
        }
    }
}

/// What is wrong with the group and version of a reference, if anything.
pub(super) fn version_mistake(version: &str, needs_group: bool) -> Option<String> {
    match version.matches('/').count() {
        0 if needs_group => Some("apiVersion must specify API group".to_owned()),
        0 | 1 => None,
        _ => Some(format!("unexpected GroupVersion string: {version}")),
    }
}

fn check_source(source: &Spot, errors: &mut Errors) {
    let field = source.path();
    let field = field.rsplit('.').next().unwrap_or_default();
    let is_resource = matches!(field, "resource" | "containerResource");
    if is_resource {
        let name = source.get("name");
        if name.is_empty() {
            errors.push(name.required("must specify a resource name"));
        } else if field == "containerResource" {
            quantities::check_container_name(&name, name.text(), errors);
        }
        let container = source.get("container");
        if field == "containerResource" && container.is_empty() {
            errors.push(container.required("must specify a container"));
        } else if field == "containerResource" {
            checks::name(&container, NameRule::Label, errors);
        }
    } else {
        if field == "object" {
            let object = source.get("describedObject");
            for field in ["kind", "name"] {
                checks::required_name(&object.get(field), NameRule::PathSegment, errors);
            }
            let version = object.get("apiVersion");
            if let Some(why) = version_mistake(version.text(), false) {
                errors.push(version.invalid_text(why));
            }
        }
        let metric = source.get("metric");
        let name = metric.get("name");
        if name.is_empty() {
            errors.push(name.required("must specify a metric name"));
        } else {
            checks::name(&name, NameRule::PathSegment, errors);
        }
    }
    let target = source.get("target");
    check_target(&target, errors);
    let (value, average) = (target.get("value"), target.get("averageValue"));
    let percent = target.get("averageUtilization");
    match field {
        "resource" | "containerResource" => {
            if !percent.is_set() && !average.is_set() {
                let why = "must set either a target raw value or a target utilization";
                errors.push(percent.required(why));
            }
            if percent.is_set() && average.is_set() {
                let why = "may not set both a target raw value and a target utilization";
                errors.push(average.forbidden(why));
            }
        }
        "external" => {
            if !value.is_set() && !average.is_set() {
                let why = "must set either a target value for metric or a per-pod target";
                errors.push(average.required(why));
            }
            if value.is_set() && average.is_set() {
                let why = "may not set both a target value for metric and a per-pod target";
                errors.push(value.forbidden(why));
            }
        }
        "pods" => {
            if !average.is_set() {
                errors.push(average.required("must specify a positive target averageValue"));
            }
        }
        _ => {
            if !value.is_set() && !average.is_set() {
                errors.push(average.required("must set either a target value or averageValue"));
            }
        }
    }
}

fn check_target(target: &Spot, errors: &mut Errors) {
    let kind = target.get("type");
    if kind.is_empty() {
        errors.push(kind.required("must specify a metric target type"));
    }
    if !["Utilization", "Value", "AverageValue"].contains(&kind.text()) {
        errors.push(kind.invalid_text("must be either Utilization, Value, or AverageValue"));
    }
    for field in ["value", "averageValue"] {
        let amount = target.get(field);
        if quantity(amount.value()).is_some_and(|amount| amount <= Quantity::ZERO) {
            errors.push(amount.invalid("must be positive"));
        }
    }
    let percent = target.get("averageUtilization");
    if percent.int().is_some_and(|percent| percent < 1) {
        errors.push(percent.invalid("must be greater than 0"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_measure_has_one_source_and_one_aim() {
        let resource = |target: Value| json!({"type": "Resource", "resource": {"name": "cpu", "target": target}});
        for (metric, expected) in [
            (
                resource(json!({"type": "Utilization", "averageUtilization": 5})),
                "",
            ),
            (
                resource(json!({"type": "Utilization", "averageUtilization": 0})),
                "m.resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
            ),
            (
                resource(json!({"type": "Utilization"})),
                "m.resource.target.averageUtilization: Required value: must set either a target raw value or a \
                 target utilization",
            ),
            (
                json!({"type": "Pods"}),
                "m.pods: Required value: must populate information for the given metric source",
            ),
        ] {
            let mut errors = Errors::new();
            check(&Spot::root("m", &metric), &mut errors);
            let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(told.join("; "), expected, "{metric}");
        }
    }
}
