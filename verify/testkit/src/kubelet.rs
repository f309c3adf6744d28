//! Everybody else: kubelets that start pods and finish their deletion, and a stand-in for the
//! controller of ReplicaSets.

use flyball_api::views::{Pod, ReplicaSet};
use flyball_plan::Target;
use flyball_plan::rules::pods;
use serde_json::{Value, json};

use crate::World;

/// The node that all pods run on.
pub const NODE: &str = "node-1";

/// Starts what waits and finishes what is going: one step of all kubelets.
pub fn step(world: &mut World) {
    finish_deletions(world);
    start_pods(world);
}

/// Makes every pod that has not ended run and be ready, from now on if it was not.
pub fn start_pods(world: &mut World) {
    for pod in world.list::<Pod>("") {
        if pods::is_active(&pod) && !pods::is_ready(&pod) {
            start(world, &Target::of(Pod::KIND, &pod.metadata));
        }
    }
}

/// Makes one pod run and be ready.
pub fn start(world: &mut World, pod: &Target) {
    let now = world.now();
    world.edit(pod, |pod| {
        if pod["spec"]["nodeName"].is_null() {
            pod["spec"]["nodeName"] = NODE.into();
        }
        pod["status"] = ready_status(&json!(now));
    });
}

/// Takes out every pod that was asked to go, unless a finalizer holds it.
pub fn finish_deletions(world: &mut World) {
    for pod in world.list::<Pod>("") {
        if pod.metadata.is_deleting() && pod.metadata.finalizers.is_empty() {
            world.remove(&Target::of(Pod::KIND, &pod.metadata));
        }
    }
}

/// Lets every ReplicaSet say that it has all pods it wants, available: for controllers that only
/// look at ReplicaSets. No pods are made.
pub fn fulfil_replica_sets(world: &mut World) {
    for set in world.list::<ReplicaSet>("") {
        let replicas = set.spec.replicas.unwrap_or(1);
        let generation = set.metadata.generation;
        world.edit(&Target::of(ReplicaSet::KIND, &set.metadata), |set| {
            set["status"] = json!({"replicas": replicas, "observedGeneration": generation});
            for count in ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"] {
                set["status"][count] = replicas.into();
            }
        });
    }
}

/// The status of a pod that runs and has been ready since then.
pub(crate) fn ready_status(since: &Value) -> Value {
    json!({
        "phase": "Running",
        "startTime": since,
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": since}],
    })
}
