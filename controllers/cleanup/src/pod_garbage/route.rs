//! What may have become garbage by a change.

use flyball_api::views::{Node, Pod};
use flyball_informer::{Change, Snapshot};
use flyball_plan::Keys;

use super::Key;
use super::victims::{has_finished, is_out_of_service};

pub(super) fn route(change: &Change, store: &Snapshot) -> Keys<Key> {
    if let Some(node) = change.of::<Node>() {
        let name = change.name.name.clone();
        return match node.new {
            None => vec![Key::MissingNode(name)],
            Some(node) if is_out_of_service(node) => vec![Key::OutOfServiceNode(name)],
            Some(_) => Vec::new(),
        };
    }
    let Some(pod) = change.of::<Pod>().and_then(|pod| pod.new) else {
        return Vec::new();
    };
    let mut keys = Vec::new();
    if has_finished(pod) {
        keys.push(Key::Finished);
    }
    let node = &pod.spec.node_name;
    if node.is_empty() {
        if pod.metadata.is_deleting() {
            keys.push(Key::Unscheduled(change.name.clone()));
        }
        return keys;
    }
    match store.get::<Node>("", node) {
        // Nodes that are not listed yet are missing too, and found when the quarantine is over.
        None => keys.push(Key::MissingNode(node.clone())),
        Some(found) if pod.metadata.is_deleting() && is_out_of_service(found) => {
            keys.push(Key::OutOfServiceNode(node.clone()));
        }
        Some(_) => {}
    }
    keys
}
