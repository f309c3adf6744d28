//! Objects in, actions out: each branch of the plan, for both kinds where they differ.

mod cases;
mod claims;
mod laws;
mod numbers;
mod reports;
mod routing;
mod statuses;

use flyball_api::views::{Pod, ReplicaSet, ReplicationController};
use flyball_api::{ApiError, Object, ObjectName, Opaque, Status, Timestamp};
use flyball_informer::{Snapshot, SnapshotBuilder};
use flyball_plan::{
    Action, Actions, Answer, Answers, Controller, Now, Pace, Question, Read, Record, Rest, Revisit,
    Step, Verb, Write, Written, lint,
};
use serde_json::{Value, json};

use super::*;

const NOW: Timestamp = Timestamp::from_unix_seconds(1_700_000_000);

fn ago(seconds: i64) -> String {
    Timestamp::from_unix_seconds(NOW.unix_seconds() - seconds).to_string()
}

/// A change to an object before it is read, such as `merge(json!({"spec": {...}}))`.
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

/// The ReplicaSet `web` of `shop`, settled with this number of ready pods.
fn set(replicas: i32, change: Value) -> ReplicaSet {
    let settled = json!({
        "metadata": {"name": "web", "namespace": "shop", "uid": "set-1", "resourceVersion": "7",
            "generation": 3, "labels": {"app": "web"}, "annotations": {"note": "kept"}},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}}},
        "status": {"replicas": replicas, "fullyLabeledReplicas": replicas,
            "readyReplicas": replicas, "availableReplicas": replicas, "terminatingReplicas": 0,
            "observedGeneration": 3},
    });
    read(&merged(settled, change))
}

/// The ReplicationController `web` of `shop`, settled with this number of ready pods.
fn controller(replicas: i32, change: Value) -> ReplicationController {
    let settled = json!({
        "metadata": {"name": "web", "namespace": "shop", "uid": "rc-1", "resourceVersion": "7",
            "generation": 3},
        "spec": {"replicas": replicas, "selector": {"app": "web"},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}}},
        "status": {"replicas": replicas, "fullyLabeledReplicas": replicas,
            "readyReplicas": replicas, "availableReplicas": replicas, "observedGeneration": 3},
    });
    read(&merged(settled, change))
}

/// A ready pod of `web`, whatever kind that is.
fn pod_of(kind: &str, owner_uid: &str, name: &str, change: Value) -> Pod {
    let owner = json!({"apiVersion": "apps/v1", "kind": kind, "name": "web", "uid": owner_uid,
        "controller": true, "blockOwnerDeletion": true});
    let ready = json!({
        "metadata": {"name": name, "namespace": "shop", "uid": format!("pod-{name}"),
            "resourceVersion": "5", "labels": {"app": "web"}, "ownerReferences": [owner],
            "creationTimestamp": ago(1000)},
        "spec": {"nodeName": format!("node-{name}")},
        "status": {"phase": "Running", "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": ago(900)}]},
    });
    read(&merged(ready, change))
}

fn pod(name: &str) -> Pod {
    pod_with(name, json!({}))
}

fn pod_with(name: &str, change: Value) -> Pod {
    pod_of("ReplicaSet", "set-1", name, change)
}

fn orphan(name: &str) -> Pod {
    pod_with(name, json!({"metadata": {"ownerReferences": null}}))
}

fn unready(name: &str) -> Pod {
    pod_with(name, json!({"status": {"conditions": null}}))
}

fn store(owner: impl Object, pods: impl IntoIterator<Item = Pod>) -> Snapshot {
    SnapshotBuilder::new().add(owner).add_all(pods).build()
}

fn key() -> ObjectName {
    ObjectName::new("shop", "web")
}

/// What a server would say to an action if all went well.
fn granted(action: &Action) -> Answer {
    match action {
        Action::Write(write) if write.is_create() => done("web-made"),
        Action::Write(write) => done(&write.target.name.name),
        Action::Read(Read {
            question: Question::Get { .. } | Question::Exists { .. },
            ..
        }) => Answer::Read(Opaque::new(&live(json!({})).to_string()).unwrap()),
        _ => done(""),
    }
}

fn is_get(read: &Read) -> bool {
    matches!(read.question, Question::Get { .. })
}

/// The owner as the server has it.
fn live(change: Value) -> Value {
    let metadata = json!({"name": "web", "namespace": "shop", "uid": "set-1",
        "resourceVersion": "9", "generation": 4});
    merged(json!({"metadata": metadata}), change)
}

fn done(name: &str) -> Answer {
    Answer::Done(Written {
        name: name.into(),
        uid: "new".into(),
        resource_version: "8".into(),
        object: None,
    })
}

fn failed(code: u16, reason: &str, message: &str) -> Answer {
    Answer::Failed(ApiError::from_status(Status::failure(
        code, reason, message,
    )))
}

/// A sync from its first step to its rest.
struct Played {
    stages: Vec<Actions>,
    rest: Rest,
}

impl Played {
    fn stage(&self, name: &str) -> &Actions {
        self.stages
            .iter()
            .find(|actions| actions.stage == name)
            .unwrap()
    }

    fn stages(&self) -> Vec<&str> {
        self.stages.iter().map(|actions| actions.stage).collect()
    }

    fn records(&self) -> Vec<&Record> {
        let items = self.stages.iter().flat_map(|actions| &actions.items);
        items
            .filter_map(|action| match action {
                Action::Record(record) => Some(record),
                _ => None,
            })
            .collect()
    }

    /// Reasons and messages of all records.
    fn told(&self) -> Vec<String> {
        let line = |record: &&Record| format!("{} {}", record.reason, record.message);
        self.records().iter().map(line).collect()
    }

    /// The status last written.
    fn status(&self) -> Option<Value> {
        let items = self.stages.iter().flat_map(|actions| &actions.items);
        items
            .filter_map(|action| match action {
                Action::Write(write) if write.verb == Verb::Update => {
                    Some(json_of(write.body.json())["status"].clone())
                }
                _ => None,
            })
            .next_back()
    }

    fn error(&self) -> Option<&str> {
        match &self.rest.revisit {
            Revisit::BackOff(error) | Revisit::Conflict(error) | Revisit::Permanent(error) => {
                Some(error)
            }
            _ => None,
        }
    }
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Runs a sync against a server that answers as `answer` says; `None` if there is nothing to sync.
fn play_with<K: ReplicaKind>(
    settings: ReplicasSettings,
    store: &Snapshot,
    mut answer: impl FnMut(&str, &Action) -> Answer,
) -> Option<Played> {
    let controller = Replicas::<K>::new(settings);
    let seen = controller.observe(&key(), store, &())?;
    let mut answers = Answers::none();
    let mut stages = Vec::new();
    loop {
        let actions = match controller.step(&seen, &answers, Now::at(NOW)) {
            Step::Rest(rest) => {
                return Some(Played {
                    stages,
                    rest: *rest,
                });
            }
            Step::Do(actions) => actions,
        };
        assert_eq!(lint(&actions), [], "{actions:?}");
        assert!(
            answers.stage(actions.stage).is_none(),
            "stage {} twice",
            actions.stage
        );
        let replies = actions
            .items
            .iter()
            .map(|action| answer(actions.stage, action))
            .collect();
        stages.push(actions.clone());
        answers.push(actions, replies);
    }
}

fn play(store: &Snapshot, answer: impl FnMut(&str, &Action) -> Answer) -> Played {
    play_with::<ReplicaSetKind>(ReplicasSettings::default(), store, answer).unwrap()
}

/// A sync where all goes well.
fn sync(store: &Snapshot) -> Played {
    play(store, |_, action| granted(action))
}

/// The names of the pods that a stage deletes.
fn deleted(actions: &Actions) -> Vec<&str> {
    actions
        .items
        .iter()
        .map(|action| match action {
            Action::Write(Write {
                verb: Verb::Delete { .. },
                target,
                ..
            }) => target.name.name.as_str(),
            other => panic!("{other:?}"),
        })
        .collect()
}
