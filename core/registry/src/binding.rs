//! Assigning pods to nodes, by a part of the pod or by the collection of bindings.
//!
//! Upstream: `pkg/registry/core/pod/storage/storage.go`.

use flyball_storage::Transaction;
use serde_json::{Value, json};

use crate::FieldError;
use crate::answer::Answer;
use crate::decode;
use crate::failure::Failure;
use crate::meta::{self, stamp};
use crate::object::{Meta, Object, at};
use crate::registry::{Call, Registry, key};

impl Registry {
    /// Assigns the pod that the binding names.
    pub(crate) fn bind_named(&mut self, call: &Call<'_>) -> Result<Answer, Failure> {
        let (mut binding, warnings) = decode::object(call)?;
        let named = meta::place(call, &mut binding).and_then(|()| check(&binding));
        let named = named.and_then(|()| match binding.name() {
            "" => Err(Failure::bad_request("Name parameter required.")),
            _ => Ok(()),
        });
        if let Err(refusal) = named {
            return Ok(Answer::from(refusal).warned(warnings));
        }
        let Some(pods) = self.served().find("", "v1", "pods").cloned() else {
            return Err(Failure::no_such_path());
        };
        let mut path = call.path.clone();
        path.resource = "pods".into();
        path.name = binding.name().into();
        path.subresource = "binding".into();
        let call = Call {
            request: call.request,
            representation: call.representation,
            path,
            resource: pods,
            query: call.query.clone(),
        };
        Ok(Answer::of(self.assign(&call, binding)).warned(warnings))
    }

    /// Assigns a pod to a node.
    pub(crate) fn bind(&mut self, call: &Call<'_>) -> Result<Answer, Failure> {
        let (mut binding, warnings) = decode::object(call)?;
        let answer = match meta::place(call, &mut binding) {
            Err(refusal) => Err(refusal),
            Ok(()) if binding.name() == call.path.name => self.assign(call, binding),
            Ok(()) => {
                let why = "name in URL does not match name in Binding object";
                Err(Failure::bad_request(why))
            }
        };
        Ok(Answer::of(answer).warned(warnings))
    }

    fn assign(&mut self, call: &Call<'_>, binding: Object) -> Result<Answer, Failure> {
        check(&binding)?;
        let binding = self.admit_part(call, binding)?;
        let (seen, old) = self.read(call)?;
        let conflict = |why: String| {
            let name = old.name();
            let message = format!("Operation cannot be fulfilled on pods/binding {name:?}: {why}");
            let refused = Failure::new(409, "Conflict", message);
            Err(refused.about_named("", "pods/binding", name))
        };
        for (word, wanted, is) in [
            ("UID", binding.uid(), old.uid()),
            (
                "ResourceVersion",
                binding.resource_version(),
                old.resource_version(),
            ),
        ] {
            if !wanted.is_empty() && wanted != is {
                let why = format!(
                    "Precondition failed: {word} in precondition: {wanted}, {word} in object meta: {is}"
                );
                return Err(Failure::conflict(&call.resource, old.name(), &why));
            }
        }
        let name = old.name();
        if old.is_deleting() {
            let why = format!("pod {name} is being deleted, cannot be assigned to a host");
            return conflict(why);
        }
        match at(&old, "spec.nodeName").as_str().unwrap_or_default() {
            "" => {}
            other => return conflict(format!("pod {name} is already assigned to node {other:?}")),
        }
        let gates = at(&old, "spec.schedulingGates").as_array();
        if gates.is_some_and(|all| !all.is_empty()) {
            return conflict(format!("pod {name} has non-empty .spec.schedulingGates"));
        }
        let mut new = assigned(&old, &binding, stamp(call.request.now));
        if !call.query.dry_run {
            let place = key(&call.resource, old.namespace(), old.name());
            let update = |stored| Transaction::update(place, seen, stored);
            let written = self.write(call, &mut new, update);
            written.map_err(|_| Failure::modified(&call.resource, old.name()))?;
        }
        Ok(crate::eviction::created())
    }
}

/// The mistakes in a binding are told as if they were nobody's fault.
fn check(binding: &Object) -> Result<(), Failure> {
    let text = |path: &str| at(binding, path).as_str().unwrap_or_default();
    let mut errors = Vec::new();
    let kind = text("target.kind");
    if !["", "Node"].contains(&kind) {
        let known = &["Node", "<empty>"];
        errors.push(FieldError::not_supported("target.kind", kind, known));
    }
    if text("target.name").is_empty() {
        errors.push(FieldError::required("target.name", ""));
    }
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    match told.as_slice() {
        [] => Ok(()),
        [one] => Err(Failure::new(500, "", one)),
        all => Err(Failure::new(500, "", format!("[{}]", all.join(", ")))),
    }
}

/// The pod with its node.
fn assigned(pod: &Object, binding: &Object, now: Value) -> Object {
    let mut new = pod.clone();
    new.entry("spec").or_insert_with(|| json!({}))["nodeName"] = at(binding, "target.name").clone();
    for field in ["annotations", "labels"] {
        for (key, value) in binding.meta()[field].as_object().into_iter().flatten() {
            let all = new.meta_mut().entry(field).or_insert_with(|| json!({}));
            all[key] = value.clone();
        }
    }
    let status = new.entry("status").or_insert_with(|| json!({}));
    if let Value::Object(status) = status {
        status.remove("nominatedNodeName");
    }
    let conditions = &mut status["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    if let Value::Array(all) = conditions {
        let is_scheduled = |one: &Value| one["type"] == "PodScheduled";
        let is_same = |one: &Value| is_scheduled(one) && one["status"] == "True";
        if !all.iter().any(is_same) {
            all.retain(|one| !is_scheduled(one));
            all.push(json!({
                "type": "PodScheduled",
                "status": "True",
                "lastProbeTime": null,
                "lastTransitionTime": now,
            }));
        }
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Object {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_pod_takes_labels_and_annotations_of_its_binding() {
        let pod = object(json!({
            "metadata": {"labels": {"a": "1"}},
            "status": {"nominatedNodeName": "n2"},
        }));
        let binding = object(json!({
            "metadata": {"labels": {"a": "2"}, "annotations": {"b": "3"}},
            "target": {"name": "n1"},
        }));
        let bound = assigned(&pod, &binding, json!("now"));
        assert_eq!(bound["metadata"]["labels"]["a"], "2");
        assert_eq!(bound["metadata"]["annotations"]["b"], "3");
        assert_eq!(bound["spec"]["nodeName"], "n1");
        assert_eq!(bound["status"].get("nominatedNodeName"), None);
        assert_eq!(bound["status"]["conditions"][0]["type"], "PodScheduled");
    }

    #[test]
    fn a_binding_names_a_node() {
        for (target, code) in [
            (json!({"name": "n"}), None),
            (json!({"name": "n", "kind": "Node"}), None),
            (json!({"name": "n", "kind": "Pod"}), Some(500)),
            (json!({}), Some(500)),
        ] {
            let refused = check(&object(json!({"target": target}))).err();
            assert_eq!(refused.map(|one| one.code()), code, "{target}");
        }
    }
}
