//! Deliberate bugs: proof that the simulator bites.
//!
//! Each is a mistake that controllers have been published with, made at a seam of the replicas of
//! the simulator: production code is not touched, and none of this is compiled into it. The table
//! in `docs/sim-bugs.md` says which invariant catches each, and by which seed.

mod cleaning;
mod orchestration;
mod table;

use flyball_api::views::{BY_CONTROLLER, Pod, ReplicaSet, controller_value};
use flyball_api::{Object, ObjectName, Uid};
use flyball_informer::{Change, Snapshot};
use flyball_plan::{
    Action, Actions, Answer, Body, Precondition, Subresource, Target, Verb, Write, Written,
};
use serde_json::Value;

pub(crate) use orchestration::{Bugs, second_view};
pub use table::BUGS;

/// A deliberate bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// Plans again before the caches have shown what it created.
    ForgetsOwnWrites,
    /// Deletes whatever has the name.
    DeletesByName,
    /// Patches whatever has the name.
    PatchesBlindly,
    /// Scales up by one more than the roll-out allows.
    SurgeOffByOne,
    /// Scales down by one more than the roll-out allows.
    UnavailableOffByOne,
    /// Waits to see a write that never took effect.
    WaitsForNothing,
    /// Takes a failure for a success.
    SwallowsErrors,
    /// Writes into the status what is yet to be done.
    StatusBeforeAction,
    /// Goes on writing when its term is over by the clock.
    WritesAfterItsTerm,
    /// Hears of changes to pods only when everything is looked at again.
    RepairsOnResyncOnly,
    /// Loses deletions that a watch tells of.
    DropsDeletions,
    /// Goes on from the present when a watch has expired, without a list.
    SkipsWhatExpired,
    /// Deletes old ReplicaSets instead of scaling them down.
    DeletesOldSets,
    /// Writes a status that differs from the last one each time.
    NeverContent,
    /// Deletes pods that belong to somebody else.
    TouchesStrangers,
    /// Passes over the end of roles that are collected.
    CollectsForEver,
    /// Takes a binding that failed for done.
    LosesBindings,
    /// Kubelets do not hear that pods are to go.
    NeverStopsPods,
    /// Passes over deletions that only a list shows.
    IgnoresTombstones,
    /// Publishes the certificate once and never looks again.
    PublishesOnce,
    /// Takes an owner of the same name for the owner.
    CollectsByName,
    /// Takes an owner that no cache shows for gone, without asking.
    TrustsItsCache,
    /// Collects what has another owner that lives.
    IgnoresOtherOwners,
    /// Lets an owner go before its dependents are free.
    LetsGoBeforeFreeing,
    /// Does not see some of the dependents that an owner waits for.
    OverlooksDependents,
    /// Takes a finalizer for removed whose removal failed.
    LosesFinalizerRemovals,
    /// Takes a list that failed for an empty one.
    TakesFailedListsForEmpty,
    /// Takes groups that cannot be asked for such as are not there.
    PassesOverGroups,
    /// Erases conditions of other parties from a status.
    ErasesConditions,
    /// Caches pods as a type that the other controllers do not know.
    CachesSecondView,
    /// Lets a controller begin before what was listed is published.
    ReadyBeforePublished,
    /// Drops the old view of a kind that changes its version.
    DropsOldVersion,
    /// Believes that what an incomplete kind does not show is not there.
    BelievesIncomplete,
    /// Asks for the permission to write before it opens the connection.
    PermitBeforeConnecting,
    /// Begins a term with the caches as they are.
    LeadsWithOldCaches,
    /// Takes versions that go back.
    TakesLowerVersions,
    /// Keeps what it knows of own writes over a restore.
    KeepsGates,
    /// Does not list one kind anew after a restore.
    SparesOneKind,
    /// Forgets to look at everything once more.
    LosesResyncs,
    /// Routes changes before it publishes them.
    RoutesBeforePublishing,
    /// Hands out a key that is being worked on.
    HandsOutTwice,
    /// Gives the Lease up while syncs still run.
    StopsWithoutWaiting,
    /// Goes on writing after a lost connection.
    NeverDoubts,
}

const SETS: &str = "replicaset-controller";
const DEPLOYMENTS: &str = "deployment-controller";

impl Bug {
    /// The bug of this name.
    pub fn named(name: &str) -> Option<Self> {
        let found = BUGS.iter().find(|(_, named, _)| *named == name);
        found.map(|(bug, ..)| *bug)
    }

    /// Whether a controller hears of a change.
    pub(crate) fn lets_pass(bug: Option<Self>, controller: &str, change: &Change) -> bool {
        let states = |change: &Change| {
            let pod = change.of::<flyball_kubelets::views::Pod>();
            pod.is_some_and(|pod| pod.new.is_some_and(|pod| Object::is_deleting(&**pod)))
        };
        match bug {
            Some(Self::RepairsOnResyncOnly) if controller == SETS => {
                change.kind != Pod::KIND || change.resync
            }
            Some(Self::CollectsForEver) if controller.starts_with("clusterrole") => {
                let role = ObjectName::new("", "sum");
                change.name == role
            }
            Some(Self::IgnoresTombstones) => !change.tombstone,
            Some(Self::PublishesOnce) if controller.starts_with("root-ca") => {
                change.kind.plural != "configmaps" || change.resync
            }
            Some(Self::NeverStopsPods) if controller.starts_with("simulated-pod") => {
                !states(change)
            }
            _ => true,
        }
    }

    /// What a controller is shown of the caches, if it is not all.
    pub(crate) fn spoil_sight(
        bug: Option<Self>,
        controller: &str,
        shown: &Snapshot,
    ) -> Option<Snapshot> {
        let bug = bug?;
        orchestration::spoil_sight(bug, shown)
            .or_else(|| cleaning::spoil_sight(bug, controller, shown))
    }

    /// Changes what was planned; never how much.
    pub(crate) fn spoil_plan(
        bug: Option<Self>,
        controller: &str,
        seen: &Snapshot,
        actions: &mut Actions,
    ) {
        match bug {
            Some(Self::SurgeOffByOne) if controller == DEPLOYMENTS => {
                each_scale(seen, actions, |was, to| to + i64::from(to > was));
            }
            Some(Self::UnavailableOffByOne) if controller == DEPLOYMENTS => {
                each_scale(seen, actions, |was, to| (to - i64::from(to < was)).max(0));
            }
            Some(Self::StatusBeforeAction) if controller == SETS => {
                each_status(actions, |body| {
                    let desired = body["status"]["replicas"].as_i64().unwrap_or(0) + 1;
                    body["status"]["replicas"] = desired.into();
                    body["status"]["readyReplicas"] = desired.into();
                    body["status"]["availableReplicas"] = desired.into();
                });
            }
            Some(Self::NeverContent) if controller == SETS => each_status(actions, |body| {
                let version = body["metadata"]["resourceVersion"].as_str();
                let version: i64 = version.and_then(|text| text.parse().ok()).unwrap_or(0);
                body["status"]["fullyLabeledReplicas"] = (version % 7).into();
            }),
            Some(Self::ErasesConditions) if controller == SETS => each_status(actions, |body| {
                let conditions = body["status"]["conditions"].as_array_mut();
                if let Some(conditions) = conditions {
                    conditions.retain(|it| !it["type"].as_str().unwrap_or_default().contains('/'));
                }
            }),
            Some(Self::DeletesOldSets) if controller == DEPLOYMENTS => {
                for action in &mut actions.items {
                    if let (Some(set), Some(0)) = (set_of(seen, action), scaled_to(action)) {
                        *action = Write::delete(ReplicaSet::KIND, &set.metadata).into();
                    }
                }
            }
            Some(Self::TouchesStrangers) if controller == SETS => {
                for action in &mut actions.items {
                    let Some(target) = deleted(action) else {
                        continue;
                    };
                    let owned = seen.get::<Pod>(&target.name.namespace, &target.name.name);
                    let owner = owned.and_then(|pod| pod.metadata.controller().cloned());
                    let mut others = seen.list::<Pod>(&target.name.namespace);
                    let other = others.find(|pod| {
                        pod.metadata.controller() != owner.as_ref() && !pod.metadata.is_deleting()
                    });
                    if let Some(other) = other {
                        *action = Write::delete(Pod::KIND, &other.metadata).into();
                    }
                }
            }
            Some(bug) => cleaning::spoil_plan(bug, controller, actions),
            None => {}
        }
    }

    /// Changes what is sent.
    pub(crate) fn spoil_action(bug: Option<Self>, _controller: &str, action: &mut Action) {
        let Some(write) = action.write_mut() else {
            return;
        };
        match (bug, write.verb) {
            (Some(Self::DeletesByName), Verb::Delete { .. }) => {
                write.precondition = Precondition::default();
            }
            (Some(Self::PatchesBlindly), Verb::StrategicPatch | Verb::Update) => {
                edit(&mut write.body, |body| {
                    if let Some(meta) = body["metadata"].as_object_mut() {
                        meta.remove("uid");
                        meta.remove("resourceVersion");
                    }
                });
            }
            _ => {}
        }
    }

    /// Changes what is heard of it.
    pub(crate) fn spoil_answer(
        bug: Option<Self>,
        controller: &str,
        seen: &Snapshot,
        action: &Action,
        answer: Answer,
    ) -> Answer {
        let creates = action.write().map(Write::is_create);
        match (bug, creates, answer) {
            (Some(Self::ForgetsOwnWrites), Some(true), Answer::Done(written)) => {
                Answer::Done(Written {
                    resource_version: Default::default(),
                    ..written
                })
            }
            (Some(Self::WaitsForNothing), Some(true), Answer::Failed(_)) => Answer::Done(Written {
                name: "leaked".into(),
                uid: Uid::default(),
                resource_version: "999999999".into(),
                object: None,
            }),
            (Some(Self::SwallowsErrors), Some(_), Answer::Failed(_)) => {
                Answer::Done(Written::default())
            }
            (Some(Self::LosesBindings), Some(false), Answer::Failed(_))
                if controller == "kube-scheduler" && is_binding(action) =>
            {
                Answer::Done(Written::default())
            }
            (Some(bug), _, answer) => cleaning::spoil_answer(bug, controller, seen, action, answer),
            (None, _, answer) => answer,
        }
    }
}

fn is_binding(action: &Action) -> bool {
    let write = action.write();
    write.is_some_and(|write| write.subresource == Subresource::BINDING)
}

/// The object that an action deletes.
pub(crate) fn deleted(action: &Action) -> Option<&Target> {
    let write = action.write()?;
    matches!(write.verb, Verb::Delete { .. }).then_some(&write.target)
}

fn edit(body: &mut Body, change: impl FnOnce(&mut Value)) {
    if let Ok(mut value) = serde_json::from_str::<Value>(body.json()) {
        change(&mut value);
        *body = Body::of(&value);
    }
}

fn each_status(actions: &mut Actions, change: impl Fn(&mut Value)) {
    for action in &mut actions.items {
        let write = action.write_mut();
        if let Some(write) = write.filter(|write| write.subresource == Subresource::STATUS) {
            edit(&mut write.body, &change);
        }
    }
}

/// The ReplicaSet that an action changes, as it was seen.
pub(crate) fn set_of(seen: &Snapshot, action: &Action) -> Option<std::sync::Arc<ReplicaSet>> {
    let write = action.write()?;
    let target = match write.verb {
        Verb::StrategicPatch | Verb::Update => &write.target,
        _ => return None,
    };
    let is_set = target.kind == ReplicaSet::KIND;
    let set = seen.get::<ReplicaSet>(&target.name.namespace, &target.name.name);
    set.filter(|_| is_set).cloned()
}

/// The number of replicas that an action sets.
pub(crate) fn scaled_to(action: &Action) -> Option<i64> {
    let body: Value = serde_json::from_str(action.write()?.body.json()).ok()?;
    body["spec"]["replicas"].as_i64()
}

fn each_scale(seen: &Snapshot, actions: &mut Actions, change: impl Fn(i64, i64) -> i64) {
    for action in &mut actions.items {
        let (Some(set), Some(to)) = (set_of(seen, action), scaled_to(action)) else {
            continue;
        };
        let was = i64::from(set.spec.replicas.unwrap_or(1));
        let to = change(was, to);
        if let Some(write) = action.write_mut() {
            edit(&mut write.body, |body| body["spec"]["replicas"] = to.into());
        }
    }
}

/// The active pods that a ReplicaSet manages, as they were seen.
pub(crate) fn pods_seen<'a>(
    seen: &'a Snapshot,
    namespace: &str,
    owner: &Uid,
) -> impl Iterator<Item = &'a std::sync::Arc<Pod>> {
    let own = controller_value(namespace, Some(owner));
    seen.indexed::<Pod>(BY_CONTROLLER, &own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bug_has_a_name_of_its_own() {
        for (bug, name, _) in BUGS {
            assert_eq!(Bug::named(name), Some(*bug));
        }
        assert!(BUGS.len() >= 15);
        assert_eq!(Bug::named("none"), None);
    }
}
