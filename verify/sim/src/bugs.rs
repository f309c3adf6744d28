//! Deliberate bugs: proof that the simulator bites.
//!
//! Each is a mistake that controllers have been published with, made at a seam of the replicas of
//! the simulator: production code is not touched, and none of this is compiled into it. The table
//! in `docs/sim-bugs.md` says which invariant catches each, and by which seed.

mod cleaning;

use flyball_api::views::{BY_CONTROLLER, Pod, ReplicaSet, controller_value};
use flyball_api::{Object, ObjectName, Uid};
use flyball_informer::{Change, Snapshot};
use flyball_plan::{Action, Actions, Answer, Body, Precondition, Subresource, Written};
use serde_json::Value;

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
}

/// Every bug with its name and what it is drawn from.
pub const BUGS: &[(Bug, &str, &str)] = &[
    (
        Bug::ForgetsOwnWrites,
        "forgets-own-writes",
        "stale-cache double create: what upstream's expectations are for",
    ),
    (
        Bug::DeletesByName,
        "deletes-by-name",
        "delete by name: upstream's StatefulSet and Job deletes without preconditions",
    ),
    (
        Bug::PatchesBlindly,
        "patches-blindly",
        "missing precondition: adoption races of kubernetes#42639",
    ),
    (
        Bug::SurgeOffByOne,
        "surge-off-by-one",
        "off by one in surge: fencepost errors of rolling updates",
    ),
    (
        Bug::UnavailableOffByOne,
        "unavailable-off-by-one",
        "off by one in unavailable: the same on the way down",
    ),
    (
        Bug::WaitsForNothing,
        "waits-for-nothing",
        "expectation leak: creations counted that never happened",
    ),
    (
        Bug::SwallowsErrors,
        "swallows-errors",
        "errors dropped in a sync, so that nothing tries again",
    ),
    (
        Bug::StatusBeforeAction,
        "status-before-action",
        "status written before the action it tells of",
    ),
    (
        Bug::WritesAfterItsTerm,
        "writes-after-its-term",
        "split leader: kubernetes#67651 and the like",
    ),
    (
        Bug::RepairsOnResyncOnly,
        "repairs-on-resync-only",
        "a lost trigger that only the periodic resync repairs",
    ),
    (
        Bug::DropsDeletions,
        "drops-deletions",
        "deletions lost between a watch and the cache",
    ),
    (
        Bug::SkipsWhatExpired,
        "skips-what-expired",
        "a watch resumed from now after 410, without a list",
    ),
    (
        Bug::DeletesOldSets,
        "deletes-old-sets",
        "revision history lost in a roll-out",
    ),
    (
        Bug::NeverContent,
        "never-content",
        "hot loop by a status that changes with each write",
    ),
    (
        Bug::TouchesStrangers,
        "touches-strangers",
        "selectors that overlap: pods of others deleted",
    ),
    (
        Bug::CollectsForEver,
        "collects-for-ever",
        "deletions do not trigger the aggregate",
    ),
    (
        Bug::LosesBindings,
        "loses-bindings",
        "a binding assumed to have worked and never forgotten",
    ),
    (
        Bug::NeverStopsPods,
        "never-stops-pods",
        "pods stuck in Terminating",
    ),
    (
        Bug::IgnoresTombstones,
        "ignores-tombstones",
        "DeletedFinalStateUnknown dropped by a handler",
    ),
    (
        Bug::PublishesOnce,
        "publishes-once",
        "updates of what was published are not watched",
    ),
    (
        Bug::CollectsByName,
        "collects-by-name",
        "an owner made again under the same name keeps garbage alive",
    ),
    (
        Bug::TrustsItsCache,
        "trusts-its-cache",
        "absent owners not confirmed: dependents of new owners collected",
    ),
    (
        Bug::IgnoresOtherOwners,
        "ignores-other-owners",
        "an object with a living and a dead owner is collected",
    ),
    (
        Bug::LetsGoBeforeFreeing,
        "lets-go-before-freeing",
        "orphan finalizer removed first: kubernetes#42639's kind of cascade",
    ),
    (
        Bug::OverlooksDependents,
        "overlooks-dependents",
        "foreground deletion that does not wait for what it cannot see",
    ),
    (
        Bug::LosesFinalizerRemovals,
        "loses-finalizer-removals",
        "lost finalizer removal: owners stuck in Terminating",
    ),
    (
        Bug::TakesFailedListsForEmpty,
        "takes-failed-lists-for-empty",
        "a namespace finalized although a list had failed",
    ),
    (
        Bug::PassesOverGroups,
        "passes-over-groups",
        "a namespace finalized although discovery had failed in part",
    ),
];

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
        cleaning::spoil_sight(bug?, controller, shown)
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
            Some(Self::DeletesOldSets) if controller == DEPLOYMENTS => {
                for action in &mut actions.items {
                    if let (Some(set), Some(0)) = (set_of(seen, action), scaled_to(action)) {
                        *action = Action::delete(ReplicaSet::KIND, &set.metadata);
                    }
                }
            }
            Some(Self::TouchesStrangers) if controller == SETS => {
                for action in &mut actions.items {
                    let Action::Delete { target, .. } = action else {
                        continue;
                    };
                    let owned = seen.get::<Pod>(&target.name.namespace, &target.name.name);
                    let owner = owned.and_then(|pod| pod.metadata.controller().cloned());
                    let mut others = seen.list::<Pod>(&target.name.namespace);
                    let other = others.find(|pod| {
                        pod.metadata.controller() != owner.as_ref() && !pod.metadata.is_deleting()
                    });
                    if let Some(other) = other {
                        *action = Action::delete(Pod::KIND, &other.metadata);
                    }
                }
            }
            Some(bug) => cleaning::spoil_plan(bug, controller, actions),
            None => {}
        }
    }

    /// Changes what is sent.
    pub(crate) fn spoil_action(bug: Option<Self>, _controller: &str, action: &mut Action) {
        match (bug, action) {
            (Some(Self::DeletesByName), Action::Delete { precondition, .. }) => {
                *precondition = Precondition::default();
            }
            (
                Some(Self::PatchesBlindly),
                Action::Patch { body, .. } | Action::Update { body, .. },
            ) => {
                edit(body, |body| {
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
        match (bug, action, answer) {
            (Some(Self::ForgetsOwnWrites), Action::Create { .. }, Answer::Done(written)) => {
                Answer::Done(Written {
                    resource_version: Default::default(),
                    ..written
                })
            }
            (Some(Self::WaitsForNothing), Action::Create { .. }, Answer::Failed(_)) => {
                Answer::Done(Written {
                    name: "leaked".into(),
                    uid: Uid::default(),
                    resource_version: "999999999".into(),
                })
            }
            (Some(Self::SwallowsErrors), action, Answer::Failed(_)) if action.is_write() => {
                Answer::Done(Written::default())
            }
            (Some(Self::LosesBindings), Action::Bind { .. }, Answer::Failed(_)) => {
                debug_assert_eq!(controller, "kube-scheduler");
                Answer::Done(Written::default())
            }
            (Some(bug), action, answer) => {
                cleaning::spoil_answer(bug, controller, seen, action, answer)
            }
            (None, _, answer) => answer,
        }
    }
}

fn edit(body: &mut Body, change: impl FnOnce(&mut Value)) {
    if let Ok(mut value) = serde_json::from_str::<Value>(body.json()) {
        change(&mut value);
        *body = Body::of(&value);
    }
}

fn each_status(actions: &mut Actions, change: impl Fn(&mut Value)) {
    for action in &mut actions.items {
        if let Action::Patch {
            subresource: Subresource::Status,
            body,
            ..
        }
        | Action::Update {
            subresource: Subresource::Status,
            body,
            ..
        } = action
        {
            edit(body, &change);
        }
    }
}

/// The ReplicaSet that an action changes, as it was seen.
pub(crate) fn set_of(seen: &Snapshot, action: &Action) -> Option<std::sync::Arc<ReplicaSet>> {
    let (Action::Patch { target, .. } | Action::Update { target, .. }) = action else {
        return None;
    };
    let is_set = target.kind == ReplicaSet::KIND;
    let set = seen.get::<ReplicaSet>(&target.name.namespace, &target.name.name);
    set.filter(|_| is_set).cloned()
}

/// The number of replicas that an action sets.
pub(crate) fn scaled_to(action: &Action) -> Option<i64> {
    let (Action::Patch { body, .. } | Action::Update { body, .. } | Action::Create { body, .. }) =
        action
    else {
        return None;
    };
    let body: Value = serde_json::from_str(body.json()).ok()?;
    body["spec"]["replicas"].as_i64()
}

fn each_scale(seen: &Snapshot, actions: &mut Actions, change: impl Fn(i64, i64) -> i64) {
    for action in &mut actions.items {
        let (Some(set), Some(to)) = (set_of(seen, action), scaled_to(action)) else {
            continue;
        };
        let was = i64::from(set.spec.replicas.unwrap_or(1));
        let to = change(was, to);
        if let Action::Patch { body, .. } | Action::Update { body, .. } = action {
            edit(body, |body| body["spec"]["replicas"] = to.into());
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
