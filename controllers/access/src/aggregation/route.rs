//! Which roles a change concerns: all that collect.

use flyball_api::{Object, ObjectName};
use flyball_informer::{Change, Snapshot};
use flyball_plan::Keys;
use flyball_rbac::ClusterRole;

pub(super) fn route(change: &Change, store: &Snapshot) -> Keys<ObjectName> {
    let Some(role) = change.of::<ClusterRole>() else {
        return Vec::new();
    };
    // A new version alone, with the same labels, rules and selectors, changes nothing for anybody.
    if let (Some(old), Some(new)) = (role.old, role.new)
        && !change.resync
        && old.metadata.uid == new.metadata.uid
        && old.metadata.labels == new.metadata.labels
        && old.rules == new.rules
        && old.aggregation_rule == new.aggregation_rule
    {
        return Vec::new();
    }
    let roles = store.list::<ClusterRole>("");
    let collectors = roles.filter(|role| role.aggregation_rule.is_some());
    collectors.map(|role| role.object_name()).collect()
}
