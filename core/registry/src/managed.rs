//! Who set which field: `metadata.managedFields` after each write.

use flyball_patch::{Change, FieldSet};
use serde_json::{Value, json};

use crate::object::{Meta, Object};
use crate::registry::Call;
use crate::versions;

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
    let live = old.map(|old| Value::Object(call.as_told(old.clone())));
    let kept = versions::of(&call.resource).map(|_| new.clone());
    let mut object = Value::Object(call.as_told(std::mem::take(new)));
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
    // Only what is new is compared with an object in which nothing is set.
    let blank = match live {
        None => blank(call),
        Some(_) => Value::Null,
    };
    let _ = with_change_from(call, &blank, |change| {
        flyball_patch::update(live.as_ref(), &mut object, change)
    });
    let Value::Object(object) = object else {
        return;
    };
    *new = match kept {
        None => object,
        // Only the owners are taken over: what is kept can say more.
        Some(mut kept) => {
            let owners = object.meta().get("managedFields").cloned();
            let meta = kept.meta_mut();
            match owners {
                Some(owners) => drop(meta.insert("managedFields".to_owned(), owners)),
                None => drop(meta.remove("managedFields")),
            }
            kept
        }
    };
}

/// Leaves an object to the owners that an apply has found, of whom there may be none any more.
pub(crate) fn settle(object: &mut Object, owners: Option<Value>) {
    let is_some = |owners: &Value| owners.as_array().is_some_and(|owners| !owners.is_empty());
    let meta = object.meta_mut();
    match owners.filter(is_some) {
        Some(owners) => drop(meta.insert("managedFields".to_owned(), owners)),
        None => drop(meta.remove("managedFields")),
    }
}

/// Whether a custom object is not of the type that its definition says.
pub(crate) fn misfits(call: &Call<'_>, object: &Object) -> bool {
    let custom = call.resource.of_definition();
    let is = |field: &str, word: &str| object.get(field).is_some_and(|value| value == word);
    let is_named =
        is("kind", &call.resource.kind) && is("apiVersion", &call.resource.api_version());
    custom
        .is_some_and(|custom| !is_named || custom.misfit(&Value::Object(object.clone())).is_some())
}

/// Leaves the times of owners as they were where nothing else is new: that alone is no reason to write.
///
/// Upstream: `apiserver/pkg/endpoints/handlers/fieldmanager/equality.go`.
pub(crate) fn keep_times(new: &mut Object, old: &Object) {
    if is_same_but_for_times(new, old) {
        let owners = old.meta()["managedFields"].clone();
        new.meta_mut().insert("managedFields".to_owned(), owners);
    }
}

/// Whether two states differ at most in when somebody came to own what, and do so.
fn is_same_but_for_times(new: &Object, old: &Object) -> bool {
    let (Value::Object(is), Value::Object(was)) = (new.meta(), old.meta()) else {
        return false;
    };
    let same = |one: &Object, other: &Object, but: &str| {
        let mut fields = one.iter();
        one.len() == other.len()
            && fields.all(|(field, value)| field == but || other.get(field) == Some(value))
    };
    let is_touched = is.get("managedFields") != was.get("managedFields");
    if !is_touched || !same(new, old, "metadata") || !same(is, was, "managedFields") {
        return false;
    }
    let timeless = |meta: &Object| {
        let mut owners = meta.get("managedFields").cloned().unwrap_or_default();
        for owner in owners.as_array_mut().into_iter().flatten() {
            owner.as_object_mut().map(|owner| owner.remove("time"));
        }
        owners
    };
    timeless(is) == timeless(was)
}

/// Gives the change that a call makes to `then`.
pub(crate) fn with_change<T>(call: &Call<'_>, then: impl FnOnce(&Change<'_>) -> T) -> T {
    with_change_from(call, &blank(call), then)
}

fn with_change_from<T>(call: &Call<'_>, blank: &Value, then: impl FnOnce(&Change<'_>) -> T) -> T {
    let api_version = call.resource.api_version();
    let custom = call.resource.of_definition();
    let ignored = FieldSet::of_names(ignored(call));
    let convert = |object: &Value, version: &str| match custom {
        Some(custom) => custom.in_version(object, version),
        None => versions::in_version(&call.resource, object, version),
    };
    then(&Change {
        owner: owner(call),
        api_version: &api_version,
        kind: &call.resource.kind,
        subresource: &call.path.subresource,
        schema: call.schema(),
        blank,
        ignored: &ignored,
        convert: &convert,
        keeps_nulls: custom.is_some(),
        now: call.request.now,
    })
}

/// Whether a write of the status leaves the metadata alone.
pub(crate) fn keeps_metadata(call: &Call<'_>) -> bool {
    matches!(
        call.resource.plural.as_str(),
        "servicecidrs" | "validatingadmissionpolicies" | "volumeattachments"
    )
}

/// The fields that a write never sets, because its kind takes them from somewhere else.
fn ignored(call: &Call<'_>) -> &'static [&'static [&'static str]] {
    let is_request = call.resource.plural == "certificatesigningrequests";
    let has_status = call.resource.subresource("status").is_some();
    let keeps_metadata = keeps_metadata(call);
    match call.path.subresource.as_str() {
        "status" if call.resource.of_definition().is_some() => &[&["metadata"], &["spec"]],
        "status" if keeps_metadata => &[&["metadata"], &["spec"]],
        "status" if call.resource.plural == "deployments" => &[&["spec"], &["metadata", "labels"]],
        "status" if call.resource.plural == "pods" => &[
            &["spec"],
            &["metadata", "deletionTimestamp"],
            &["metadata", "ownerReferences"],
        ],
        "finalize" => &[&["status"]],
        "" if is_request => &[&["spec"], &["status"]],
        "status" if is_request => &[&["spec"], &["status", "conditions"]],
        "approval" => &[&["spec"], &["status", "certificate"]],
        // The status is not the body's to set where it has a path of its own, and the other way round.
        "" if has_status => &[&["status"]],
        "status" => &[&["spec"]],
        _ => &[],
    }
}

/// The name under which a client owns fields: its own word, else the first part of its user agent.
pub(crate) fn owner<'a>(call: &'a Call<'_>) -> &'a str {
    match call.query.field_manager.as_str() {
        "" => call.request.agent.split('/').next().unwrap_or_default(),
        owner => owner,
    }
}

/// An object of the kind in which nothing is set.
fn blank(call: &Call<'_>) -> Value {
    let (api_version, kind) = (call.resource.api_version(), call.resource.kind.as_str());
    let mut blank = Object::new();
    // Custom objects hold nothing by value.
    if call.resource.of_definition().is_none() {
        flyball_protobuf::settle(&api_version, kind, &mut blank);
    }
    blank.insert("apiVersion".to_owned(), api_version.into());
    blank.insert("kind".to_owned(), kind.into());
    Value::Object(blank)
}
