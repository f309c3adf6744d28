//! Amounts of several resources by name, and what a pod asks for altogether.
//!
//! Upstream: `apiserver/pkg/quota/v1/resources.go`, `component-helpers/resource/helpers.go`,
//! `plugin/pkg/admission/limitranger/admission.go`.

use std::collections::BTreeMap;

use flyball_api::Quantity;
use serde_json::{Map, Value};

use crate::object::{Object, at};

/// Amounts by name, as objects keep them in maps.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Amounts(BTreeMap<String, Quantity>);

impl Amounts {
    /// Reads a map; what is not an amount is left out.
    pub(super) fn read(map: &Value) -> Self {
        let entries = map.as_object().into_iter().flatten();
        let amounts = entries.filter_map(|(name, value)| Some((name.clone(), amount(value)?)));
        Self(amounts.collect())
    }

    /// The map that an object keeps.
    pub(super) fn written(&self) -> Value {
        let entries = self.0.iter();
        let written = entries.map(|(name, amount)| (name.clone(), amount.to_string().into()));
        Value::Object(written.collect::<Map<String, Value>>())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Quantity> {
        self.0.get(name)
    }

    pub(super) fn set(&mut self, name: impl Into<String>, amount: Quantity) {
        self.0.insert(name.into(), amount);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Quantity)> {
        self.0.iter().map(|(name, amount)| (name.as_str(), amount))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds each of the other amounts to the one of its name.
    pub(super) fn add(&mut self, other: &Amounts) {
        for (name, amount) in other.iter() {
            let sum = self.get(name).map_or(*amount, |own| own.plus(amount));
            self.set(name, sum);
        }
    }

    /// Raises each amount to the other one of its name, if that is larger.
    pub(super) fn raise(&mut self, other: &Amounts) {
        for (name, amount) in other.iter() {
            if self.get(name).is_none_or(|own| amount > own) {
                self.set(name, *amount);
            }
        }
    }

    /// What is more here than there.
    pub(super) fn beyond(&self, other: &Amounts) -> Amounts {
        let more = self.iter().map(|(name, amount)| {
            let rest = other.get(name).map_or(*amount, |taken| amount.minus(taken));
            (name.to_owned(), rest)
        });
        Self(more.filter(|(_, rest)| *rest > Quantity::ZERO).collect())
    }

    /// The amounts whose names are chosen.
    pub(super) fn only(&self, chosen: impl Fn(&str) -> bool) -> Amounts {
        let kept = self.iter().filter(|(name, _)| chosen(name));
        Self(
            kept.map(|(name, amount)| (name.to_owned(), *amount))
                .collect(),
        )
    }

    /// The amounts as a line of text.
    pub(super) fn told(&self) -> String {
        let parts: Vec<String> = self
            .iter()
            .map(|(name, one)| format!("{name}={one}"))
            .collect();
        parts.join(",")
    }
}

/// An amount in a field: a text, or a plain number.
pub(super) fn amount(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(_) | Value::Number(_) => serde_json::from_value(value.clone()).ok(),
        _ => None,
    }
}

/// What is asked for of a resource.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Requests,
    Limits,
}

impl Asked {
    fn field(self) -> &'static str {
        match self {
            Asked::Requests => "requests",
            Asked::Limits => "limits",
        }
    }

    /// What a container asks for.
    pub(super) fn of_container(self, container: &Value) -> Amounts {
        Amounts::read(&container["resources"][self.field()])
    }

    /// What a pod's containers ask for together, or the pod for all of them: init containers run one
    /// by one before the others, but those that are always restarted stay.
    pub(super) fn of_pod(self, pod: &Object) -> Amounts {
        let mut sum = Amounts::default();
        for container in containers(pod, "containers") {
            sum.add(&self.in_effect(pod, "containerStatuses", container));
        }
        let (mut staying, mut highest) = (Amounts::default(), Amounts::default());
        for container in containers(pod, "initContainers") {
            if container["restartPolicy"] == "Always" {
                let own = self.in_effect(pod, "initContainerStatuses", container);
                sum.add(&own);
                staying.add(&own);
                highest.raise(&staying);
            } else {
                let mut during = self.of_container(container);
                during.add(&staying);
                highest.raise(&during);
            }
        }
        sum.raise(&highest);
        let whole = Amounts::read(&at(pod, "spec.resources")[self.field()]);
        for (name, amount) in whole.iter().filter(|(name, _)| is_pod_level(name)) {
            sum.set(name, *amount);
        }
        sum
    }

    /// The same with what running a pod costs beside its containers.
    pub(super) fn of_pod_with_overhead(self, pod: &Object) -> Amounts {
        let mut sum = self.of_pod(pod);
        let overhead = Amounts::read(at(pod, "spec.overhead"));
        let limited = |name: &str| sum.get(name).is_some_and(|limit| !limit.is_zero());
        let counted = match self {
            Asked::Requests => overhead,
            Asked::Limits => overhead.only(limited),
        };
        sum.add(&counted);
        sum
    }

    /// What a container has while what it asks for is being changed: the most of what it asks for,
    /// what it was promised and what it runs with.
    fn in_effect(self, pod: &Object, statuses: &str, container: &Value) -> Amounts {
        let wanted = self.of_container(container);
        let all = at(pod, "status")[statuses].as_array().into_iter().flatten();
        let mut own = all.filter(|status| status["name"] == container["name"]);
        let Some(status) = own.next_back().filter(|one| one["resources"].is_object()) else {
            return wanted;
        };
        let mut most = match is_infeasible(pod) {
            true => Amounts::default(),
            false => wanted,
        };
        most.raise(&Amounts::read(&status["resources"][self.field()]));
        if self == Asked::Requests {
            most.raise(&Amounts::read(&status["allocatedResources"]));
        }
        most
    }
}

/// Whether the pod was told that it cannot have what it asks for.
fn is_infeasible(pod: &Object) -> bool {
    let conditions = at(pod, "status.conditions").as_array();
    let mut pending = conditions
        .into_iter()
        .flatten()
        .filter(|condition| condition["type"] == "PodResizePending");
    pending
        .next()
        .is_some_and(|one| one["reason"] == "Infeasible")
}

/// Whether a pod can ask for this as a whole.
pub(super) fn is_pod_level(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

/// The containers of a pod in a field of its spec.
pub(super) fn containers<'a>(pod: &'a Object, field: &str) -> impl Iterator<Item = &'a Value> {
    let list = at(pod, "spec").get(field).and_then(Value::as_array);
    list.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(spec: Value) -> Object {
        Object::from_iter([("spec".to_owned(), spec)])
    }

    #[test]
    fn a_pod_asks_for_what_its_containers_need_at_their_worst_moment() {
        let asks = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu}}});
        let sidecar = json!({"restartPolicy": "Always", "resources": {"requests": {"cpu": "2"}}});
        for (spec, expected) in [
            (
                json!({"containers": [asks("1"), asks("500m")]}),
                "cpu=1500m",
            ),
            (
                json!({"containers": [asks("1")], "initContainers": [asks("3")]}),
                "cpu=3",
            ),
            (
                json!({"containers": [asks("1")], "initContainers": [sidecar, asks("3")]}),
                "cpu=5",
            ),
            (
                json!({"containers": [asks("1")], "resources": {"requests": {"cpu": "9", "x/y": "1"}}}),
                "cpu=9",
            ),
            (
                json!({"containers": [asks("1")], "overhead": {"cpu": "1", "memory": "1Mi"}}),
                "cpu=2,memory=1Mi",
            ),
        ] {
            let asked = Asked::Requests.of_pod_with_overhead(&pod(spec.clone()));
            assert_eq!(asked.told(), expected, "{spec}");
        }
    }

    #[test]
    fn overhead_counts_for_limits_only_where_there_is_one() {
        let spec = json!({
            "containers": [{"resources": {"limits": {"cpu": "1"}}}],
            "overhead": {"cpu": "1", "memory": "1Mi"},
        });
        assert_eq!(
            Asked::Limits.of_pod_with_overhead(&pod(spec)).told(),
            "cpu=2"
        );
    }

    #[test]
    fn a_change_under_way_counts_with_the_larger_of_both() {
        let mut pod = pod(json!({"containers": [
            {"name": "c", "resources": {"requests": {"cpu": "1"}}},
        ]}));
        pod.insert("status".to_owned(), json!({"containerStatuses": [
            {"name": "c", "resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "2"}},
        ]}));
        assert_eq!(Asked::Requests.of_pod(&pod).told(), "cpu=3");
    }
}
