//! Which nodes a change concerns.

use flyball_api::{ObjectName, Text};
use flyball_informer::{Change, ChangeOf, Snapshot};
use flyball_plan::Keys;

use crate::views::{Node, Pod};

pub(super) fn route(change: &Change, store: &Snapshot) -> Keys<ObjectName> {
    if let Some(node) = change.of::<Node>() {
        let key = concerns_pods(&node) || change.resync;
        return key.then(|| change.name.clone()).into_iter().collect();
    }
    let Some(pod) = change.of::<Pod>() else {
        return Vec::new();
    };
    // A pod that went is news too: its node may wait for that to be seen.
    let mut keys: Vec<ObjectName> = pod
        .states()
        .map(|state| &state.spec.node_name)
        .filter(|name| is_simulated(name, store))
        .map(|name| ObjectName {
            namespace: Text::default(),
            name: name.clone(),
        })
        .collect();
    keys.dedup();
    keys
}

fn is_simulated(name: &Text, store: &Snapshot) -> bool {
    let node = || store.get::<Node>("", name);
    !name.is_empty() && node().is_some_and(|node| node.is_simulated())
}

/// Whether a node changed in a way that its pods notice. Heartbeats are none.
fn concerns_pods(node: &ChangeOf<'_, Node>) -> bool {
    let (Some(old), Some(new)) = (node.old, node.new) else {
        return node.states().any(|state| state.is_simulated());
    };
    let noticed = |node: &Node| {
        let (ours, lost) = (node.is_simulated(), node.is_lost());
        (ours, lost, node.metadata.is_deleting())
    };
    let found = |node: &Node| (Text::from(node.internal_ip()), node.spec.pod_cidr.clone());
    noticed(old) != noticed(new) || (new.is_simulated() && found(old) != found(new))
}
