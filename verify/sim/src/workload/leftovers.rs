//! What is to be cleaned up: a namespace that goes with all its content and comes back, Jobs that
//! have finished, pods that have done their work.

use std::time::Duration;

use fastrand::Rng;
use flyball_kubelets::annotations::BEHAVIOUR;
use serde_json::{Value, json};

use super::Edits;
use super::families::{HOLD, widget, widgets};
use crate::server::wall;

/// The namespace that goes.
const SPACE: &str = "red";

const NAMESPACES: &str = "/api/v1/namespaces";

/// Draws what is left over for others to clean up.
pub(super) fn draw(draws: &mut Rng, edits: &mut Edits) {
    let goes = draws.u64(60_000..edits.end - 200_000);
    namespace(draws, edits, 0, goes);
    edits.delete(goes, format!("{NAMESPACES}/{SPACE}"), None);
    if draws.bool() {
        // It is tried until the first one is gone.
        let again = goes + draws.u64(1_000..60_000);
        let goes_again = draws.u64(again + 30_000..edits.end - 100_000);
        namespace(draws, edits, again, goes_again);
        if draws.bool() {
            edits.delete(goes_again, format!("{NAMESPACES}/{SPACE}"), None);
        }
    }
    for number in 0..draws.usize(1..3) {
        a_job(draws, edits, number);
    }
    for number in 0..draws.usize(1..4) {
        pod(draws, edits, number);
    }
}

/// A namespace with something of every sort in it.
fn namespace(draws: &mut Rng, edits: &mut Edits, born: u64, goes: u64) {
    let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}});
    edits.create(born, NAMESPACES, body);
    let within = |draws: &mut Rng| draws.u64(born..goes);
    let at = within(draws);
    edits.create(at, &widgets(SPACE), widget("in-red"));
    let at = within(draws);
    edits.create(at, "/apis/apps/v1/namespaces/red/replicasets", set());
    let mut held = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "held"}});
    if draws.u32(0..3) == 0 {
        held["metadata"]["finalizers"] = json!([HOLD]);
        let path = "/api/v1/namespaces/red/configmaps/held";
        let patch = json!({"metadata": {"finalizers": null}});
        edits.merge(goes + draws.u64(500..60_000), path, patch.clone());
        edits.merge(edits.end, path, patch);
    }
    let at = within(draws);
    edits.create(at, "/api/v1/namespaces/red/configmaps", held);
}

fn set() -> Value {
    let labels = json!({"app": "red"});
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "red"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "terminationGracePeriodSeconds": 10,
                    "containers": [{"name": "main", "image": "app:1"}],
                },
            },
        },
    })
}

/// The Jobs of a namespace.
pub(crate) const JOBS: &str = "/apis/batch/v1/namespaces/blue/jobs";

/// A Job that is to go so many seconds after it has finished.
pub(crate) fn job(name: &str, ttl_seconds: u32) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
        "spec": {
            "ttlSecondsAfterFinished": ttl_seconds,
            "template": {"spec": {
                "restartPolicy": "Never", "containers": [{"name": "main", "image": "job"}],
            }},
        },
    })
}

/// The status of a Job that finished then: nobody here runs Jobs, so it is written by hand.
pub(crate) fn finished(at: Duration) -> Value {
    let now = json!(wall(at));
    let condition = |kind: &str| {
        json!({
            "type": kind, "status": "True", "reason": "Sim", "message": "",
            "lastTransitionTime": now, "lastProbeTime": now,
        })
    };
    json!({"status": {
        "startTime": now, "failed": 1,
        "conditions": [condition("FailureTarget"), condition("Failed")],
    }})
}

fn a_job(draws: &mut Rng, edits: &mut Edits, number: usize) {
    let name = format!("job{number}");
    let born = draws.u64(0..edits.end / 2);
    edits.create(born, JOBS, job(&name, draws.u32(0..90)));
    let at = born + draws.u64(5_000..60_000);
    let status = finished(Duration::from_millis(at));
    edits.merge(at, &format!("{JOBS}/{name}/status"), status);
    if draws.u32(0..3) == 0 {
        // Somebody changes their mind about how long it stays.
        let patch = json!({"spec": {"ttlSecondsAfterFinished": draws.u32(0..200)}});
        edits.merge(at + draws.u64(0..60_000), &format!("{JOBS}/{name}"), patch);
    }
}

/// A pod of nobody's that does its work and is done.
fn pod(draws: &mut Rng, edits: &mut Edits, number: usize) {
    let behaviour = ["succeed", "fail"][draws.usize(0..2)];
    let body = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": format!("done{number}"), "annotations": {BEHAVIOUR: behaviour}},
        "spec": {
            "restartPolicy": "Never", "containers": [{"name": "main", "image": "task"}],
        },
    });
    edits.create(
        draws.u64(0..edits.end - 30_000),
        "/api/v1/namespaces/green/pods",
        body,
    );
}
