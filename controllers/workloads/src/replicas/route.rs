//! Which owners a change concerns.

use std::sync::Arc;

use flyball_api::views::Pod;
use flyball_api::{LeanMeta, Object, ObjectName, OwnerReference};
use flyball_informer::{Change, ChangeOf, Snapshot};
use flyball_plan::Keys;

use super::ReplicaKind;
use super::observe::{selects, usable_selector};

pub(super) fn route<K: ReplicaKind>(change: &Change, store: &Snapshot) -> Keys<ObjectName> {
    // Whatever happened to an owner, also another incarnation under its name: look at it.
    if change.kind == K::Object::kind() {
        return vec![change.name.clone()];
    }
    change
        .of::<Pod>()
        .map_or_else(Vec::new, |pod| owners_of_pod::<K>(&pod, store))
}

fn owners_of_pod<K: ReplicaKind>(pod: &ChangeOf<'_, Pod>, store: &Snapshot) -> Keys<ObjectName> {
    if let (Some(old), Some(new)) = (pod.old, pod.new)
        && old.metadata.uid == new.metadata.uid
        && old.metadata.resource_version == new.metadata.resource_version
    {
        return Vec::new();
    }
    // A controller reference is all that matters: who lost the pod and who has it now.
    let mut keys: Vec<ObjectName> = pod
        .states()
        .filter_map(|state| {
            let owner = state.metadata.controller()?;
            let name = ObjectName {
                namespace: state.metadata.namespace.clone(),
                name: owner.name.clone(),
            };
            is_cached::<K>(&name, owner, store).then_some(name)
        })
        .collect();
    keys.dedup();
    // Otherwise it is an orphan: whoever selects it may want to adopt it. Nobody cares about one
    // that is going or gone, or that none of its former suitors can see differently now.
    if let Some(orphan) = pod.new
        && orphan.metadata.controller().is_none()
        && !orphan.metadata.is_deleting()
        && pod
            .old
            .is_none_or(|old| may_be_seen_differently(&old.metadata, &orphan.metadata))
    {
        keys.extend(
            suitors::<K>(orphan, store)
                .filter(|key| !keys.contains(key))
                .collect::<Vec<_>>(),
        );
    }
    keys
}

/// Whether the reference leads to the owner that is cached: by kind, name and UID. Its group is
/// not compared, as upstream does not either.
fn is_cached<K: ReplicaKind>(
    name: &ObjectName,
    reference: &OwnerReference,
    store: &Snapshot,
) -> bool {
    reference.kind == K::Object::kind().kind
        && store
            .get::<K::Object>(&name.namespace, &name.name)
            .is_some_and(|owner| *owner.uid() == reference.uid)
}

fn may_be_seen_differently(old: &LeanMeta, new: &LeanMeta) -> bool {
    old.uid != new.uid || old.labels != new.labels || old.controller() != new.controller()
}

/// The owners whose selector matches the pod. More than one is a user's mistake, but only one of
/// them will win the adoption.
fn suitors<'a, K: ReplicaKind>(
    pod: &'a Arc<Pod>,
    store: &'a Snapshot,
) -> impl Iterator<Item = ObjectName> + 'a {
    let owners = store.list::<K::Object>(&pod.metadata.namespace);
    owners
        .filter(|owner| {
            usable_selector::<K>(owner)
                .is_ok_and(|selector| selects(&selector, &pod.metadata.labels))
        })
        .map(|owner| owner.object_name())
}
