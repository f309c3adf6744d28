//! LimitRanger: containers get what their namespace gives by default, and nobody asks for more or
//! less than it allows.
//!
//! Upstream: `plugin/pkg/admission/limitranger`.

use flyball_api::Quantity;
use serde_json::Value;

use super::amounts::{Amounts, Asked, containers};
use super::{Effects, Operation, Plugin, Review, field_mut};
use crate::failure::Failure;
use crate::object::{Meta, Object, at};

const RANGES: (&str, &str) = ("", "limitranges");
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// The largest amount whose thousandths can be counted.
const MILLI_MAX: i64 = i64::MAX / 1000;

/// Gives defaults to the containers of new pods; refuses pods and claims out of range.
pub(super) struct LimitRanger;

impl Plugin for LimitRanger {
    fn mutate(
        &self,
        review: &Review<'_>,
        object: &mut Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        if applies(review) && review.is_of("", "pods") {
            for range in review.list(RANGES, review.namespace) {
                give_defaults(&range, object);
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
        for range in review.list(RANGES, review.namespace) {
            let mut wrong: Vec<String> = limits(&range)
                .flat_map(|limit| match review.resource.plural.as_str() {
                    "pods" => mistakes_of_pod(limit, object),
                    _ => mistakes_of_claim(limit, object),
                })
                .collect();
            let mut told = Vec::new();
            wrong.retain(|one| {
                !told.contains(one) && {
                    told.push(one.clone());
                    true
                }
            });
            match wrong.as_slice() {
                [] => {}
                [one] => return Err(review.forbidden(Some(object), one)),
                many => {
                    let all = format!("[{}]", many.join(", "));
                    return Err(review.forbidden(Some(object), all));
                }
            }
        }
        Ok(())
    }
}

/// Pods when they are made, or when their resources are changed in place; claims always.
fn applies(review: &Review<'_>) -> bool {
    let is_deleting = review.old.is_some_and(Meta::is_deleting);
    let is_create = review.operation == Operation::Create;
    let concerns = match review.subresource {
        "" => review.is_of("", "persistentvolumeclaims") || (review.is_of("", "pods") && is_create),
        "resize" => review.is_of("", "pods") && !is_create,
        _ => false,
    };
    concerns && !is_deleting
}

/// The limits of a range.
fn limits(range: &Object) -> impl Iterator<Item = &Value> {
    at(range, "spec.limits").as_array().into_iter().flatten()
}

/// Gives every container what it did not ask for itself, and says so in an annotation.
fn give_defaults(range: &Object, pod: &mut Object) {
    let (mut requests, mut limited) = (Amounts::default(), Amounts::default());
    for limit in limits(range).filter(|limit| limit["type"] == "Container") {
        for (all, field) in [(&mut requests, "defaultRequest"), (&mut limited, "default")] {
            for (name, amount) in Amounts::read(&limit[field]).iter() {
                all.set(name, *amount);
            }
        }
    }
    let mut given = Vec::new();
    for (field, word) in [
        ("containers", "container"),
        ("initContainers", "init container"),
    ] {
        let list = field_mut(pod, "spec")
            .get_mut(field)
            .and_then(Value::as_array_mut);
        for container in list.into_iter().flatten().filter_map(Value::as_object_mut) {
            let name = container
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let name = format!("{word} {name}");
            let asked = [
                (fill(container, "limits", &limited), "limit"),
                (fill(container, "requests", &requests), "request"),
            ];
            let asked = asked
                .into_iter()
                .rev()
                .filter(|(names, _)| !names.is_empty());
            given.extend(
                asked.map(|(names, what)| format!("{} {what} for {name}", names.join(", "))),
            );
        }
    }
    if !given.is_empty() {
        let told = format!("LimitRanger plugin set: {}", given.join("; "));
        field_mut(pod.meta_mut(), "annotations").insert(ANNOTATION.to_owned(), told.into());
    }
}

/// Adds the amounts that a container did not ask for, and names them.
fn fill(container: &mut Object, field: &str, defaults: &Amounts) -> Vec<String> {
    let resources = field_mut(container, "resources");
    let has = |name: &str| {
        resources
            .get(field)
            .is_some_and(|asked| !asked[name].is_null())
    };
    let missing = defaults.only(|name| !has(name));
    if missing.is_empty() {
        return Vec::new();
    }
    let asked = field_mut(resources, field);
    for (name, amount) in missing.iter() {
        asked.insert(name.to_owned(), amount.to_string().into());
    }
    missing.names().map(str::to_owned).collect()
}

fn mistakes_of_pod(limit: &Value, pod: &Object) -> Vec<String> {
    let each = |asked: Asked| move |container: &Value| asked.of_container(container);
    match limit["type"].as_str().unwrap_or_default() {
        "Container" => containers(pod, "containers")
            .chain(containers(pod, "initContainers"))
            .flat_map(|container| {
                let requests = each(Asked::Requests)(container);
                mistakes(limit, &requests, &each(Asked::Limits)(container))
            })
            .collect(),
        "Pod" => mistakes(
            limit,
            &Asked::Requests.of_pod(pod),
            &Asked::Limits.of_pod(pod),
        ),
        _ => Vec::new(),
    }
}

fn mistakes(limit: &Value, requests: &Amounts, limits: &Amounts) -> Vec<String> {
    let kind = limit["type"].as_str().unwrap_or_default();
    let mut wrong = Vec::new();
    for (name, bound) in Amounts::read(&limit["min"]).iter() {
        wrong.extend(below(
            kind,
            name,
            bound,
            requests.get(name),
            limits.get(name),
        ));
    }
    for (name, bound) in Amounts::read(&limit["max"]).iter() {
        wrong.extend(above(
            kind,
            name,
            bound,
            requests.get(name),
            limits.get(name),
        ));
    }
    for (name, bound) in Amounts::read(&limit["maxLimitRequestRatio"]).iter() {
        wrong.extend(ratio(
            kind,
            name,
            bound,
            requests.get(name),
            limits.get(name),
        ));
    }
    wrong
}

fn mistakes_of_claim(limit: &Value, claim: &Object) -> Vec<String> {
    if limit["type"] != "PersistentVolumeClaim" {
        return Vec::new();
    }
    let requests = Amounts::read(at(claim, "spec.resources.requests"));
    let mut wrong = Vec::new();
    for (name, bound) in Amounts::read(&limit["min"]).iter() {
        let kind = "PersistentVolumeClaim";
        wrong.extend(below(kind, name, bound, requests.get(name), None));
    }
    for (name, bound) in Amounts::read(&limit["max"]).iter() {
        let told = format!("maximum {name} usage per PersistentVolumeClaim is {bound}");
        match requests.get(name) {
            None => wrong.push(format!("{told}.  No request is specified")),
            Some(asked) if exceeds(asked, bound) => {
                wrong.push(format!("{told}, but request is {asked}"));
            }
            Some(_) => {}
        }
    }
    wrong
}

fn below(
    kind: &str,
    name: &str,
    bound: &Quantity,
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
) -> Option<String> {
    let told = format!("minimum {name} usage per {kind} is {bound}");
    match (request, limit) {
        (None, _) => Some(format!("{told}.  No request is specified")),
        (Some(asked), _) if exceeds(bound, asked) => {
            Some(format!("{told}, but request is {asked}"))
        }
        (_, Some(limit)) if exceeds(bound, limit) => Some(format!("{told}, but limit is {limit}")),
        _ => None,
    }
}

fn above(
    kind: &str,
    name: &str,
    bound: &Quantity,
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
) -> Option<String> {
    let told = format!("maximum {name} usage per {kind} is {bound}");
    match (limit, request) {
        (None, _) => Some(format!("{told}.  No limit is specified")),
        (Some(limit), _) if exceeds(limit, bound) => Some(format!("{told}, but limit is {limit}")),
        (_, Some(asked)) if exceeds(asked, bound) => {
            Some(format!("{told}, but request is {asked}"))
        }
        _ => None,
    }
}

fn ratio(
    kind: &str,
    name: &str,
    bound: &Quantity,
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
) -> Option<String> {
    let told = format!("{name} max limit to request ratio per {kind} is {bound}");
    let given = |one: Option<&Quantity>| one.copied().filter(|one| !one.is_zero());
    let Some(request) = given(request) else {
        return Some(format!(
            "{told}, but no request is specified or request is 0"
        ));
    };
    let Some(limit) = given(limit) else {
        return Some(format!("{told}, but no limit is specified or limit is 0"));
    };
    let fine = [&request, &limit, bound]
        .iter()
        .all(|one| one.value() <= MILLI_MAX);
    let number = |one: &Quantity| match fine {
        true => one.milli_value() as f64,
        false => one.value() as f64,
    };
    let ratio = number(&limit) / number(&request);
    let over = match bound.value() <= MILLI_MAX {
        true => ratio * 1000.0 > bound.milli_value() as f64,
        false => ratio > bound.value() as f64,
    };
    over.then(|| format!("{told}, but provided ratio is {ratio:.6}"))
}

/// Whether an amount is more than another, as finely as both can be counted.
fn exceeds(one: &Quantity, other: &Quantity) -> bool {
    match one.value().max(other.value()) <= MILLI_MAX {
        true => one.milli_value() > other.milli_value(),
        false => one.value() > other.value(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn containers_out_of_range_are_told_with_the_bound_and_what_they_ask_for() {
        let limit = json!({
            "type": "Container",
            "min": {"cpu": "100m"},
            "max": {"cpu": "1"},
            "maxLimitRequestRatio": {"cpu": "2"},
        });
        for (resources, expected) in [
            (
                json!({"requests": {"cpu": "500m"}, "limits": {"cpu": "1"}}),
                "",
            ),
            (
                json!({"requests": {"cpu": "50m"}, "limits": {"cpu": "60m"}}),
                "minimum cpu usage per Container is 100m, but request is 50m",
            ),
            (
                json!({"requests": {"cpu": "1500m"}, "limits": {"cpu": "2"}}),
                "maximum cpu usage per Container is 1, but limit is 2",
            ),
            (
                json!({"requests": {"cpu": "250m"}, "limits": {"cpu": "1"}}),
                "cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000",
            ),
        ] {
            let pod = json!({"spec": {"containers": [{"name": "c", "resources": resources}]}});
            let Value::Object(pod) = pod else {
                panic!("not an object")
            };
            assert_eq!(mistakes_of_pod(&limit, &pod).join("\n"), expected);
        }
    }

    #[test]
    fn defaults_fill_what_is_missing_and_are_told() {
        let range = json!({"spec": {"limits": [{
            "type": "Container",
            "default": {"cpu": "1", "memory": "1Gi"},
            "defaultRequest": {"cpu": "500m"},
        }]}});
        let pod = json!({"metadata": {}, "spec": {
            "containers": [{"name": "a", "resources": {"limits": {"cpu": "2"}}}],
            "initContainers": [{"name": "b", "resources": {}}],
        }});
        let (Value::Object(range), Value::Object(mut pod)) = (range, pod) else {
            panic!("not objects")
        };
        give_defaults(&range, &mut pod);
        assert_eq!(
            pod.meta()["annotations"][ANNOTATION],
            "LimitRanger plugin set: cpu request for container a; memory limit for container a; cpu \
             request for init container b; cpu, memory limit for init container b"
        );
        assert_eq!(
            at(&pod, "spec.containers")[0]["resources"],
            json!({"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "500m"}})
        );
    }
}
