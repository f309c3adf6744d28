//! What is asked of how a schema says that lists and maps merge.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::field_error::{FieldError, ListErrors};

const LIST_TYPE: &str = "x-kubernetes-list-type";
const MAP_TYPE: &str = "x-kubernetes-map-type";
const KEYS: &str = "x-kubernetes-list-map-keys";

/// Adds the mistakes in what one schema says of merging.
pub(super) fn check(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let below = |name: &str| format!("{path}.{name}");
    let kind = schema["type"].as_str().unwrap_or_default();
    let must_be = |wanted: &str, because: &str| {
        let detail = format!("must be {wanted} if {because} is specified");
        match kind {
            "" => FieldError::required(below("type"), detail),
            kind => FieldError::invalid(below("type"), kind, detail),
        }
    };
    if let Some(map_type) = schema[MAP_TYPE].as_str() {
        if kind != "object" {
            errors.push(must_be("object", MAP_TYPE));
        }
        if !matches!(map_type, "atomic" | "granular") {
            let known = &["atomic", "granular"];
            errors.push(FieldError::not_supported(below(MAP_TYPE), map_type, known));
        }
    }
    let list_type = schema[LIST_TYPE].as_str();
    let items = Some(&schema["items"]).filter(|items| items.is_object());
    if list_type.is_some() && kind != "array" {
        errors.push(must_be("array", LIST_TYPE));
    } else if let (Some("set"), Some(items)) = (list_type, items) {
        check_set(items, path, errors);
    }
    if let Some(odd) = list_type.filter(|one| !matches!(*one, "atomic" | "set" | "map")) {
        let known = &["atomic", "set", "map"];
        errors.push(FieldError::not_supported(below(LIST_TYPE), odd, known));
    }
    let keys = schema[KEYS].as_array().map_or(&[][..], Vec::as_slice);
    if !keys.is_empty() && list_type != Some("map") {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        errors.push(match list_type {
            None => FieldError::required(below(LIST_TYPE), detail),
            Some(other) => FieldError::invalid(below(LIST_TYPE), other, detail),
        });
    }
    if list_type == Some("map") {
        check_map(schema, keys, items, path, errors);
    }
    if let (Some(list_type @ ("set" | "map")), Some(items)) = (list_type, items) {
        check_nulls(items, list_type, keys, path, errors);
    }
}

/// Items of a set are told apart as a whole.
fn check_set(items: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    match items["type"].as_str() {
        Some("array") if !matches!(items[LIST_TYPE].as_str(), None | Some("atomic")) => {
            let place = format!("{path}.items.{LIST_TYPE}");
            errors.push(FieldError::invalid(place, items[LIST_TYPE].clone(), detail));
        }
        Some("object") if items[MAP_TYPE].as_str() != Some("atomic") => {
            // Upstream tells the other type here.
            let place = format!("{path}.items.{MAP_TYPE}");
            errors.push(FieldError::invalid(place, items[LIST_TYPE].clone(), detail));
        }
        _ => {}
    }
}

/// Items of a map are told apart by keys that all of them have.
fn check_map(
    schema: &Value,
    keys: &[Value],
    items: Option<&Value>,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    let of_keys = format!("{path}.{KEYS}");
    if keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(FieldError::required(of_keys.clone(), detail));
    }
    let Some(items) = items else {
        if schema["items"].is_null() {
            let detail = "must have a schema if x-kubernetes-list-type is map";
            errors.push(FieldError::required(format!("{path}.items"), detail));
        }
        return;
    };
    let kind = items["type"].as_str().unwrap_or_default();
    if kind != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(FieldError::invalid(
            format!("{path}.items.type"),
            kind,
            detail,
        ));
        return;
    }
    let mut seen = BTreeSet::new();
    let mut shown = ListErrors::of(keys.len());
    for key in keys {
        let name = key.as_str().unwrap_or_default();
        match items["properties"].get(name) {
            Some(of) if matches!(of["type"].as_str(), Some("array" | "object")) => {
                let place = format!("{path}.items.properties[{name}].type");
                let detail =
                    "must be a scalar type if parent array's x-kubernetes-list-type is map";
                errors.push(FieldError::invalid(place, kind, detail));
            }
            Some(_) => {}
            None if !shown.take() => {}
            None => {
                let detail = "entries must all be names of item properties";
                errors.push(FieldError::invalid(
                    of_keys.clone(),
                    schema[KEYS].clone(),
                    detail,
                ));
            }
        }
        if !seen.insert(name) && shown.take() {
            let detail = "must not contain duplicate entries";
            errors.push(FieldError::invalid(
                of_keys.clone(),
                schema[KEYS].clone(),
                detail,
            ));
        }
    }
}

/// What tells items apart is never null or missing.
fn check_nulls(
    items: &Value,
    list_type: &str,
    keys: &[Value],
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    if items["nullable"] == true {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(FieldError::forbidden(
            format!("{path}.items.nullable"),
            detail,
        ));
    }
    if list_type != "map" {
        return;
    }
    let required = items["required"].as_array();
    for key in keys {
        let name = key.as_str().unwrap_or_default();
        let Some(of) = items["properties"].get(name) else {
            continue;
        };
        let place = format!("{path}.items.properties[{name}]");
        let is_required = required.is_some_and(|all| all.contains(key));
        if !is_required && of["default"].is_null() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required \
                          property";
            errors.push(FieldError::required(format!("{place}.default"), detail));
        }
        if of["nullable"] == true {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(FieldError::forbidden(format!("{place}.nullable"), detail));
        }
    }
}
