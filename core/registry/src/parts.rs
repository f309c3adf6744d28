//! Parts of objects that have paths of their own: status, scale, binding, finalize.
//!
//! Upstream: `pkg/registry/*/*/storage/storage.go`.

use flyball_storage::{Revision, Transaction};
use serde_json::{Value, json};

use crate::admission::{self, Effects, Review};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::managed::Note;
use crate::meta::stamp;
use crate::object::{Meta, Object, at};
use crate::registry::{Call, Registry, key};
use crate::request::Chance;
use crate::stored::text;
use crate::update::{Part, keep};
use crate::{decode, patch};

impl Registry {
    /// Does what is asked of a part.
    pub(crate) fn part(
        &mut self,
        verb: &str,
        call: &Call<'_>,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        if let Some(custom) = call.resource.of_definition() {
            return self.custom_part(verb, call, custom, chance);
        }
        let part = call.resource.subresource(&call.path.subresource);
        let part = part.ok_or_else(Failure::no_such_path)?;
        if !part.verbs.iter().any(|one| one == verb) {
            return Err(Failure::method_not_allowed());
        }
        match (part.name.as_str(), verb) {
            ("status", "get") => self.get(call),
            ("status", "update") => {
                let (new, warnings) = decode::object(call)?;
                let (seen, old) = self.read(call)?;
                let answer =
                    self.replace(call, (Part::Status, Note::Update), seen, &old, new, chance)?;
                Ok(answer.warned(warnings))
            }
            ("status", "patch") => self.patch_status(call, chance),
            ("scale", "get") => {
                let (_, object) = self.read(call)?;
                Ok(Answer::document(&scale_of(&object)))
            }
            ("scale", "update") => {
                let scale = decode::any(call)?;
                let (seen, old) = self.read(call)?;
                self.scale(call, seen, &old, &scale, chance)
            }
            ("scale", "patch") => {
                let (seen, old) = self.read(call)?;
                let scale = patch::patched_scale(call, scale_of(&old))?;
                self.scale(call, seen, &old, &scale, chance)
            }
            ("binding", "create") => self.bind(call),
            ("finalize", "update") => self.finalize(call),
            ("token", "create") => self.issue(call, chance),
            // No other part is served.
            _ => Err(Failure::no_such_path()),
        }
    }

    /// Asks admission about what is sent to a part, before the object is looked at.
    pub(crate) fn admit_part(&self, call: &Call<'_>, sent: &Value) -> Result<(), Failure> {
        let mut sent = sent.as_object().cloned().unwrap_or_default();
        let review = Review::of_create(self, call, &call.path.name);
        let mut effects = Effects::default();
        admission::mutate(&review, &mut sent, &mut effects)?;
        admission::validate(&review, &sent, &mut effects)
    }

    fn scale(
        &mut self,
        call: &Call<'_>,
        seen: Revision,
        old: &Object,
        scale: &Value,
        chance: &mut Chance<'_>,
    ) -> Result<Answer, Failure> {
        let version = scale["metadata"]["resourceVersion"]
            .as_str()
            .unwrap_or_default();
        if !version.is_empty() && version != old.resource_version() {
            return Err(Failure::modified(&call.resource, old.name()));
        }
        let replicas = scale["spec"]["replicas"].as_i64().unwrap_or_default();
        if replicas < 0 {
            let error = crate::FieldError::invalid(
                "spec.replicas",
                replicas,
                "must be greater than or equal to 0",
            );
            return Err(Failure::invalid(
                "autoscaling",
                "Scale",
                old.name(),
                &[error],
            ));
        }
        let mut new = old.clone();
        if let Some(Value::Object(spec)) = new.get_mut("spec") {
            spec.insert("replicas".to_owned(), replicas.into());
        }
        let answer = self.replace(call, (Part::Body, Note::Update), seen, old, new, chance)?;
        let object: Object = serde_json::from_slice(&answer.body).unwrap_or_default();
        Ok(Answer::document(&scale_of(&object)))
    }

    /// Assigns a pod to a node.
    fn bind(&mut self, call: &Call<'_>) -> Result<Answer, Failure> {
        let binding = decode::any(call)?;
        self.admit_part(call, &binding)?;
        let node = binding["target"]["name"].as_str().unwrap_or_default();
        let (seen, old) = self.read(call)?;
        let conflict = |why: String| Err(Failure::conflict(&call.resource, old.name(), &why));
        if node.is_empty() {
            let error = crate::FieldError::required("target.name", "");
            return Err(Failure::invalid("", "Binding", old.name(), &[error]));
        }
        let uid = binding["metadata"]["uid"].as_str().unwrap_or_default();
        if !uid.is_empty() && uid != old.uid() {
            return conflict(format!(
                "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
                old.uid()
            ));
        }
        if old.is_deleting() {
            let why = format!(
                "pod {} is being deleted, cannot be assigned to a host",
                old.name()
            );
            return conflict(why);
        }
        match at(&old, "spec.nodeName").as_str().unwrap_or_default() {
            "" => {}
            other => {
                let why = format!("pod {} is already assigned to node {other:?}", old.name());
                return conflict(why);
            }
        }
        if at(&old, "spec.schedulingGates")
            .as_array()
            .is_some_and(|all| !all.is_empty())
        {
            let why = format!("pod {} has non-empty .spec.schedulingGates", old.name());
            return conflict(why);
        }
        let mut new = old.clone();
        new.entry("spec").or_insert_with(|| json!({}))["nodeName"] = node.into();
        for (key, value) in binding["metadata"]["annotations"]
            .as_object()
            .into_iter()
            .flatten()
        {
            let annotations = new
                .meta_mut()
                .entry("annotations")
                .or_insert_with(|| json!({}));
            annotations[key] = value.clone();
        }
        set_condition(&mut new, "PodScheduled", "True", stamp(call.request.now));
        if !call.query.dry_run {
            let place = key(&call.resource, old.namespace(), old.name());
            let written = self.write(call, &mut new, |stored| {
                Transaction::update(place, seen, stored)
            });
            written.map_err(|_| Failure::modified(&call.resource, old.name()))?;
        }
        Ok(Answer {
            code: 201,
            ..Answer::document(&json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201,
            }))
        })
    }

    /// Replaces the finalizers that a namespace has in its spec; with the last one it may go.
    fn finalize(&mut self, call: &Call<'_>) -> Result<Answer, Failure> {
        let (mut new, _) = decode::object(call)?;
        let (seen, old) = self.read(call)?;
        keep(&mut new, &old, |field| {
            !matches!(field, "spec" | "metadata")
        });
        crate::meta::prepare_update(call, &mut new, &old)?;
        let moved = |_| Failure::modified(&call.resource, old.name());
        let place = key(&call.resource, "", old.name());
        let empty = at(&new, "spec.finalizers")
            .as_array()
            .is_none_or(Vec::is_empty);
        if empty && new.is_deleting() && !new.has_finalizers() {
            self.commit(Transaction::remove(place, seen))
                .map_err(moved)?;
            return Ok(Answer::new(200, text(&new)));
        }
        let update = |stored| Transaction::update(place, seen, stored);
        let body = self.write(call, &mut new, update).map_err(moved)?;
        Ok(Answer::new(200, body))
    }
}

/// Sets one condition of a pod, replacing the one of its type.
fn set_condition(object: &mut Object, kind: &str, status: &str, now: Value) {
    let conditions = &mut object.entry("status").or_insert_with(|| json!({}))["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Value::Array(all) = conditions else {
        return;
    };
    let same = all
        .iter()
        .any(|one| one["type"] == kind && one["status"] == status);
    if !same {
        all.retain(|one| one["type"] != kind);
        all.push(json!({"type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": now}));
    }
}

/// The scale of an object that has replicas and a selector.
fn scale_of(object: &Object) -> Value {
    let meta = object.meta();
    let mut status =
        json!({"replicas": at(object, "status.replicas").as_i64().unwrap_or_default()});
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
    json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": kept,
        "spec": {"replicas": at(object, "spec.replicas").as_i64().unwrap_or_default()},
        "status": status,
    })
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
    let mut parts: Vec<String> = Vec::new();
    for (key, value) in labels.as_object().into_iter().flatten() {
        parts.push(format!("{key}={}", value.as_str().unwrap_or_default()));
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
        parts.push(match one["operator"].as_str().unwrap_or_default() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        });
    }
    parts.sort_unstable();
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
                "!y,x in (1,2)",
            ),
            (json!(null), ""),
        ] {
            assert_eq!(selector_text(&selector), text);
        }
    }
}
