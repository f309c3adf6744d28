//! Which changes might let a pod be placed.
//!
//! Nothing else wakes the scheduler: not heartbeats of nodes, not what it writes into the status of
//! a pod itself. So pods that fit nowhere cost nothing until something changes.

use flyball_api::views::Namespace;
use flyball_informer::{Change, ChangeOf, Snapshot};

use super::SchedulerSettings;
use crate::views::{Node, PENDING, Pod};

/// Whether a change might let a pod be placed.
pub(super) fn concerns(settings: &SchedulerSettings, change: &Change, store: &Snapshot) -> bool {
    let name = &settings.name;
    // The periodic second look at everything: worth it only for whoever waits.
    if change.resync {
        return change.of::<Pod>().is_some_and(|pod| {
            let waits = |pod: &Pod| pod.is_pending() && pod.scheduler_name == *name;
            pod.new.is_some_and(|pod| waits(pod))
        });
    }
    if let Some(pod) = change.of::<Pod>() {
        return is_to_be_placed(&pod, name) || (makes_way(&pod) && anybody_waits(store, name));
    }
    let matters = if let Some(node) = change.of::<Node>() {
        match (node.old, node.new) {
            (Some(old), Some(new)) => !old.is_as_good_as(new),
            _ => true,
        }
    } else if let Some(namespace) = change.of::<Namespace>() {
        let labels = |it: &std::sync::Arc<Namespace>| it.metadata.labels.clone();
        namespace.old.map(labels) != namespace.new.map(labels)
    } else {
        false
    };
    matters && anybody_waits(store, name)
}

fn anybody_waits(store: &Snapshot, scheduler: &str) -> bool {
    let mut waiting = store.indexed::<Pod>(PENDING, scheduler);
    waiting.any(|pod| !pod.gated)
}

/// Whether a pod waits that did not wait before, or waits for something else.
fn is_to_be_placed(pod: &ChangeOf<'_, Pod>, scheduler: &str) -> bool {
    let Some(new) = pod.new else { return false };
    let waits = new.is_pending() && !new.gated && new.scheduler_name == scheduler;
    waits
        && pod.old.is_none_or(|old| {
            old.uid != new.uid
                || !old.is_pending()
                || old.scheduler_name != new.scheduler_name
                || !old.is_placed_like(new)
        })
}

/// Whether a pod on a node came, went or changed so that others may be placed: its room is free,
/// or those are there now whom others want to be near to.
fn makes_way(pod: &ChangeOf<'_, Pod>) -> bool {
    let assigned = |pod: &&std::sync::Arc<Pod>| pod.is_assigned();
    match (pod.old.filter(assigned), pod.new.filter(assigned)) {
        (None, None) => false,
        (Some(old), Some(new)) => {
            old.uid != new.uid
                || old.node_name != new.node_name
                || old.deleting != new.deleting
                || !old.is_placed_like(new)
        }
        _ => true,
    }
}
