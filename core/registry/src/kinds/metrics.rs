//! What a HorizontalPodAutoscaler may aim at.
//!
//! Upstream: `pkg/apis/autoscaling/validation/validation.go`.

use flyball_api::Quantity;

use super::checks::quantity;
use super::spot::{Errors, Spot};

/// The kinds of measures, and the field that each is described in.
const SOURCES: [(&str, &str); 5] = [
    ("ContainerResource", "containerResource"),
    ("External", "external"),
    ("Object", "object"),
    ("Pods", "pods"),
    ("Resource", "resource"),
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
    let described = SOURCES.map(|(_, field)| metric.get(field));
    let given: Vec<&Spot> = described.iter().filter(|source| source.is_set()).collect();
    if let [source] = given.as_slice() {
        check_source(source, errors);
    }
    let expected = SOURCES.iter().find(|(one, _)| *one == kind.text());
    let Some((_, expected)) = expected else {
        return;
    };
    let expected = metric.get(expected);
    if !expected.is_set() {
        let why = "must populate information for the given metric source";
        errors.push(expected.required(why));
    }
    if given.len() > 1 {
        let path = expected.path();
        for other in given.iter().filter(|source| source.path() != path) {
            errors.push(other.forbidden("must populate the given metric source only"));
        }
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
        }
        let container = source.get("container");
        if field == "containerResource" && container.is_empty() {
            errors.push(container.required("must specify a container"));
        }
    } else {
        let metric = source.get("metric");
        let name = metric.get("name");
        if name.is_empty() {
            errors.push(name.required("must specify a metric name"));
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
        errors.push(kind.invalid("must be either Utilization, Value, or AverageValue"));
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
