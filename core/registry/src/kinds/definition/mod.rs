//! CustomResourceDefinitions: their defaults, and all that can be wrong with them.
//!
//! Upstream checks definitions in an older form, in which what all versions have in common stands beside
//! them (`hoisted`), so mistakes in a schema of one version are told of `spec.validation`.
//! Rules in the Common Expression Language are looked at from the outside only.
//!
//! Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/v1/defaults.go`,
//! `apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`,
//! `apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go`.

pub(super) mod conversion;
mod expressions;
mod field_path;
mod go_json;
mod hoisted;
mod lists;
mod schema;
mod schema_defaults;
mod spec;
mod versions;
mod zeros;

use flyball_api::Timestamp;
use serde_json::{Value, json};

use super::Rules;
use super::fill::Fill::{Bool, By, Empty, Int, Text};
use super::fill::{Line, fill};
use crate::custom::approval;
use crate::field_error::FieldError;
use crate::object::{Meta, Object, at};

/// The rules of definitions.
pub(super) struct Definition;

const DEFAULTS: &[Line] = &[
    ("spec", Empty),
    ("spec.names", Empty),
    (
        "spec.names.singular",
        By(|names| Some(kind(names).to_ascii_lowercase().into())),
    ),
    (
        "spec.names.listKind",
        By(|names| {
            let kind = kind(names);
            (!kind.is_empty()).then(|| format!("{kind}List").into())
        }),
    ),
    ("spec.versions[].served", Bool(false)),
    ("spec.versions[].storage", Bool(false)),
    (
        "spec.conversion.webhook.clientConfig.service.port",
        Int(443),
    ),
];

fn kind(names: &Object) -> &str {
    names
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The name of the version that objects are stored in.
fn storage_version(definition: &Object) -> Option<&str> {
    let versions = at(definition, "spec.versions").as_array()?;
    let storage = versions.iter().find(|version| version["storage"] == true)?;
    Some(storage["name"].as_str().unwrap_or_default())
}

impl Rules for Definition {
    fn default(&self, definition: &mut Object) {
        if let Some(Value::Object(spec)) = definition.get_mut("spec") {
            zeros::remove(spec);
        }
        if at(definition, "spec.conversion").is_null() {
            fill(definition, &[("spec", Empty), ("spec.conversion", Empty)]);
            fill(definition, &[("spec.conversion.strategy", Text("None"))]);
        }
        fill(definition, DEFAULTS);
        // No version was stored yet when the definition was made, so its storage version will be.
        let stored = storage_version(definition).map(str::to_owned);
        if let Some(status) = definition.get_mut("status").and_then(Value::as_object_mut) {
            let has_any = status
                .get("storedVersions")
                .and_then(Value::as_array)
                .is_some_and(|all| !all.is_empty());
            if let Some(name) = stored.filter(|_| !has_any) {
                status.insert("storedVersions".to_owned(), json!([name]));
            }
        }
    }

    fn prepare_create(&self, definition: &mut Object, _now: Timestamp) {
        let stored = match storage_version(definition) {
            Some(name) => json!([name]),
            None => Value::Null,
        };
        let status = json!({
            "acceptedNames": {"kind": "", "plural": ""},
            "conditions": null,
            "storedVersions": stored,
        });
        definition.insert("status".to_owned(), status);
    }

    fn prepare_update(&self, new: &mut Object, old: &Object) {
        // A version that becomes the one for storage is remembered, until whoever migrates says so.
        let stored = at(old, "status.storedVersions").as_array();
        let mut stored = stored.cloned().unwrap_or_default();
        if let Some(name) = storage_version(new)
            && !stored.iter().any(|one| one == name)
        {
            stored.push(name.into());
        }
        let mut status = at(old, "status").as_object().cloned().unwrap_or_default();
        status.insert("storedVersions".to_owned(), Value::Array(stored));
        new.insert("status".to_owned(), Value::Object(status));
    }

    fn has_generation(&self) -> bool {
        true
    }

    fn validate_create(&self, definition: &Object) -> Vec<FieldError> {
        self.mistakes(definition, None)
    }

    fn validate_update(&self, new: &Object, old: &Object) -> Vec<FieldError> {
        self.mistakes(new, Some(old))
    }

    fn validate_status_update(&self, new: &Object, _old: &Object) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let names = at(new, "status.acceptedNames");
        spec::names(names, "status.acceptedNames", &mut errors);
        errors
    }

    fn warnings(&self, definition: &Object) -> Vec<String> {
        let formats = schema::unknown_formats(definition);
        let told = formats.iter();
        told.map(|format| format!("unrecognized format {format:?}"))
            .collect()
    }

    fn warnings_on_update(&self, new: &Object, old: &Object) -> Vec<String> {
        let before = schema::unknown_formats(old);
        let formats = schema::unknown_formats(new);
        let added = formats.iter().filter(|format| !before.contains(format));
        added
            .map(|format| format!("unrecognized format {format:?}"))
            .collect()
    }

    fn updates_unconditionally(&self) -> bool {
        false
    }
}

impl Definition {
    fn mistakes(&self, definition: &Object, old: Option<&Object>) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let text = |path: &str| at(definition, path).as_str().unwrap_or_default();
        let expected = format!("{}.{}", text("spec.names.plural"), text("spec.group"));
        for field in ["generateName", "name"] {
            let said = definition.meta_text(field);
            let may_lack = field == "generateName" && said.is_empty();
            if old.is_none() && said != expected && !may_lack {
                let detail = "must be spec.names.plural+\".\"+spec.group";
                errors.push(FieldError::invalid(
                    format!("metadata.{field}"),
                    said,
                    detail,
                ));
            }
        }
        spec::check(definition, &mut errors);
        if let Some(old) = old {
            spec::check_update(definition, old, &mut errors);
        }
        let names = at(definition, "status.acceptedNames");
        spec::names(names, "status.acceptedNames", &mut errors);
        versions::stored(definition, &mut errors);
        approved(definition, old, &mut errors);
        let preserves = at(definition, "spec.preserveUnknownFields") == true;
        if preserves && old.is_none_or(|old| at(old, "spec.preserveUnknownFields") != true) {
            errors.push(FieldError::invalid(
                "spec.preserveUnknownFields",
                true,
                "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
            ));
        }
        errors
    }
}

/// Groups of the community need an approval, unless there was none before either.
fn approved(definition: &Object, old: Option<&Object>, errors: &mut Vec<FieldError>) {
    if !approval::is_needed(definition) {
        return;
    }
    let (state, reason) = approval::state(definition);
    if old.is_some_and(|old| approval::state(old).0 == state) {
        return;
    }
    let place = format!("metadata.annotations[{}]", approval::ANNOTATION);
    match state {
        approval::State::Invalid => {
            let said = definition.meta()["annotations"][approval::ANNOTATION].clone();
            errors.push(FieldError::invalid(place, said, reason));
        }
        approval::State::Missing => errors.push(FieldError::required(place, reason)),
        approval::State::Approved | approval::State::Bypassed => {}
    }
}
