//! Which Jobs a change concerns: the one that changed, if it has finished and is to go some day.

use flyball_api::ObjectName;
use flyball_api::views::Job;
use flyball_informer::Change;
use flyball_plan::Keys;

use super::expiry::is_to_go;

pub(super) fn route(change: &Change) -> Keys<ObjectName> {
    let job = change.of::<Job>().and_then(|job| job.new);
    let concerned = job.is_some_and(|job| is_to_go(job));
    concerned.then(|| change.name.clone()).into_iter().collect()
}
