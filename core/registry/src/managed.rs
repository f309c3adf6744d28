//! Who set which field: `metadata.managedFields` after each write.

use flyball_patch::{Change, FieldSet, no_other_version};
use flyball_schema::Shape;
use serde_json::{Value, json};

use crate::object::Object;
use crate::registry::Call;

/// Whether a write has yet to be written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// It changes what it says: whoever sent it owns that now.
    Update,
    /// It was applied, which has settled who owns what.
    Applied,
}

/// Writes down who changed what. Owners that cannot be told apart are forgotten, as upstream does:
/// no write fails for want of them.
pub(crate) fn note(call: &Call<'_>, old: Option<&Object>, new: &mut Object) {
    let live = old.map(|old| Value::Object(old.clone()));
    let mut object = Value::Object(std::mem::take(new));
    if let (Some(custom), Some(live)) = (call.resource.of_definition(), &live) {
        let mut owned = object.clone();
        owned["metadata"]["managedFields"] = live["metadata"]["managedFields"].clone();
        if custom
            .misfit(&owned)
            .or_else(|| custom.misfit(live))
            .is_some()
        {
            object["metadata"]["managedFields"] = json!([]);
        }
    }
    let _ = with_change(call, |change| {
        flyball_patch::update(live.as_ref(), &mut object, change)
    });
    if let Value::Object(object) = object {
        *new = object;
    }
}

/// Gives the change that a call makes to `then`.
pub(crate) fn with_change<T>(call: &Call<'_>, then: impl FnOnce(&Change<'_>) -> T) -> T {
    let api_version = call.resource.api_version();
    // The status is not the body's to set where it has a path of its own, and the other way round.
    let has_status = call.resource.subresource("status").is_some();
    let custom = call.resource.of_definition();
    let ignored = match call.path.subresource.as_str() {
        "status" if custom.is_some() => FieldSet::of_names(&[&["metadata"], &["spec"]]),
        "" if has_status => FieldSet::of_names(&[&["status"]]),
        "status" => FieldSet::of_names(&[&["spec"]]),
        _ => FieldSet::default(),
    };
    let blank = blank(call);
    let convert = |object: &Value, version: &str| {
        custom.and_then(|custom| custom.in_version(object, version))
    };
    then(&Change {
        owner: owner(call),
        api_version: &api_version,
        kind: &call.resource.kind,
        subresource: &call.path.subresource,
        schema: call.schema(),
        blank: &blank,
        ignored: &ignored,
        convert: match custom {
            Some(_) => &convert,
            None => &no_other_version,
        },
        now: call.request.now,
    })
}

/// The name under which a client owns fields: its own word, else the first part of its user agent.
fn owner<'a>(call: &'a Call<'_>) -> &'a str {
    match call.query.field_manager.as_str() {
        "" => call.request.agent.split('/').next().unwrap_or_default(),
        owner => owner,
    }
}

/// Structures that upstream's types hold by value: they are there even if nothing in them is set.
const BY_VALUE: &[&str] = &[
    "metadata",
    "spec",
    "spec.names",
    "spec.strategy",
    "spec.updateStrategy",
    "spec.jobTemplate",
    "spec.jobTemplate.metadata",
    "spec.jobTemplate.spec",
    "spec.jobTemplate.spec.template",
    "spec.jobTemplate.spec.template.metadata",
    "spec.jobTemplate.spec.template.spec",
    "spec.template",
    "spec.template.metadata",
    "spec.template.spec",
    "status",
    "status.loadBalancer",
    "template",
    "template.metadata",
    "template.spec",
];

/// An object of the kind in which nothing is set.
fn blank(call: &Call<'_>) -> Value {
    let mut blank = json!({
        "apiVersion": call.resource.api_version(),
        "kind": call.resource.kind,
    });
    // Custom objects hold nothing by value.
    let by_value = match call.resource.of_definition() {
        Some(_) => &[],
        None => BY_VALUE,
    };
    for path in by_value {
        // A ReplicationController holds its template by reference.
        if path.starts_with("spec.template") && call.resource.plural == "replicationcontrollers" {
            continue;
        }
        let mut schema = Some(call.schema());
        for part in path.split('.') {
            schema =
                schema.and_then(|schema| schema.field_named(part).map(|field| schema.at(field.of)));
        }
        if schema.is_some_and(|schema| matches!(schema.shape(), Shape::Object(_))) {
            let place = path
                .split('.')
                .fold(&mut blank, |value, part| &mut value[part]);
            *place = json!({});
        }
    }
    blank
}
