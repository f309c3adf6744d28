//! Metadata: what every write does to it. What may be in it: [`mistakes`].
//!
//! Upstream: `apiserver/pkg/registry/rest/{create,update,meta}.go`.

mod mistakes;

use flyball_api::Timestamp;
use serde_json::Value;

pub(crate) use self::mistakes::{simple_mistakes, validate, validate_update};
use crate::etcd;
use crate::failure::Failure;
use crate::field_error::FieldError;
use crate::kinds::allows_unconditional_update;
use crate::object::{Meta, Object};
use crate::registry::Call;
use crate::request::{Chance, Method};

/// The longest prefix that is kept of a name that is to be generated.
const GENERATED_PREFIX_MAX: usize = 58;

/// Makes the metadata of a new object what it has to be, whatever was sent.
pub(crate) fn prepare_create(
    call: &Call<'_>,
    object: &mut Object,
    chance: &mut Chance<'_>,
) -> Result<(), Failure> {
    place(call, object)?;
    let generation = call.rules().has_generation();
    let meta = object.meta_mut();
    // Upstream does so where objects are made, not where they are replaced.
    if call.request.method == Method::Post {
        for field in [
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "selfLink",
        ] {
            meta.remove(field);
        }
    }
    let now = stamp(call.request.now);
    meta.insert("creationTimestamp".to_owned(), now);
    meta.insert("uid".to_owned(), chance.uid().into());
    if generation {
        meta.insert("generation".to_owned(), 1.into());
    }
    Ok(())
}

/// The beginning of the name that is to be drawn for a new object, if one is.
pub(crate) fn generated_prefix(object: &Object) -> Option<String> {
    let prefix = object.meta_text("generateName");
    let is_drawn = object.name().is_empty() && !prefix.is_empty();
    is_drawn.then(|| prefix.chars().take(GENERATED_PREFIX_MAX).collect())
}

/// Makes the metadata of a new state what it has to be: what only the server sets stays.
pub(crate) fn prepare_update(
    call: &Call<'_>,
    new: &mut Object,
    old: &Object,
) -> Result<(), Failure> {
    check_place(call, new)?;
    check_version(call, new, old)?;
    if new.uid().is_empty() {
        let uid = old.uid().to_owned();
        new.meta_mut().insert("uid".to_owned(), uid.into());
    }
    let kept = ["creationTimestamp", "deletionTimestamp"];
    let before = old.meta();
    let meta = new.meta_mut();
    for field in kept {
        // What the object does not have yet is a mistake that is found later, and so is another grace.
        let is_changed = field == "deletionGracePeriodSeconds" && meta.contains_key(field);
        if let Some(value) = before.get(field).filter(|_| !is_changed) {
            meta.insert(field.to_owned(), value.clone());
        }
    }
    let grace = "deletionGracePeriodSeconds";
    if !before[grace].is_null() && meta.get(grace).is_none_or(Value::is_null) {
        meta.insert(grace.to_owned(), before[grace].clone());
    }
    match before.get("generation") {
        Some(value) => meta.insert("generation".to_owned(), value.clone()),
        None => meta.remove("generation"),
    };
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

/// What is to replace an object must say what it is about as the path does.
pub(crate) fn check_place(call: &Call<'_>, new: &mut Object) -> Result<(), Failure> {
    place(call, new)?;
    let name = call.path.name.as_str();
    match new.name() {
        "" => Err(Failure::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))),
        sent if sent != name => Err(Failure::bad_request(format!(
            "the name of the object ({sent}) does not match the name on the URL ({name})"
        ))),
        _ => Ok(()),
    }
}

/// What is to replace an object that is not there cannot mean a certain one.
pub(crate) fn check_absent(call: &Call<'_>, new: &Object) -> Result<(), Failure> {
    match new.uid() {
        "" => Ok(()),
        uid => Err(other_incarnation(call, uid, "")),
    }
}

fn other_incarnation(call: &Call<'_>, uid: &str, is: &str) -> Failure {
    let (namespace, name) = (&call.path.namespace, &call.path.name);
    let namespace = match call.resource.namespaced {
        true => namespace.as_str(),
        false => "",
    };
    let place = etcd::key(&call.resource, namespace, name);
    // A dry run does not get as far as where keys get their prefix.
    let place = match call.query.dry_run {
        true => place.trim_start_matches("/registry"),
        false => place.as_str(),
    };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {place}, ResourceVersion: 0, AdditionalErrorMsg: Precondition \
         failed: UID in precondition: {uid}, UID in object meta: {is}"
    );
    Failure::conflict(&call.resource, name, &why)
}

/// The object that is replaced must be the one that was meant, in the version that was meant.
fn check_version(call: &Call<'_>, new: &Object, old: &Object) -> Result<(), Failure> {
    let name = old.name();
    let uid = new.uid();
    // A patch is of whatever is there; another identity in its result is a mistake that is found later.
    let means_one = call.request.method == Method::Put;
    if means_one && !uid.is_empty() && uid != old.uid() {
        return Err(other_incarnation(call, uid, old.uid()));
    }
    let version = new.resource_version();
    let number: u64 = match version {
        "" => 0,
        version => {
            let wrong = |_| Failure::new(500, "", no_number(version));
            version.parse().map_err(wrong)?
        }
    };
    if number == 0
        && !(allows_unconditional_update(&call.resource) && call.rules().updates_unconditionally())
    {
        let (group, plural) = (&call.resource.group, &call.resource.plural);
        let why = "must be specified for an update";
        let error = FieldError::invalid("metadata.resourceVersion", 0, why);
        return Err(Failure::invalid(group, plural, name, &[error]));
    }
    if number != 0 && version != old.resource_version() {
        return Err(Failure::modified(&call.resource, name));
    }
    Ok(())
}

/// What Go says of a version that is no number.
pub(crate) fn no_number(version: &str) -> String {
    let is_large = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    let why = match is_large {
        true => "value out of range",
        false => "invalid syntax",
    };
    format!("strconv.ParseUint: parsing {version:?}: {why}")
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
    let says_namespace = !config.namespace().is_empty();
    place(call, config)?;
    if !says_namespace {
        // Messages tell what was sent; the object gets its namespace when it is made.
        config.meta_mut().remove("namespace");
    }
    let name = call.path.name.as_str();
    match config.name() {
        "" => Err(Failure::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))),
        sent if sent == name => Ok(()),
        sent => Err(Failure::bad_request(format!(
            "the name of the object ({sent}) does not match the name on the URL ({name})"
        ))),
    }
}

/// A moment as it is written, to the second.
pub(crate) fn stamp(moment: Timestamp) -> Value {
    moment.to_string().into()
}
