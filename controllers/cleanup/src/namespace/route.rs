//! Which namespaces a change concerns: the one that changed, if it is on its way out.

use flyball_api::views::Namespace;
use flyball_api::{Object, ObjectName};
use flyball_informer::Change;
use flyball_plan::Keys;

pub(super) fn route(change: &Change) -> Keys<ObjectName> {
    let namespace = change.of::<Namespace>().and_then(|it| it.new);
    let going = namespace.is_some_and(|it| it.is_deleting());
    going.then(|| change.name.clone()).into_iter().collect()
}
