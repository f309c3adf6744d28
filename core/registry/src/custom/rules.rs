//! The rules of custom objects: what their schema says, and what their definition says of parts.
//!
//! Upstream: `apiextensions-apiserver/pkg/registry/customresource/{strategy,validator}.go`.

use flyball_schema::{
    Shape, ValueFault, apply_defaults, list_faults, value_faults, value_faults_of_update,
};
use serde_json::Value;

use super::embedded;
use super::kind::Custom;
use crate::field_error::{FieldError, Mistake};
use crate::kinds::Rules;
use crate::kinds::labels::key_mistakes;
use crate::object::{Meta, Object};

/// Kinds of mistakes after which upstream does not try the rules of a schema that are expressions.
const BLOCKING: &[&str] = &[
    "FieldValueNotSupported",
    "FieldValueRequired",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueTypeInvalid",
];

/// Finalizers that are known without a domain.
const STANDARD_FINALIZERS: &[&str] = &["orphan", "foregroundDeletion", "kubernetes"];

impl Rules for Custom {
    fn default(&self, object: &mut Object) {
        let mut value = Value::Object(std::mem::take(object));
        apply_defaults(self.schema(), &mut value);
        if let Value::Object(value) = value {
            *object = value;
        }
    }

    fn prepare_create(&self, object: &mut Object, _now: flyball_api::Timestamp) {
        if self.has_status {
            object.remove("status");
        }
    }

    fn prepare_status_update(&self, new: &mut Object, old: &Object) {
        // A status is all that such an update changes; who changed it is noted all the same.
        let owners = new.meta().get("managedFields").cloned();
        if let Some(meta) = old.get("metadata") {
            new.insert("metadata".to_owned(), meta.clone());
        }
        match owners {
            Some(owners) => new.meta_mut().insert("managedFields".to_owned(), owners),
            None => new.meta_mut().remove("managedFields"),
        };
    }

    fn has_generation(&self) -> bool {
        true
    }

    fn bumps_generation(&self, new: &Object, old: &Object) -> bool {
        let rest = |object: &Object| {
            let mut rest = object.clone();
            rest.remove("metadata");
            rest
        };
        rest(new) != rest(old)
    }

    fn validate_create(&self, object: &Object) -> Vec<FieldError> {
        let value = Value::Object(object.clone());
        let faults = value_faults(self.schema(), &value, &|pattern, text| {
            self.patterns.matches(pattern, text)
        });
        self.mistakes(object, faults)
    }

    fn validate_update(&self, new: &Object, old: &Object) -> Vec<FieldError> {
        let value = Value::Object(new.clone());
        let before = Value::Object(old.clone());
        let faults = value_faults_of_update(self.schema(), &value, &before, &|pattern, text| {
            self.patterns.matches(pattern, text)
        });
        self.mistakes(new, faults)
    }

    fn validate_status_update(&self, new: &Object, old: &Object) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if let (Some(status), Some(schema)) = (new.get("status"), self.schema().field("status")) {
            let before = old.get("status").unwrap_or(&Value::Null);
            let faults = value_faults_of_update(schema, status, before, &|pattern, text| {
                self.patterns.matches(pattern, text)
            });
            errors.extend(faults.into_iter().map(|fault| {
                let path = match fault.path.as_str() {
                    "" | "<nil>" => "status".to_owned(),
                    path if path.starts_with('[') => format!("status{path}"),
                    path => format!("status.{path}"),
                };
                told(ValueFault { path, ..fault })
            }));
        }
        if let Some(scale) = &self.scale {
            errors.extend(scale.status_mistakes(new));
        }
        self.note_unchecked(errors)
    }

    fn warnings(&self, object: &Object) -> Vec<String> {
        let mut names: Vec<&str> = object.finalizers().collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().flat_map(finalizer_warnings).collect()
    }

    fn warnings_on_update(&self, new: &Object, old: &Object) -> Vec<String> {
        let mut names: Vec<&str> = new.finalizers().collect();
        names.retain(|name| !old.finalizers().any(|kept| kept == *name));
        names.sort_unstable();
        names.dedup();
        names.into_iter().flat_map(finalizer_warnings).collect()
    }

    fn updates_unconditionally(&self) -> bool {
        false
    }
}

impl Custom {
    /// What is wrong with lists whose items must be told apart.
    pub(super) fn list_mistakes(&self, object: &Object) -> Vec<FieldError> {
        let faults = list_faults(self.schema(), &Value::Object(object.clone()));
        faults.into_iter().map(told).collect()
    }

    fn mistakes(&self, object: &Object, faults: Vec<ValueFault>) -> Vec<FieldError> {
        // Lists whose items cannot be told apart are looked at last.
        let (doubles, faults): (Vec<_>, Vec<_>) = faults
            .into_iter()
            .partition(|fault| fault.reason == "FieldValueDuplicate");
        let mut errors: Vec<FieldError> = faults.into_iter().map(told).collect();
        if let Some(scale) = &self.scale {
            errors.extend(scale.spec_mistakes(object));
            errors.extend(scale.status_mistakes(object));
        }
        errors.extend(embedded::mistakes(self.schema(), object));
        errors.extend(doubles.into_iter().map(told));
        self.note_unchecked(errors)
    }

    /// Says so if rules that are expressions could not be tried.
    fn note_unchecked(&self, mut errors: Vec<FieldError>) -> Vec<FieldError> {
        let blocks = |error: &FieldError| {
            let reason = error.cause().cause_type;
            BLOCKING.contains(&&*reason)
        };
        if self.has_expressions() && errors.iter().any(blocks) {
            let detail = "some validation rules were not checked because the object was invalid; correct the \
                          existing errors to complete validation";
            errors.push(FieldError::invalid("<nil>", Value::Null, detail));
        }
        errors
    }

    fn has_expressions(&self) -> bool {
        fn below(schema: flyball_schema::Schema<'_>) -> bool {
            let Some(rules) = schema.rules() else {
                // What has no rules is metadata, which schemas say nothing of.
                return false;
            };
            !rules.validations.is_empty()
                || match schema.shape() {
                    Shape::Object(object) => {
                        object.fields.iter().any(|field| below(schema.at(field.of)))
                    }
                    Shape::Map { value, .. } => below(schema.at(*value)),
                    Shape::List(list) => below(schema.at(list.item)),
                    _ => false,
                }
        }
        below(self.schema())
    }
}

/// A fault as a mistake, in the words that were found for it.
fn told(fault: ValueFault) -> FieldError {
    FieldError {
        field: fault.path,
        mistake: Mistake::Told {
            reason: fault.reason,
            message: fault.message,
        },
        detail: String::new(),
    }
}

fn finalizer_warnings(name: &str) -> Vec<String> {
    let place = format!("metadata.finalizers: {name:?}");
    let mut warnings: Vec<String> = key_mistakes(name)
        .into_iter()
        .map(|mistake| format!("{place}: {mistake}"))
        .collect();
    if !name.contains('/') && !STANDARD_FINALIZERS.contains(&name) {
        let path = match name.contains('.') {
            true => " including a path (/)",
            false => "",
        };
        warnings.push(format!(
            "{place}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other \
             finalizer writers"
        ));
    }
    warnings
}
