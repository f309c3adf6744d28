//! The six laws for both kinds, and what must hold in between whatever happens.

mod past;
mod promises;
mod storms;
mod worlds;

use flyball_api::views::ReplicaSetStatus;
use flyball_api::{Condition, Kind, Lossless};
use flyball_plan::rules::pods::{is_active, is_available, is_ready, is_terminating};
use flyball_testkit::builders::{Build, replica_set, replication_controller};
use flyball_testkit::{Lawful, World};

use super::*;
use crate::replicas::observe::{selects, usable_selector};
use worlds::worlds;

/// A kind whose controller is on trial.
trait OnTrial: ReplicaKind {
    /// The kind.
    const KIND: Kind;
    /// The other kind that keeps up pods.
    const NAMESAKE: &str;
    /// An owner of this kind.
    fn build(name: &str) -> Build;
    /// An owner of the other kind.
    fn namesake(name: &str) -> Build;
}

impl OnTrial for ReplicaSetKind {
    const KIND: Kind = ReplicaSet::KIND;
    const NAMESAKE: &str = "ReplicationController";

    fn build(name: &str) -> Build {
        replica_set(name)
    }

    fn namesake(name: &str) -> Build {
        replication_controller(name)
    }
}

impl OnTrial for ReplicationControllerKind {
    const KIND: Kind = ReplicationController::KIND;
    const NAMESAKE: &str = "ReplicaSet";

    fn build(name: &str) -> Build {
        replication_controller(name)
    }

    fn namesake(name: &str) -> Build {
        replica_set(name)
    }
}

impl<K: OnTrial> Lawful for Replicas<K> {
    const KIND: Kind = K::KIND;
    const STAGE_ACTIONS_MAX: usize = BURST;

    fn subject() -> Self {
        Self::default()
    }

    fn invariants(world: &World) -> Result<(), String> {
        promises::kept_by_the_last_write::<K>(world, promises::Slack::default())
    }

    fn reached(world: &World) -> Result<(), String> {
        let owners = world.list::<K::Object>("");
        owners
            .iter()
            .try_for_each(|it| is_as_desired::<K>(it, world))
    }

    /// How many pods each owner has and what it says of them; and whatever pods are not theirs.
    /// Which of its pods an owner keeps depends on who came first.
    fn essence(world: &World) -> String {
        let owners = world.list::<K::Object>("");
        let mut lines: Vec<String> = owners.iter().map(|it| summary::<K>(it, world)).collect();
        for pod in world.list::<Pod>("") {
            let is_of = |owner: &K::Object| pod.metadata.is_controlled_by(owner.uid());
            if !owners.iter().any(is_of) {
                let owner = pod.metadata.controller().map(|owner| &owner.uid);
                lines.push(format!("{} of {owner:?}", pod.metadata.object_name()));
            }
        }
        lines.join("\n")
    }
}

/// The pods of an owner, counted in the world itself.
#[derive(Debug, PartialEq, Eq)]
struct Counted {
    active: i32,
    fully_labelled: i32,
    ready: i32,
    available: i32,
    terminating: Option<i32>,
}

fn count<K: OnTrial>(object: &K::Object, world: &World) -> Counted {
    let owner = K::owner(object);
    let own = own_pods::<K>(object, world);
    let many = |wanted: &dyn Fn(&Pod) -> bool| own.iter().filter(|pod| wanted(pod)).count() as i32;
    Counted {
        active: many(&is_active),
        fully_labelled: many(&|pod| {
            is_active(pod) && pod.metadata.labels.contains_all(owner.template.labels())
        }),
        ready: many(&|pod| is_active(pod) && is_ready(pod)),
        available: many(&|pod| {
            is_active(pod) && is_available(pod, owner.min_ready_seconds, world.now())
        }),
        terminating: K::COUNTS_TERMINATING.then(|| many(&is_terminating)),
    }
}

/// The pods that an owner controls and selects.
fn own_pods<K: OnTrial>(object: &K::Object, world: &World) -> Vec<Pod> {
    let selector = usable_selector::<K>(object).unwrap();
    let mut pods = world.list::<Pod>(&K::owner(object).meta.namespace);
    pods.retain(|pod| {
        pod.metadata.is_controlled_by(object.uid()) && selects(&selector, &pod.metadata.labels)
    });
    pods
}

fn said<K: OnTrial>(object: &K::Object) -> Counted {
    let status = K::owner(object).status;
    Counted {
        active: status.replicas,
        fully_labelled: status.fully_labeled_replicas,
        ready: status.ready_replicas,
        available: status.available_replicas,
        terminating: status.terminating_replicas,
    }
}

fn summary<K: OnTrial>(object: &K::Object, world: &World) -> String {
    let owner = K::owner(object);
    let Counted { active, .. } = count::<K>(object, world);
    let ReplicaSetStatus {
        ready_replicas,
        available_replicas,
        conditions,
        ..
    } = &**owner.status;
    let name = owner.meta.object_name();
    format!(
        "{name} has {active}, ready {ready_replicas}, available {available_replicas}, {conditions:?}"
    )
}

/// Whether an owner has what it wants and says what is so.
fn is_as_desired<K: OnTrial>(object: &K::Object, world: &World) -> Result<(), String> {
    let owner = K::owner(object);
    let name = owner.meta.object_name();
    let (is, says) = (count::<K>(object, world), said::<K>(object));
    if is != says {
        return Err(format!("{name} is {is:?}, but says {says:?}"));
    }
    if owner.status.observed_generation != owner.meta.generation {
        return Err(format!("{name} has not observed its own generation"));
    }
    let is_failure = |condition: &Lossless<Condition>| condition.kind == "ReplicaFailure";
    if owner.status.conditions.iter().any(is_failure) {
        return Err(format!("{name} still says that it fails"));
    }
    if owner.meta.is_deleting() {
        return Ok(());
    }
    if usize::try_from(is.active) != Ok(owner.replicas) {
        return Err(format!(
            "{name} wants {} pods and has {is:?}",
            owner.replicas
        ));
    }
    let selector = usable_selector::<K>(object)?;
    for pod in world
        .list::<Pod>(&owner.meta.namespace)
        .iter()
        .filter(|pod| is_active(pod))
    {
        let matches = selects(&selector, &pod.metadata.labels);
        if matches && pod.metadata.controller().is_none() {
            return Err(format!("{name} left {} an orphan", pod.metadata.name));
        }
        if !matches && pod.metadata.is_controlled_by(&owner.meta.uid) {
            return Err(format!("{name} did not let {} go", pod.metadata.name));
        }
    }
    Ok(())
}

mod replica_sets {
    use super::*;
    flyball_testkit::laws!(ReplicaSetController, worlds::<ReplicaSetKind>);
}

mod replication_controllers {
    use super::*;
    flyball_testkit::laws!(
        ReplicationControllerController,
        worlds::<ReplicationControllerKind>
    );
}
