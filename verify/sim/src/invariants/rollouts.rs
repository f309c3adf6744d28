//! What a Deployment controller knew when it changed a ReplicaSet: shared by what is said of
//! roll-outs.

use flyball_api::views::{BY_CONTROLLER, Deployment, ReplicaSet, controller_value};
use flyball_api::{Fenceposts, resolve_fenceposts};
use flyball_informer::Snapshot;

use super::Happened;
use crate::truth::{Thing, Truth};

/// The annotation by which ReplicaSets remember the wish that they were sized for.
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";

/// A ReplicaSet that its Deployment's controller just resized, knowing all there is to know.
pub(super) struct Resized<'a> {
    pub(super) deployment: &'a Deployment,
    /// The other ReplicaSets of the Deployment, as they were seen and are.
    pub(super) others: Vec<&'a ReplicaSet>,
    /// The resized one as it was seen; `None` if it was just made.
    pub(super) seen: Option<&'a ReplicaSet>,
    pub(super) was: i32,
    pub(super) is: i32,
    pub(super) name: &'a str,
}

impl<'a> Resized<'a> {
    /// Takes a commit for a resize. One that was decided by what is not so any more is passed
    /// over: what others did meanwhile is not the controller's doing.
    pub(super) fn of(happened: &Happened<'a>, truth: &Truth) -> Option<Self> {
        let Happened::Committed {
            by: Some((flight, Some("deployment-controller"))),
            changed,
        } = happened
        else {
            return None;
        };
        let store: &'a Snapshot = flight.seen.as_ref()?;
        let Thing::ReplicaSet(set) = changed.after.as_deref()? else {
            return None;
        };
        let was = match changed.before.as_deref() {
            Some(Thing::ReplicaSet(before)) => replicas(before),
            _ => 0,
        };
        let owner = set.metadata.controller()?;
        let namespace = set.metadata.namespace.as_str();
        let deployment = store.get::<Deployment>(namespace, &owner.name)?;
        let is_rolling = deployment.spec.strategy.kind == "RollingUpdate";
        if deployment.metadata.uid != owner.uid || !is_rolling {
            return None;
        }
        let own = controller_value(namespace, Some(&owner.uid));
        let mut others = Vec::new();
        let mut seen = None;
        for one in store.indexed::<ReplicaSet>(BY_CONTROLLER, &own) {
            match one.metadata.uid == set.metadata.uid {
                true => seen = Some(&**one),
                false => others.push(&**one),
            }
        }
        let is_known = |one: &&ReplicaSet| {
            let found = others
                .iter()
                .find(|other| other.metadata.uid == one.metadata.uid);
            found.is_some_and(|other| replicas(other) == replicas(one))
        };
        let mut siblings = truth.sets_of(&deployment.metadata);
        let all_known = siblings.all(|one| one.metadata.uid == set.metadata.uid || is_known(&one));
        let was_known = seen.map_or(0, replicas) == was;
        (all_known && was_known).then_some(Self {
            deployment,
            others,
            seen,
            was,
            is: replicas(set),
            name: &set.metadata.name,
        })
    }

    pub(super) fn desired(&self) -> i32 {
        self.deployment.spec.replicas.unwrap_or(1)
    }

    pub(super) fn fences(&self) -> Option<Fenceposts> {
        let bounds = self.deployment.spec.strategy.rolling_update.as_ref();
        let surge = bounds.and_then(|bounds| bounds.max_surge.as_ref());
        let unavailable = bounds.and_then(|bounds| bounds.max_unavailable.as_ref());
        resolve_fenceposts(surge, unavailable, self.desired()).ok()
    }

    /// Whether the Deployment was scaled since its ReplicaSets were sized: then they are sized
    /// anew in proportion, and no roll-out moves on.
    pub(super) fn is_scaling(&self) -> bool {
        let desired = self.desired().to_string();
        let mut active = self.others.iter().copied().chain(self.seen);
        active.any(|set| {
            replicas(set) > 0 && set.metadata.annotations.get(DESIRED) != Some(desired.as_str())
        })
    }
}

pub(super) fn replicas(set: &ReplicaSet) -> i32 {
    set.spec.replicas.unwrap_or(1)
}
