//! RuntimeClass: a pod pays what its runtime costs, and goes where that runtime is.
//!
//! Upstream: `plugin/pkg/admission/runtimeclass`, `pkg/util/tolerations`.

use std::sync::Arc;

use serde_json::Value;

use super::amounts::Amounts;
use super::{Effects, Operation, Plugin, Review, field_mut};
use crate::failure::Failure;
use crate::object::{Object, at};

/// Gives new pods the overhead and the nodes of their runtime.
pub(super) struct RuntimeClass;

impl Plugin for RuntimeClass {
    fn mutate(
        &self,
        review: &Review<'_>,
        object: &mut Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        if !applies(review) {
            return Ok(());
        }
        let Some(class) = class_of(review, object)? else {
            return Ok(());
        };
        let overhead = at(&class, "overhead");
        if overhead.is_object() {
            let (given, fixed) = (at(object, "spec.overhead"), &overhead["podFixed"]);
            if !is_empty(given) && Amounts::read(given) != Amounts::read(fixed) {
                let why =
                    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
                return Err(review.forbidden(Some(object), why));
            }
            let spec = field_mut(object, "spec");
            match is_empty(fixed) {
                true => drop(spec.remove("overhead")),
                false => drop(spec.insert("overhead".to_owned(), fixed.clone())),
            }
        }
        let scheduling = at(&class, "scheduling");
        if scheduling.is_object() {
            choose_nodes(review, object, &scheduling["nodeSelector"])?;
            let spec = field_mut(object, "spec");
            let list = |value: Option<&Value>| {
                let items = value.and_then(Value::as_array);
                items.cloned().unwrap_or_default()
            };
            let mut all = list(spec.get("tolerations"));
            all.extend(list(scheduling.get("tolerations")));
            if !all.is_empty() {
                spec.insert("tolerations".to_owned(), merged(&all).into());
            }
        }
        Ok(())
    }

    fn validate(
        &self,
        review: &Review<'_>,
        object: &Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        if !applies(review) {
            return Ok(());
        }
        let class = class_of(review, object)?.unwrap_or_default();
        let (overhead, given) = (at(&class, "overhead"), at(object, "spec.overhead"));
        let why = if overhead.is_object() {
            let same = Amounts::read(given) == Amounts::read(&overhead["podFixed"]);
            (!same).then_some("Pod's Overhead doesn't match RuntimeClass's defined Overhead")
        } else {
            let why = "Pod Overhead set without corresponding RuntimeClass defined Overhead";
            given.is_object().then_some(why)
        };
        match why {
            Some(why) => Err(review.forbidden(Some(object), format!("pod rejected: {why}"))),
            None => Ok(()),
        }
    }
}

fn applies(review: &Review<'_>) -> bool {
    review.is_about("", "pods") && review.operation == Operation::Create
}

fn is_empty(map: &Value) -> bool {
    map.as_object().is_none_or(serde_json::Map::is_empty)
}

/// The class that a pod names.
fn class_of(review: &Review<'_>, pod: &Object) -> Result<Option<Arc<Object>>, Failure> {
    let Some(name) = at(pod, "spec.runtimeClassName").as_str() else {
        return Ok(None);
    };
    match review.find(("node.k8s.io", "runtimeclasses"), "", name) {
        Some(class) => Ok(Some(class)),
        None => {
            let why = format!("pod rejected: RuntimeClass {name:?} not found");
            Err(review.forbidden(Some(pod), why))
        }
    }
}

/// Adds the nodes of a runtime to those that a pod wants.
fn choose_nodes(review: &Review<'_>, pod: &mut Object, nodes: &Value) -> Result<(), Failure> {
    for (key, value) in nodes.as_object().into_iter().flatten() {
        let own = &at(pod, "spec.nodeSelector")[key];
        if !own.is_null() && own != value {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let why = format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {}; pod.spec.nodeSelector[{key}] = {}",
                text(value),
                text(own),
            );
            return Err(review.forbidden(Some(pod), why));
        }
        let selector = field_mut(field_mut(pod, "spec"), "nodeSelector");
        selector.insert(key.clone(), value.clone());
    }
    Ok(())
}

/// Tolerations without those that another one covers.
fn merged(all: &[Value]) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for (index, one) in all.iter().enumerate() {
        let later = all.get(index + 1..).unwrap_or_default();
        let covered = kept.iter().any(|other| covers(other, one))
            || later.iter().any(|other| other != one && covers(other, one));
        if !covered {
            kept.push(one.clone());
        }
    }
    kept
}

/// Whether a toleration tolerates all that another one does.
fn covers(wide: &Value, narrow: &Value) -> bool {
    if wide == narrow {
        return true;
    }
    let text = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
    let (key, operator, effect) = (
        text(wide, "key"),
        text(wide, "operator"),
        text(wide, "effect"),
    );
    if text(narrow, "key") != key && !(key.is_empty() && operator == "Exists") {
        return false;
    }
    if text(narrow, "effect") != effect && !effect.is_empty() {
        return false;
    }
    if effect == "NoExecute"
        && let Some(seconds) = wide["tolerationSeconds"].as_i64()
        && narrow["tolerationSeconds"]
            .as_i64()
            .is_none_or(|own| own > seconds)
    {
        return false;
    }
    match operator.as_str() {
        "Exists" => true,
        "Equal" | "" => {
            text(narrow, "operator") == "Equal" && text(narrow, "value") == text(wide, "value")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn of_tolerations_only_the_widest_are_kept() {
        let any = json!({"operator": "Exists"});
        let key = json!({"key": "a", "operator": "Exists", "effect": "NoSchedule"});
        let equal = json!({"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"});
        let other = json!({"key": "b", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5});
        let longer = json!({"key": "b", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9});
        for (all, expected) in [
            (vec![&key, &equal], vec![&key]),
            (vec![&equal, &key], vec![&key]),
            (vec![&key, &any], vec![&any]),
            (vec![&key, &key], vec![&key]),
            (vec![&other, &longer], vec![&longer]),
            (vec![&key, &other], vec![&key, &other]),
        ] {
            let all: Vec<Value> = all.into_iter().cloned().collect();
            let expected: Vec<Value> = expected.into_iter().cloned().collect();
            assert_eq!(merged(&all), expected, "{all:?}");
        }
    }
}
