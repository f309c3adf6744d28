//! Mistakes in amounts of resources.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`, `pkg/apis/core/helper/helpers.go`.

use std::collections::BTreeSet;

use flyball_api::Quantity;
use serde_json::Value;

use super::NameRule;
use super::checks::{self, quantity};
use super::labels;
use super::spot::{Errors, Spot};
use crate::field_error::{FieldError, Mistake};

const HUGE_PAGES: &str = "hugepages-";
const POD_RESOURCES: [&str; 2] = ["cpu", "memory"];
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
    name.starts_with(HUGE_PAGES)
}

/// Whether more of a resource may be promised than there is.
pub(super) fn is_overcommit_allowed(name: &str) -> bool {
    is_native(name) && !is_huge_page(name)
}

fn is_counted(name: &str) -> bool {
    COUNTED_RESOURCES.contains(&name) || is_extended(name)
}

/// Whether a quota can count this, by a name of Kubernetes' own.
pub(super) fn is_standard_quota(name: &str) -> bool {
    (STANDARD_RESOURCES.contains(&name) && name != "storage")
        || is_huge_page(name)
        || name.starts_with("requests.hugepages-")
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

/// Who asks for resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asker {
    Container,
    /// A pod as a whole, which can ask for few of them.
    Pod,
}

/// The name of a resource that a container can ask for.
pub(super) fn check_container_name(spot: &Spot, name: &str, errors: &mut Errors) {
    check_name(spot, name, errors);
    let invalid = |why: &str| FieldError::invalid(spot.path(), name, why);
    if !name.contains('/') {
        if !CONTAINER_RESOURCES.contains(&name) && !is_huge_page(name) {
            errors.push(invalid("must be a standard resource for containers"));
        }
    } else if !is_native(name) && !is_extended(name) {
        errors.push(invalid("doesn't follow extended resource name standard"));
    }
}

/// Whether a resource is somebody else's, by a name that a quota can count as well.
fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && labels::key_mistakes(&format!("requests.{name}")).is_empty()
}

/// The name of a resource that a pod as a whole can ask for.
fn check_pod_name(spot: &Spot, name: &str, errors: &mut Errors) {
    if check_name(spot, name, errors) && !POD_RESOURCES.contains(&name) && !is_huge_page(name) {
        let known = &["cpu", "hugepages-", "memory"];
        errors.push(FieldError::not_supported(spot.path(), name, known));
    }
}

/// Requests and limits.
pub(super) fn check_requirements(resources: &Spot, asker: Asker, errors: &mut Errors) {
    let (limits, requests) = (resources.get("limits"), resources.get("requests"));
    let check_name = match asker {
        Asker::Container => check_container_name,
        Asker::Pod => check_pod_name,
    };
    let (mut huge_pages, mut compute) = (false, false);
    for list in [&limits, &requests] {
        for (name, value) in list.entries() {
            let amount = list.key(name);
            check_name(&amount, name, errors);
            check_amount(&amount, name, errors);
            if std::ptr::eq(list, &requests) {
                check_within_limit(&limits, &requests, name, value, errors);
            }
            if is_huge_page(name) {
                check_pages(&amount, name, errors);
            }
            huge_pages |= is_huge_page(name);
            compute |= name == "cpu" || name == "memory";
        }
    }
    if huge_pages && !compute {
        errors.push(resources.forbidden("HugePages require cpu or memory"));
    }
}

fn check_within_limit(
    limits: &Spot,
    requests: &Spot,
    name: &str,
    asked: &Value,
    errors: &mut Errors,
) {
    let asked = quantity(asked).unwrap_or(Quantity::ZERO);
    let limit = quantity(&limits.value()[name]);
    let wrong = match limit {
        Some(limit) if asked != limit && !is_overcommit_allowed(name) => {
            format!("must be equal to {name} limit of {limit}")
        }
        Some(limit) if asked > limit => {
            format!("must be less than or equal to {name} limit of {limit}")
        }
        None if !is_overcommit_allowed(name) => {
            errors.push(limits.required("Limit must be set for non overcommitable resources"));
            return;
        }
        _ => return,
    };
    errors.push(FieldError::invalid(
        requests.path(),
        asked.to_string(),
        wrong,
    ));
}

/// Whole pages only.
fn check_pages(amount: &Spot, name: &str, errors: &mut Errors) {
    let size = name
        .strip_prefix(HUGE_PAGES)
        .and_then(|size| size.parse::<Quantity>().ok());
    let asked = quantity(amount.value()).unwrap_or(Quantity::ZERO);
    let fits = size.is_some_and(|size| size.value() > 0 && asked.value() % size.value() == 0);
    if !fits {
        let why = format!("{asked} is not positive integer multiple of {name}");
        errors.push(FieldError::invalid(amount.path(), asked.to_string(), why));
    }
}

/// What a pod costs beside its containers.
pub(super) fn check_overhead(overhead: &Spot, errors: &mut Errors) {
    if !overhead.is_set() {
        return;
    }
    check_overhead_of(overhead, overhead, errors);
}

/// Amounts that upstream tells of as limits of somebody.
pub(super) fn check_overhead_of<'v>(
    amounts: &Spot<'_, 'v>,
    overhead: &Spot<'_, 'v>,
    errors: &mut Errors,
) {
    let limits = overhead.told_as("limits", amounts.value());
    let (mut huge_pages, mut compute) = (false, false);
    for (name, _) in limits.entries() {
        let amount = limits.key(name);
        check_container_name(&amount, name, errors);
        check_amount(&amount, name, errors);
        if is_huge_page(name) {
            check_pages(&amount, name, errors);
        }
        huge_pages |= is_huge_page(name);
        compute |= name == "cpu" || name == "memory";
    }
    if huge_pages && !compute {
        errors.push(overhead.forbidden("HugePages require cpu or memory"));
    }
}

/// The names of claims that an error lists.
const NAMES_SHOWN_MAX: usize = 100;

/// Claims that a container refers to, each once and each one of the pod's, which have these names.
pub(super) fn check_claims(claims: &Spot, names: &BTreeSet<&str>, errors: &mut Errors) {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for claim in claims.items() {
        let (name, request) = (claim.get("name").text(), claim.get("request"));
        let told = |mistake: Mistake, detail: String| FieldError {
            field: claim.path(),
            mistake,
            detail,
        };
        if name.is_empty() {
            errors.push(claim.required(""));
            continue;
        }
        let mut key = name.to_owned();
        if seen.contains(&key) {
            errors.push(told(Mistake::Duplicate(name.into()), String::new()));
        } else {
            if !request.is_empty() {
                checks::name(&request, NameRule::Label, errors);
                key = format!("{name}/{}", request.text());
            }
            let start = format!("{name}/");
            if seen.contains(&key) {
                errors.push(told(Mistake::Duplicate(key.as_str().into()), String::new()));
            } else if request.is_empty()
                && seen
                    .range(start.clone()..)
                    .next()
                    .is_some_and(|one| one.starts_with(&start))
            {
                errors.push(told(Mistake::Duplicate(name.into()), String::new()));
            }
            seen.insert(key);
        }
        if !names.contains(name) {
            let known: Vec<&str> = names.iter().copied().take(NAMES_SHOWN_MAX).collect();
            let which = match known.is_empty() {
                true => " which is empty".to_owned(),
                false => format!(": {}", known.join(", ")),
            };
            let detail = format!("must be one of the names in pod.spec.resourceClaims{which}");
            errors.push(told(Mistake::NotFound(name.into()), detail));
        }
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
            check_requirements(&Spot::root("r", &resources), Asker::Container, &mut errors);
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(texts.join("\n"), expected, "{resources}");
        }
    }
}
