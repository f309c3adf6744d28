//! What a sync looks at: the Job.

use std::sync::Arc;

use flyball_api::ObjectName;
use flyball_api::views::Job;
use flyball_informer::Snapshot;

/// All that a sync of one Job looks at.
#[derive(Debug)]
pub struct Observation {
    /// The Job.
    pub(super) job: Arc<Job>,
}

pub(super) fn observe(key: &ObjectName, store: &Snapshot) -> Option<Observation> {
    let job = store.get::<Job>(&key.namespace, &key.name)?.clone();
    Some(Observation { job })
}
