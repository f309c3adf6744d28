//! Scales: how many replicas there are and shall be, as an object of its own.
//!
//! A scale owns nothing but the number of replicas. Who owns it is written in the managed fields of
//! the object that is scaled, so they are turned into those of the scale and back.
//!
//! Upstream: `pkg/registry/apps/deployment/storage/storage.go`,
//! `apimachinery/pkg/util/managedfields/scalehandler.go`.

use std::collections::BTreeSet;

use flyball_patch::{Change, FieldSet, no_other_version};
use flyball_storage::Revision;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::decode::{self, Wanted};
use crate::failure::Failure;
use crate::managed::{self, Note};
use crate::object::{Meta, Object, at};
use crate::registry::{Call, Registry};
use crate::request::{Chance, Method};
use crate::update::Part;
use crate::{custom, depth, meta, patch};

const API_VERSION: &str = "autoscaling/v1";
const KIND: &str = "Scale";

impl Registry {
    /// Reads or changes the scale of an object.
    pub(crate) fn scale(
        &mut self,
        verb: &str,
        call: &Call<'_>,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        // What is sent is read before anybody looks for what it is about.
        let sent = match verb {
            "update" => {
                let (scale, warnings) =
                    decode::object(call).map_err(|refusal| unread(call, refusal))?;
                named(call, scale, warnings, false).map(Some)?
            }
            _ => None,
        };
        let (seen, old) = self.read(call)?;
        let mut before = scale_of(call, &old)?;
        if verb == "get" {
            return Ok(Answer::document(&Value::Object(before)));
        }
        let owners = owners_of_scale(
            &old.meta()["managedFields"],
            &call.resource.api_version(),
            &replicas_place(call),
        );
        if !owners.is_empty() {
            let meta = before.meta_mut();
            meta.insert("managedFields".to_owned(), owners.into());
        }
        let (mut scale, warnings, is_settled) = match sent {
            Some(sent) => sent,
            None if patch::is_apply(call) => {
                let config = patch::yaml(call)?;
                let live = Value::Object(before.clone());
                let applied = with_change(call, |change| {
                    flyball_patch::apply(Some(&live), &config, call.query.force, change)
                });
                let applied = applied.map_err(|refusal| patch::refused(&refusal))?;
                let unfit = |why: &str| patch::unfit(call, &config, why);
                let (applied, mut warnings) =
                    decode::merged(call, applied, Vec::new(), unfit, unfit)?;
                warnings.extend(patch::told_doubles(call)?);
                named(call, applied, warnings, true)?
            }
            None => {
                let (scale, warnings) = patch::changed(call, before.clone())?;
                named(call, scale, warnings, false)?
            }
        };
        flyball_protobuf::settle(API_VERSION, KIND, &mut scale);
        let is_nameless = verb == "update" && decode::says_no_version(call.request.body);
        if is_nameless && custom_scale(call).is_some() {
            // Upstream does not find the type of such a scale, and forgets who owns it.
            scale.meta_mut().remove("managedFields");
        } else if !is_settled {
            note(call, &before, &mut scale);
        }
        let answer = self.rescale(call, seen, &old, &scale, chance);
        Ok(Answer::of(answer).warned(warnings))
    }

    fn rescale(
        &mut self,
        call: &Call<'_>,
        seen: Revision,
        old: &Object,
        scale: &Object,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        let replicas = at(scale, "spec.replicas").as_i64().unwrap_or_default();
        let custom = custom_scale(call);
        // The rules of a custom object are those of its definition.
        let mut errors = match custom {
            Some(_) => Vec::new(),
            None => meta::simple_mistakes(scale),
        };
        if replicas < 0 && custom.is_none() {
            let why = "must be greater than or equal to 0";
            errors.push(crate::FieldError::invalid("spec.replicas", replicas, why));
        }
        if !errors.is_empty() {
            let name = scale.name();
            return Err(Failure::invalid("autoscaling", "Scale", name, &errors));
        }
        // Upstream does not look at the identity that the scale of a custom object says.
        let (meant, is) = (scale.uid(), old.uid());
        let is_patch = call.request.method == Method::Patch;
        if custom.is_none() && is_patch && !meant.is_empty() && meant != is {
            let (group, plural) = (&call.resource.group, &call.resource.plural);
            let why = format!(
                "Precondition failed: UID in precondition: {meant}, UID in object meta: {is}"
            );
            let kind = format!("{plural}/scale");
            return Err(Failure::conflict_on(group, &kind, old.name(), &why));
        }
        let mut new = old.clone();
        match custom {
            Some(custom) => custom.set(&mut new, replicas),
            None => {
                new.entry("spec").or_insert_with(|| json!({}))["replicas"] = replicas.into();
            }
        }
        let version = scale.resource_version();
        let owners = owners_of_scaled(
            &old.meta()["managedFields"],
            &scale.meta()["managedFields"],
            &call.resource.api_version(),
            &replicas_place(call),
        );
        let meta = new.meta_mut();
        if !scale.uid().is_empty() && custom.is_none() {
            meta.insert("uid".to_owned(), scale.uid().into());
        }
        if !version.is_empty() {
            meta.insert("resourceVersion".to_owned(), version.into());
        }
        meta.insert("managedFields".to_owned(), owners.into());
        let answer = self.replace(call, (Part::Body, Note::Applied), seen, old, new, chance)?;
        let object = depth::read_kept(&answer.body);
        let shown = Answer::document(&Value::Object(scale_of(call, &object)?));
        Ok(shown.warned(answer.warnings))
    }
}

/// Where the scale of a custom object is.
fn custom_scale<'a>(call: &'a Call<'_>) -> Option<&'a custom::Scale> {
    call.resource.of_definition()?.scale()
}

/// Why a scale cannot be read. Upstream does not know what the scale of a custom object is called.
pub(crate) fn unread(call: &Call<'_>, refusal: Failure) -> Failure {
    match call.resource.of_definition() {
        Some(_) if refusal.code() == 400 => Failure::bad_request(
            "no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"",
        ),
        _ => refusal,
    }
}

/// A scale that is about the object of the path, with what is to be told of it, which is told in any case.
fn named(
    call: &Call<'_>,
    scale: Object,
    warnings: Vec<String>,
    is_settled: bool,
) -> Result<(Object, Vec<String>, bool), Failure> {
    match check_name(call, &scale) {
        Ok(()) => Ok((scale, warnings, is_settled)),
        Err(refusal) => Err(refusal.warned(warnings)),
    }
}

/// What is sent must be about the object of the path.
fn check_name(call: &Call<'_>, scale: &Object) -> Result<(), Failure> {
    let (name, namespace) = (call.path.name.as_str(), call.path.namespace.as_str());
    if ![namespace, ""].contains(&scale.namespace()) {
        let why =
            "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Failure::bad_request(why));
    }
    match scale.name() {
        sent if sent == name => Ok(()),
        "" => Err(Failure::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))),
        sent => Err(Failure::bad_request(format!(
            "the name of the object ({sent}) does not match the name on the URL ({name})"
        ))),
    }
}

/// Writes down in a scale who changed it.
fn note(call: &Call<'_>, before: &Object, scale: &mut Object) {
    if !scale.meta()["managedFields"].is_array() {
        let owners = before.meta()["managedFields"].clone();
        scale.meta_mut().insert("managedFields".to_owned(), owners);
    }
    let live = Value::Object(before.clone());
    let mut new = Value::Object(std::mem::take(scale));
    let _ = with_change(call, |change| {
        flyball_patch::update(Some(&live), &mut new, change)
    });
    if let Value::Object(new) = new {
        *scale = new;
    }
}

fn with_change<T>(call: &Call<'_>, then: impl FnOnce(&Change<'_>) -> T) -> T {
    let blank = json!({
        "apiVersion": API_VERSION, "kind": KIND, "metadata": {}, "spec": {}, "status": {},
    });
    let ignored = FieldSet::default();
    then(&Change {
        owner: managed::owner(call),
        api_version: API_VERSION,
        kind: KIND,
        subresource: "scale",
        schema: Wanted::of(call).schema(),
        blank: &blank,
        ignored: &ignored,
        convert: &no_other_version,
        keeps_nulls: false,
        now: call.request.now,
    })
}

/// Where owners of an object's replicas have them.
fn replicas_place(call: &Call<'_>) -> String {
    let fields: String = match custom_scale(call) {
        Some(custom) => custom.steps().map(|step| format!("/f:{step}")).collect(),
        None => "/f:spec/f:replicas".to_owned(),
    };
    format!("/fieldsV1{fields}")
}

/// The replicas as an owner has them.
fn replicas_at(place: &str) -> Value {
    let steps = place.split('/').skip(2);
    let steps: Vec<&str> = steps.collect();
    let steps = steps.into_iter().rev();
    steps.fold(json!({}), |inner, step| json!({ step: inner }))
}

/// The place of a scale's own replicas.
const REPLICAS: &str = "/fieldsV1/f:spec/f:replicas";

/// The owners; of those that cannot be told apart the last counts.
fn entries(all: &Value) -> Vec<&Value> {
    let all: Vec<&Value> = all.as_array().into_iter().flatten().collect();
    let mut seen = BTreeSet::new();
    let mut last: Vec<&Value> = all.into_iter().rev().collect();
    last.retain(|entry| seen.insert(identity(entry)));
    last.reverse();
    last
}

/// Who owns what, apart from the fields: as upstream tells owners apart.
fn identity(entry: &Value) -> [&str; 4] {
    let text = |field: &str| entry[field].as_str().unwrap_or_default();
    // Whoever applies is one, in whatever version.
    let version = match text("operation") {
        "Apply" => "",
        _ => text("apiVersion"),
    };
    [
        text("manager"),
        text("operation"),
        text("subresource"),
        version,
    ]
}

/// The owners of the replicas, as owners of fields of the scale.
fn owners_of_scale(all: &Value, api_version: &str, place: &str) -> Vec<Value> {
    let owns =
        |entry: &&Value| entry["apiVersion"] == api_version && entry.pointer(place).is_some();
    let scaled = entries(all).into_iter().filter(owns).map(|entry| {
        let mut entry = entry.clone();
        entry["apiVersion"] = API_VERSION.into();
        entry["fieldsV1"] = json!({"f:spec": {"f:replicas": {}}});
        entry
    });
    scaled.collect()
}

/// The owners of the object that is scaled, after its scale has these.
fn owners_of_scaled(all: &Value, scale: &Value, api_version: &str, place: &str) -> Vec<Value> {
    let steps = place.split('/').skip(2);
    let steps: Vec<&str> = steps.filter_map(|step| step.strip_prefix("f:")).collect();
    let replicas = FieldSet::of_names(&[&steps]);
    let mut left = entries(scale);
    let mut owners = Vec::new();
    for entry in entries(all) {
        if entry["apiVersion"] != api_version {
            continue;
        }
        let same = left.iter().position(|one| identity(one) == identity(entry));
        let owns = entry.pointer(place).is_some();
        match same.filter(|_| owns) {
            Some(at) => drop(left.remove(at)),
            None if owns => {
                // Owners that cannot be read are none.
                let Ok(fields) = FieldSet::from_fields_v1(&entry["fieldsV1"]) else {
                    continue;
                };
                let rest = fields.difference(&replicas);
                if !rest.is_empty() {
                    let mut entry = entry.clone();
                    entry["fieldsV1"] = rest.to_fields_v1();
                    owners.push(entry);
                }
                continue;
            }
            None => {}
        }
        owners.push(entry.clone());
    }
    for entry in left
        .into_iter()
        .filter(|entry| entry.pointer(REPLICAS).is_some())
    {
        let mut entry = entry.clone();
        entry["apiVersion"] = api_version.into();
        entry["fieldsV1"] = replicas_at(place);
        // Upstream looks for the time among the owners of the other object, where it is not.
        if let Some(fields) = entry.as_object_mut() {
            fields.remove("time");
        }
        owners.push(entry);
    }
    owners.sort_by_key(|entry| {
        let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        ["operation", "time", "manager", "apiVersion", "subresource"].map(text)
    });
    owners
}

/// The scale of an object that has replicas and a selector.
fn scale_of(call: &Call<'_>, object: &Object) -> Result<Object, Failure> {
    if let Some(custom) = custom_scale(call) {
        let scale = custom.of(object)?;
        return Ok(scale.as_object().cloned().unwrap_or_default());
    }
    let meta = object.meta();
    let replicas = |path: &str| at(object, path).as_i64().unwrap_or_default();
    let mut status = json!({"replicas": replicas("status.replicas")});
    let selector = selector_text(at(object, "spec.selector"));
    if !selector.is_empty() {
        status["selector"] = selector.into();
    }
    let mut kept = json!({});
    for field in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ] {
        kept[field] = meta[field].clone();
    }
    let scale = json!({
        "kind": KIND,
        "apiVersion": API_VERSION,
        "metadata": kept,
        // Zero is what is not there, as upstream writes it.
        "spec": match replicas("spec.replicas") {
            0 => json!({}),
            replicas => json!({"replicas": replicas}),
        },
        "status": status,
    });
    Ok(scale.as_object().cloned().unwrap_or_default())
}

/// A selector in the form of a query: of labels, or of a map as ReplicationControllers have it.
fn selector_text(selector: &Value) -> String {
    let Some(fields) = selector.as_object() else {
        return String::new();
    };
    let is_map = fields.values().all(Value::is_string);
    let labels = if is_map {
        selector
    } else {
        &selector["matchLabels"]
    };
    let mut parts: Vec<(&str, String)> = Vec::new();
    for (key, value) in labels.as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        parts.push((key, format!("{key}={value}")));
    }
    for one in selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let key = one["key"].as_str().unwrap_or_default();
        let values = one["values"].as_array().into_iter().flatten();
        let mut values: Vec<&str> = values.filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        let part = match one["operator"].as_str().unwrap_or_default() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        parts.push((key, part));
    }
    parts.sort_by_key(|(key, _)| *key);
    let parts: Vec<String> = parts.into_iter().map(|(_, part)| part).collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_written_as_queries() {
        for (selector, text) in [
            (json!({"matchLabels": {"b": "2", "a": "1"}}), "a=1,b=2"),
            (json!({"app": "web"}), "app=web"),
            (
                json!({"matchExpressions": [
                    {"key": "x", "operator": "In", "values": ["2", "1"]},
                    {"key": "y", "operator": "DoesNotExist"},
                ]}),
                "x in (1,2),!y",
            ),
            (json!(null), ""),
        ] {
            assert_eq!(selector_text(&selector), text);
        }
    }

    #[test]
    fn of_owners_that_cannot_be_told_apart_the_last_counts() {
        let owner = |fields: Value| {
            json!({
                "manager": "m", "operation": "Update", "apiVersion": "apps/v1", "fieldsV1": {"f:spec": fields},
            })
        };
        let (replicas, paused) = (json!({"f:replicas": {}}), json!({"f:paused": {}}));
        let all = json!([owner(replicas), owner(paused.clone())]);
        assert!(owners_of_scale(&all, "apps/v1", REPLICAS).is_empty());
        let left = owners_of_scaled(&all, &json!([]), "apps/v1", REPLICAS);
        assert_eq!(left, [owner(paused)]);
    }

    #[test]
    fn who_loses_the_replicas_keeps_the_rest() {
        let owner = |spec: Value| {
            json!([{
                "manager": "m", "operation": "Update", "apiVersion": "apps/v1", "fieldsV1": {"f:spec": spec},
            }])
        };
        for (owned, left) in [
            (json!({".": {}, "f:replicas": {}}), json!({})),
            (
                json!({"f:paused": {}, "f:replicas": {}}),
                json!({"f:paused": {}}),
            ),
        ] {
            let is = owners_of_scaled(&owner(owned), &json!([]), "apps/v1", REPLICAS);
            assert_eq!(Value::Array(is), owner(left));
        }
        let alone = owner(json!({"f:replicas": {}}));
        assert!(owners_of_scaled(&alone, &json!([]), "apps/v1", REPLICAS).is_empty());
    }
}
