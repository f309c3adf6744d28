//! What a pod asks for: requests that follow from limits, and the class of service.
//!
//! Upstream: `pkg/apis/core/v1/defaults.go`, `pkg/apis/core/helper/qos/qos.go`,
//! `component-helpers/resource/helpers.go`.

use std::collections::BTreeMap;

use flyball_api::Quantity;
use serde_json::{Map, Value};

use crate::kinds::checks::quantity;
use crate::kinds::fill::{each, map_in};
use crate::object::Object;

/// The resources that decide the class of service.
const COMPUTE: [&str; 2] = ["cpu", "memory"];

/// Amounts finer than a thousandth are rounded up to one.
pub(super) fn round(resources: &mut Object) {
    for part in ["limits", "requests"] {
        round_list(resources, part);
    }
}

/// Rounds the amounts in a field.
pub(in crate::kinds) fn round_list(object: &mut Object, field: &str) {
    each(object, field, &mut |list| {
        for amount in list.values_mut() {
            // Only decimal texts with a unit below milli, or a fraction, can be finer.
            let text = amount.as_str().unwrap_or_default();
            if text.ends_with(['n', 'u'])
                && let Some(exact) = quantity(amount)
            {
                *amount = written(i128::from(exact.milli_value()), false);
            }
        }
    });
}

/// Whoever limits a resource without asking for it asks for the limit.
pub(super) fn requests_from_limits(spec: &mut Object) {
    for containers in ["containers[].resources", "initContainers[].resources"] {
        each(spec, containers, &mut |resources| {
            let Some(Value::Object(limits)) = resources.get("limits").cloned() else {
                return;
            };
            let Some(requests) = map_in(resources, "requests") else {
                return;
            };
            for (name, amount) in limits {
                requests.entry(name).or_insert(amount);
            }
            if requests.is_empty() {
                resources.remove("requests");
            }
        });
    }
}

/// What a pod that speaks of resources as a whole asks for: what its containers ask for together, or
/// else its limits.
pub(super) fn pod_level(spec: &mut Object) {
    let Some(Value::Object(own)) = spec.get("resources").cloned() else {
        return;
    };
    let part = |field: &str| {
        own.get(field)
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default()
    };
    let (mut limits, mut requests) = (part("limits"), part("requests"));
    if limits.is_empty() && requests.is_empty() {
        return;
    }
    for (name, total) in together(spec, "limits") {
        if name.starts_with("hugepages-") && !requests.contains_key(&name) {
            limits.entry(name).or_insert(total);
        }
    }
    if !limits.is_empty() {
        for (name, total) in together(spec, "requests") {
            // Huge pages cannot be promised twice, so they follow the limit alone.
            if COMPUTE.contains(&name.as_str()) {
                requests.entry(name).or_insert(total);
            }
        }
        for (name, limit) in &limits {
            if COMPUTE.contains(&name.as_str()) || name.starts_with("hugepages-") {
                requests
                    .entry(name.clone())
                    .or_insert_with(|| limit.clone());
            }
        }
    }
    if let Some(resources) = map_in(spec, "resources") {
        for (field, list) in [("limits", limits), ("requests", requests)] {
            if !list.is_empty() {
                resources.insert(field.to_owned(), Value::Object(list));
            }
        }
    }
}

/// A sum of amounts, and whether all of them were written in the binary way.
#[derive(Clone, Copy)]
struct Sum {
    milli: i128,
    binary: bool,
}

type Sums = BTreeMap<String, Sum>;

/// What the containers of a pod need at most at one time: containers and sidecars run together, each
/// other init container beside the sidecars started before it.
fn together(spec: &Object, part: &str) -> Vec<(String, Value)> {
    let mut total = Sums::new();
    for container in containers(spec, "containers") {
        add(&mut total, &container["resources"][part]);
    }
    let (mut sidecars, mut peak) = (Sums::new(), Sums::new());
    for container in containers(spec, "initContainers") {
        let list = &container["resources"][part];
        if container["restartPolicy"] == "Always" {
            add(&mut total, list);
            add(&mut sidecars, list);
            raise(&mut peak, &sidecars);
        } else {
            let mut now = sidecars.clone();
            add(&mut now, list);
            raise(&mut peak, &now);
        }
    }
    raise(&mut total, &peak);
    let written = |(name, sum): (String, Sum)| (name, written(sum.milli, sum.binary));
    total.into_iter().map(written).collect()
}

fn containers<'a>(spec: &'a Object, field: &str) -> impl Iterator<Item = &'a Value> {
    spec.get(field)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn add(sums: &mut Sums, list: &Value) {
    for (name, amount) in list.as_object().into_iter().flatten() {
        let milli = quantity(amount).map_or(0, |amount| i128::from(amount.milli_value()));
        let binary = amount.as_str().is_some_and(|text| text.ends_with('i'));
        let sum = sums.entry(name.clone()).or_insert(Sum { milli: 0, binary });
        sum.milli += milli;
        sum.binary &= binary;
    }
}

fn raise(sums: &mut Sums, least: &Sums) {
    for (name, least) in least {
        let sum = sums.entry(name.clone()).or_insert(*least);
        if sum.milli < least.milli {
            *sum = *least;
        }
    }
}

/// An amount in its canonical form.
fn written(milli: i128, binary: bool) -> Value {
    let text = match binary && milli % 1_024_000 == 0 {
        true => format!("{}Ki", milli / 1_024_000),
        false => format!("{milli}m"),
    };
    match text.parse::<Quantity>() {
        Ok(amount) => amount.to_string().into(),
        Err(_) => text.into(),
    }
}

/// The class of service of a pod.
pub(super) fn qos_class(spec: &Object) -> &'static str {
    let (mut requests, mut limits) = (Sums::new(), Sums::new());
    let mut guaranteed = true;
    let mut count = |resources: &Value, all_limited: bool| {
        add(&mut requests, &compute(&resources["requests"]));
        let limited = compute(&resources["limits"]);
        if all_limited && limited.as_object().map_or(0, Map::len) < COMPUTE.len() {
            guaranteed = false;
        }
        add(&mut limits, &limited);
    };
    match spec.get("resources") {
        Some(own) if own.is_object() => {
            let has_limits = own["limits"]
                .as_object()
                .is_some_and(|limits| !limits.is_empty());
            count(own, has_limits);
        }
        _ => {
            for container in
                containers(spec, "containers").chain(containers(spec, "initContainers"))
            {
                count(&container["resources"], true);
            }
        }
    }
    if requests.is_empty() && limits.is_empty() {
        return "BestEffort";
    }
    let equal = requests.len() == limits.len()
        && requests.iter().all(|(name, asked)| {
            limits
                .get(name)
                .is_some_and(|limit| limit.milli == asked.milli)
        });
    match guaranteed && equal {
        true => "Guaranteed",
        false => "Burstable",
    }
}

/// The amounts above zero of the resources that count.
fn compute(list: &Value) -> Value {
    let pairs = list.as_object().into_iter().flatten();
    let counted = pairs.filter(|(name, amount)| {
        COMPUTE.contains(&name.as_str())
            && quantity(amount).is_some_and(|amount| amount > Quantity::ZERO)
    });
    Value::Object(
        counted
            .map(|(name, amount)| (name.clone(), amount.clone()))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_class_of_service_follows_from_requests_and_limits() {
        let both = json!({"cpu": "1", "memory": "1Gi"});
        for (resources, class) in [
            (json!({}), "BestEffort"),
            (json!({"requests": {"cpu": "0"}}), "BestEffort"),
            (json!({"requests": {"example.com/gpu": "1"}}), "BestEffort"),
            (json!({"requests": both}), "Burstable"),
            (json!({"limits": both, "requests": both}), "Guaranteed"),
            (
                json!({"limits": both, "requests": {"cpu": "1000m", "memory": "1024Mi"}}),
                "Guaranteed",
            ),
            (
                json!({"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}),
                "Burstable",
            ),
            (
                json!({"limits": both, "requests": {"cpu": "500m", "memory": "1Gi"}}),
                "Burstable",
            ),
        ] {
            let spec = json!({"containers": [{"resources": resources}]});
            assert_eq!(qos_class(spec.as_object().unwrap()), class, "{resources}");
        }
    }

    #[test]
    fn init_containers_run_one_by_one_but_sidecars_stay() {
        let with = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu}}});
        let mut sidecar = with("1");
        sidecar["restartPolicy"] = "Always".into();
        for (init, total) in [
            (vec![], "3"),
            (vec![with("2"), with("5")], "5"),
            (vec![sidecar.clone()], "4"),
            (vec![sidecar, with("4")], "5"),
        ] {
            let spec = json!({"containers": [with("1"), with("2")], "initContainers": init});
            let sums = together(spec.as_object().unwrap(), "requests");
            assert_eq!(sums, [("cpu".to_owned(), json!(total))], "{spec}");
        }
    }

    #[test]
    fn amounts_finer_than_a_thousandth_are_rounded_up() {
        let mut resources = json!({"limits": {"cpu": "1500u", "memory": "1Gi"}});
        round(resources.as_object_mut().unwrap());
        assert_eq!(resources, json!({"limits": {"cpu": "2m", "memory": "1Gi"}}));
    }
}
