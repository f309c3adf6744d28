//! Which namespaces a change concerns.

use flyball_api::views::{ConfigMap, Namespace, ROOT_CA};
use flyball_api::{ObjectName, Text};
use flyball_informer::Change;
use flyball_plan::Keys;

pub(super) fn route(change: &Change) -> Keys<ObjectName> {
    if let Some(namespace) = change.of::<Namespace>() {
        let is_there = namespace.new.is_some();
        return is_there.then(|| change.name.clone()).into_iter().collect();
    }
    // One that appeared is as somebody wanted it a moment ago; whatever becomes of it is looked at.
    let moved = change
        .of::<ConfigMap>()
        .is_some_and(|map| map.old.is_some() || change.resync);
    if moved && change.name.name == ROOT_CA {
        return vec![ObjectName {
            namespace: Text::default(),
            name: change.name.namespace.clone(),
        }];
    }
    Vec::new()
}
