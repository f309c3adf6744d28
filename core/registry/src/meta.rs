//! Metadata: what every write does to it, and what may be in it.
//!
//! Upstream: `apiserver/pkg/registry/rest/{create,update,meta}.go`,
//! `apimachinery/pkg/api/validation/objectmeta.go`.

use flyball_api::Timestamp;
use flyball_api::selector::{check_label_key, check_label_value};
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::field_error::FieldError;
use crate::names;
use crate::object::{Meta, Object};
use crate::registry::Call;
use crate::request::Chance;

/// What all annotations together may weigh.
const ANNOTATIONS_BYTES_MAX: usize = 256 << 10;

/// The longest prefix that is kept of a name that is to be generated.
const GENERATED_PREFIX_MAX: usize = 58;

/// Makes the metadata of a new object what it has to be, whatever was sent.
pub(crate) fn prepare_create(
    call: &Call<'_>,
    object: &mut Object,
    chance: &mut Chance<'_>,
) -> Result<(), Failure> {
    place(call, object)?;
    if !object.resource_version().is_empty() {
        let message = "resourceVersion should not be set on objects to be created";
        return Err(Failure::bad_request(message));
    }
    let generation = call.rules().has_generation();
    let meta = object.meta_mut();
    for field in [
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
        "generation",
    ] {
        meta.remove(field);
    }
    let now = stamp(call.request.now);
    meta.insert("creationTimestamp".to_owned(), now);
    meta.insert("uid".to_owned(), chance.uid().into());
    if generation {
        meta.insert("generation".to_owned(), 1.into());
    }
    Ok(())
}

/// Draws a name for a new object that has only the beginning of one.
pub(crate) fn generate_name(object: &mut Object, chance: &mut Chance<'_>) {
    let meta = object.meta_mut();
    if is_empty(meta, "name")
        && let Some(Value::String(prefix)) = meta.get("generateName")
        && !prefix.is_empty()
    {
        let kept: String = prefix.chars().take(GENERATED_PREFIX_MAX).collect();
        let name = format!("{kept}{}", chance.suffix());
        meta.insert("name".to_owned(), name.into());
    }
}

/// Makes the metadata of a new state what it has to be: what only the server sets stays.
pub(crate) fn prepare_update(
    call: &Call<'_>,
    new: &mut Object,
    old: &Object,
) -> Result<(), Failure> {
    place(call, new)?;
    let name = call.path.name.as_str();
    match new.name() {
        "" => {
            new.meta_mut().insert("name".to_owned(), name.into());
        }
        sent if sent != name => {
            let message = format!(
                "the name of the object ({sent}) does not match the name on the URL ({name})"
            );
            return Err(Failure::bad_request(message));
        }
        _ => {}
    }
    match new.uid() {
        "" => {}
        uid if uid == old.uid() => {}
        uid => {
            let why = format!(
                "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
                old.uid()
            );
            return Err(Failure::conflict(&call.resource, name, &why));
        }
    }
    let version = new.resource_version();
    if version.is_empty() && !call.rules().updates_unconditionally() {
        let detail = "must be specified for an update";
        let error = FieldError::invalid("metadata.resourceVersion", 0, detail);
        let (group, plural) = (&call.resource.group, &call.resource.plural);
        return Err(Failure::invalid(group, plural, name, &[error]));
    }
    if !version.is_empty() && version != "0" && version != old.resource_version() {
        return Err(Failure::modified(&call.resource, name));
    }
    let kept = [
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "generateName",
        "selfLink",
    ];
    let before = old.meta();
    let meta = new.meta_mut();
    for field in kept {
        match before.get(field) {
            Some(value) => meta.insert(field.to_owned(), value.clone()),
            None => meta.remove(field),
        };
    }
    if !before["managedFields"].is_null() && !meta.contains_key("managedFields") {
        // Whoever leaves them out means to leave them alone.
        meta.insert("managedFields".to_owned(), before["managedFields"].clone());
    }
    meta.insert(
        "resourceVersion".to_owned(),
        before["resourceVersion"].clone(),
    );
    Ok(())
}

/// The object must be of the kind and in the namespace that the path says.
pub(crate) fn place(call: &Call<'_>, object: &mut Object) -> Result<(), Failure> {
    let namespace = call.path.namespace.as_str();
    if !call.resource.namespaced {
        object.meta_mut().remove("namespace");
        return Ok(());
    }
    match object.namespace() {
        "" => {
            object
                .meta_mut()
                .insert("namespace".to_owned(), namespace.into());
        }
        sent if sent != namespace => {
            let message = "the namespace of the provided object does not match the namespace sent on the request";
            return Err(Failure::bad_request(message));
        }
        _ => {}
    }
    Ok(())
}

/// What is applied must say what it is about as the path does.
pub(crate) fn place_applied(call: &Call<'_>, config: &mut Object) -> Result<(), Failure> {
    place(call, config)?;
    let name = call.path.name.as_str();
    match config.name() {
        "" => {
            config.meta_mut().insert("name".to_owned(), name.into());
            Ok(())
        }
        sent if sent == name => Ok(()),
        sent => Err(Failure::bad_request(format!(
            "the name of the object ({sent}) does not match the name on the URL ({name})"
        ))),
    }
}

fn is_empty(meta: &Map<String, Value>, field: &str) -> bool {
    meta.get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .is_empty()
}

/// A moment as it is written, to the second.
pub(crate) fn stamp(moment: Timestamp) -> Value {
    moment.to_string().into()
}

/// The mistakes in the metadata of an object.
pub(crate) fn validate(call: &Call<'_>, object: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let rule = call.rules().name_rule();
    let prefix = object.meta_text("generateName");
    if !prefix.is_empty() {
        for mistake in names::mistakes(rule, prefix, true) {
            errors.push(FieldError::invalid(
                "metadata.generateName",
                prefix,
                mistake,
            ));
        }
    }
    match object.name() {
        "" => {
            let detail = "name or generateName is required";
            errors.push(FieldError::required("metadata.name", detail));
        }
        name => {
            for mistake in names::mistakes(rule, name, false) {
                errors.push(FieldError::invalid("metadata.name", name, mistake));
            }
        }
    }
    let meta = object.meta();
    for (key, value) in meta["labels"].as_object().into_iter().flatten() {
        if let Err(error) = check_label_key(key) {
            errors.push(FieldError::invalid(
                "metadata.labels",
                key.as_str(),
                error.to_string(),
            ));
        }
        let value = value.as_str().unwrap_or_default();
        if let Err(error) = check_label_value(value) {
            errors.push(FieldError::invalid(
                "metadata.labels",
                value,
                error.to_string(),
            ));
        }
    }
    let mut weight = 0;
    for (key, value) in meta["annotations"].as_object().into_iter().flatten() {
        if let Err(error) = check_label_key(&key.to_lowercase()) {
            let error = error.to_string();
            errors.push(FieldError::invalid(
                "metadata.annotations",
                key.as_str(),
                error,
            ));
        }
        weight += key.len() + value.as_str().unwrap_or_default().len();
    }
    if weight > ANNOTATIONS_BYTES_MAX {
        let detail = format!("may not be more than {ANNOTATIONS_BYTES_MAX} bytes");
        errors.push(FieldError::too_long("metadata.annotations", detail));
    }
    errors.extend(owners(meta));
    errors
}

/// The mistakes in an update's metadata beside those that a new object could have.
pub(crate) fn validate_update(call: &Call<'_>, new: &Object, old: &Object) -> Vec<FieldError> {
    let mut errors = validate(call, new);
    if old.is_deleting() {
        for added in new
            .finalizers()
            .filter(|one| !old.finalizers().any(|kept| kept == *one))
        {
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{added:?}}}"
            );
            errors.push(FieldError::forbidden("metadata.finalizers", detail));
        }
    }
    errors
}

fn owners(meta: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut controllers = Vec::new();
    for owner in meta["ownerReferences"].as_array().into_iter().flatten() {
        for (field, detail) in [
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            if owner[field].as_str().unwrap_or_default().is_empty() {
                let place = format!("metadata.ownerReferences.{field}");
                errors.push(FieldError::invalid(place, "", detail));
            }
        }
        if owner["controller"] == true {
            controllers.push(owner["name"].as_str().unwrap_or_default());
        }
    }
    if let [first, second, ..] = controllers.as_slice() {
        let detail = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {second}"
        );
        let all = meta["ownerReferences"].clone();
        errors.push(FieldError::invalid("metadata.ownerReferences", all, detail));
    }
    errors
}
