//! Which Deployments a change concerns.

use flyball_api::views::{BY_CONTROLLER, Deployment, Pod, ReplicaSet, controller_value};
use flyball_api::{LabelSelector, Meta, ObjectName, OwnerReference};
use flyball_informer::{Change, ChangeOf, Snapshot};
use flyball_plan::Keys;

use super::limits::Strategy;

pub(super) fn route(change: &Change, store: &Snapshot) -> Keys<ObjectName> {
    if change.kind == Deployment::KIND {
        return vec![change.name.clone()];
    }
    if let Some(states) = change.of::<ReplicaSet>() {
        // A second look at an unchanged ReplicaSet shows nothing that its Deployment, which gets
        // a second look of its own, does not see.
        return if change.resync {
            Vec::new()
        } else {
            of_replica_set(&states, store)
        };
    }
    if let Some(states) = change.of::<Pod>() {
        return of_pod(&states, store);
    }
    Vec::new()
}

/// The Deployment that owns it and the one that did before; for an orphan whatever could adopt it,
/// if this is news.
fn of_replica_set(states: &ChangeOf<'_, ReplicaSet>, store: &Snapshot) -> Keys<ObjectName> {
    let old = states.old.map(|set| &set.metadata);
    let new = states.new.map(|set| &set.metadata);
    let owner = |meta: Option<&Meta>| meta.and_then(|meta| owner_of(meta, store));
    let mut keys: Keys<ObjectName> = owner(old)
        .into_iter()
        .chain(owner(new))
        .map(|owner| owner.metadata.object_name())
        .collect();
    keys.dedup();
    if let Some(new) = new
        && new.controller().is_none()
        && !new.is_deleting()
        && is_news(old, new)
    {
        keys.extend(adopters(new, store));
    }
    keys
}

/// Whether an orphan may now match what it did not match before.
fn is_news(old: Option<&Meta>, new: &Meta) -> bool {
    old.is_none_or(|old| {
        old.uid != new.uid || old.labels != new.labels || old.controller().is_some()
    })
}

/// The Deployments whose selector matches an orphan. A selector that is absent, empty or nonsense
/// matches nothing here.
fn adopters(orphan: &Meta, store: &Snapshot) -> impl Iterator<Item = ObjectName> {
    let matches = |deployment: &Deployment| {
        LabelSelector::compile_optional(deployment.spec.selector.as_ref()).is_ok_and(|selector| {
            !selector.is_empty() && selector.matches_with(|label| orphan.labels.get(label))
        })
    };
    let has_labels = !orphan.labels.is_empty();
    store
        .list::<Deployment>(&orphan.namespace)
        .filter(move |deployment| has_labels && matches(deployment))
        .map(|deployment| deployment.metadata.object_name())
}

/// The Deployment of a pod that went, if it waits for exactly that: strategy Recreate, and not a
/// single pod is left.
///
/// Upstream asks the server for the ReplicaSets each time a pod goes; the cache will do, since a
/// sync that comes too early only waits on.
fn of_pod(states: &ChangeOf<'_, Pod>, store: &Snapshot) -> Keys<ObjectName> {
    let gone = match (states.old, states.new) {
        (Some(old), None) => old,
        (Some(old), Some(_)) if states.is_recreation() => old,
        _ => return Vec::new(),
    };
    let waiting = gone
        .metadata
        .controller()
        .filter(|owner| owner.kind == ReplicaSet::KIND.kind)
        .and_then(|owner| {
            let set = store.get::<ReplicaSet>(&gone.metadata.namespace, &owner.name)?;
            (set.metadata.uid == owner.uid).then_some(set)
        })
        .and_then(|set| owner_of(&set.metadata, store))
        .filter(|deployment| Strategy::of(deployment) == Strategy::Recreate)
        .filter(|deployment| !has_pods(deployment, store));
    waiting
        .map(|deployment| deployment.metadata.object_name())
        .into_iter()
        .collect()
}

fn has_pods(deployment: &Deployment, store: &Snapshot) -> bool {
    let namespace = &deployment.metadata.namespace;
    let sets = controller_value(namespace, Some(&deployment.metadata.uid));
    store
        .indexed::<ReplicaSet>(BY_CONTROLLER, &sets)
        .any(|set| {
            let pods = controller_value(namespace, Some(&set.metadata.uid));
            store.indexed::<Pod>(BY_CONTROLLER, &pods).next().is_some()
        })
}

/// The Deployment that controls an object, if the cache has that very incarnation.
fn owner_of<'a>(meta: &Meta, store: &'a Snapshot) -> Option<&'a Deployment> {
    let owner: &OwnerReference = meta.controller()?;
    if owner.kind != Deployment::KIND.kind {
        return None;
    }
    let deployment = store.get::<Deployment>(&meta.namespace, &owner.name)?;
    (deployment.metadata.uid == owner.uid).then_some(deployment)
}
