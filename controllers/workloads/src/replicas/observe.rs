//! What a sync looks at: the owner, its pods, and the orphans it might adopt.

use std::collections::HashMap;
use std::sync::Arc;

use flyball_api::views::{BY_CONTROLLER, Pod, controller_value};
use flyball_api::{Labels, ObjectName, Selector, Text};
use flyball_informer::Snapshot;
use flyball_plan::rules::pods::{is_active, is_terminating};

use super::ReplicaKind;

/// All that a sync of one owner looks at.
#[derive(Debug)]
pub struct Observation<K: ReplicaKind> {
    /// The owner.
    pub(super) object: Arc<K::Object>,
    /// Which pods it means; why nobody can tell, if so.
    pub(super) selector: Result<Selector, String>,
    /// The active pods it owns, matching or not, and the active orphans it matches.
    pub(super) active: Vec<Arc<Pod>>,
    /// How many pods that it owns and matches are on their way out.
    pub(super) terminating: usize,
    /// How many active pods of the same workload run on a node; only filled in if pods may have
    /// to be chosen for deletion.
    pub(super) on_node: HashMap<Text, usize>,
}

pub(super) fn observe<K: ReplicaKind>(
    key: &ObjectName,
    store: &Snapshot,
) -> Option<Observation<K>> {
    let object = store.get::<K::Object>(&key.namespace, &key.name)?.clone();
    let selector = match usable_selector::<K>(&object) {
        Ok(selector) => selector,
        Err(why) => {
            return Some(Observation {
                object,
                selector: Err(why),
                active: Vec::new(),
                terminating: 0,
                on_node: HashMap::new(),
            });
        }
    };
    let owner = K::owner(&object);
    let matches = |pod: &Pod| selects(&selector, &pod.metadata.labels);

    let mut active = Vec::new();
    let mut terminating = 0;
    let own = controller_value(&key.namespace, Some(&owner.meta.uid));
    for pod in store.indexed::<Pod>(BY_CONTROLLER, &own) {
        if is_active(pod) {
            active.push(pod.clone());
        } else if is_terminating(pod) && matches(pod) {
            terminating += 1;
        }
    }
    let mut orphans = Vec::new();
    if !owner.meta.is_deleting() {
        let nobodys = controller_value(&key.namespace, None);
        let all = store.indexed::<Pod>(BY_CONTROLLER, &nobodys);
        orphans.extend(all.filter(|pod| is_active(pod) && matches(pod)).cloned());
    }

    let mut on_node = HashMap::new();
    if active.len() + orphans.len() > owner.replicas {
        let siblings = K::siblings(&object, store);
        let related = siblings.iter().flat_map(|uid| {
            store.indexed::<Pod>(BY_CONTROLLER, &controller_value(&key.namespace, Some(uid)))
        });
        let soon_ours = orphans.iter().filter(|_| !siblings.is_empty());
        for pod in related.filter(|pod| is_active(pod)).chain(soon_ours) {
            *on_node.entry(pod.spec.node_name.clone()).or_default() += 1;
        }
    }
    active.append(&mut orphans);
    Some(Observation {
        object,
        selector: Ok(selector),
        active,
        terminating,
        on_node,
    })
}

/// The owner's selector, if it is one to act on.
pub(super) fn usable_selector<K: ReplicaKind>(object: &K::Object) -> Result<Selector, String> {
    let selector = K::selector(object)?;
    if selector.is_nothing() {
        return Err("it has no selector".to_owned());
    }
    if selector.is_empty() {
        return Err("its selector is empty and would select every pod".to_owned());
    }
    Ok(selector)
}

pub(super) fn selects(selector: &Selector, labels: &Labels) -> bool {
    selector.matches_with(|key| labels.get(key))
}
