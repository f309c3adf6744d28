//! Objects in, actions out: each branch of the plan, the laws, and the cost.

mod cases;
mod laws;
mod life;
mod naive;
mod placing;
mod preempting;
mod routing;
mod scale;
mod syncing;

use flyball_api::views::Namespace;
use flyball_informer::{Snapshot, SnapshotBuilder};
use flyball_plan::{
    Action, Actions, Answer, Answers, Controller, Now, Rest, Revisit, Step, Subresource, Target,
    Verb, Write, lint,
};
use flyball_testkit::{World, flow};
use serde_json::{Value, json};

use super::*;

/// A change to an object before it is read.
fn merged(mut object: Value, change: &Value) -> Value {
    fn merge(into: &mut Value, change: &Value) {
        match (into, change) {
            (Value::Object(into), Value::Object(change)) => {
                for (key, value) in change {
                    merge(into.entry(key).or_insert(Value::Null), value);
                }
            }
            (into, change) => *into = change.clone(),
        }
    }
    merge(&mut object, change);
    object
}

/// A node of 4 CPUs, 8 GiB and 10 pods, whose host is called as it is.
fn node(name: &str, change: Value) -> Value {
    let node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
    });
    merged(node, &change)
}

/// A node in a zone.
fn zoned(name: &str, zone: &str) -> Value {
    node(name, json!({"metadata": {"labels": {"zone": zone}}}))
}

/// A pod without a node that asks for this much CPU.
fn pod(name: &str, cpu: &str, change: Value) -> Value {
    let container = json!({"name": "c", "resources": {"requests": {"cpu": cpu}}});
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container]},
        "status": {"phase": "Pending"},
    });
    merged(pod, &change)
}

/// A pod on a node.
fn running(name: &str, node: &str, cpu: &str, change: Value) -> Value {
    let there = json!({"spec": {"nodeName": node}, "status": {"phase": "Running"}});
    merged(pod(name, cpu, there), &change)
}

fn priority(priority: i32) -> Value {
    json!({"spec": {"priority": priority}})
}

fn world(objects: impl IntoIterator<Item = Value>) -> World {
    World::of(objects)
}

/// What caches that have seen everything show.
fn snapshot(world: &World) -> Snapshot {
    let version = world.revision().to_string();
    SnapshotBuilder::new()
        .add_all(world.list::<Pod>(""))
        .add_all(world.list::<Node>(""))
        .add_all(world.list::<Namespace>(""))
        .seen::<Pod>(&version)
        .seen::<Node>(&version)
        .build()
}

/// A sync from its first step to its rest.
struct Played {
    stages: Vec<(Actions, Vec<Answer>)>,
    rest: Rest,
}

impl Played {
    fn actions(&self) -> impl Iterator<Item = &Action> {
        self.stages.iter().flat_map(|(actions, _)| &actions.items)
    }

    /// `pod → node`, in the order of binding.
    fn bound(&self) -> Vec<String> {
        let bound = self.actions().filter_map(binding);
        bound
            .map(|(pod, node)| format!("{} → {node}", pod.name.name))
            .collect()
    }

    /// The nodes that pods were bound to, sorted.
    fn nodes(&self) -> Vec<String> {
        let bound = self.actions().filter_map(binding);
        let mut nodes: Vec<String> = bound.map(|(_, node)| node).collect();
        nodes.sort();
        nodes
    }

    /// `reason pod: message` of all records.
    fn told(&self) -> Vec<String> {
        let told = self.actions().filter_map(|action| match action {
            Action::Record(it) => Some(format!("{} {}: {}", it.reason, it.about.name, it.message)),
            _ => None,
        });
        told.collect()
    }

    fn deleted(&self) -> Vec<&str> {
        let deleted = self.actions().filter_map(|action| match action {
            Action::Write(Write {
                verb: Verb::Delete { .. },
                target,
                ..
            }) => Some(target.name.name.as_str()),
            _ => None,
        });
        deleted.collect()
    }

    /// All as text, for cases.
    fn text(&self) -> String {
        let mut lines = Vec::new();
        for (actions, answers) in &self.stages {
            lines.push(actions.stage.to_owned());
            for (action, answer) in actions.items.iter().zip(answers) {
                lines.push(format!("  {}", said(action)));
                if let Answer::Failed(error) = answer {
                    lines.push(format!("    → {error}"));
                }
            }
        }
        let report = &self.rest.report;
        lines.push(match &self.rest.revisit {
            Revisit::OnChange => format!("rests: {report}"),
            Revisit::After(time) => format!("looks again in {time:?}: {report}"),
            Revisit::BackOff(error) | Revisit::Conflict(error) | Revisit::Permanent(error) => {
                format!("retries ({error}): {report}")
            }
        });
        lines.join("\n")
    }
}

/// The pod and the name of the node, if it is a binding.
fn binding(action: &Action) -> Option<(&Target, String)> {
    let write = action.write()?;
    let binds = write.verb == Verb::Create && write.subresource == Subresource::BINDING;
    binds.then(|| {
        let body: Value = serde_json::from_str(write.body.json()).unwrap();
        let node = body["target"]["name"].as_str().unwrap();
        (&write.target, node.to_owned())
    })
}

fn said(action: &Action) -> String {
    if let Some((pod, node)) = binding(action) {
        return format!("bind {} to {node}", pod.name);
    }
    match action {
        Action::Write(Write {
            verb: Verb::StrategicPatch,
            target,
            body,
            ..
        }) => {
            let body: Value = serde_json::from_str(body.json()).unwrap();
            format!("status of {}: {}", target.name, flow(&body["status"]))
        }
        Action::Write(Write {
            verb: Verb::Delete { .. },
            target,
            ..
        }) => format!("delete {}", target.name),
        Action::Record(it) => {
            format!(
                "{:?} {} {}: {}",
                it.kind, it.about.name, it.reason, it.message
            )
        }
        other => panic!("{other:?}"),
    }
}

/// Runs one sync; `None` if nobody waits.
fn play(world: &mut World) -> Option<Played> {
    play_with(&Scheduler::default(), world)
}

fn play_with(scheduler: &Scheduler, world: &mut World) -> Option<Played> {
    let seen = scheduler.observe(&scheduler.key(), &snapshot(world), &())?;
    let mut answers = Answers::none();
    let mut stages = Vec::new();
    loop {
        let actions = match scheduler.step(&seen, &answers, Now::at(world.now())) {
            Step::Rest(rest) => {
                return Some(Played {
                    stages,
                    rest: *rest,
                });
            }
            Step::Do(actions) => actions,
        };
        assert_eq!(lint(&actions), [], "{actions:?}");
        assert!(answers.stage(actions.stage).is_none(), "{}", actions.stage);
        let replies: Vec<Answer> = actions.items.iter().map(|it| world.apply(it)).collect();
        stages.push((actions.clone(), replies.clone()));
        answers.push(actions, replies);
    }
}

/// Runs one sync in a world with these objects.
fn sync(objects: impl IntoIterator<Item = Value>) -> Played {
    play(&mut world(objects)).unwrap()
}

/// Where the only waiting pod goes, or why not.
fn fate(objects: impl IntoIterator<Item = Value>) -> String {
    let played = sync(objects);
    match &played.bound()[..] {
        [] => {
            let told = played.told();
            let (_, why) = told[0].split_once(": ").unwrap();
            let (why, _) = why.split_once(" preemption: ").unwrap_or((why, ""));
            why.to_owned()
        }
        [bound] => bound.split_once("→ ").unwrap().1.to_owned(),
        more => panic!("{more:?}"),
    }
}
