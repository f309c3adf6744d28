//! Revisions are never lost.
//!
//! Authority: `apps/v1` `DeploymentSpec.revisionHistoryLimit`: so many old ReplicaSets are kept to
//! allow rollback; only what has no replicas is cleaned up.

use std::time::Duration;

use flyball_api::views::{BY_CONTROLLER, Deployment, ReplicaSet, controller_value};

use super::{Happened, Invariant};
use crate::bugs::deleted;
use crate::truth::Truth;

/// Upstream's default.
const LIMIT: i32 = 10;

pub(super) struct Revisions;

impl Invariant for Revisions {
    fn name(&self) -> &'static str {
        "revisions are never lost"
    }

    fn check(&mut self, happened: &Happened<'_>, truth: &Truth, _: Duration) -> Result<(), String> {
        let Happened::Decided(decided) = happened else {
            return Ok(());
        };
        if decided.controller != "deployment-controller" {
            return Ok(());
        }
        let (namespace, name) = decided.key.split_once('/').unwrap_or_default();
        let Some(deployment) = decided.seen.get::<Deployment>(namespace, name) else {
            return Ok(());
        };
        let deleted = decided
            .actions
            .items
            .iter()
            .filter_map(deleted)
            .filter(|target| target.kind == ReplicaSet::KIND)
            .filter_map(|target| decided.seen.get::<ReplicaSet>(namespace, &target.name.name));
        let deleted: Vec<_> = deleted.collect();
        if deleted.is_empty() {
            return Ok(());
        }
        let uid = &deployment.metadata.uid;
        let own = controller_value(namespace, Some(uid));
        let all = decided
            .seen
            .indexed::<ReplicaSet>(BY_CONTROLLER, &own)
            .count();
        // The sync itself may have made one that it did not see when it began.
        let all = all.max(truth.sets_of(&deployment.metadata).count());
        let limit = deployment.spec.revision_history_limit.unwrap_or(LIMIT);
        let kept = i32::try_from(all - deleted.len().min(all)).unwrap_or(i32::MAX);
        // One more than the history: the one that is rolled out. While paused there may be none yet.
        let rolled_out = i32::from(!deployment.spec.paused);
        if kept < limit.saturating_add(rolled_out) {
            return Err(format!(
                "{}: {kept} ReplicaSets are left where {limit} old ones are to be kept",
                decided.key
            ));
        }
        let in_use = |set: &&&std::sync::Arc<ReplicaSet>| {
            set.spec.replicas.unwrap_or(1) > 0 || set.status.replicas > 0
        };
        match deleted.iter().find(in_use) {
            None => Ok(()),
            Some(set) => Err(format!(
                "{}: {} is deleted with replicas",
                decided.key, set.metadata.name
            )),
        }
    }
}
