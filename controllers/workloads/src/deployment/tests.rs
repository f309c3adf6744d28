//! Rules as tables, the plan as objects in and actions out, and whole roll-outs on a small cluster.

mod cases;
mod claims;
mod creation;
mod laws;
mod lifecycle;
mod limits;
mod progress;
mod promises;
mod recreate;
mod revisions;
mod rollback;
mod rolling;
mod routing;
mod scaling;
mod statuses;
mod worlds;

use std::sync::Arc;

use flyball_api::views::{Deployment, Pod, ReplicaSet};
use flyball_api::{ApiError, Object, ObjectName, Opaque, Status, Timestamp};
use flyball_informer::{Snapshot, SnapshotBuilder};
use flyball_plan::{
    Action, Actions, Answer, Answers, Controller, Now, Pace, Question, Read, Record, Rest, Revisit,
    Step, Subresource, Verb, Write, Written, lint,
};
use serde_json::{Value, json};

use super::sets::{Family, Set};
use super::{DeploymentController, DeploymentSettings};

const NOW: Timestamp = Timestamp::from_unix_seconds(1_700_000_000);

fn ago(seconds: i64) -> String {
    Timestamp::from_unix_seconds(NOW.unix_seconds() - seconds).to_string()
}

/// Puts `change` into an object, member by member; null stays as null.
fn merged(mut object: Value, change: Value) -> Value {
    fn merge(into: &mut Value, change: Value) {
        match (into, change) {
            (Value::Object(into), Value::Object(change)) => {
                for (key, value) in change {
                    merge(into.entry(key).or_insert(Value::Null), value);
                }
            }
            (into, change) => *into = change,
        }
    }
    merge(&mut object, change);
    object
}

fn read<T: Object>(object: &Value) -> T {
    T::decode(object.to_string().as_bytes()).unwrap()
}

fn template(image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": image}], "fromTheFuture": {"x": [1, 2]}},
    })
}

/// The Deployment `web` of `shop` in generation 2, of this size, with image `v2`.
fn deployment_json(replicas: i32, change: Value) -> Value {
    let plain = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "uid": "d-1", "resourceVersion": "7",
            "generation": 2, "creationTimestamp": ago(5000),
            "annotations": {"deployment.kubernetes.io/revision": "2"}},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
            "template": template("v2"), "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
            "strategy": {"type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}},
    });
    merged(plain, change)
}

fn deployment(replicas: i32, change: Value) -> Deployment {
    read(&deployment_json(replicas, change))
}

/// A ReplicaSet of `web`, named by its image, of this size, all pods available.
fn set_json(image: &str, replicas: i32, change: Value) -> Value {
    let owner = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d-1",
        "controller": true, "blockOwnerDeletion": true});
    let number: i64 = image.trim_start_matches('v').parse().unwrap();
    let labels = json!({"app": "web", "pod-template-hash": image});
    let settled = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": format!("web-{image}"), "namespace": "shop",
            "uid": format!("rs-{image}"), "resourceVersion": "5", "generation": 1,
            "creationTimestamp": ago(4000 - number * 100), "labels": labels.clone(),
            "ownerReferences": [owner],
            "annotations": {"deployment.kubernetes.io/revision": number.to_string()}},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels.clone()},
            "template": merged(template(image), json!({"metadata": {"labels": labels}}))},
        "status": {"replicas": replicas, "fullyLabeledReplicas": replicas,
            "readyReplicas": replicas, "availableReplicas": replicas, "terminatingReplicas": 0,
            "observedGeneration": 1},
    });
    merged(settled, change)
}

fn set(image: &str, replicas: i32, change: Value) -> ReplicaSet {
    read(&set_json(image, replicas, change))
}

/// The same with the marks of a Deployment of this size.
fn sized(desired: i32, most: i32) -> Value {
    json!({"metadata": {"annotations": {
        "deployment.kubernetes.io/desired-replicas": desired.to_string(),
        "deployment.kubernetes.io/max-replicas": most.to_string(),
    }}})
}

fn available(pods: i32) -> Value {
    json!({"status": {"readyReplicas": pods, "availableReplicas": pods}})
}

/// A ReplicaSet as the rules see it.
fn member(image: &str, replicas: i32, change: Value) -> Set {
    Set::new(Arc::new(set(image, replicas, change)))
}

fn pod(name: &str, image: &str, change: Value) -> Pod {
    let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
        "name": format!("web-{image}"),
        "uid": format!("rs-{image}"), "controller": true});
    let running = json!({
        "metadata": {"name": name, "namespace": "shop", "uid": format!("pod-{name}"),
            "resourceVersion": "3", "ownerReferences": [owner]},
        "status": {"phase": "Running"},
    });
    read(&merged(running, change))
}

fn store(deployment: Deployment, sets: impl IntoIterator<Item = ReplicaSet>) -> Snapshot {
    SnapshotBuilder::new()
        .add(deployment)
        .add_all(sets)
        .kind::<Pod>()
        .build()
}

fn key() -> ObjectName {
    ObjectName::new("shop", "web")
}

fn controller() -> DeploymentController {
    DeploymentController::new(DeploymentSettings::default())
}

/// All stages of one sync and how it ended.
struct Run {
    stages: Vec<Actions>,
    rest: Rest,
}

/// Runs one sync to its end; `answer` is asked about every action in turn.
fn run_with(store: &Snapshot, mut answer: impl FnMut(&Action) -> Answer) -> Run {
    run_at(NOW, store, &mut answer)
}

fn run_at(now: Timestamp, store: &Snapshot, answer: &mut dyn FnMut(&Action) -> Answer) -> Run {
    let seen = controller().observe(&key(), store, &()).unwrap();
    let (mut answers, mut stages) = (Answers::none(), Vec::new());
    loop {
        match controller().step(&seen, &answers, Now::at(now)) {
            Step::Rest(rest) => {
                return Run {
                    stages,
                    rest: *rest,
                };
            }
            Step::Do(actions) => {
                assert_eq!(lint(&actions), [], "{actions:?}");
                assert!(
                    answers.stage(actions.stage).is_none(),
                    "stage {} twice",
                    actions.stage
                );
                let mut failed = false;
                let answered = actions
                    .items
                    .iter()
                    .map(|action| match failed && actions.pace == Pace::InOrder {
                        true => Answer::Skipped,
                        false => {
                            let answer = answer(action);
                            failed |= answer.error().is_some();
                            answer
                        }
                    })
                    .collect();
                stages.push(actions.clone());
                answers.push(actions, answered);
            }
        }
    }
}

/// Runs one sync in which everything succeeds.
fn run(store: &Snapshot) -> Run {
    run_with(store, granted)
}

fn granted(action: &Action) -> Answer {
    match action {
        Action::Read(Read {
            question: Question::Get { .. } | Question::Exists { .. },
            ..
        }) => Answer::Read(Opaque::new(&deployment_json(3, json!({})).to_string()).unwrap()),
        Action::Write(write) if write.is_create() => done("made"),
        Action::Write(write) => done(&write.target.name.name),
        _ => done(""),
    }
}

fn is_get(read: &Read) -> bool {
    matches!(read.question, Question::Get { .. })
}

fn done(name: &str) -> Answer {
    let uid = format!("uid-of-{name}").as_str().into();
    Answer::Done(Written {
        name: name.into(),
        uid,
        resource_version: "100".into(),
        object: None,
    })
}

fn refused(code: u16, reason: &str) -> Answer {
    let status = Status::failure(code, reason, &format!("refused: {reason}"));
    Answer::Failed(ApiError::from_status(status))
}

impl Run {
    fn stage_names(&self) -> Vec<&'static str> {
        self.stages.iter().map(|stage| stage.stage).collect()
    }

    fn actions(&self) -> impl Iterator<Item = &Action> {
        self.stages.iter().flat_map(|stage| &stage.items)
    }

    /// The writes in short: verb, plural and name, and the size if it is set.
    fn writes(&self) -> Vec<String> {
        self.actions()
            .filter(|action| action.is_write())
            .map(short)
            .collect()
    }

    fn messages(&self) -> Vec<String> {
        self.actions()
            .filter_map(|action| match action {
                Action::Record(Record {
                    reason, message, ..
                }) => Some(format!("{reason}: {message}")),
                _ => None,
            })
            .collect()
    }

    /// The body of the last status that was written.
    fn status_body(&self) -> Value {
        self.actions()
            .filter_map(|action| match action {
                Action::Write(Write {
                    verb: Verb::Update,
                    subresource: Subresource::STATUS,
                    body,
                    ..
                }) => Some(serde_json::from_str(body.json()).unwrap()),
                _ => None,
            })
            .last()
            .expect("no status was written")
    }

    /// Type, status and reason of each condition in the last status that was written.
    fn conditions(&self) -> Vec<String> {
        conditions_of(&self.status_body())
    }

    fn failed_with(&self) -> Option<&str> {
        match &self.rest.revisit {
            Revisit::BackOff(error) | Revisit::Conflict(error) | Revisit::Permanent(error) => {
                Some(error)
            }
            Revisit::OnChange | Revisit::After(_) => None,
        }
    }
}

fn conditions_of(object: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    object["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|c| {
            format!(
                "{}={} {}",
                text(&c["type"]),
                text(&c["status"]),
                text(&c["reason"])
            )
        })
        .collect()
}

fn body(action: &Action) -> Value {
    let has_body = |write: &&Write| {
        write.is_create() || matches!(write.verb, Verb::StrategicPatch | Verb::Update)
    };
    match action.write().filter(has_body) {
        Some(write) => serde_json::from_str(write.body.json()).unwrap(),
        None => panic!("{action:?} has no body"),
    }
}

fn short(action: &Action) -> String {
    let write = action.write().expect("no write");
    let name = match write.verb {
        Verb::Create if write.is_create() => "(new)",
        Verb::StrategicPatch | Verb::Update | Verb::Delete { .. } => &write.target.name.name,
        _ => panic!("{action:?} is none of its writes"),
    };
    let sub = match (write.verb, write.subresource) {
        (Verb::Update, Subresource::STATUS) => "/status",
        _ => "",
    };
    let size = match write.verb {
        Verb::Create | Verb::StrategicPatch => body(action)["spec"]["replicas"]
            .as_i64()
            .map(|n| format!(" to {n}")),
        _ => None,
    };
    format!(
        "{} {}{sub} {name}{}",
        action.verb(),
        write.target.kind.plural,
        size.unwrap_or_default()
    )
}

fn family(new: Option<Set>, old: Vec<Set>) -> Family {
    Family { new, old }
}
