//! Mistakes in amounts of resources.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`, `pkg/apis/core/helper/helpers.go`.

use flyball_api::Quantity;

use super::checks::{self, quantity};
use super::labels;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;

const CONTAINER_RESOURCES: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
const STANDARD_RESOURCES: [&str; 20] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
];
const COUNTED_RESOURCES: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// Whether a resource is one of Kubernetes' own.
fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// Whether more of a resource may be promised than there is.
fn is_overcommit_allowed(name: &str) -> bool {
    is_native(name) && !is_huge_page(name)
}

fn is_counted(name: &str) -> bool {
    COUNTED_RESOURCES.contains(&name) || (!is_native(name) && !name.starts_with("requests."))
}

/// Whether a quota can count this.
pub(super) fn is_quota_resource(name: &str) -> bool {
    STANDARD_RESOURCES.contains(&name)
        || is_huge_page(name)
        || name.starts_with("requests.hugepages-")
        || name.starts_with("count/")
}

/// An amount of a resource: not below zero, and whole where things are counted.
pub(super) fn check_amount(amount: &Spot, name: &str, errors: &mut Errors) {
    checks::quantity_not_negative(amount, errors);
    let is_whole = quantity(amount.value()).is_none_or(|amount| amount.milli_value() % 1000 == 0);
    if is_counted(name) && !is_whole {
        errors.push(amount.invalid("must be an integer"));
    }
}

/// The name of a resource wherever one may stand.
pub(super) fn check_name(spot: &Spot, name: &str, errors: &mut Errors) -> bool {
    let wrong = labels::key_mistakes(name);
    let fits = wrong.is_empty();
    errors.extend(
        wrong
            .into_iter()
            .map(|why| FieldError::invalid(spot.path(), name, why)),
    );
    let is_known = name.contains('/')
        || STANDARD_RESOURCES.contains(&name)
        || is_huge_page(name)
        || name.starts_with("requests.hugepages-");
    if fits && !is_known {
        let why = "must be a standard resource type or fully qualified";
        errors.push(FieldError::invalid(spot.path(), name, why));
    }
    fits && is_known
}

/// The name of a resource that a container can ask for.
fn check_container_name(spot: &Spot, name: &str, errors: &mut Errors) {
    check_name(spot, name, errors);
    if !name.contains('/') {
        if !CONTAINER_RESOURCES.contains(&name) && !is_huge_page(name) {
            let why = "must be a standard resource for containers";
            errors.push(FieldError::invalid(spot.path(), name, why));
        }
    } else if !is_native(name) && name.starts_with("requests.") {
        let why = "doesn't follow extended resource name standard";
        errors.push(FieldError::invalid(spot.path(), name, why));
    }
}

/// The requests and limits of a container.
pub(super) fn check_requirements(resources: &Spot, errors: &mut Errors) {
    let (limits, requests) = (resources.get("limits"), resources.get("requests"));
    let (mut huge_pages, mut compute) = (false, false);
    for list in [&limits, &requests] {
        for (name, _) in list.entries() {
            let amount = list.key(name);
            check_container_name(&amount, name, errors);
            check_amount(&amount, name, errors);
            huge_pages |= is_huge_page(name);
            compute |= name == "cpu" || name == "memory";
        }
    }
    for (name, value) in requests.entries() {
        let asked = quantity(value);
        let limit = quantity(limits.key(name).value());
        let wrong = match (asked, limit) {
            (Some(asked), Some(limit)) if asked != limit && !is_overcommit_allowed(name) => {
                format!("must be equal to {name} limit of {limit}")
            }
            (Some(asked), Some(limit)) if asked > limit => {
                format!("must be less than or equal to {name} limit of {limit}")
            }
            (_, None) if !is_overcommit_allowed(name) => {
                errors.push(limits.required("Limit must be set for non overcommitable resources"));
                continue;
            }
            _ => continue,
        };
        let asked = asked.unwrap_or(Quantity::ZERO).to_string();
        errors.push(FieldError::invalid(requests.path(), asked, wrong));
    }
    if huge_pages && !compute {
        errors.push(resources.forbidden("HugePages require cpu or memory"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn requests_stay_within_limits_and_names_are_known() {
        for (resources, expected) in [
            (
                json!({"limits": {"cpu": "1"}, "requests": {"cpu": "500m"}}),
                "",
            ),
            (
                json!({"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}),
                "r.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1",
            ),
            (
                json!({"limits": {"cpu": "-1"}}),
                "r.limits[cpu]: Invalid value: \"-1\": must be greater than or equal to 0",
            ),
            (
                json!({"limits": {"example.com/gpu": "2"}, "requests": {"example.com/gpu": "1"}}),
                "r.requests: Invalid value: \"1\": must be equal to example.com/gpu limit of 2",
            ),
            (
                json!({"requests": {"example.com/gpu": "1"}}),
                "r.limits: Required value: Limit must be set for non overcommitable resources",
            ),
            (
                json!({"limits": {"example.com/gpu": "500m"}}),
                "r.limits[example.com/gpu]: Invalid value: \"500m\": must be an integer",
            ),
        ] {
            let mut errors = Vec::new();
            check_requirements(&Spot::root("r", &resources), &mut errors);
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(texts.join("\n"), expected, "{resources}");
        }
    }
}
