//! What users do: they make workloads, change their minds, and want everything at once.

mod families;
mod leftovers;
mod picky;

use std::time::Duration;

use fastrand::Rng;
use flyball_kubelets::annotations::{BEHAVIOUR, READY_DELAY_MS, START_DELAY_MS, TERMINATION};
use flyball_plan::Propagation;
use serde_json::{Value, json};

use crate::chance::Seed;
use crate::plan::{Planned, When};

pub(crate) use families::{CUSTOM_GROUP, definition, widget, widgets};
pub(crate) use leftovers::{JOBS, finished, job};

/// One thing that a user does.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Makes an object.
    Create {
        /// The collection.
        path: String,
        /// The object.
        body: Value,
    },
    /// Changes an object, as a merge patch.
    Merge {
        /// The object.
        path: String,
        /// The change.
        patch: Value,
    },
    /// Makes an object that belongs to others, as they are at that moment. One that is not there
    /// is named all the same, as if it had been.
    Own {
        /// The collection.
        path: String,
        /// The object.
        body: Value,
        /// Its owners.
        owners: Vec<String>,
        /// Whether they wait for it when they go in the foreground.
        blocks: bool,
    },
    /// Deletes an object.
    Delete {
        /// The object.
        path: String,
        /// What becomes of its dependents; as the kind has it if absent.
        propagation: Option<Propagation>,
    },
}

/// The annotation by which a rollback is asked for.
const ROLLBACK: &str = "deprecated.deployment.rollback.to";

const SPACES: [&str; 2] = ["blue", "green"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Rolling,
    Recreate,
    Set,
    Controller,
}

/// Draws what users do within a time.
pub(crate) fn draw(seed: Seed, rage: Duration) -> Vec<Planned<Edit>> {
    let draws = &mut seed.child("edits");
    let mut edits = Edits {
        all: Vec::new(),
        end: u64::try_from(rage.as_millis()).unwrap_or(u64::MAX),
    };
    for space in SPACES {
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}});
        edits.create(0, "/api/v1/namespaces", body);
    }
    roles(draws, &mut edits);
    for number in 0..draws.usize(3..6) {
        let sort = match draws.u32(0..8) {
            0..4 => Sort::Rolling,
            4 => Sort::Recreate,
            5..7 => Sort::Set,
            _ => Sort::Controller,
        };
        workload(draws, &mut edits, sort, number);
    }
    families::draw(&mut seed.child("families"), &mut edits);
    leftovers::draw(&mut seed.child("leftovers"), &mut edits);
    picky::draw(&mut seed.child("picky"), &mut edits);
    // Once faults have stopped, nobody changes their mind any more.
    let end = edits.end;
    edits.all.iter_mut().for_each(|(at, _)| *at = end.min(*at));
    edits.all.sort_by_key(|(at, _)| *at);
    let planned = edits.all.into_iter().enumerate();
    planned
        .map(|(number, (at, what))| Planned {
            when: When::At(Duration::from_millis(at)),
            what,
            number,
        })
        .collect()
}

struct Edits {
    all: Vec<(u64, Edit)>,
    end: u64,
}

impl Edits {
    fn create(&mut self, at: u64, path: &str, body: Value) {
        let path = path.to_owned();
        self.all.push((at, Edit::Create { path, body }));
    }

    fn merge(&mut self, at: u64, path: &str, patch: Value) {
        let path = path.to_owned();
        self.all.push((at, Edit::Merge { path, patch }));
    }
}

fn workload(draws: &mut Rng, edits: &mut Edits, sort: Sort, number: usize) {
    let space = SPACES[draws.usize(0..SPACES.len())];
    let name = format!("w{number}");
    let from = draws.u64(500..60_000);
    let group = match sort {
        Sort::Rolling | Sort::Recreate => "/apis/apps/v1",
        Sort::Set => "/apis/apps/v1",
        Sort::Controller => "/api/v1",
    };
    let plural = match sort {
        Sort::Rolling | Sort::Recreate => "deployments",
        Sort::Set => "replicasets",
        Sort::Controller => "replicationcontrollers",
    };
    let collection = format!("{group}/namespaces/{space}/{plural}");
    let body = object(draws, sort, &name);
    edits.create(from, &collection, body.clone());
    let path = format!("{collection}/{name}");
    let later = |draws: &mut Rng, edits: &Edits| draws.u64(from + 1_000..edits.end);
    let is_deployment = matches!(sort, Sort::Rolling | Sort::Recreate);
    let mut does_well = true;
    for _ in 0..draws.usize(2..6) {
        let at = later(draws, edits);
        match draws.u32(0..10) {
            0..4 => {
                let replicas = draws.u32(0..7);
                edits.merge(at, &path, json!({"spec": {"replicas": replicas}}));
            }
            4..8 if is_deployment => {
                let patch = retemplated(draws);
                does_well &=
                    patch["spec"]["template"]["metadata"]["annotations"][BEHAVIOUR].is_null();
                edits.merge(at, &path, patch);
                if draws.u32(0..4) == 0 {
                    edits.merge(at, &path, json!({"spec": {"replicas": draws.u32(1..6)}}));
                }
            }
            8 if is_deployment => {
                edits.merge(at, &path, json!({"spec": {"paused": true}}));
            }
            9 if is_deployment => {
                let rollback = json!({ROLLBACK: "0"});
                edits.merge(at, &path, json!({"metadata": {"annotations": rollback}}));
            }
            _ => {
                let ready = draws.u32(0..8);
                edits.merge(at, &path, json!({"spec": {"minReadySeconds": ready}}));
            }
        }
    }
    match draws.u32(0..12) {
        0..2 => {
            let at = later(draws, edits);
            let how = match draws.u32(0..6) {
                0..2 => Some(Propagation::Background),
                2..4 => Some(Propagation::Foreground),
                // Pods that do not do well would be left behind for ever.
                4 if does_well => Some(Propagation::Orphan),
                _ if does_well => None,
                _ => Some(Propagation::Background),
            };
            edits.delete(at, path.clone(), how);
            if how == Some(Propagation::Orphan) && draws.bool() {
                // What was left behind is taken over by one of the same name.
                edits.create(at + draws.u64(1_000..30_000), &collection, body);
                mend(edits, &path, is_deployment);
            }
        }
        _ => mend(edits, &path, is_deployment),
    }
}

/// Whatever was broken or held on the way is mended in the end, or nothing could settle.
fn mend(edits: &mut Edits, path: &str, is_deployment: bool) {
    let mut mended = json!({"spec": {
        "template": {"metadata": {"annotations": {BEHAVIOUR: null}}},
    }});
    if is_deployment {
        mended["spec"]["paused"] = false.into();
        // A rollback that is still to come could bring back what was just mended.
        mended["metadata"] = json!({"annotations": {ROLLBACK: null}});
    }
    edits.merge(edits.end, path, mended);
}
fn object(draws: &mut Rng, sort: Sort, name: &str) -> Value {
    let (kind, api) = match sort {
        Sort::Rolling | Sort::Recreate => ("Deployment", "apps/v1"),
        Sort::Set => ("ReplicaSet", "apps/v1"),
        Sort::Controller => ("ReplicationController", "v1"),
    };
    let labels = json!({"app": name});
    let selector = match sort {
        Sort::Controller => labels.clone(),
        _ => json!({"matchLabels": labels}),
    };
    let annotations = json!({
        START_DELAY_MS: draws.u32(0..3_000).to_string(),
        READY_DELAY_MS: draws.u32(0..6_000).to_string(),
        TERMINATION: draws.u32(0..8_000).to_string(),
    });
    let mut spec = json!({
        "replicas": draws.u32(1..6),
        "selector": selector,
        "template": {
            "metadata": {"labels": labels, "annotations": annotations},
            "spec": {
                "terminationGracePeriodSeconds": 10,
                "containers": [{"name": "main", "image": "app:1"}],
            },
        },
    });
    if draws.bool() {
        spec["minReadySeconds"] = draws.u32(0..5).into();
    }
    match sort {
        Sort::Rolling => {
            let bounds = [
                json!({"maxSurge": 1, "maxUnavailable": 0}),
                json!({"maxSurge": 0, "maxUnavailable": 1}),
                json!({"maxSurge": "25%", "maxUnavailable": "25%"}),
                json!({"maxSurge": 2, "maxUnavailable": 1}),
            ];
            let bounds = &bounds[draws.usize(0..bounds.len())];
            spec["strategy"] = json!({"type": "RollingUpdate", "rollingUpdate": bounds});
            spec["revisionHistoryLimit"] = draws.u32(0..4).into();
            spec["progressDeadlineSeconds"] = draws.u32(60..600).into();
        }
        Sort::Recreate => {
            spec["strategy"] = json!({"type": "Recreate"});
            spec["revisionHistoryLimit"] = draws.u32(0..4).into();
        }
        Sort::Set | Sort::Controller => {}
    }
    json!({"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": spec})
}

/// Another template: another image, now and then one whose pods do not do well.
fn retemplated(draws: &mut Rng) -> Value {
    let image = format!("app:{}", draws.u32(1..5));
    let behaviour = match draws.u32(0..8) {
        0 => "never-ready".into(),
        1 => "image-pull-error".into(),
        2 => "crash-loop".into(),
        _ => Value::Null,
    };
    json!({"spec": {"template": {
        "metadata": {"annotations": {BEHAVIOUR: behaviour}},
        "spec": {"containers": [{"name": "main", "image": image}]},
    }}})
}

/// A role that collects others, which come, change and go.
fn roles(draws: &mut Rng, edits: &mut Edits) {
    const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let rule = |verb: &str| json!([{"apiGroups": [""], "resources": ["pods"], "verbs": [verb]}]);
    let role = |name: &str, more: Value| {
        let mut role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
        });
        if let (Some(role), Some(more)) = (role.as_object_mut(), more.as_object()) {
            role.extend(more.clone());
        }
        role
    };
    let collects = json!({"aggregationRule": {"clusterRoleSelectors": [
        {"matchLabels": {"part-of": "sum"}},
    ]}, "rules": []});
    edits.create(draws.u64(0..5_000), ROLES, role("sum", collects));
    for number in 0..2 {
        let name = format!("part-{number}");
        let mut part = role(&name, json!({"rules": rule("get")}));
        part["metadata"]["labels"] = json!({"part-of": "sum"});
        let at = draws.u64(0..60_000);
        edits.create(at, ROLES, part);
        let path = format!("{ROLES}/{name}");
        let changed = draws.u64(at + 1_000..edits.end);
        match draws.u32(0..3) {
            0 => edits.delete(changed, path, None),
            _ => edits.merge(changed, &path, json!({"rules": rule("watch")})),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_always_several_workloads() {
        for seed in 0..50 {
            let edits = draw(Seed(seed), Duration::from_secs(600));
            let made = edits.iter().filter(|edit| {
                matches!(&edit.what, Edit::Create { path, .. } if path.contains("/namespaces/"))
            });
            assert!(made.count() >= 3, "seed {seed}");
        }
    }
}
