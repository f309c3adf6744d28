//! Roles and who has them.
//!
//! Upstream: `pkg/apis/rbac/{v1/defaults.go,validation/validation.go}`.

use serde_json::Value;

use super::NameRule;
use super::checks;
use super::fill::Fill::{By, Empty, Text};
use super::fill::Line;
use super::labels;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::object::{Object, at};

const GROUP: &str = "rbac.authorization.k8s.io";

const BINDING_DEFAULTS: &[Line] = &[
    ("roleRef", Empty),
    ("roleRef.apiGroup", Text(GROUP)),
    ("subjects[].apiGroup", By(subject_group)),
];

pub(super) static ROLE: Sheet = Sheet {
    defaults: &[("rules", By(|_| Some(Value::Null)))],
    check: |role, errors| check_rules(role, true, errors),
    names: NameRule::PathSegment,
    creates_on_update: true,
    ..Sheet::PLAIN
};

pub(super) static CLUSTER_ROLE: Sheet = Sheet {
    check: |role, errors| {
        check_rules(role, false, errors);
        let aggregation = Spot::of(role, "aggregationRule");
        if aggregation.is_set() {
            let selectors = aggregation.get("clusterRoleSelectors");
            if selectors.is_empty() {
                errors.push(selectors.required(
                    "at least one clusterRoleSelector required if aggregationRule is non-nil",
                ));
            }
            for selector in selectors.items() {
                let before = errors.len();
                labels::check_selector(&selector, errors);
                if errors.len() > before {
                    let why = "invalid label selector.";
                    errors.push(FieldError::invalid(selector.path(), Value::Null, why));
                }
            }
        }
    },
    ..ROLE
};

pub(super) static ROLE_BINDING: Sheet = Sheet {
    defaults: BINDING_DEFAULTS,
    check: |binding, errors| check_binding(binding, true, errors),
    check_update: |new, old, errors| {
        let role = Spot::of(new, "roleRef");
        if role.value() != at(old, "roleRef") {
            errors.push(role.invalid("cannot change roleRef"));
        }
    },
    names: NameRule::PathSegment,
    creates_on_update: true,
    ..Sheet::PLAIN
};

pub(super) static CLUSTER_ROLE_BINDING: Sheet = Sheet {
    check: |binding, errors| check_binding(binding, false, errors),
    ..ROLE_BINDING
};

/// Users and groups belong to this group, accounts to none.
fn subject_group(subject: &Object) -> Option<Value> {
    let kind = subject.get("kind").and_then(Value::as_str);
    matches!(kind, Some("User" | "Group")).then(|| GROUP.into())
}

fn check_rules(role: &Object, is_namespaced: bool, errors: &mut Errors) {
    let rules = Spot::of(role, "rules");
    for rule in rules.items() {
        let [verbs, groups, resources, names, urls] = [
            "verbs",
            "apiGroups",
            "resources",
            "resourceNames",
            "nonResourceURLs",
        ]
        .map(|field| rule.get(field));
        if verbs.is_empty() {
            errors.push(verbs.required("verbs must contain at least one value"));
        }
        if !urls.is_empty() {
            if is_namespaced {
                errors.push(urls.invalid("namespaced rules cannot apply to non-resource URLs"));
            }
            if !groups.is_empty() || !resources.is_empty() || !names.is_empty() {
                errors.push(
                    urls.invalid(
                        "rules cannot apply to both regular resources and non-resource URLs",
                    ),
                );
            }
            continue;
        }
        if groups.is_empty() {
            errors.push(groups.required("resource rules must supply at least one api group"));
        }
        if resources.is_empty() {
            errors.push(resources.required("resource rules must supply at least one resource"));
        }
    }
}

fn check_binding(binding: &Object, is_namespaced: bool, errors: &mut Errors) {
    let role = Spot::of(binding, "roleRef");
    let group = role.get("apiGroup");
    if group.text() != GROUP {
        errors.push(group.not_supported(&[GROUP]));
    }
    let kind = role.get("kind");
    let kinds: &[&str] = if is_namespaced {
        &["Role", "ClusterRole"]
    } else {
        &["ClusterRole"]
    };
    if !kinds.contains(&kind.text()) {
        errors.push(kind.not_supported(kinds));
    }
    checks::required_name(&role.get("name"), NameRule::PathSegment, errors);
    let subjects = Spot::of(binding, "subjects");
    for subject in subjects.items() {
        check_subject(&subject, is_namespaced, errors);
    }
}

fn check_subject(subject: &Spot, is_namespaced: bool, errors: &mut Errors) {
    let [kind, name, group, namespace] =
        ["kind", "name", "apiGroup", "namespace"].map(|field| subject.get(field));
    checks::required(&name, errors);
    match kind.text() {
        "ServiceAccount" => {
            if !name.is_empty() {
                checks::name(&name, NameRule::Subdomain, errors);
            }
            if !group.is_empty() {
                errors.push(FieldError::not_supported(group.path(), group.text(), &[""]));
            }
            if !is_namespaced && namespace.is_empty() {
                errors.push(namespace.required(""));
            }
        }
        "User" | "Group" => {
            if group.text() != GROUP {
                errors.push(group.not_supported(&[GROUP]));
            }
        }
        _ => errors.push(kind.not_supported(&["ServiceAccount", "User", "Group"])),
    }
}
