//! Mistakes in annotations that mean something for a pod.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use serde_json::Value;

use super::defaults::VISITED;
use crate::field_error::FieldError;
use crate::kinds::checks;
use crate::kinds::spot::{Errors, Spot};
use crate::object::{Meta, Object};

const MIRROR: &str = "kubernetes.io/config.mirror";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

/// The annotations of a pod, or those of a template, which stand at `annotations`.
pub(in crate::kinds) fn check(annotations: &Spot, spec: &Spot, errors: &mut Errors) {
    let at = |key: &str| format!("{}[{key}]", annotations.path());
    let text = |key: &str| annotations.value()[key].as_str();
    if let Some(value) = text(MIRROR).filter(|_| spec.get("nodeName").is_empty()) {
        let why = "must set spec.nodeName if mirror pod annotation is set";
        errors.push(FieldError::invalid(at(MIRROR), value, why));
    }
    if let Some(cost) = text(DELETION_COST).filter(|cost| !is_cost(cost)) {
        let why = "must be a 32bit integer";
        errors.push(FieldError::invalid(at(DELETION_COST), cost, why));
    }
    for (key, value) in annotations.entries() {
        if key == SECCOMP || key.starts_with(SECCOMP_CONTAINER) {
            check_seccomp(&annotations.field_named(key), value, errors);
        }
    }
    for (key, value) in annotations.entries() {
        let Some(name) = key.strip_prefix(APP_ARMOR) else {
            continue;
        };
        let is_there = VISITED.iter().any(|field| {
            let containers = spec.get(field);
            containers
                .items()
                .any(|container| container.get("name").text() == name)
        });
        if !is_there {
            errors.push(FieldError::invalid(at(key), name, "container not found"));
        }
        let profile = value.as_str().unwrap_or_default();
        if !matches!(profile, "" | "runtime/default" | "unconfined")
            && !profile.starts_with("localhost/")
        {
            let why = format!("invalid AppArmor profile name: {profile:?}");
            errors.push(FieldError::invalid(at(key), profile, why));
        }
    }
}

/// A number of 32 bits without leading zeros or a plus.
fn is_cost(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = digits == "0" || !digits.starts_with(['0', '+']);
    is_plain && text.parse::<i32>().is_ok()
}

fn check_seccomp(spot: &Spot, value: &Value, errors: &mut Errors) {
    let profile = value.as_str().unwrap_or_default();
    if matches!(profile, "runtime/default" | "docker/default" | "unconfined") {
        return;
    }
    match profile.strip_prefix("localhost/") {
        Some(path) => {
            let path = Value::from(path);
            let mut found = Errors::new();
            checks::descending_path(&Spot::root("", &path), &mut found);
            errors.extend(found.into_iter().map(|error| FieldError {
                field: spot.path(),
                ..error
            }));
        }
        None => errors.push(spot.invalid("must be a valid seccomp profile")),
    }
}

/// What an update may not do to annotations that nodes have read already.
pub(super) fn check_update(new: &Object, old: &Object, errors: &mut Errors) {
    let path = |key: &str| format!("metadata.annotations[{key}]");
    let map = |pod: &Object| {
        pod.meta()["annotations"]
            .as_object()
            .cloned()
            .unwrap_or_default()
    };
    let (after, before) = (map(new), map(old));
    for (key, value) in &before {
        if after.get(key) == Some(value) {
            continue;
        }
        if key.starts_with(APP_ARMOR) {
            let why = "may not remove or update AppArmor annotations";
            errors.push(FieldError::forbidden(path(key), why));
        }
        if key == MIRROR {
            let why = "may not remove or update mirror pod annotation";
            errors.push(FieldError::forbidden(path(key), why));
        }
    }
    for key in after.keys().filter(|key| !before.contains_key(*key)) {
        if key.starts_with(APP_ARMOR) {
            errors.push(FieldError::forbidden(
                path(key),
                "may not add AppArmor annotations",
            ));
        }
        if key == MIRROR {
            errors.push(FieldError::forbidden(
                path(key),
                "may not add mirror pod annotation",
            ));
        }
    }
}

/// A profile that stands in an annotation and in a field must be the same in both.
pub(in crate::kinds) fn check_profiles(annotations: &Value, spec: &Spot, errors: &mut Errors) {
    let of_pod = spec.get("securityContext");
    if let Some(annotation) = annotations[SECCOMP].as_str() {
        check_match(&of_pod.get("seccompProfile"), annotation, "seccomp", errors);
    }
    for field in VISITED {
        let containers = spec.get(field);
        for container in containers.items() {
            let context = container.get("securityContext");
            let key = format!("{SECCOMP_CONTAINER}{}", container.get("name").text());
            if let Some(annotation) = annotations[key.as_str()].as_str() {
                check_match(
                    &context.get("seccompProfile"),
                    annotation,
                    "seccomp",
                    errors,
                );
            }
        }
    }
    let os = spec.get("os");
    if os.get("name").text() == "windows" {
        return;
    }
    for field in VISITED {
        let containers = spec.get(field);
        for container in containers.items() {
            let context = container.get("securityContext");
            let own = context.get("appArmorProfile");
            let profile = match own.is_set() {
                true => own,
                false => context.told_as("appArmorProfile", of_pod.get("appArmorProfile").value()),
            };
            let key = format!("{APP_ARMOR}{}", container.get("name").text());
            if let Some(annotation) = annotations[key.as_str()].as_str() {
                check_match(&profile, annotation, "apparmor", errors);
            }
        }
    }
}

fn check_match(profile: &Spot, annotation: &str, what: &str, errors: &mut Errors) {
    let type_differs = format!("{what} type in annotation and field must match");
    let fits = match profile.get("type").text() {
        "Unconfined" => annotation == "unconfined",
        "RuntimeDefault" => {
            annotation == "runtime/default" || (what == "seccomp" && annotation == "docker/default")
        }
        "Localhost" => match annotation.strip_prefix("localhost/") {
            None => false,
            Some(name) => {
                let file = profile.get("localhostProfile");
                if !file.is_set() || file.text() != name {
                    let why = format!("{what} profile in annotation and field must match");
                    errors.push(file.forbidden(why));
                }
                true
            }
        },
        _ => true,
    };
    if !fits {
        errors.push(profile.get("type").forbidden(type_differs));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_numbers_as_everybody_writes_them() {
        for (text, fits) in [
            ("0", true),
            ("-5", true),
            ("2147483647", true),
            ("2147483648", false),
            ("+5", false),
            ("05", false),
            ("x", false),
        ] {
            assert_eq!(is_cost(text), fits, "{text}");
        }
    }
}
