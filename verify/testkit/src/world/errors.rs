//! What the server says when it refuses, in upstream's words.

use flyball_api::{ApiError, Kind, NAMESPACE_TERMINATING, Status, StatusCause};
use serde_json::Value;

pub(crate) fn not_found(kind: Kind, name: &str) -> ApiError {
    ApiError::not_found(kind, name)
}

/// A verb that the resource does not have.
pub(crate) fn not_allowed() -> ApiError {
    let message = "the server does not allow this method on the requested resource";
    failure(405, "MethodNotAllowed", message)
}

pub(crate) fn already_exists(kind: Kind, name: &str) -> ApiError {
    failure(
        409,
        "AlreadyExists",
        &format!("{kind} {name:?} already exists"),
    )
}

pub(crate) fn modified(kind: Kind, name: &str) -> ApiError {
    let why = "the object has been modified; please apply your changes to the latest version and \
               try again";
    conflict(&kind.to_string(), name, why)
}

/// An update that names another incarnation.
pub(crate) fn other_uid_updated(
    kind: Kind,
    key: &str,
    name: &str,
    got: &str,
    is: &str,
) -> ApiError {
    other_in_store(kind, key, name, "UID", got, is)
}

/// A write whose precondition the store itself finds not to hold.
pub(crate) fn other_in_store(
    kind: Kind,
    key: &str,
    name: &str,
    field: &str,
    got: &str,
    is: &str,
) -> ApiError {
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: {field} in precondition: {got}, {field} in \
         object meta: {is}"
    );
    conflict(&kind.to_string(), name, &why)
}

/// A binding of a pod that cannot be bound.
pub(crate) fn unbindable(name: &str, why: &str) -> ApiError {
    conflict("pods/binding", name, why)
}

/// A patch that names another incarnation: it tries to change what cannot change.
pub(crate) fn other_uid_patched(kind: Kind, name: &str, got: &str) -> ApiError {
    invalid(
        kind,
        name,
        &format!("metadata.uid: Invalid value: {got:?}: field is immutable"),
    )
}

/// A delete whose precondition fails. Upstream names the kind here, not the resource.
pub(crate) fn precondition(kind: Kind, name: &str, field: &str, want: &str, is: &str) -> ApiError {
    let what = match field {
        "UID" => "deleted and then recreated",
        _ => "modified",
    };
    let why = format!(
        "the {field} in the precondition ({want}) does not match the {field} in record ({is}). \
         The object might have been {what}"
    );
    let group = if kind.group.is_empty() {
        String::new()
    } else {
        format!(".{}", kind.group)
    };
    conflict(&format!("{}{group}", kind.kind), name, &why)
}

pub(crate) fn two_controllers(kind: Kind, name: &str, owners: &[Value]) -> ApiError {
    let mut names = owners
        .iter()
        .filter(|owner| owner["controller"] == true)
        .map(|owner| {
            let text = |field: &str| owner[field].as_str().unwrap_or_default().to_owned();
            format!("{}/{}", text("kind"), text("name"))
        });
    let (first, second) = (
        names.next().unwrap_or_default(),
        names.next().unwrap_or_default(),
    );
    let why = format!(
        "metadata.ownerReferences: Invalid value: {}: Only one reference can have Controller set \
         to true. Found \"true\" in references for {first} and {second}",
        Value::from(owners)
    );
    invalid(kind, name, &why)
}

/// A refusal by validation; `why` begins with the path of the field.
pub(crate) fn invalid(kind: Kind, name: &str, why: &str) -> ApiError {
    let group = if kind.group.is_empty() {
        String::new()
    } else {
        format!(".{}", kind.group)
    };
    let message = format!("{}{group} {name:?} is invalid: {why}", kind.kind);
    let mut status = Status::failure(422, "Invalid", &message);
    let (field, message) = why.split_once(": ").unwrap_or(("", why));
    let cause = StatusCause {
        cause_type: "FieldValueInvalid".into(),
        message: message.into(),
        field: field.into(),
    };
    status.details.get_or_insert_default().causes.push(cause);
    ApiError::from_status(status)
}

pub(crate) fn namespace_terminating(kind: Kind, name: &str, namespace: &str) -> ApiError {
    let message = format!(
        "{kind} {name:?} is forbidden: unable to create new content in namespace {namespace} \
         because it is being terminated"
    );
    let mut status = Status::failure(403, "Forbidden", &message);
    let message = format!("namespace {namespace} is being terminated").into();
    let cause_type = NAMESPACE_TERMINATING.into();
    let cause = StatusCause {
        cause_type,
        message,
        field: "metadata.namespace".into(),
    };
    status.details.get_or_insert_default().causes.push(cause);
    ApiError::from_status(status)
}

fn conflict(what: &str, name: &str, why: &str) -> ApiError {
    failure(
        409,
        "Conflict",
        &format!("Operation cannot be fulfilled on {what} {name:?}: {why}"),
    )
}

fn failure(code: u16, reason: &str, message: &str) -> ApiError {
    ApiError::from_status(Status::failure(code, reason, message))
}
