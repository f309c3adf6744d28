//! Which nodes a change concerns.

use flyball_api::{ObjectName, Text};
use flyball_informer::{Change, ChangeOf};
use flyball_plan::Keys;

use super::LEASES;
use crate::Settings;
use crate::views::{Lease, Node};

pub(super) fn route(settings: &Settings, change: &Change) -> Keys<ObjectName> {
    if let Some(node) = change.of::<Node>() {
        let ours = node.states().any(|state| state.is_simulated());
        let wanted = ours || settings.wants(&change.name.name);
        return wanted.then(|| change.name.clone()).into_iter().collect();
    }
    match change.of::<Lease>() {
        Some(lease) => of_lease(&lease, change),
        None => Keys::new(),
    }
}

/// A lease is looked at when it went or became another. Renewals are this controller's own doing
/// and come ten a second for a hundred nodes: whoever made one knows when the next is due.
fn of_lease(lease: &ChangeOf<'_, Lease>, change: &Change) -> Keys<ObjectName> {
    let same = match (lease.old, lease.new) {
        (Some(old), Some(new)) => {
            old.metadata.uid == new.metadata.uid
                && old.spec.holder_identity == new.spec.holder_identity
        }
        (None, Some(_)) => true,
        _ => false,
    };
    match change.name.namespace == LEASES && !same {
        true => vec![key(&change.name.name)],
        false => Vec::new(),
    }
}

pub(super) fn key(name: &Text) -> ObjectName {
    ObjectName {
        namespace: Text::default(),
        name: name.clone(),
    }
}
