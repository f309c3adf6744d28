//! Which namespaces a change concerns.

use flyball_api::views::{Namespace, ServiceAccount};
use flyball_api::{ObjectName, Text};
use flyball_informer::Change;
use flyball_plan::Keys;

use super::NAME;

pub(super) fn route(change: &Change) -> Keys<ObjectName> {
    if let Some(namespace) = change.of::<Namespace>() {
        let is_there = namespace.new.is_some();
        return is_there.then(|| change.name.clone()).into_iter().collect();
    }
    let went = change
        .of::<ServiceAccount>()
        .is_some_and(|account| account.new.is_none());
    if went && change.name.name == NAME {
        return vec![ObjectName {
            namespace: Text::default(),
            name: change.name.namespace.clone(),
        }];
    }
    Vec::new()
}
