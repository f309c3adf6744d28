//! Worlds to try the laws on: rival owners, and pods of every belonging and in every state.

use flyball_testkit::World;
use flyball_testkit::builders::{Build, pod};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::{OnTrial, Timestamp};

/// When the worlds begin.
const BEGIN: Timestamp = Timestamp::from_unix_seconds(1_767_225_600); // 2026-01-01T00:00:00Z

/// The owners: two that select the same pods, one that selects others.
const OWNERS: [(&str, &str); 3] = [("web", "web"), ("rival", "web"), ("api", "api")];

#[derive(Clone, Debug)]
struct Owned {
    replicas: i32,
    min_ready_seconds: i32,
    deleting: bool,
    /// Whether it is one of the sets of a Deployment, whose pods are neighbours.
    of_a_deployment: bool,
    /// Whether its template has a label that adopted pods lack.
    labelled: bool,
    /// What it says about itself has nothing to do with the world.
    deluded: bool,
}

#[derive(Clone, Debug)]
struct Podlike {
    app: &'static str,
    belongs: Belongs,
    state: State,
    node: &'static str,
    cost: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
enum Belongs {
    ToNobody,
    To(&'static str),
    /// To one of that name that is long gone.
    ToAnEarlier(&'static str),
    /// To the owner of that name of the kind that is not on trial.
    ToANamesake,
    ToAJob,
    /// Owned by one, controlled by nobody.
    PartlyTo(&'static str),
}

#[derive(Clone, Copy, Debug)]
enum State {
    Unplaced,
    Placed,
    Unknown,
    Running,
    Ready,
    JustReady,
    Failed,
    Succeeded,
    Going,
    /// Asked to go, and held by a finalizer for ever.
    Held,
    GoingAndEnded,
}

/// Worlds with up to three owners and up to nine pods.
pub(super) fn worlds<K: OnTrial>() -> impl Strategy<Value = World> {
    let owners = [0; 3].map(|_| proptest::option::weighted(0.8, owned()));
    (owners, vec(podlike(), 0..10)).prop_map(|(owners, pods)| {
        let owners = OWNERS.into_iter().zip(owners);
        let mut world = World::new(BEGIN);
        for ((name, app), owned) in owners.filter_map(|(which, owned)| Some((which, owned?))) {
            world.put(owner::<K>(name, app, &owned));
        }
        // The same name, the same selector, another kind; and another namespace.
        world.put(K::namesake("web").replicas(7));
        let outpost = json!({"metadata": {"name": "outpost", "namespace": "lab"}});
        world.put(K::build("web").replicas(1).with(outpost));
        for (at, podlike) in pods.iter().enumerate() {
            world.put(podlike.build::<K>(at));
        }
        world
    })
}

fn owned() -> impl Strategy<Value = Owned> {
    let rarely = || prop::bool::weighted(0.15);
    (
        0..5,
        rarely(),
        rarely(),
        any::<bool>(),
        any::<bool>(),
        rarely(),
    )
        .prop_map(
            |(replicas, patient, deleting, of_a_deployment, labelled, deluded)| Owned {
                replicas,
                min_ready_seconds: if patient { 10 } else { 0 },
                deleting,
                of_a_deployment,
                labelled,
                deluded,
            },
        )
}

fn owner<K: OnTrial>(name: &str, app: &str, owned: &Owned) -> Build {
    let mut owner = K::build(app).replicas(owned.replicas).with(json!({
        "metadata": {"name": name},
        "spec": {"minReadySeconds": owned.min_ready_seconds},
    }));
    if owned.labelled {
        owner = owner.with(json!({"spec": {"template": {"metadata": {"labels": {"tier": "x"}}}}}));
    }
    if owned.of_a_deployment {
        owner = owner.controlled_by("Deployment", "all");
    }
    if owned.deluded {
        let failure = json!({"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"});
        owner = owner.with(json!({"status": {"replicas": 9, "readyReplicas": 8,
            "availableReplicas": 7, "fullyLabeledReplicas": 9, "conditions": [failure]}}));
    }
    if owned.deleting {
        owner = owner.deleting(BEGIN).finalizer("foregroundDeletion");
    }
    owner
}

fn podlike() -> impl Strategy<Value = Podlike> {
    let belongs = prop_oneof![
        6 => Just(Belongs::To("web")),
        3 => Just(Belongs::To("rival")),
        1 => Just(Belongs::To("api")),
        3 => Just(Belongs::ToNobody),
        1 => Just(Belongs::ToAnEarlier("web")),
        1 => Just(Belongs::ToANamesake),
        1 => Just(Belongs::ToAJob),
        1 => Just(Belongs::PartlyTo("web")),
    ];
    let state = prop_oneof![
        2 => Just(State::Unplaced),
        1 => Just(State::Placed),
        1 => Just(State::Unknown),
        2 => Just(State::Running),
        4 => Just(State::Ready),
        2 => Just(State::JustReady),
        1 => Just(State::Failed),
        1 => Just(State::Succeeded),
        1 => Just(State::Going),
        1 => Just(State::Held),
        1 => Just(State::GoingAndEnded),
    ];
    let app = prop_oneof![6 => Just("web"), 1 => Just("api"), 1 => Just("debugged")];
    let node = prop_oneof![Just("node-1"), Just("node-2")];
    let cost = proptest::option::weighted(0.2, prop_oneof![Just("-5"), Just("5"), Just("much")]);
    (app, belongs, state, node, cost).prop_map(|(app, belongs, state, node, cost)| Podlike {
        app,
        belongs,
        state,
        node,
        cost,
    })
}

impl Podlike {
    fn build<K: OnTrial>(&self, at: usize) -> Build {
        let kind = K::KIND.kind;
        let base = pod(&format!("p-{at}")).label("app", self.app);
        let base = match self.cost {
            Some(cost) => base.annotation("controller.kubernetes.io/pod-deletion-cost", cost),
            None => base,
        };
        let base = match self.belongs {
            Belongs::ToNobody => base,
            Belongs::To(name) => base.controlled_by(kind, name),
            Belongs::ToAnEarlier(name) => base.controlled_by_uid(kind, name, "long-gone"),
            Belongs::ToANamesake => base.controlled_by(K::NAMESAKE, "web"),
            Belongs::ToAJob => base.controlled_by("Job", "web"),
            Belongs::PartlyTo(name) => {
                base.controlled_by(kind, name)
                    .with(json!({"metadata": {"ownerReferences": [{
                        "uid": format!("{}-{name}", kind.to_lowercase()),
                        "controller": false, "blockOwnerDeletion": false,
                    }]}}))
            }
        };
        self.in_state(base)
    }

    fn in_state(&self, pod: Build) -> Build {
        let placed = pod.clone().node(self.node);
        match self.state {
            State::Unplaced => pod,
            State::Placed => placed,
            State::Unknown => placed.phase("Unknown"),
            State::Running => placed.phase("Running"),
            State::Ready => placed.ready(),
            State::JustReady => placed.ready_since(BEGIN),
            State::Failed => placed.phase("Failed"),
            State::Succeeded => placed.phase("Succeeded"),
            State::Going => placed.ready().deleting(BEGIN),
            State::Held => placed.ready().deleting(BEGIN).finalizer("example.com/hold"),
            State::GoingAndEnded => placed.phase("Failed").deleting(BEGIN),
        }
    }
}
