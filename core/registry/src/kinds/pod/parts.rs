//! Parts of pods that change while they run: containers to look into them, and their resources.
//!
//! Upstream: `pkg/registry/core/pod/strategy.go`, `pkg/apis/core/validation/validation.go`.

use serde_json::{Map, Value};

use super::super::checks::same;
use super::super::spot::Errors;
use super::resources::qos_class;
use crate::field_error::FieldError;
use crate::object::{Meta, Object, at};

const MIRROR: &str = "kubernetes.io/config.mirror";

/// What a change through a part leaves of the rest: everything but who owns what.
fn keep_rest(new: &mut Object, old: &Object) {
    let owners = new.meta().get("managedFields").cloned();
    let version = new.meta().get("resourceVersion").cloned();
    // Another identity is told as a mistake.
    let uid = new.meta().get("uid").cloned();
    let mut kept = old.clone();
    let said = [
        ("managedFields", owners),
        ("resourceVersion", version),
        ("uid", uid),
    ];
    for (field, value) in said {
        if let Some(value) = value {
            kept.meta_mut().insert(field.to_owned(), value);
        }
    }
    *new = kept;
}

fn spec_field(pod: &Object, field: &str) -> Option<Value> {
    pod.get("spec").and_then(|spec| spec.get(field)).cloned()
}

fn put(pod: &mut Object, field: &str, value: Option<Value>) {
    let Some(Value::Object(spec)) = pod.get_mut("spec") else {
        return;
    };
    match value {
        Some(value) => drop(spec.insert(field.to_owned(), value)),
        None => drop(spec.remove(field)),
    }
}

/// Only ephemeral containers change.
pub(super) fn prepare_ephemeral(new: &mut Object, old: &Object) {
    let containers = spec_field(new, "ephemeralContainers");
    keep_rest(new, old);
    put(new, "ephemeralContainers", containers);
}

/// Ephemeral containers come and stay as they are.
pub(super) fn check_ephemeral(new: &Object, old: &Object, errors: &mut Errors) {
    if is_mirror(old) {
        let why = "static pods do not support ephemeral containers";
        *errors = vec![FieldError::forbidden("", why)];
        return;
    }
    let field = "spec.ephemeralContainers";
    let list = |pod: &Object| at(pod, field).as_array().cloned().unwrap_or_default();
    let all = list(new);
    for before in list(old) {
        let name = before["name"].as_str().unwrap_or_default();
        let after = all.iter().find(|one| one["name"] == before["name"]);
        let fate = match after {
            None => "removed",
            Some(after) if !same(after, &before) => "changed",
            Some(_) => continue,
        };
        let why = format!("existing ephemeral containers {name:?} may not be {fate}\n");
        errors.push(FieldError::forbidden(field, why));
    }
}

fn is_mirror(pod: &Object) -> bool {
    !pod.meta()["annotations"][MIRROR].is_null()
}

/// Only the resources of containers change.
pub(super) fn prepare_resize(new: &mut Object, old: &Object) {
    let lists = ["containers", "initContainers"];
    let after = lists.map(|field| list(new, field));
    let before = lists.map(|field| list(old, field));
    if after
        .iter()
        .zip(&before)
        .any(|(one, other)| one.len() != other.len())
    {
        // It is told what is wrong with that.
        return;
    }
    keep_rest(new, old);
    for ((field, after), before) in lists.iter().zip(after).zip(before) {
        if after.is_empty() {
            continue;
        }
        let renamed = after
            .iter()
            .zip(&before)
            .any(|(new, old)| new["name"] != old["name"]);
        let merged = match renamed {
            true => after,
            false => {
                let pairs = before.into_iter().zip(after);
                pairs.map(|(old, new)| resized(old, &new)).collect()
            }
        };
        put(new, field, Some(merged.into()));
    }
}

fn list(pod: &Object, field: &str) -> Vec<Value> {
    let list = spec_field(pod, field);
    list.and_then(|list| list.as_array().cloned())
        .unwrap_or_default()
}

fn resized(mut old: Value, new: &Value) -> Value {
    if let Some(old) = old.as_object_mut() {
        for field in ["resources", "resizePolicy"] {
            match new.get(field) {
                Some(value) => drop(old.insert(field.to_owned(), value.clone())),
                None => drop(old.remove(field)),
            }
        }
    }
    old
}

/// A pod stays of its class, and its containers keep what they are and ask for.
pub(super) fn check_resize(new: &Object, old: &Object, errors: &mut Errors) {
    if is_mirror(old) {
        *errors = vec![FieldError::forbidden("[]", "static pods cannot be resized")];
        return;
    }
    if at(old, "spec.os.name") == "windows" {
        *errors = vec![FieldError::forbidden(
            "[]",
            "windows pods cannot be resized",
        )];
        return;
    }
    let class = |pod: &Object| {
        let spec = pod.get("spec").and_then(Value::as_object);
        spec.map_or("BestEffort", qos_class)
    };
    if class(new) != class(old) {
        let why = "Pod QOS Class may not change as a result of resizing";
        let is = at(new, "status.qosClass").clone();
        errors.push(FieldError::invalid("spec", is, why));
    }
    if !is_resizable(old) {
        let why = "Pod running on node without support for resize";
        errors.push(FieldError::forbidden("spec", why));
    }
    if at(new, "spec.resources").is_null() && !at(old, "spec.resources").is_null() {
        let why = "pod-level resources cannot be removed";
        errors.push(FieldError::forbidden("spec.resources", why));
    }
    if !check_order(new, old, errors) {
        return;
    }
    for field in ["initContainers", "containers"] {
        let (after, before) = (list(new, field), list(old, field));
        for (at, (new, old)) in after.iter().zip(&before).enumerate() {
            check_not_removed(&format!("spec.{field}[{at}].resources"), new, old, errors);
        }
    }
    for (new, old) in list(new, "containers").iter().zip(&list(old, "containers")) {
        if !same(&without_sizes(new), &without_sizes(old)) {
            let why = "only cpu and memory resources are mutable";
            errors.push(FieldError::forbidden("spec", why));
        }
    }
    let sidecars = list(new, "initContainers").into_iter();
    let sidecars = sidecars.zip(list(old, "initContainers")).enumerate();
    for (at, (new, old)) in sidecars {
        if new["restartPolicy"] == "Always" {
            if !same(&without_sizes(&new), &without_sizes(&old)) {
                let field = format!("spec.initContainers[{at}]");
                let why =
                    "only cpu and memory resources for init or sidecar containers are mutable";
                errors.push(FieldError::forbidden(field, why));
            }
        } else if !same(&new, &old) {
            let why = "resources for non-sidecar init containers are immutable";
            errors.push(FieldError::forbidden("spec", why));
        }
    }
}

/// Whether the node of a pod has shown that it can resize containers, or nothing runs yet.
fn is_resizable(pod: &Object) -> bool {
    let statuses = at(pod, "status.containerStatuses").as_array();
    let mut running = statuses
        .into_iter()
        .flatten()
        .filter(|one| !one["state"]["running"].is_null());
    running.next().is_none_or(|one| !one["resources"].is_null())
}

/// Whether the containers are the same ones in the same order.
fn check_order(new: &Object, old: &Object, errors: &mut Errors) -> bool {
    let found = errors.len();
    for field in ["containers", "initContainers"] {
        let (after, before) = (list(new, field), list(old, field));
        if after.len() != before.len() {
            let why = format!("{field} may not be added or removed on resize");
            errors.push(FieldError::forbidden(format!("spec.{field}"), why));
            continue;
        }
        for (at, (new, old)) in after.iter().zip(&before).enumerate() {
            if new["name"] != old["name"] {
                let why = format!("{field} may not be renamed or reordered on resize");
                errors.push(FieldError::forbidden(
                    format!("spec.{field}[{at}].name"),
                    why,
                ));
            }
        }
    }
    errors.len() == found
}

fn check_not_removed(field: &str, new: &Value, old: &Value, errors: &mut Errors) {
    let amounts = |container: &Value, list: &str| -> Map<String, Value> {
        let amounts = container["resources"][list].as_object();
        amounts.cloned().unwrap_or_default()
    };
    for list in ["requests", "limits"] {
        let left = amounts(new, list);
        if amounts(old, list)
            .keys()
            .any(|name| !left.contains_key(name))
        {
            let why = format!("resource {list} cannot be removed");
            errors.push(FieldError::forbidden(format!("{field}.{list}"), why));
        }
    }
}

/// The container without what a resize may change.
fn without_sizes(container: &Value) -> Value {
    let mut bare = container.clone();
    if let Some(Value::Object(resources)) = bare.get_mut("resources") {
        for list in ["requests", "limits"] {
            if let Some(Value::Object(amounts)) = resources.get_mut(list) {
                amounts.retain(|name, _| name != "cpu" && name != "memory");
            }
        }
        resources.retain(|_, amounts| amounts.as_object().is_none_or(|all| !all.is_empty()));
    }
    if let Some(fields) = bare.as_object_mut() {
        fields.remove("resizePolicy");
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(spec: Value) -> Object {
        json!({"metadata": {"name": "p"}, "spec": spec})
            .as_object()
            .cloned()
            .unwrap()
    }

    #[test]
    fn only_ephemeral_containers_change_through_their_part() {
        let old = pod(json!({"containers": [{"name": "c", "image": "a"}]}));
        let mut new = pod(json!({
            "containers": [{"name": "c", "image": "b"}],
            "ephemeralContainers": [{"name": "d"}],
        }));
        new.meta_mut()
            .insert("labels".to_owned(), json!({"x": "y"}));
        prepare_ephemeral(&mut new, &old);
        assert_eq!(new["spec"]["containers"][0]["image"], "a");
        assert_eq!(new["spec"]["ephemeralContainers"][0]["name"], "d");
        assert!(new.meta()["labels"].is_null());
    }

    #[test]
    fn a_resize_changes_amounts_and_nothing_else() {
        let container = |image: &str, cpu: &str| json!({"name": "c", "image": image, "resources": {"requests": {"cpu": cpu}}});
        let old = pod(json!({"containers": [container("a", "1")]}));
        let mut new = pod(json!({"containers": [container("b", "2")]}));
        prepare_resize(&mut new, &old);
        assert_eq!(new["spec"]["containers"][0], container("a", "2"));
        let mut errors = Errors::new();
        check_resize(&new, &old, &mut errors);
        assert_eq!(errors, []);
    }
}
