//! What a namespace may use: LimitRanges and ResourceQuotas.
//!
//! Upstream: `pkg/apis/core/{v1/defaults.go,validation/validation.go}`.

use std::collections::BTreeSet;

use flyball_api::Quantity;
use serde_json::Value;

use super::checks::quantity;
use super::fill::Fill::Empty;
use super::fill::{each, map_in};
use super::labels;
use super::pod;
use super::quantities;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::{FieldError, ListErrors};
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
        check_type(&kind, errors);
        if !kinds.insert(kind.text()) {
            errors.push(FieldError {
                field: kind.path(),
                mistake: crate::field_error::Mistake::Duplicate(kind.text().into()),
                detail: String::new(),
            });
        }
        let is_pod = kind.text() == "Pod";
        check_names(&limit, &["max", "min"], errors);
        if is_pod {
            for list in [limit.get("default"), limit.get("defaultRequest")] {
                if !list.is_empty() {
                    errors.push(list.forbidden("may not be specified when `type` is 'Pod'"));
                }
            }
        } else {
            check_names(&limit, &["default", "defaultRequest"], errors);
        }
        let has_size = |list: &'static str| limit.get(list).key("storage").is_set();
        if kind.text() == "PersistentVolumeClaim" && !has_size("min") && !has_size("max") {
            let why =
                "either minimum or maximum storage value is required, but neither was provided";
            errors.push(limit.get("limits").required(why));
        }
        check_names(&limit, &["maxLimitRequestRatio"], errors);
        check_order(&limit, errors);
    }
}

fn check_type(kind: &Spot, errors: &mut Errors) {
    let before = errors.len();
    labels::check_qualified_name(kind, errors);
    let is_known = ["Pod", "Container", "PersistentVolumeClaim"].contains(&kind.text());
    if errors.len() == before && !kind.text().contains('/') && !is_known {
        errors.push(kind.invalid("must be a standard limit type or fully qualified"));
    }
}

fn check_names(limit: &Spot, lists: &[&'static str], errors: &mut Errors) {
    let is_container = ["Pod", "Container"].contains(&limit.get("type").text());
    for list in lists {
        let list = limit.get(list);
        for (name, _) in list.entries() {
            match is_container {
                true => quantities::check_container_name(&list.key(name), name, errors),
                false => drop(quantities::check_name(&list.key(name), name, errors)),
            }
        }
    }
}

/// The least, the default and the most of a resource must be in this order.
fn check_order(limit: &Spot, errors: &mut Errors) {
    let is_pod = limit.get("type").text() == "Pod";
    let lists = [
        "min",
        "max",
        "default",
        "defaultRequest",
        "maxLimitRequestRatio",
    ];
    let names: BTreeSet<&String> = lists
        .iter()
        .flat_map(|list| {
            limit
                .get(list)
                .entries()
                .map(|(name, _)| name)
                .collect::<Vec<_>>()
        })
        .collect();
    for name in names {
        let amount = |list: &'static str| {
            let hidden = is_pod && list.starts_with("default");
            quantity(limit.get(list).key(name).value()).filter(|_| !hidden)
        };
        let mut wrong = |list: &'static str, shown: Quantity, why: String| {
            let place = format!("{}[{name}]", limit.get(list).path());
            errors.push(FieldError::invalid(place, shown.to_string(), why));
        };
        let (least, most) = (amount("min"), amount("max"));
        let (usual, asked) = (amount("default"), amount("defaultRequest"));
        let ratio = amount("maxLimitRequestRatio");
        let above = |one: Option<Quantity>, other: Option<Quantity>| {
            one.zip(other).filter(|(one, other)| one > other)
        };
        if let Some((low, high)) = above(least, most) {
            wrong(
                "min",
                low,
                format!("min value {low} is greater than max value {high}"),
            );
        }
        if let Some((low, high)) = above(least, asked) {
            let why = format!("min value {low} is greater than default request value {high}");
            wrong("defaultRequest", high, why);
        }
        if let Some((low, high)) = above(asked, most) {
            let why = format!("default request value {low} is greater than max value {high}");
            wrong("defaultRequest", low, why);
        }
        if let Some((low, high)) = above(asked, usual) {
            let why =
                format!("default request value {low} is greater than default limit value {high}");
            wrong("defaultRequest", low, why);
        }
        if let Some((low, high)) = above(least, usual) {
            let why = format!("min value {low} is greater than default value {high}");
            wrong("default", low, why);
        }
        if let Some((low, high)) = above(usual, most) {
            let why = format!("default value {low} is greater than max value {high}");
            wrong("default", high, why);
        }
        if let Some(ratio) = ratio {
            if ratio < Quantity::from_integer(1) {
                wrong(
                    "maxLimitRequestRatio",
                    ratio,
                    format!("ratio {ratio} is less than 1"),
                );
            }
            if let Some((least, most)) = least.zip(most) {
                let (asked, possible) = ratios(ratio, least, most);
                if asked > possible {
                    let why = format!("ratio {ratio} is greater than max/min = {possible:.6}");
                    wrong("maxLimitRequestRatio", ratio, why);
                }
            }
        }
        if let Some((usual, asked)) = usual.zip(asked).filter(|(one, other)| one != other)
            && !quantities::is_overcommit_allowed(name)
        {
            let why = format!(
                "default value {usual} must equal to defaultRequest value {asked} in {name}"
            );
            wrong("defaultRequest", asked, why);
        }
    }
}

/// A ratio that is asked for, and the one that follows from two bounds; in thousandths where they fit.
fn ratios(ratio: Quantity, least: Quantity, most: Quantity) -> (f64, f64) {
    const MILLI_MAX: i64 = i64::MAX / 1000;
    if [ratio, least, most]
        .iter()
        .all(|amount| amount.value() < MILLI_MAX)
    {
        let possible = most.milli_value() as f64 / least.milli_value() as f64;
        return (ratio.milli_value() as f64 / 1000.0, possible);
    }
    (
        ratio.value() as f64,
        most.value() as f64 / least.value() as f64,
    )
}

/// What is counted of pods.
const POD_RESOURCES: [&str; 7] = [
    "pods",
    "cpu",
    "memory",
    "limits.cpu",
    "limits.memory",
    "requests.cpu",
    "requests.memory",
];
/// Scopes that either hold or do not.
const EXISTING: [&str; 5] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "CrossNamespacePodAffinity",
];
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
        check_amounts(&spec.get("hard"), errors);
        check_scopes(&spec, errors);
    },
    check_update: |new, old, errors| {
        let spec = Spot::of(new, "spec");
        let scopes = spec.get("scopes");
        let texts = |value: &Value| -> BTreeSet<String> {
            let all = value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str);
            all.map(str::to_owned).collect()
        };
        if texts(scopes.value()) != texts(at(old, "spec.scopes")) {
            errors.push(scopes.invalid("field is immutable"));
        }
    },
    check_status: |quota, _, errors| {
        let status = Spot::of(quota, "status");
        check_amounts(&status.get("hard"), errors);
        check_amounts(&status.get("used"), errors);
    },
    ..Sheet::PLAIN
};

fn check_amounts(amounts: &Spot, errors: &mut Errors) {
    for (name, _) in amounts.entries() {
        let amount = amounts.key(name);
        check_quota_name(&amount, name, errors);
        quantities::check_amount(&amount, name, errors);
    }
}

/// What a scope can count, if it cannot count everything.
fn counts(scope: &str, resource: &str) -> bool {
    if !quantities::is_standard_quota(resource) {
        return true;
    }
    match scope {
        "BestEffort" => resource == "pods",
        "Terminating"
        | "NotTerminating"
        | "NotBestEffort"
        | "PriorityClass"
        | "CrossNamespacePodAffinity" => POD_RESOURCES.contains(&resource),
        "VolumeAttributesClass" => {
            matches!(resource, "requests.storage" | "persistentvolumeclaims")
        }
        _ => true,
    }
}

fn check_scopes(spec: &Spot, errors: &mut Errors) {
    let (hard, scopes) = (spec.get("hard"), spec.get("scopes"));
    check_scope_set(
        &scopes,
        &hard,
        scopes.items().map(|scope| scope.text()).collect(),
        errors,
    );
    let selector = spec.get("scopeSelector");
    let expressions = selector.get("matchExpressions");
    let mut seen = Vec::new();
    let mut shown = ListErrors::of(expressions.items().count());
    for expression in expressions.items() {
        let (scope, operator) = (expression.get("scopeName"), expression.get("operator"));
        let values = expression.get("values");
        // Upstream tells of all of them as of the list.
        if !SCOPES.contains(&scope.text()) {
            let told = expressions.told_as("scopeName", scope.value());
            errors.push(told.invalid_text("unsupported scope"));
        }
        let mut uncounted = hard
            .entries()
            .filter(|(resource, _)| !counts(scope.text(), resource));
        while shown.take() && uncounted.next().is_some() {
            let told = expressions.told_as_whole(selector.value());
            errors.push(told.invalid("unsupported scope applied to resource"));
        }
        if EXISTING.contains(&scope.text()) && operator.text() != "Exists" {
            let told = expressions.told_as("operator", operator.value());
            let why = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                       ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, \
                       ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
            errors.push(told.invalid_text(why));
        }
        let told = expressions.told_as("values", values.value());
        match operator.text() {
            "In" | "NotIn" if values.is_empty() => {
                let why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                errors.push(told.required(why));
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                errors.push(told.invalid(why));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => {
                let told = expressions.told_as("operator", operator.value());
                errors.push(told.invalid_text("not a valid selector operator"));
            }
        }
        seen.push(scope.text());
    }
    check_conflicts(&expressions.told_as_whole(scopes.value()), &seen, errors);
}

fn check_scope_set(scopes: &Spot, hard: &Spot, names: Vec<&str>, errors: &mut Errors) {
    let mut shown = ListErrors::of(names.len());
    'names: for name in &names {
        if !SCOPES.contains(name) && shown.take() {
            errors.push(scopes.invalid("unsupported scope"));
        }
        for (resource, _) in hard.entries() {
            if counts(name, resource) {
                continue;
            }
            if !shown.take() {
                break 'names;
            }
            errors.push(scopes.invalid("unsupported scope applied to resource"));
        }
    }
    check_conflicts(scopes, &names, errors);
}

fn check_conflicts(place: &Spot, names: &[&str], errors: &mut Errors) {
    for (one, other) in [
        ("BestEffort", "NotBestEffort"),
        ("Terminating", "NotTerminating"),
    ] {
        if names.contains(&one) && names.contains(&other) {
            errors.push(place.invalid("conflicting scopes"));
        }
    }
}

fn check_quota_name(spot: &Spot, name: &str, errors: &mut Errors) {
    quantities::check_name(spot, name, errors);
    if !name.contains('/') && !quantities::is_standard_quota(name) {
        let why = "must be a standard resource for quota";
        errors.push(FieldError::invalid(spot.path(), name, why));
    }
}
