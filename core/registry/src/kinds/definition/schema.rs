//! What is asked of a schema: that it is structural, and uses nothing that is not supported.

use flyball_schema::{SchemaFault, SchemaFaultKind, is_known_format, structural_faults};
use serde_json::Value;

use super::hoisted::Hoisted;
use super::{expressions, go_json, lists, schema_defaults};
use crate::custom::patterns;
use crate::field_error::{FieldError, Mistake};
use crate::object::Object;

const TYPES: &[&str] = &["array", "boolean", "integer", "number", "object", "string"];

/// Keywords that are known and not supported.
const UNSUPPORTED: &[&str] = &[
    "id",
    "additionalItems",
    "patternProperties",
    "definitions",
    "dependencies",
    "$ref",
];

/// The mistakes in a schema.
pub(super) fn check(schema: &Value, has_status: bool, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if has_status {
        errors.extend(go_json::root_mistake(schema, path));
    }
    if schema["nullable"] == true {
        let place = format!("{path}.nullable");
        errors.push(FieldError::forbidden(
            place,
            "nullable cannot be true at the root",
        ));
    }
    if is_convertible(schema) {
        let mut faults: Vec<FieldError> = structural_faults(schema, path)
            .into_iter()
            .map(told)
            .collect();
        wrong_patterns(schema, path, &mut faults);
        if faults.is_empty() {
            schema_defaults::check(schema, path, &mut faults);
        }
        errors.extend(faults);
    }
    let place = Place {
        no_defaults: None,
        in_meta: false,
    };
    walk(schema, path, &place, true, &mut errors);
    errors
}

/// What holds where a schema stands.
struct Place {
    /// Why there may be no defaults, if so.
    no_defaults: Option<String>,
    /// Whether it describes the metadata of an object.
    in_meta: bool,
}

impl Place {
    fn without_defaults(&self, why: String) -> Self {
        Self {
            no_defaults: Some(why),
            in_meta: self.in_meta,
        }
    }
}

fn walk(schema: &Value, path: &str, place: &Place, is_root: bool, errors: &mut Vec<FieldError>) {
    if !schema.is_object() {
        return;
    }
    unsupported(schema, path, place, errors);
    let below = |name: &str| format!("{path}.{name}");
    if schema["uniqueItems"] == true {
        let detail =
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        errors.push(FieldError::forbidden(below("uniqueItems"), detail));
    }
    let properties = schema["properties"].as_object();
    let properties = properties.filter(|all| !all.is_empty());
    let additional = &schema["additionalProperties"];
    if !additional.is_null() {
        let at = below("additionalProperties");
        if properties.is_some() && additional != true {
            let detail = "additionalProperties and properties are mutual exclusive";
            errors.push(FieldError::forbidden(at.clone(), detail));
        }
        match place.in_meta {
            true => {
                let why = "inside additionalProperties applying to object metadata".to_owned();
                walk(additional, &at, &place.without_defaults(why), false, errors);
            }
            false => walk(additional, &at, place, false, errors),
        }
    }
    let is_object = is_root || schema["x-kubernetes-embedded-resource"] == true;
    for (name, of) in properties.into_iter().flatten() {
        let at = format!("{path}.properties[{name}]");
        let is_meta = is_object && matches!(name.as_str(), "metadata" | "kind" | "apiVersion");
        if !is_meta {
            walk(of, &at, place, false, errors);
            continue;
        }
        let no_defaults = match is_root {
            true => Some(format!("in top-level {name}")),
            false => place.no_defaults.clone(),
        };
        let place = Place {
            no_defaults,
            in_meta: true,
        };
        walk(of, &at, &place, false, errors);
    }
    walk(&schema["not"], &below("not"), place, false, errors);
    for name in ["allOf", "oneOf", "anyOf"] {
        for (at, of) in schema[name].as_array().into_iter().flatten().enumerate() {
            walk(of, &format!("{path}.{name}[{at}]"), place, false, errors);
        }
    }
    for (name, of) in schema["definitions"].as_object().into_iter().flatten() {
        walk(
            of,
            &format!("{path}.definitions[{name}]"),
            place,
            false,
            errors,
        );
    }
    match &schema["items"] {
        Value::Array(several) => {
            for (at, of) in several.iter().enumerate() {
                walk(of, &format!("{path}.items[{at}]"), place, false, errors);
            }
        }
        one => walk(one, &below("items"), place, false, errors),
    }
    let preserve = "x-kubernetes-preserve-unknown-fields";
    if schema[preserve] == false {
        errors.push(FieldError::invalid(
            below(preserve),
            false,
            "must be true or undefined",
        ));
    }
    lists::check(schema, path, errors);
    expressions::check(schema, path, errors);
}

fn unsupported(schema: &Value, path: &str, place: &Place, errors: &mut Vec<FieldError>) {
    let below = |name: &str| format!("{path}.{name}");
    let kind = schema["type"].as_str().unwrap_or_default();
    if !kind.is_empty() && !TYPES.contains(&kind) {
        errors.push(FieldError::not_supported(below("type"), kind, TYPES));
    }
    if let (false, Some(why)) = (schema["default"].is_null(), &place.no_defaults) {
        let detail = format!("must not be set {why}");
        errors.push(FieldError::forbidden(below("default"), detail));
    }
    for name in UNSUPPORTED {
        let value = &schema[*name];
        let is_empty = value.is_null()
            || value == ""
            || *name != "dependencies" && value.as_object().is_some_and(|all| all.is_empty());
        if !is_empty {
            let detail = format!("{name} is not supported");
            errors.push(FieldError::forbidden(below(name), detail));
        }
    }
    if kind == "null" {
        let detail = "type cannot be set to null, use nullable as an alternative";
        errors.push(FieldError::forbidden(below("type"), detail));
    }
    if schema["items"]
        .as_array()
        .is_some_and(|all| !all.is_empty())
    {
        let detail = "items must be a schema object and not an array";
        errors.push(FieldError::forbidden(below("items"), detail));
    }
    let embedded = "x-kubernetes-embedded-resource";
    if place.in_meta && schema[embedded] == true {
        errors.push(FieldError::forbidden(
            below(embedded),
            "must not be used inside of resource meta",
        ));
    }
}

/// Whether nothing in a schema is unsupported, so that it can be asked whether it is structural.
pub(super) fn is_convertible(schema: &Value) -> bool {
    let is_clear = UNSUPPORTED.iter().all(|name| schema[*name].is_null());
    is_clear && !schema["items"].is_array() && parts(schema).all(|(_, of)| is_convertible(of))
}

/// The schemas right within a schema, with their places.
fn parts(schema: &Value) -> impl Iterator<Item = (String, &Value)> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let properties = properties.map(|(name, of)| (format!("properties[{name}]"), of));
    let one = ["additionalProperties", "items", "not"].into_iter();
    let one = one.map(|name| (name.to_owned(), &schema[name]));
    let several = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|name| {
        let list = schema[name].as_array().into_iter().flatten().enumerate();
        list.map(move |(at, of)| (format!("{name}[{at}]"), of))
    });
    let all = properties.chain(one).chain(several);
    all.filter(|(_, of)| of.is_object())
}

fn wrong_patterns(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let pattern = schema["pattern"].as_str().unwrap_or_default();
    if let Err(why) = patterns::compile(pattern) {
        let detail = format!("must be a valid regular expression, but isn't: {why}");
        errors.push(FieldError::invalid(
            format!("{path}.pattern"),
            pattern,
            detail,
        ));
    }
    for (name, of) in parts(schema) {
        wrong_patterns(of, &format!("{path}.{name}"), errors);
    }
}

fn told(fault: SchemaFault) -> FieldError {
    let mistake = match fault.kind {
        SchemaFaultKind::Required => Mistake::Required,
        SchemaFaultKind::Forbidden => Mistake::Forbidden,
        SchemaFaultKind::Invalid(json) => {
            Mistake::Invalid(serde_json::from_str(&json).unwrap_or_default())
        }
    };
    FieldError {
        field: fault.path,
        mistake,
        detail: fault.detail,
    }
}

/// Whether a keyword is used anywhere in a schema.
pub(super) fn has(schema: &Value, keyword: &str) -> bool {
    !schema[keyword].is_null() || parts(schema).any(|(_, of)| has(of, keyword))
}

/// The formats in a definition that mean nothing, as often as they are there.
pub(super) fn unknown_formats(definition: &Object) -> Vec<String> {
    fn collect(schema: &Value, out: &mut Vec<String>) {
        let format = schema["format"].as_str().unwrap_or_default();
        let kind = schema["type"].as_str().unwrap_or_default();
        if !format.is_empty() && !is_known_format(kind, format) {
            out.push(format.to_owned());
        }
        for (_, of) in parts(schema) {
            collect(of, out);
        }
    }
    let mut out = Vec::new();
    for schema in Hoisted::of(definition).schemas() {
        collect(schema, &mut out);
    }
    out
}
