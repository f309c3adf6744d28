//! What a sync reports: the counts it saw, and the object that the Deployment waits for.

use flyball_api::ApiError;
use flyball_api::views::{Deployment, DeploymentStatus, ReplicaSet};
use flyball_plan::{Report, Rule, Target, Until, Wait};

use super::conditions::{self, PROGRESSING, REPLICA_FAILURE, reason};
use super::limits::Limits;
use super::progress::is_complete;
use super::sets::{Family, Set};

flyball_plan::rules! {
    SELECTS_ALL = "SelectsAllPods", "selects all pods";
    UNDECIDABLE = "Undecidable", "cannot decide anything";
    TERMINATING = "Terminating", "deletion";
    PAUSED = "Paused", "paused";
    SCALING = "Scaling", "scaling";
    UNKNOWN_STRATEGY = "UnknownStrategy", "unknown strategy";
    CLEANUP_FAILED = "CleanupFailed", "clean-up was interrupted";
    OLD_PODS_REMAIN = "OldPodsRemain", "old pods must be gone before new ones come";
    OLD_SCALED_TO_ZERO = "OldReplicaSetsScaledToZero", "scaled old ReplicaSets to zero";
    RECREATE = "Recreate", "recreation";
    NEW_SCALED = "NewReplicaSetScaled", "scaled the new ReplicaSet";
    OLD_SCALED_DOWN = "OldReplicaSetsScaledDown", "scaled old ReplicaSets down";
    ROLLING_UPDATE = "RollingUpdate", "rolling update";
    DEADLINE_EXCEEDED = "ProgressDeadlineExceeded", "past the progress deadline";
    TEMPLATE_UNUSABLE = "TemplateUnusable", "cannot use the template";
    REPLICA_SET_UNREADABLE = "ReplicaSetUnreadable", "cannot read the ReplicaSet of that name";
    ADOPTION_REFUSED = "AdoptionRefused", "may not adopt";
    CLAIM_NOT_TRIED = "ClaimNotTried", "a ReplicaSet was not claimed";
    NEW_REPLICA_SET_UNKNOWN = "NewReplicaSetUnknown", "cannot tell the new ReplicaSet";
    CREATION_NOT_TRIED = "CreationNotTried", "the new ReplicaSet was not created";
    ROLLBACK = "Rollback", "rollback";
}

/// The report of a Deployment whose selector is empty.
pub(super) fn selects_everything(deployment: &Deployment) -> Report {
    let target = Target::of(Deployment::KIND, &deployment.metadata);
    Report::new(SELECTS_ALL).waits_for(Wait::edit(target, "spec.selector"))
}

/// The report of a Deployment whose ReplicaSet the API server's validation refuses.
pub(super) fn template_refused(deployment: &Deployment, error: &ApiError) -> Report {
    let target = Target::of(Deployment::KIND, &deployment.metadata);
    Report::new(TEMPLATE_UNUSABLE)
        .saw("error", error)
        .waits_for(Wait::edit(target, "spec.template"))
}

/// The report of a sync that ended with this status.
pub(super) fn report(
    rule: Rule,
    deployment: &Deployment,
    family: &Family,
    status: &DeploymentStatus,
) -> Report {
    let limits = Limits::of(deployment);
    let waits_for = waits_for(deployment, family, status);
    let late = conditions::get(status, PROGRESSING)
        .is_some_and(|condition| condition.reason == reason::TIMED_OUT);
    // The deadline decides only while there is something to wait for.
    let rule = match late && waits_for.is_some() && !deployment.spec.paused {
        true => DEADLINE_EXCEEDED,
        false => rule,
    };
    let mut report = Report::new(rule)
        .saw("replicas", limits.replicas)
        .saw("updated", status.updated_replicas)
        .saw("old", status.replicas - status.updated_replicas)
        .saw("available", status.available_replicas)
        .saw("at most", limits.most())
        .saw("available at least", limits.least());
    report.waits_for = waits_for;
    report
}

fn waits_for(deployment: &Deployment, family: &Family, status: &DeploymentStatus) -> Option<Wait> {
    if is_complete(deployment, status) && family.new.is_some() {
        return None;
    }
    let target = Target::of(Deployment::KIND, &deployment.metadata);
    if conditions::get(status, REPLICA_FAILURE).is_some()
        && let Some(set) = family
            .new
            .iter()
            .chain(&family.old)
            .find(|set| has_failed(set))
    {
        let missing = set.replicas() - set.actual();
        return Some(of_set(set, Until::PodsCreated(missing.max(1))));
    }
    if deployment.metadata.is_deleting() {
        let finalizers = deployment.metadata.finalizers.to_vec();
        return Some(Wait::object(target, Until::Finalized(finalizers)));
    }
    if deployment.spec.paused {
        return Some(Wait::edit(target, "spec.paused"));
    }
    let replicas = Limits::of(deployment).replicas;
    Some(match &family.new {
        Some(new) if new.actual() < new.replicas() => {
            of_set(new, Until::PodsCreated(new.replicas() - new.actual()))
        }
        Some(new) if new.available() < new.actual() => {
            of_set(new, Until::PodsAvailable(new.actual() - new.available()))
        }
        _ if status.replicas > status.updated_replicas => of_old(family, target),
        // Sized in this very sync, which it has not shown yet.
        Some(new) if new.actual() < replicas => {
            of_set(new, Until::PodsCreated(replicas - new.actual()))
        }
        Some(new) if new.actual() > replicas => {
            of_set(new, Until::PodsDeleted(new.actual() - replicas))
        }
        _ => of_old(family, target),
    })
}

fn has_failed(set: &Set) -> bool {
    let mut conditions = set.view.status.conditions.iter();
    conditions.any(|condition| condition.kind == REPLICA_FAILURE)
}

fn of_set(set: &Set, until: Until) -> Wait {
    Wait::object(Target::of(ReplicaSet::KIND, set.meta()), until)
}

/// Waits for the first old ReplicaSet that has pods, by name; if none says so, for the Deployment's
/// own next sync.
fn of_old(family: &Family, deployment: Target) -> Wait {
    let old = || family.old.iter().filter(|set| set.actual() > 0);
    match old().min_by_key(|set| set.name()) {
        Some(first) => Wait::Object {
            target: Target::of(ReplicaSet::KIND, first.meta()),
            until: Until::PodsDeleted(first.actual()),
            others: old().count() - 1,
        },
        None => Wait::object(deployment, Until::CacheUpdated),
    }
}
