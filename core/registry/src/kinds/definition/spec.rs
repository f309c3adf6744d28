//! What is asked of a definition's spec: its group, scope, names, and all of its versions.

use serde_json::Value;

use super::hoisted::Hoisted;
use super::{conversion, schema, versions};
use crate::field_error::FieldError;
use crate::kinds::NameRule;
use crate::names::mistakes;
use crate::object::{Object, at};

/// Adds the mistakes in a spec.
pub(super) fn check(definition: &Object, errors: &mut Vec<FieldError>) {
    let spec = at(definition, "spec");
    let hoisted = Hoisted::of(definition);
    group(spec["group"].as_str().unwrap_or_default(), errors);
    match spec["scope"].as_str().unwrap_or_default() {
        "" => errors.push(FieldError::required("spec.scope", "")),
        "Cluster" | "Namespaced" => {}
        odd => errors.push(FieldError::not_supported(
            "spec.scope",
            odd,
            &["Cluster", "Namespaced"],
        )),
    }
    if hoisted.shared.openapi().is_none() {
        for (at, version) in hoisted.versions.iter().enumerate() {
            if version.own.openapi().is_none() {
                let place = format!("spec.versions[{at}].schema.openAPIV3Schema");
                errors.push(FieldError::required(place, ""));
            }
        }
    }
    let preserves = spec["preserveUnknownFields"] == true;
    if preserves && hoisted.schemas().any(|one| schema::has(one, "default")) {
        let detail = "must be false in order to use defaults in the schema";
        errors.push(FieldError::invalid(
            "spec.preserveUnknownFields",
            true,
            detail,
        ));
    }
    versions::check(&hoisted, spec, errors);
    for field in ["plural", "singular", "kind", "listKind"] {
        if spec["names"][field].as_str().unwrap_or_default().is_empty() {
            errors.push(FieldError::required(format!("spec.names.{field}"), ""));
        }
    }
    names(&spec["names"], "spec.names", errors);
    let has_status = hoisted.shared.has_status()
        || hoisted
            .versions
            .iter()
            .any(|version| version.own.has_status());
    versions::check_part(
        &hoisted.shared,
        has_status,
        "spec.validation",
        "spec",
        errors,
    );
    if preserves && spec["conversion"]["strategy"] != "None" {
        let strategy = spec["conversion"]["strategy"].clone();
        let detail = "must be None if spec.preserveUnknownFields is true";
        errors.push(FieldError::invalid(
            "spec.conversion.strategy",
            strategy,
            detail,
        ));
    }
    conversion::check(&spec["conversion"], errors);
}

/// Adds the mistakes in what an update of a spec changes.
pub(super) fn check_update(new: &Object, old: &Object, errors: &mut Vec<FieldError>) {
    let conditions = at(old, "status.conditions").as_array();
    let is_established = conditions.is_some_and(|all| {
        all.iter()
            .any(|one| one["type"] == "Established" && one["status"] == "True")
    });
    let fixed: &[&str] = match is_established {
        true => &["scope", "names.kind", "group", "names.plural"],
        false => &["group", "names.plural"],
    };
    for field in fixed {
        let path = format!("spec.{field}");
        let value = at(new, &path);
        if value != at(old, &path) {
            errors.push(FieldError::invalid(
                path,
                value.clone(),
                "field is immutable",
            ));
        }
    }
}

fn group(group: &str, errors: &mut Vec<FieldError>) {
    let wrong = mistakes(NameRule::Subdomain, group, false);
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else if !wrong.is_empty() {
        errors.push(FieldError::invalid("spec.group", group, wrong.join(",")));
    } else if !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        errors.push(FieldError::invalid("spec.group", group, detail));
    }
}

/// Adds the mistakes in the names of a definition, as asked for or as given.
pub(super) fn names(names: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let mut label = |place: String, name: &str, checked: &str, before: &str| {
        let wrong = mistakes(NameRule::Label1035, checked, false);
        if !wrong.is_empty() {
            let detail = format!("{before}{}", wrong.join(","));
            errors.push(FieldError::invalid(place, name, detail));
        }
    };
    let text = |field: &str| names[field].as_str().unwrap_or_default();
    for field in ["plural", "singular"] {
        if !text(field).is_empty() {
            label(format!("{path}.{field}"), text(field), text(field), "");
        }
    }
    for field in ["kind", "listKind"] {
        let before = "may have mixed case, but should otherwise match: ";
        if !text(field).is_empty() {
            let lower = text(field).to_lowercase();
            label(format!("{path}.{field}"), text(field), &lower, before);
        }
    }
    for field in ["shortNames", "categories"] {
        for (at, name) in names[field].as_array().into_iter().flatten().enumerate() {
            let name = name.as_str().unwrap_or_default();
            label(format!("{path}.{field}[{at}]"), name, name, "");
        }
    }
    if !text("kind").is_empty() && text("kind") == text("listKind") {
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid(
            format!("{path}.listKind"),
            text("listKind"),
            detail,
        ));
    }
}
