//! What a sync tells about itself: the counts it saw and what the Deployment waits for.

use flyball_api::views::{Deployment, DeploymentStatus};
use flyball_plan::Report;

use super::conditions::{self, PROGRESSING, REPLICA_FAILURE, reason};
use super::limits::Limits;
use super::progress::is_complete;
use super::sets::{Family, Set, sum};

/// The report of a sync that ended with this status.
pub(super) fn report(
    rule: &'static str,
    deployment: &Deployment,
    family: &Family,
    status: &DeploymentStatus,
) -> Report {
    let limits = Limits::of(deployment);
    let report = Report::new(rule)
        .saw("replicas", limits.replicas)
        .saw("updated", status.updated_replicas)
        .saw("old", status.replicas - status.updated_replicas)
        .saw("available", status.available_replicas)
        .saw("at most", limits.most())
        .saw("available at least", limits.least());
    match waits_for(deployment, family, status) {
        Some(what) => report.waits_for(what),
        None => report,
    }
}

fn waits_for(
    deployment: &Deployment,
    family: &Family,
    status: &DeploymentStatus,
) -> Option<String> {
    if is_complete(deployment, status) && family.new.is_some() {
        return None;
    }
    if let Some(failure) = conditions::get(status, REPLICA_FAILURE) {
        return Some(format!("its ReplicaSets to get over: {}", failure.message));
    }
    if deployment.metadata.is_deleting() {
        return Some("its deletion to finish".to_owned());
    }
    if deployment.spec.paused {
        return Some("the Deployment to be resumed".to_owned());
    }
    let replicas = Limits::of(deployment).replicas;
    let what = match &family.new {
        Some(new) if new.actual() < new.replicas() => {
            let missing = new.replicas() - new.actual();
            format!("{} of {}", pods(missing, " more"), new.name())
        }
        Some(new) if new.available() < new.actual() => {
            let missing = new.actual() - new.available();
            format!(
                "{} of {} to become available",
                pods(missing, ""),
                new.name()
            )
        }
        _ if status.replicas > status.updated_replicas => {
            let old = sum(family.old.iter().map(Set::actual));
            format!("{} of old ReplicaSets to go", pods(old, ""))
        }
        // Sized in this very sync, which it has not shown yet.
        Some(new) if new.actual() < replicas => {
            let missing = replicas - new.actual();
            format!("{} of {}", pods(missing, " more"), new.name())
        }
        Some(new) if new.actual() > replicas => {
            format!(
                "{} of {} to go",
                pods(new.actual() - replicas, ""),
                new.name()
            )
        }
        _ => "the pods of old ReplicaSets to end".to_owned(),
    };
    let late = conditions::get(status, PROGRESSING)
        .is_some_and(|condition| condition.reason == reason::TIMED_OUT);
    Some(if late {
        format!("{what} (past the progress deadline)")
    } else {
        what
    })
}

/// So many (more) pods, in words.
fn pods(count: i32, more: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count}{more} pod{s}")
}
