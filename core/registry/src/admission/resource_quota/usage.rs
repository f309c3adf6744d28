//! What an object uses of what quotas count.
//!
//! Upstream: `pkg/quota/v1/evaluator/core`, `apiserver/pkg/quota/v1/generic`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use flyball_api::{Quantity, Timestamp};
use flyball_schema::Resource;
use serde_json::Value;

use super::super::amounts::{Amounts, Asked, amount, containers, is_pod_level};
use super::super::claim_resize::class_of;
use super::super::{Operation, Review};
use crate::failure::qualified;
use crate::object::{Meta, Object, at};

const POD: [&str; 11] = [
    "count/pods",
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
];
const SERVICE: [&str; 4] = [
    "count/services",
    "services",
    "services.nodeports",
    "services.loadbalancers",
];
const CLAIM: [&str; 2] = ["persistentvolumeclaims", "requests.storage"];

/// What every container has to say if a quota counts it.
const MUST_SAY: [&str; 6] = [
    "cpu",
    "memory",
    "requests.cpu",
    "requests.memory",
    "limits.cpu",
    "limits.memory",
];

/// Kinds that could be counted under a name of their own before all could.
const OLD_NAMES: [&str; 4] = [
    "configmaps",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
];

/// Between the name of a storage class and what is counted of it.
const OF_CLASS: &str = ".storageclass.storage.k8s.io/";

/// How the objects of a resource are counted.
pub(super) enum Counted {
    Pods,
    Services,
    Claims,
    /// One by one, under these names.
    Objects(Vec<String>),
}

impl Counted {
    /// How a resource is counted, unless quotas ignore it.
    pub(super) fn of(resource: &Resource) -> Option<Self> {
        let name = qualified(resource);
        match name.as_str() {
            "bindings" | "componentstatuses" | "events" | "events.events.k8s.io" => return None,
            _ => {}
        }
        // Reviews are answered, not stored.
        if !resource.verbs.iter().any(|verb| verb == "get") {
            return None;
        }
        Some(match name.as_str() {
            "pods" => Counted::Pods,
            "services" => Counted::Services,
            "persistentvolumeclaims" => Counted::Claims,
            _ => {
                let mut names = vec![format!("count/{name}")];
                names.extend(OLD_NAMES.contains(&name.as_str()).then_some(name));
                Counted::Objects(names)
            }
        })
    }

    /// Whether a write can change what is used.
    pub(super) fn handles(&self, review: &Review<'_>, object: &Object) -> bool {
        let is_create = review.operation == Operation::Create;
        match (self, review.subresource) {
            (Counted::Pods, "") => {
                let ends = |pod: &Object| has_deadline(pod);
                is_create || review.old.is_some_and(|old| ends(old) != ends(object))
            }
            (Counted::Pods, "resize") | (Counted::Claims, "status") => !is_create,
            (Counted::Services | Counted::Claims, "") => true,
            (Counted::Objects(_), "") => is_create,
            _ => false,
        }
    }

    /// Whether objects can use something that is counted under this name.
    pub(super) fn has(&self, name: &str) -> bool {
        match self {
            Counted::Pods => {
                POD.contains(&name)
                    || name.starts_with("hugepages-")
                    || name.starts_with("requests.hugepages-")
                    || is_extended_request(name)
            }
            Counted::Services => SERVICE.contains(&name),
            Counted::Claims => {
                let of_class = name.split_once(OF_CLASS).map(|(_, what)| what);
                name == "count/persistentvolumeclaims" || CLAIM.contains(&of_class.unwrap_or(name))
            }
            Counted::Objects(names) => names.iter().any(|own| own == name),
        }
    }

    /// What the containers of a pod do not say although it is to be counted, with their names.
    pub(super) fn unsaid(&self, counted: &[&str], object: &Object) -> Option<String> {
        let whole = at(object, "spec.resources");
        let mut all = ["requests", "limits"].into_iter();
        let is_whole = all.any(|part| {
            let fields = whole[part].as_object().into_iter().flatten();
            fields.into_iter().any(|(name, _)| is_pod_level(name))
        });
        if !matches!(self, Counted::Pods) || is_whole {
            return None;
        }
        let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let all = containers(object, "containers").chain(containers(object, "initContainers"));
        for container in all {
            let requests = Asked::Requests.of_container(container);
            let said = compute(&requests, &Asked::Limits.of_container(container));
            let name = container["name"].as_str().unwrap_or_default();
            let wanted = counted.iter().filter(|name| MUST_SAY.contains(name));
            for unsaid in wanted.filter(|name| said.get(name).is_none()) {
                missing.entry(unsaid).or_default().insert(name);
            }
        }
        let told = missing.into_iter().map(|(resource, names)| {
            let names: Vec<&str> = names.into_iter().collect();
            format!("{resource} for: {}", names.join(","))
        });
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// What an object uses.
    pub(super) fn usage(&self, object: &Object, now: Timestamp) -> Amounts {
        let mut usage = Amounts::default();
        let mut count = |name: &str, number: usize| {
            let number = i64::try_from(number).unwrap_or(i64::MAX);
            usage.set(name, Quantity::from_integer(number));
        };
        match self {
            Counted::Objects(names) => names.iter().for_each(|name| count(name, 1)),
            Counted::Services => {
                let (ports, balancers) = service_usage(object);
                count("count/services", 1);
                count("services", 1);
                count("services.nodeports", ports);
                count("services.loadbalancers", balancers);
            }
            Counted::Pods => {
                count("count/pods", 1);
                if !is_over(object, now) {
                    let requests = Asked::Requests.of_pod_with_overhead(object);
                    usage.add(&compute(
                        &requests,
                        &Asked::Limits.of_pod_with_overhead(object),
                    ));
                }
            }
            Counted::Claims => {
                count("count/persistentvolumeclaims", 1);
                let class = class_of(object);
                let storage = storage(object);
                let mut both = |what: &str, amount: Quantity| {
                    usage.set(what, amount);
                    if !class.is_empty() {
                        usage.set(format!("{class}{OF_CLASS}{what}"), amount);
                    }
                };
                both("persistentvolumeclaims", Quantity::from_integer(1));
                if let Some(storage) = storage {
                    both("requests.storage", storage);
                }
            }
        }
        usage
    }
}

/// What a pod or a container uses of what can be computed with.
fn compute(requests: &Amounts, limits: &Amounts) -> Amounts {
    let mut usage = Amounts::default();
    usage.set("pods", Quantity::from_integer(1));
    for name in ["cpu", "memory", "ephemeral-storage"] {
        if let Some(request) = requests.get(name) {
            usage.set(name, *request);
            usage.set(format!("requests.{name}"), *request);
        }
        if let Some(limit) = limits.get(name) {
            usage.set(format!("limits.{name}"), *limit);
        }
    }
    for (name, request) in requests.iter() {
        if name.starts_with("hugepages-") {
            usage.set(name, *request);
            usage.set(format!("requests.{name}"), *request);
        }
        let name = format!("requests.{name}");
        if is_extended_request(&name) {
            usage.set(name, *request);
        }
    }
    usage
}

/// Whether a name is that of requests of something that is not one of Kubernetes' own resources.
fn is_extended_request(name: &str) -> bool {
    let is_native = !name.contains('/') || name.contains("kubernetes.io/");
    let of_device = name.starts_with("requests.deviceclass.resource.kubernetes.io/");
    name.starts_with("requests.") && (!is_native || of_device)
}

/// Whether a pod ends by itself at some time.
pub(super) fn has_deadline(pod: &Object) -> bool {
    at(pod, "spec.activeDeadlineSeconds")
        .as_i64()
        .is_some_and(|seconds| seconds >= 0)
}

/// Whether a pod uses nothing any more: it has ended, or should have long ago.
fn is_over(pod: &Object, now: Timestamp) -> bool {
    let phase = at(pod, "status.phase").as_str().unwrap_or_default();
    let meta = pod.meta();
    let deadline: Option<Timestamp> = meta["deletionTimestamp"]
        .as_str()
        .and_then(|at| at.parse().ok());
    let grace = meta["deletionGracePeriodSeconds"].as_i64();
    let is_late = deadline.zip(grace).is_some_and(|(deadline, grace)| {
        now > deadline.saturating_add(Duration::from_secs(grace.max(0).unsigned_abs()))
    });
    matches!(phase, "Failed" | "Succeeded") || is_late
}

/// How many node ports and load balancers a service wants.
fn service_usage(service: &Object) -> (usize, usize) {
    let spec = at(service, "spec");
    let ports = || spec["ports"].as_array().into_iter().flatten();
    match spec["type"].as_str().unwrap_or_default() {
        "NodePort" => (ports().count(), 0),
        "LoadBalancer" if spec["allocateLoadBalancerNodePorts"] == Value::Bool(false) => {
            let wanted = ports().filter(|port| port["nodePort"].as_i64().unwrap_or_default() != 0);
            (wanted.count(), 1)
        }
        "LoadBalancer" => (ports().count(), 1),
        _ => (0, 0),
    }
}

/// How much storage a claim has or wants, in whole bytes.
fn storage(claim: &Object) -> Option<Quantity> {
    let wanted = amount(&at(claim, "spec.resources.requests")["storage"])?;
    let allocated = amount(&at(claim, "status.allocatedResources")["storage"]);
    let most = allocated.filter(|one| *one > wanted).unwrap_or(wanted);
    let whole = Quantity::from_integer(most.value());
    Some(if whole == most { most } else { whole })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Object {
        match value {
            Value::Object(object) => object,
            other => panic!("{other} is not an object"),
        }
    }

    fn told(counted: &Counted, value: Value) -> String {
        counted.usage(&object(value), Timestamp::UNIX_EPOCH).told()
    }

    #[test]
    fn pods_use_what_they_ask_for_until_they_end() {
        let spec = json!({"containers": [{"resources": {
            "requests": {"cpu": "1", "example.com/gpu": "2"}, "limits": {"memory": "1Gi"},
        }}]});
        assert_eq!(
            told(&Counted::Pods, json!({"spec": spec})),
            "count/pods=1,cpu=1,limits.memory=1Gi,pods=1,requests.cpu=1,requests.example.com/gpu=2"
        );
        let ended = json!({"spec": spec, "status": {"phase": "Failed"}});
        assert_eq!(told(&Counted::Pods, ended), "count/pods=1");
    }

    #[test]
    fn services_use_the_ports_that_they_want_on_nodes() {
        for (spec, expected) in [
            (json!({"ports": [{}]}), (0, 0)),
            (json!({"type": "NodePort", "ports": [{}, {}]}), (2, 0)),
            (json!({"type": "LoadBalancer", "ports": [{}]}), (1, 1)),
            (
                json!({"type": "LoadBalancer", "allocateLoadBalancerNodePorts": false, "ports": [{}, {"nodePort": 30000}]}),
                (1, 1),
            ),
        ] {
            assert_eq!(service_usage(&object(json!({"spec": spec}))), expected);
        }
    }

    #[test]
    fn claims_are_counted_altogether_and_for_their_class() {
        let claim = json!({"spec": {
            "storageClassName": "gold", "resources": {"requests": {"storage": "1500m"}},
        }});
        assert_eq!(
            told(&Counted::Claims, claim),
            "count/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,\
             gold.storageclass.storage.k8s.io/requests.storage=2,persistentvolumeclaims=1,requests.storage=2"
        );
        assert!(Counted::Claims.has("gold.storageclass.storage.k8s.io/requests.storage"));
        assert!(!Counted::Claims.has("gold.storageclass.storage.k8s.io/pods"));
    }

    #[test]
    fn every_container_has_to_say_what_is_counted() {
        let pod = object(json!({"spec": {
            "containers": [{"name": "b"}, {"name": "a", "resources": {"requests": {"cpu": "1"}}}],
            "initContainers": [{"name": "c"}],
        }}));
        assert_eq!(
            Counted::Pods
                .unsaid(&["cpu", "limits.cpu", "pods"], &pod)
                .unwrap(),
            "cpu for: b,c; limits.cpu for: a,b,c"
        );
    }
}
