//! The two kinds of owners, and the one way both are looked at.

use std::borrow::Cow;
use std::fmt;

use flyball_api::views::{
    BY_CONTROLLER, ReplicaSet, ReplicaSetStatus, ReplicationController, controller_value,
};
use flyball_api::{Kind, LabelSelector, Lossless, Meta, Object, Selector, Template, Uid};
use flyball_informer::{Snapshot, Watch};
use flyball_plan::Descriptor;

use super::DELETION_COST;
use crate::deployment::TERMINATING_REPLICAS;

/// A kind that keeps up a number of pods.
pub trait ReplicaKind: fmt::Debug + Send + Sync + 'static {
    /// The view of an owner of this kind.
    type Object: Object + fmt::Debug;

    /// Names, watched kinds and pacing of its controller.
    const DESCRIPTOR: Descriptor;

    /// Whether its status counts pods on their way out.
    const COUNTS_TERMINATING: bool;

    /// What the controller looks at in an owner.
    fn owner(object: &Self::Object) -> Owner<'_>;

    /// Which pods the owner means; why not, if its selector makes no sense.
    fn selector(object: &Self::Object) -> Result<Selector, String>;

    /// The owners that share this owner's controller, itself among them; none without one.
    fn siblings(object: &Self::Object, store: &Snapshot) -> Vec<Uid>;
}

/// An owner as the controller sees it, whatever its kind.
#[derive(Clone, Debug)]
pub struct Owner<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Its metadata.
    pub meta: &'a Meta,
    /// How many pods it wants: 1 if it does not say, none if it says a negative number.
    pub replicas: usize,
    /// How long a pod must be ready before it counts as available.
    pub min_ready_seconds: i32,
    /// What its pods look like.
    pub template: &'a Template,
    /// The status last written, in the words of ReplicaSets, which have all that
    /// ReplicationControllers have.
    pub status: Cow<'a, Lossless<ReplicaSetStatus>>,
}

fn desired(replicas: Option<i32>) -> usize {
    usize::try_from(replicas.unwrap_or(1)).unwrap_or(0)
}

/// ReplicaSets.
#[derive(Clone, Copy, Debug)]
pub struct ReplicaSetKind;

impl ReplicaKind for ReplicaSetKind {
    type Object = ReplicaSet;

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "replicaset-controller",
        aliases: &["replicaset"],
        client: "replicaset-controller",
        component: "replicaset-controller",
        queue: "replicaset",
        watches: &[Watch::REPLICA_SETS, Watch::PODS],
        workers: 5,
        retries_max: None,
        gates: &[TERMINATING_REPLICAS, DELETION_COST],
        ..Descriptor::BASE
    };

    const COUNTS_TERMINATING: bool = true;

    fn owner(object: &ReplicaSet) -> Owner<'_> {
        Owner {
            kind: ReplicaSet::KIND,
            meta: &object.metadata,
            replicas: desired(object.spec.replicas),
            min_ready_seconds: object.spec.min_ready_seconds,
            template: &object.spec.template,
            status: Cow::Borrowed(&object.status),
        }
    }

    fn selector(object: &ReplicaSet) -> Result<Selector, String> {
        LabelSelector::compile_optional(object.spec.selector.as_ref())
            .map_err(|invalid| invalid.to_string())
    }

    fn siblings(object: &ReplicaSet, store: &Snapshot) -> Vec<Uid> {
        let Some(controller) = object.metadata.controller() else {
            return Vec::new();
        };
        let value = controller_value(&object.metadata.namespace, Some(&controller.uid));
        let sets = store.indexed::<ReplicaSet>(BY_CONTROLLER, &value);
        sets.map(|set| set.metadata.uid.clone()).collect()
    }
}

/// ReplicationControllers.
#[derive(Clone, Copy, Debug)]
pub struct ReplicationControllerKind;

impl ReplicaKind for ReplicationControllerKind {
    type Object = ReplicationController;

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "replicationcontroller-controller",
        aliases: &["replicationcontroller"],
        client: "replication-controller",
        component: "replication-controller",
        queue: "replicationmanager",
        watches: &[Watch::REPLICATION_CONTROLLERS, Watch::PODS],
        workers: 5,
        retries_max: None,
        gates: &[TERMINATING_REPLICAS, DELETION_COST],
        ..Descriptor::BASE
    };

    const COUNTS_TERMINATING: bool = false;

    fn owner(object: &ReplicationController) -> Owner<'_> {
        let status = &object.status;
        Owner {
            kind: ReplicationController::KIND,
            meta: &object.metadata,
            replicas: desired(object.spec.replicas),
            min_ready_seconds: object.spec.min_ready_seconds,
            template: &object.spec.template,
            status: Cow::Owned(status.with(ReplicaSetStatus {
                replicas: status.replicas,
                fully_labeled_replicas: status.fully_labeled_replicas,
                ready_replicas: status.ready_replicas,
                available_replicas: status.available_replicas,
                terminating_replicas: None,
                observed_generation: status.observed_generation,
                conditions: status.conditions.clone(),
            })),
        }
    }

    fn selector(object: &ReplicationController) -> Result<Selector, String> {
        Ok(Selector::from_map(object.spec.selector.iter()))
    }

    fn siblings(_: &ReplicationController, _: &Snapshot) -> Vec<Uid> {
        // Nothing rolls ReplicationControllers over from one to the next.
        Vec::new()
    }
}
