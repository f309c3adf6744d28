//! What is asked of the versions of a definition, and of what they have in common.

use std::collections::BTreeSet;

use serde_json::Value;

use super::hoisted::{Hoisted, Part};
use super::{field_path, go_json, schema};
use crate::field_error::{FieldError, ListErrors, Mistake};
use crate::kinds::NameRule;
use crate::names::mistakes;
use crate::object::{Object, at};

const COLUMN_TYPES: &[&str] = &["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: &[&str] = &[
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
];

/// Adds the mistakes in the versions.
pub(super) fn check(hoisted: &Hoisted<'_>, spec: &Value, errors: &mut Vec<FieldError>) {
    let mut names: Vec<&str> = Vec::new();
    for (at, version) in hoisted.versions.iter().enumerate() {
        let path = format!("spec.versions[{at}]");
        let name = version.whole["name"].as_str().unwrap_or_default();
        names.push(name);
        let wrong = mistakes(NameRule::Label1035, name, false);
        if !wrong.is_empty() {
            let place = format!("{path}.name");
            errors.push(FieldError::invalid(place, name, wrong.join(",")));
        }
        deprecation(version.whole, &path, errors);
        let has_status = hoisted.subresources_of(version).has_status();
        let schema = format!("{path}.schema");
        check_part(&version.own, has_status, &schema, &path, errors);
    }
    let mut wrong = |detail: &str| {
        errors.push(FieldError {
            field: "spec.versions".to_owned(),
            mistake: Mistake::Told {
                reason: "FieldValueInvalid",
                message: format!(
                    "Invalid value: {}: {detail}",
                    go_json::versions(hoisted, &spec["versions"])
                ),
            },
            detail: String::new(),
        });
    };
    let first = names.first().copied();
    let storages = hoisted.versions.iter();
    let storages = storages.filter(|version| version.whole["storage"] == true);
    let storages = storages.count();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        wrong("must contain unique version names");
    }
    if storages != 1 {
        wrong("must have exactly one version marked as storage version");
    }
    // The older form names the first version once more.
    if let Some(first) = first.filter(|first| !first.is_empty()) {
        let wrong = mistakes(NameRule::Label1035, first, false);
        if !wrong.is_empty() {
            errors.push(FieldError::invalid("spec.version", first, wrong.join(",")));
        }
    }
}

/// Adds the mistakes in what a version says, or all of them together.
pub(super) fn check_part(
    part: &Part<'_>,
    has_status: bool,
    schema_path: &str,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    if let Some(openapi) = part.openapi() {
        let place = format!("{schema_path}.openAPIV3Schema");
        errors.extend(schema::check(openapi, has_status, &place));
    }
    let scale = part.subresources.and_then(|all| all.get("scale"));
    if let Some(scale) = scale.filter(|scale| !scale.is_null()) {
        check_scale(scale, &format!("{path}.subresources"), errors);
    }
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    for (at, column) in list(part.columns).iter().enumerate() {
        check_column(
            column,
            &format!("{path}.additionalPrinterColumns[{at}]"),
            errors,
        );
    }
    if let Some(fields) = part.fields.and_then(Value::as_array) {
        let place = format!("{path}.selectableFields");
        match part.openapi() {
            Some(openapi) => field_path::check_selectable(fields, openapi, &place, errors),
            None => {
                let detail = match path {
                    "spec" => "may only be set when validations.schema is included",
                    _ => "may only be set when `version.schema.openAPIV3Schema` is not included",
                };
                errors.push(FieldError::invalid(place, "", detail));
            }
        }
    }
}

fn deprecation(version: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let Some(warning) = version["deprecationWarning"].as_str() else {
        return;
    };
    let mut wrong = |detail: String| {
        let place = format!("{path}.deprecationWarning");
        errors.push(FieldError::invalid(place, warning, detail));
    };
    if version["deprecated"] != true {
        return wrong("can only be set for deprecated versions".to_owned());
    }
    if warning.len() > 256 {
        wrong("must be <= 256 characters long".to_owned());
    }
    if warning.is_empty() {
        wrong("must not be an empty string".to_owned());
    }
    let odd = |(_, one): &(usize, char)| one.is_control() || (one.is_whitespace() && *one != ' ');
    if let Some((at, _)) = warning.char_indices().find(odd) {
        wrong(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {at}"
        ));
    }
}

fn check_scale(scale: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let roots: [(&str, &[&str], &str); 3] = [
        (
            "specReplicasPath",
            &[".spec."],
            "should be a json path under .spec",
        ),
        (
            "statusReplicasPath",
            &[".status."],
            "should be a json path under .status",
        ),
        (
            "labelSelectorPath",
            &[".spec.", ".status."],
            "should be a json path under either .spec or .status",
        ),
    ];
    for (field, roots, detail) in roots {
        let place = format!("{path}.scale.{field}");
        match scale[field].as_str().unwrap_or_default() {
            "" if field == "labelSelectorPath" => {}
            "" => errors.push(FieldError::required(place, "")),
            way if !way.starts_with('.') => errors.push(not_simple(place, way)),
            way if !roots.iter().any(|root| way.starts_with(root)) => {
                errors.push(FieldError::invalid(place, way, detail));
            }
            _ => {}
        }
    }
}

fn not_simple(place: String, way: &str) -> FieldError {
    FieldError::invalid(place, way, "must be a simple json path starting with .")
}

fn check_column(column: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let text = |field: &str| column[field].as_str().unwrap_or_default();
    if text("name").is_empty() {
        errors.push(FieldError::required(format!("{path}.name"), ""));
    }
    let known = |all: &[&str]| format!("must be one of {}", all.join(","));
    match text("type") {
        "" => errors.push(FieldError::required(
            format!("{path}.type"),
            known(COLUMN_TYPES),
        )),
        odd if !COLUMN_TYPES.contains(&odd) => {
            let place = format!("{path}.type");
            errors.push(FieldError::invalid(place, odd, known(COLUMN_TYPES)));
        }
        _ => {}
    }
    let format = text("format");
    if !format.is_empty() && !COLUMN_FORMATS.contains(&format) {
        let place = format!("{path}.format");
        errors.push(FieldError::invalid(place, format, known(COLUMN_FORMATS)));
    }
    let place = format!("{path}.JSONPath");
    match text("jsonPath") {
        "" => errors.push(FieldError::required(place, "")),
        way if !way.starts_with('.') => errors.push(not_simple(place, way)),
        _ => {}
    }
}

/// Adds the mistakes in the versions that objects have been stored in.
pub(super) fn stored(definition: &Object, errors: &mut Vec<FieldError>) {
    let place = "status.storedVersions";
    let value = at(definition, place);
    let stored = value.as_array().map_or(&[][..], Vec::as_slice);
    if stored.is_empty() {
        let detail = "must have at least one stored version";
        errors.push(FieldError::invalid(place, value.clone(), detail));
        return;
    }
    let versions = at(definition, "spec.versions").as_array();
    let versions = versions.map_or(&[][..], Vec::as_slice);
    let kept: BTreeSet<&str> = stored.iter().filter_map(Value::as_str).collect();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut shown = ListErrors::of(stored.len());
    for version in versions {
        let name = version["name"].as_str().unwrap_or_default();
        let is_stored = kept.contains(name);
        // Each stored version counts for one of the versions only.
        let is_told = version["storage"] == true && (!is_stored || seen.contains(&name));
        if is_told && shown.take() {
            let detail = format!("must have the storage version {name}");
            errors.push(FieldError::invalid(place, value.clone(), detail));
        }
        seen.insert(name);
    }
    for (at, name) in stored.iter().enumerate() {
        let name = name.as_str().unwrap_or_default();
        if !seen.contains(&name) {
            let detail = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in \
                 spec.versions until a storage migration ensures no data remains persisted in {name} and removes \
                 {name} from status.storedVersions"
            );
            errors.push(FieldError::invalid(format!("{place}[{at}]"), name, detail));
        }
    }
}
