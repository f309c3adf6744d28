//! Calm: what everything must come to, and within which time, once nothing goes wrong any more.
//!
//! Eventually stable reconciliation: when what is wanted stops changing, what is comes to match it
//! and stays so. The bounds are part of the promise of each controller.

use std::collections::BTreeSet;
use std::time::Duration;

use flyball_api::views::{Deployment, Pod, ReplicaSet};
use flyball_api::{Meta, OwnerReference, Text, Uid};
use flyball_plan::rules::pods::{is_active, is_ready};
use serde_json::Value;

use crate::parts::ROOT_CA;
use crate::truth::{Thing, Truth};

const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";
const WIDGETS: &str = "widgets.sim.example.com";

/// Something that is not yet as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unsettled {
    /// Whose work it is.
    pub(crate) controller: &'static str,
    /// What is wrong.
    pub(crate) what: String,
}

/// Per controller, how long it may take until its part is as it should be. Back-off may have grown
/// to a thousand seconds while faults raged (upstream's limit too); a roll-out then goes pod by
/// pod.
pub(crate) const BOUNDS: &[(&str, Duration)] = &[
    ("deployment-controller", Duration::from_secs(40 * 60)),
    ("replicaset-controller", Duration::from_secs(30 * 60)),
    (
        "replicationcontroller-controller",
        Duration::from_secs(30 * 60),
    ),
    ("serviceaccount-controller", Duration::from_secs(20 * 60)),
    (
        "root-ca-certificate-publisher-controller",
        Duration::from_secs(20 * 60),
    ),
    (
        "clusterrole-aggregation-controller",
        Duration::from_secs(20 * 60),
    ),
    (COLLECTOR, Duration::from_secs(40 * 60)),
    ("namespace-controller", Duration::from_secs(20 * 60)),
    (
        "ttl-after-finished-controller",
        Duration::from_secs(20 * 60),
    ),
    ("kube-scheduler", Duration::from_secs(20 * 60)),
    ("simulated-pod-controller", Duration::from_secs(20 * 60)),
];

const COLLECTOR: &str = "garbage-collector-controller";

/// How long nothing may be written then.
pub(crate) const QUIET: Duration = Duration::from_secs(60 * 60);

/// Everything that is not as it should be.
pub(crate) fn unsettled(truth: &Truth) -> Vec<Unsettled> {
    let mut found = Vec::new();
    let mut add = |controller, what: String| found.push(Unsettled { controller, what });
    for deployment in truth.deployments() {
        if let Some(what) = rollout(deployment, truth) {
            add("deployment-controller", what);
        }
    }
    for set in truth.replica_sets("") {
        if let Some(what) = replicas(set, truth) {
            add("replicaset-controller", what);
        }
    }
    for one in truth.replication_controllers() {
        let status = &one.status;
        let says = [
            status.replicas,
            status.ready_replicas,
            status.available_replicas,
        ];
        let what = match status.observed_generation == one.metadata.generation {
            true => count(&one.metadata, one.spec.replicas, says, truth),
            false => Some(format!("{}: not observed", one.metadata.object_name())),
        };
        if let Some(what) = what {
            add("replicationcontroller-controller", what);
        }
    }
    for pod in truth.pods("") {
        if let Some((controller, what)) = life(pod, truth) {
            add(controller, what);
        }
    }
    spaces(truth, &mut add);
    roles(truth, &mut add);
    families(truth, &mut add);
    jobs(truth, &mut add);
    found
}

/// A Deployment has as many pods as it wants, all of its template, and says so.
fn rollout(deployment: &Deployment, truth: &Truth) -> Option<String> {
    let Deployment {
        metadata,
        spec,
        status,
    } = deployment;
    let name = metadata.object_name();
    if metadata.is_deleting() {
        return None;
    }
    let desired = spec.replicas.unwrap_or(1);
    if status.observed_generation != metadata.generation {
        return Some(format!("{name}: its newest wish is not observed"));
    }
    let counts = [
        ("replicas", status.replicas),
        ("updated", status.updated_replicas),
        ("available", status.available_replicas),
    ];
    for (what, count) in counts {
        if count != desired {
            return Some(format!("{name}: {count} {what} of {desired}"));
        }
    }
    let sizes: i32 = truth
        .sets_of(metadata)
        .map(|set| set.spec.replicas.unwrap_or(1))
        .sum();
    (sizes != desired).then(|| format!("{name}: ReplicaSets of {sizes} for {desired}"))
}

fn replicas(set: &ReplicaSet, truth: &Truth) -> Option<String> {
    let status = &set.status;
    let says = [
        status.replicas,
        status.ready_replicas,
        status.available_replicas,
    ];
    if set.status.observed_generation != set.metadata.generation && !set.metadata.is_deleting() {
        return Some(format!("{}: not observed", set.metadata.object_name()));
    }
    count(&set.metadata, set.spec.replicas, says, truth)
}

/// There are as many pods as wanted, and the status knows how they fare.
fn count(owner: &Meta, wanted: Option<i32>, says: [i32; 3], truth: &Truth) -> Option<String> {
    if owner.is_deleting() {
        return None;
    }
    let active = truth.pods_of(owner).filter(|pod| is_active(pod));
    let (mut pods, mut ready) = (0, 0);
    for pod in active {
        pods += 1;
        ready += i32::from(is_ready(pod));
    }
    let (name, desired) = (owner.object_name(), wanted.unwrap_or(1));
    if pods != desired {
        return Some(format!("{name}: {pods} pods of {desired}"));
    }
    (says != [pods, ready, ready])
        .then(|| format!("{name}: status says {says:?} of {pods} pods, {ready} ready"))
}

/// A pod has a node, is ready, or is gone.
fn life(pod: &Pod, truth: &Truth) -> Option<(&'static str, String)> {
    let name = pod.metadata.object_name();
    if pod.metadata.is_deleting() {
        return Some((
            "simulated-pod-controller",
            format!("{name}: on its way out"),
        ));
    }
    if !is_active(pod) {
        return None;
    }
    if pod.spec.node_name.is_empty() {
        return Some(("kube-scheduler", format!("{name}: has no node")));
    }
    (!is_ready(pod) && !truth.misbehaves(pod))
        .then(|| ("simulated-pod-controller", format!("{name}: not ready")))
}

/// Every namespace has its account and its certificate.
fn spaces(truth: &Truth, add: &mut impl FnMut(&'static str, String)) {
    for space in truth.all("namespaces", "") {
        let name = space.meta().name.as_str();
        if space.meta().is_deleting() {
            add("namespace-controller", format!("{name}: on its way out"));
            continue;
        }
        if truth.get("serviceaccounts", name, "default").is_none() {
            add("serviceaccount-controller", format!("{name}: no account"));
        }
        let published = match truth.get("configmaps", name, "kube-root-ca.crt") {
            Some(Thing::Other(_, whole)) => whole["data"]["ca.crt"].as_str(),
            _ => None,
        };
        if published != Some(ROOT_CA) {
            let what = format!("{name}: the certificate is not published");
            add("root-ca-certificate-publisher-controller", what);
        }
    }
}

/// What has owners has one that lives, and nobody waits for dependents any more.
fn families(truth: &Truth, add: &mut impl FnMut(&'static str, String)) {
    let living: BTreeSet<&Uid> = truth.things().map(|(_, it)| &it.meta().uid).collect();
    let is_gone = |owner: &OwnerReference| {
        // A kind that nobody knows may be alive.
        let is_known = owner.kind != "Widget" || truth.get(DEFINITIONS, "", WIDGETS).is_some();
        is_known && !living.contains(&owner.uid)
    };
    for (key, thing) in truth.things() {
        let meta = thing.meta();
        let owners = &meta.owner_references;
        if !owners.is_empty() && owners.iter().all(is_gone) && !meta.is_deleting() {
            add(COLLECTOR, format!("{key}: has no owner any more"));
        }
        let is_alive = |owner: &OwnerReference| living.contains(&owner.uid);
        let is_judged = owners.iter().all(|owner| is_gone(owner) || is_alive(owner));
        let is_mixed = owners.iter().any(is_gone) && owners.iter().any(is_alive);
        if is_judged && is_mixed && !meta.is_deleting() {
            add(COLLECTOR, format!("{key}: names an owner that is gone"));
        }
        let waits = |one: &Text| one == "orphan" || one == "foregroundDeletion";
        if meta.is_deleting() && meta.finalizers.iter().any(waits) {
            add(COLLECTOR, format!("{key}: waits for its dependents"));
        }
    }
}

/// What has finished, and should be gone by now or never, is.
fn jobs(truth: &Truth, add: &mut impl FnMut(&'static str, String)) {
    for job in truth.all("jobs.batch", "") {
        let Thing::Other(meta, whole) = job else {
            continue;
        };
        let has_finished = whole["status"]["conditions"].is_array();
        if has_finished && !whole["spec"]["ttlSecondsAfterFinished"].is_null() {
            let what = format!("{}: has finished", meta.object_name());
            add("ttl-after-finished-controller", what);
        }
    }
}

/// A role that collects others has their rules.
fn roles(truth: &Truth, add: &mut impl FnMut(&'static str, String)) {
    const ROLES: &str = "clusterroles.rbac.authorization.k8s.io";
    let Some(Thing::Other(_, sum)) = truth.get(ROLES, "", "sum") else {
        return;
    };
    let mut wanted: Vec<Value> = Vec::new();
    for role in truth.all(ROLES, "") {
        if let (Thing::Other(meta, whole), true) = (role, role.meta().name != "sum")
            && meta.labels.get("part-of") == Some("sum")
        {
            for rule in whole["rules"].as_array().into_iter().flatten() {
                if !wanted.contains(rule) {
                    wanted.push(rule.clone());
                }
            }
        }
    }
    let empty = Vec::new();
    let rules = sum["rules"].as_array().unwrap_or(&empty);
    if *rules != wanted {
        add(
            "clusterrole-aggregation-controller",
            format!("sum: {} rules of {}", rules.len(), wanted.len()),
        );
    }
}
