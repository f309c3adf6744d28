//! A toy controller on trial: it keeps as many pods as a ReplicaSet asks for, and counts them.
//!
//! It creates and deletes, and does not adopt. `BUG` chooses a mistake, one for each law.

use std::collections::HashMap;
use std::sync::Arc;

use flyball_api::views::{BY_CONTROLLER, Pod, ReplicaSet, controller_value};
use flyball_api::{Kind, ObjectName};
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::rules::{pod_body::pod_body, pods};
use flyball_plan::{
    Action, Actions, Answers, Body, Controller, Descriptor, Keys, Now, Precondition, Report, Rule,
    Step, Subresource, Target, Write,
};
use flyball_testkit::{Lawful, World};
use serde_json::json;

const KEEP_PODS: Rule = Rule::new("KeepPods", "keep pods");

/// No mistake.
pub(crate) const NONE: u8 = 0;
/// Writes the status whether or not it changed.
pub(crate) const RESTLESS: u8 = 1;
/// Takes every pod with the right labels for its own.
pub(crate) const GREEDY: u8 = 2;
/// Has no name for its stages but one.
pub(crate) const ENDLESS: u8 = 3;
/// Deletes in the order that a hash map happens to have.
pub(crate) const RANDOM: u8 = 4;
/// Believes its own status, and writes it before it acts.
pub(crate) const BELIEVING: u8 = 5;
/// Deletes by name.
pub(crate) const BY_NAME: u8 = 6;

pub(crate) struct Keeper<const BUG: u8>;

#[derive(Debug)]
pub(crate) struct Seen {
    set: Arc<ReplicaSet>,
    pods: Vec<Arc<Pod>>,
}

impl<const BUG: u8> Controller for Keeper<BUG> {
    type Key = ObjectName;
    type Observation = Seen;
    type Memory = ();
    const RULES: &'static [Rule] = &[KEEP_PODS];

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "keeper",
        aliases: &[],
        client: "keeper",
        component: "keeper",
        queue: "keeper",
        watches: &[Watch::of::<ReplicaSet>(), Watch::of::<Pod>()],
        workers: 1,
        retries_max: None,
        ..Descriptor::BASE
    };

    fn route(&self, change: &Change, _: &Snapshot) -> Keys<ObjectName> {
        if change.kind == ReplicaSet::KIND {
            return vec![change.name.clone()];
        }
        let Some(pod) = change.of::<Pod>() else {
            return Vec::new();
        };
        let owners = pod.states().filter_map(|pod| pod.metadata.controller());
        owners
            .map(|owner| ObjectName::new(&change.name.namespace, &owner.name))
            .collect()
    }

    fn observe(&self, key: &ObjectName, store: &Snapshot, _: &()) -> Option<Seen> {
        let set = store.get::<ReplicaSet>(&key.namespace, &key.name)?.clone();
        let meta = &set.metadata;
        let own = controller_value(&meta.namespace, Some(&meta.uid));
        let pods: Vec<_> = if BUG == GREEDY {
            let labels = set.spec.template.labels();
            let like = store
                .list::<Pod>("")
                .filter(|pod| pod.metadata.labels.contains_all(labels));
            like.cloned().collect()
        } else if BUG == RANDOM {
            let own = store.indexed::<Pod>(BY_CONTROLLER, &own);
            let by_name: HashMap<_, _> = own.map(|pod| (&pod.metadata.name, pod)).collect();
            by_name.into_values().cloned().collect()
        } else {
            store.indexed::<Pod>(BY_CONTROLLER, &own).cloned().collect()
        };
        let pods = pods
            .into_iter()
            .filter(|pod| pods::is_active(pod))
            .collect();
        Some(Seen { set, pods })
    }

    fn step(&self, seen: &Seen, answers: &Answers, _: Now) -> Step {
        let Seen { set, pods } = seen;
        let desired = usize::try_from(set.spec.replicas.unwrap_or(1)).unwrap_or(0);
        let believed = if BUG == BELIEVING {
            set.status.replicas as usize
        } else {
            pods.len()
        };
        let report = Report::new(KEEP_PODS)
            .saw("desired", desired)
            .saw("active", pods.len());
        if set.metadata.is_deleting() {
            return Step::rest(report);
        }
        let counted = if BUG == BELIEVING {
            desired
        } else {
            pods.len()
        };
        let outdated = set.status.replicas as usize != counted || BUG == RESTLESS;
        if outdated && answers.stage("status").is_none() {
            return Step::Do(Actions::in_order("status", vec![count(set, counted)]));
        }
        let one_by_one = if BUG == ENDLESS { 1 } else { usize::MAX };
        let done = if BUG == ENDLESS { answers.len() } else { 0 };
        if (answers.stage("pods").is_none() || BUG == ENDLESS) && believed != desired {
            let actions: Vec<_> = if believed < desired {
                let body = pod_body(&set.spec.template, ReplicaSet::KIND, &set.metadata);
                let Ok(body) = body else {
                    return Step::rest(report);
                };
                let create = Write::create(Pod::KIND, &set.metadata.namespace, body);
                vec![create.into(); (desired - believed).saturating_sub(done).min(one_by_one)]
            } else {
                let victims = pods
                    .iter()
                    .skip(done)
                    .take((believed - desired).min(one_by_one));
                victims.map(|pod| delete::<BUG>(pod)).collect()
            };
            if !actions.is_empty() {
                return Step::Do(Actions::slow_start("pods", actions));
            }
        }
        match answers.stage("pods").and_then(|pods| pods.first_error()) {
            Some(error) => Step::retry(error, report),
            None => Step::rest(report),
        }
    }
}

fn delete<const BUG: u8>(pod: &Pod) -> Action {
    let mut precondition = Precondition::incarnation(&pod.metadata);
    if BUG == BY_NAME {
        precondition.uid = None;
    }
    Write::delete_if(Target::of(Pod::KIND, &pod.metadata), precondition).into()
}

fn count(set: &ReplicaSet, pods: usize) -> Action {
    let body = Body::of(&json!({"metadata": set.metadata, "status": {"replicas": pods}}));
    let precondition = Precondition::unchanged(&set.metadata);
    Write::update(
        Target::of(ReplicaSet::KIND, &set.metadata),
        precondition,
        body,
    )
    .to_subresource(Subresource::STATUS)
    .into()
}

/// The pods that a set controls and that count.
fn own(world: &World, set: &ReplicaSet) -> usize {
    let own = |pod: &&Pod| pods::is_active(pod) && pod.metadata.is_controlled_by(&set.metadata.uid);
    world.list::<Pod>("").iter().filter(own).count()
}

impl<const BUG: u8> Lawful for Keeper<BUG> {
    const KIND: Kind = ReplicaSet::KIND;

    fn subject() -> Self {
        Self
    }

    /// Never more pods than there were, or than were ever wanted at once.
    fn invariants(world: &World) -> Result<(), String> {
        for set in world.list::<ReplicaSet>("") {
            let meta = &set.metadata;
            let pods = own(world, &set);
            let before = own(&world.at_start(), &set);
            let states = world.states::<ReplicaSet>(&meta.namespace, &meta.name);
            let wanted = states
                .iter()
                .filter_map(|set| set.spec.replicas)
                .max()
                .unwrap_or(0);
            if pods > before.max(wanted as usize) {
                return Err(format!(
                    "{pods} pods of {}, wanted at most {wanted}",
                    meta.name
                ));
            }
        }
        Ok(())
    }

    fn reached(world: &World) -> Result<(), String> {
        for set in world.list::<ReplicaSet>("") {
            let (pods, wanted) = (own(world, &set), set.spec.replicas.unwrap_or(1) as usize);
            if pods != wanted && !set.metadata.is_deleting() {
                return Err(format!("{pods} of {wanted} pods of {}", set.metadata.name));
            }
        }
        Ok(())
    }

    fn may_adopt(_: &serde_json::Value, _: &serde_json::Value) -> bool {
        false
    }
}
