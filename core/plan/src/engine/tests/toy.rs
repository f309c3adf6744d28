//! A controller that does as its objects say: each ReplicaSet's annotations script its syncs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use flyball_api::views::{Pod, ReplicaSet};
use flyball_api::{
    ApiError, Labels, LeanMeta, ObjectName, Status, StatusCause, StatusDetails, Timestamp, Uid,
};
use flyball_informer::{Change, Snapshot, SnapshotBuilder, Watch};

use crate::{
    Actions, Answers, Body, Controller, Descriptor, Keys, Learnt, Now, Report, Rule, Sight, Step,
    Write,
};

pub(super) struct Toy;

impl Controller for Toy {
    type Key = ObjectName;
    type Observation = Arc<ReplicaSet>;
    /// The keys that have rested since they last were deleted.
    type Memory = BTreeSet<ObjectName>;

    const SIGHT: Sight = Sight::Everything;

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "toy-controller",
        aliases: &["toy"],
        client: "toy-controller",
        component: "toy",
        queue: "toy",
        watches: &[Watch::of::<ReplicaSet>(), Watch::of::<Pod>()],
        workers: 2,
        retries_max: Some(3),
        ..Descriptor::BASE
    };

    fn route(&self, change: &Change, _store: &Snapshot) -> Keys<ObjectName> {
        vec![change.name.clone()]
    }

    /// Whatever is called so is left alone for five seconds.
    fn patience(&self, key: &ObjectName) -> Duration {
        match key.name.as_str() {
            "patient" => Duration::from_secs(5),
            _ => Duration::ZERO,
        }
    }

    fn initial(&self) -> Keys<ObjectName> {
        vec![ObjectName::new("shop", "initial")]
    }

    fn observe(
        &self,
        key: &ObjectName,
        store: &Snapshot,
        rested: &BTreeSet<ObjectName>,
    ) -> Option<Arc<ReplicaSet>> {
        let set = store.get::<ReplicaSet>(&key.namespace, &key.name)?;
        let is_once = set.metadata.annotations.get("do") == Some("once");
        (!is_once || !rested.contains(key)).then(|| set.clone())
    }

    fn step(&self, seen: &Arc<ReplicaSet>, answers: &Answers, _now: Now) -> Step {
        let report = Report::new(Rule::new("Scripted", "scripted")).saw("stages", answers.len());
        match seen.metadata.annotations.get("do") {
            Some("create") if answers.stage("create").is_none() => Step::Do(create()),
            Some("fail") if answers.stage("create").is_none() => Step::Do(create()),
            Some("fail") => Step::retry("it is broken", report),
            Some("loop") => Step::Do(create()),
            Some("wait") => Step::rest_for(Duration::from_secs(30), report),
            Some("conflict") => Step::retry(&answered(409, "Conflict", ""), report),
            Some("invalid") => Step::retry(&answered(422, "Invalid", "spec.replicas"), report),
            Some("denied") => Step::retry(&answered(422, "Invalid", ""), report),
            Some("error") => Step::retry("it is broken", report),
            _ => Step::rest(report),
        }
    }

    fn remember(&self, rested: &mut BTreeSet<ObjectName>, learnt: &Learnt<'_, Self>, _: Now) {
        match learnt {
            Learnt::Changed(change) if change.after().is_none() => rested.remove(&change.name),
            Learnt::Changed(_) => false,
            Learnt::Rested { key, .. } => rested.insert((*key).clone()),
        };
    }
}

fn create() -> Actions {
    let create = Write::create(Pod::KIND, "shop", Body::new("{}"));
    Actions::in_order("create", vec![create.into()])
}

/// A ReplicaSet that makes its syncs do this.
pub(super) fn set(name: &str, what: &str) -> Arc<ReplicaSet> {
    let metadata = LeanMeta {
        name: name.into(),
        namespace: "shop".into(),
        uid: Uid::new(name),
        annotations: Labels::from_iter([("do", what)]),
        ..LeanMeta::default()
    };
    Arc::new(ReplicaSet {
        metadata: metadata.into(),
        ..ReplicaSet::default()
    })
}

/// Caches with these sets, and pods complete up to a version.
pub(super) fn store(sets: &[&Arc<ReplicaSet>], pods_seen: &str) -> Snapshot {
    sets.iter()
        .fold(
            SnapshotBuilder::new().kind::<ReplicaSet>(),
            |builder, set| builder.add_shared(Arc::clone(set)),
        )
        .kind::<Pod>()
        .seen::<Pod>(pods_seen)
        .seen::<ReplicaSet>("1")
        .build()
}

pub(super) fn at(ms: u64) -> Now {
    let monotonic = Duration::from_millis(ms);
    Now {
        monotonic,
        wall: Timestamp::UNIX_EPOCH.saturating_add(monotonic),
    }
}

/// An answer of the server that names a field, or none.
fn answered(code: u16, reason: &str, field: &str) -> ApiError {
    let mut status = Status::failure(code, reason, "no");
    let cause = StatusCause {
        field: field.into(),
        ..StatusCause::default()
    };
    status.details = Some(StatusDetails {
        causes: vec![cause],
        ..StatusDetails::default()
    });
    ApiError::from_status(status)
}
