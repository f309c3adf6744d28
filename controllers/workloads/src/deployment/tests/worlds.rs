//! Arbitrary worlds for the laws: Deployments in every state, ReplicaSets of every kind of owner.

use flyball_api::views::{Pod, ReplicaSet};
use flyball_api::{Timestamp, digest};
use flyball_plan::Target;
use flyball_testkit::builders::{Build, deployment, pod, replica_set, template};
use flyball_testkit::{World, kubelet};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::super::annotations::{DESIRED_REPLICAS, MAX_REPLICAS, REVISION, ROLLBACK_TO};

/// An image of which no pod ever becomes ready.
pub(super) const BROKEN: &str = "web:broken";

/// Worlds with a Deployment `web` in any state, a quiet neighbour, and up to four ReplicaSets.
pub(super) fn worlds() -> impl Strategy<Value = World> {
    let sets = proptest::collection::vec(sets(), 0..5);
    let pods = proptest::collection::vec((0..4_u8, 0..3_u8), 0..4);
    (deployments(), sets, pods).prop_map(|(web, sets, pods)| {
        let mut world = World::of([web]);
        world.put(deployment("db").replicas(2));
        for (at, set) in sets.iter().enumerate() {
            world.put(set.build(at));
        }
        for (at, (set, state)) in pods.into_iter().enumerate() {
            let pod = pod(&format!("web-pod{at}"));
            let pod = pod.controlled_by("ReplicaSet", &format!("web-{set}"));
            world.put(match state {
                0 => pod.phase("Failed"),
                1 => pod.ready().deleting(world.now()),
                _ => pod.ready(),
            });
        }
        world
    })
}

/// The Deployment `web`: image `web:1`, of any size, strategy, age and story.
fn deployments() -> impl Strategy<Value = Build> {
    let desired = (0..7_i32, strategies(), 0..5_i32, any::<u8>());
    let limits = (
        select(vec![Value::Null, json!(0), json!(1), json!(10)]),
        select(vec![Value::Null, json!(60), json!(600)]),
    );
    let rollback = select(vec!["", "", "", "", "0", "1", "3", "9", "x"]);
    let said = select(vec![
        "",
        "",
        "NewReplicaSetAvailable",
        "DeploymentPaused",
        "ProgressDeadlineExceeded",
    ]);
    (desired, limits, rollback, said, 0..4_i32).prop_map(
        |((replicas, strategy, min_ready, rare), (history, deadline), rollback, said, counted)| {
            let mut build = deployment("web").replicas(replicas).with(json!({"spec": {
                "strategy": strategy,
                "revisionHistoryLimit": history, "progressDeadlineSeconds": deadline,
                "minReadySeconds": min_ready, "paused": rare.is_multiple_of(7),
            }}));
            if !rollback.is_empty() {
                build = build.annotation(ROLLBACK_TO, rollback);
            }
            if !said.is_empty() {
                let then = "2025-12-31T23:58:00Z";
                let holds = match said {
                    "NewReplicaSetAvailable" => "True",
                    "ProgressDeadlineExceeded" => "False",
                    _ => "Unknown",
                };
                build = build.with(json!({"status": {
                    "replicas": counted, "updatedReplicas": counted, "collisionCount": rare % 3,
                    "conditions": [{"type": "Progressing", "status": holds, "reason": said,
                        "lastUpdateTime": then, "lastTransitionTime": then}],
                }}));
            }
            match rare {
                11..=20 => build.finalizer("held").deleting(long_ago(0)),
                _ => build.annotation("team", "shop"),
            }
        },
    )
}

/// A strategy, as a patch of the default one.
pub(super) fn strategies() -> impl Strategy<Value = Value> {
    let rolling = |surge: Value, unavailable: Value| {
        json!({"type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}})
    };
    let recreate = json!({"$patch": "replace", "type": "Recreate"});
    select(vec![
        rolling(json!("25%"), json!("25%")),
        rolling(json!("50%"), json!("50%")),
        rolling(json!("0%"), json!("1%")),
        rolling(json!(1), json!(0)),
        rolling(json!(0), json!(1)),
        rolling(json!(3), json!(2)),
        rolling(json!("100%"), json!(0)),
        recreate.clone(),
        recreate,
    ])
}

/// What a ReplicaSet is made from.
#[derive(Clone, Debug)]
struct SetPlan {
    owner: u8,
    labels_match: bool,
    image: u8,
    spelling: u8,
    size: i32,
    up: i32,
    observed: bool,
    revision: &'static str,
    marks: Option<(i32, i32)>,
    age: i64,
    name: u8,
}

fn sets() -> impl Strategy<Value = SetPlan> {
    let revision = select(vec!["", "1", "2", "3", "7", "x"]);
    let marks = proptest::option::of((0..7_i32, 0..9_i32));
    (
        (0..8_u8, any::<u8>(), 0..4_u8, 0..4_u8),
        (0..6_i32, 0..6_i32, any::<bool>()),
        (revision, marks, 0..3_i64, any::<u8>()),
    )
        .prop_map(
            |(whose, (size, up, observed), (revision, marks, age, name))| {
                let (owner, labels, image, spelling) = whose;
                SetPlan {
                    owner,
                    labels_match: labels > 20,
                    image,
                    spelling,
                    size,
                    up: up.min(size),
                    observed,
                    revision,
                    marks,
                    age,
                    name,
                }
            },
        )
}

impl SetPlan {
    /// The ReplicaSet number `at`. Image 0 is the Deployment's, in any of several spellings.
    fn build(&self, at: usize) -> Build {
        let mut template = template("web");
        match (self.image, self.spelling) {
            (0, 0) => {}
            (0, 1) => template["metadata"]["creationTimestamp"] = Value::Null,
            (0, 2) => template["spec"]["volumes"] = json!([]),
            (0, _) => {
                template["metadata"]["labels"]["pod-template-hash"] = format!("h{at}").into();
            }
            (image, _) => {
                template["spec"]["containers"][0]["image"] = format!("web:{}", image + 1).into();
            }
        }
        let name = match self.name {
            // The name that the new ReplicaSet is going to have.
            0..20 => {
                let wanted = flyball_testkit::builders::template("web").to_string();
                format!("web-{}", digest::template_hash(&wanted, None))
            }
            _ => format!("web-{at}"),
        };
        let app = if self.labels_match { "web" } else { "other" };
        let mut build = replica_set("web")
            .replicas(self.size)
            .labels(json!({"app": app}))
            .created(long_ago(self.age))
            .with(json!({
                "metadata": {"name": name},
                "spec": {"template": template},
                "status": {"replicas": self.size, "readyReplicas": self.up,
                    "availableReplicas": self.up / 2,
                    "observedGeneration": i32::from(self.observed), "terminatingReplicas": 0},
            }));
        if !self.revision.is_empty() {
            build = build.annotation(REVISION, self.revision);
        }
        if let Some((desired, most)) = self.marks {
            build = build
                .annotation(DESIRED_REPLICAS, &desired.to_string())
                .annotation(MAX_REPLICAS, &most.to_string());
        }
        match self.owner {
            0 | 1 => build,
            2 => build.controlled_by_uid("Deployment", "web", "long-gone"),
            3 => build.controlled_by("Deployment", "another"),
            _ => build.controlled_by("Deployment", "web"),
        }
    }
}

fn long_ago(hours: i64) -> Timestamp {
    Timestamp::from_unix_seconds(1_767_000_000 + 3600 * hours)
}

/// Plays the controller of ReplicaSets, not all at once: one in three ReplicaSets falls behind in
/// each round, unless it is the only one. Pods of a ReplicaSet that wants none are asked to go, and
/// go in the next round.
pub(super) fn play_replica_sets(world: &mut World) {
    kubelet::finish_deletions(world);
    let behind: Vec<ReplicaSet> = world
        .list::<ReplicaSet>("")
        .into_iter()
        .filter(|set| next_status(set).is_some())
        .collect();
    let turn = world.revision() as usize;
    let alone = behind.len() == 1;
    for (at, set) in behind.iter().enumerate() {
        if alone || !(at + turn).is_multiple_of(3) {
            let status = next_status(set);
            world.edit(&Target::of(ReplicaSet::KIND, &set.metadata), |set| {
                set["status"] = json!(status);
            });
        }
    }
    for pod in world.list::<Pod>("") {
        let owner = pod.metadata.controller().map(|owner| owner.name.clone());
        let set = owner.and_then(|name| world.get::<ReplicaSet>("default", &name));
        if set.is_some_and(|set| set.spec.replicas == Some(0)) && !pod.metadata.is_deleting() {
            let now = json!(world.now());
            world.edit(&Target::of(Pod::KIND, &pod.metadata), |pod| {
                pod["metadata"]["deletionTimestamp"] = now;
            });
        }
    }
}

/// The next status of a ReplicaSet on its way to what it wants: surplus pods go at once, the
/// unavailable ones first; missing ones come in pairs, get ready, then available.
fn next_status(set: &ReplicaSet) -> Option<Value> {
    let (status, goal) = (&set.status, set.spec.replicas.unwrap_or(1));
    let (mut pods, mut ready, mut available) = (
        status.replicas,
        status.ready_replicas,
        status.available_replicas,
    );
    if pods > goal {
        (pods, ready, available) = (goal, ready.min(goal), available.min(goal));
    } else if pods < goal {
        pods = goal.min(pods + 2);
    } else if set.spec.template.json().contains(BROKEN) {
        (ready, available) = (0, 0);
    } else if ready < pods {
        ready = pods;
    } else if available < ready {
        available = ready;
    } else if status.observed_generation == set.metadata.generation {
        return None;
    }
    Some(
        json!({"replicas": pods, "readyReplicas": ready, "availableReplicas": available,
        "terminatingReplicas": 0, "observedGeneration": set.metadata.generation}),
    )
}
