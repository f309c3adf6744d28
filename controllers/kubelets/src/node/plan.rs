//! What is to be done about a node: registered, reported, or left alone.

use std::time::Duration;

use flyball_api::{OwnerReference, Timestamp};
use flyball_plan::{
    Action, Body, Flow, Pace, Precondition, Report, Round, Step, Subresource, Sync, Target, Write,
};
use serde_json::{Value, json};

use super::{LEASES, Observation, report, status, taints};
use crate::annotations::SIMULATED;
use crate::views::{Lease, Node};
use crate::{Settings, hash};

/// As much later than its interval may a heartbeat come, so that nodes which began together do not
/// stay together. Upstream's jitter is the same 4 %.
const JITTER_PARTS: u32 = 25;

pub(super) fn plan(settings: &Settings, sync: &Sync<'_, Observation>) -> Flow<Step> {
    let (seen, now) = (sync.seen, sync.now);
    let Some(node) = &seen.node else {
        return register(settings, sync);
    };
    let left_alone = if !node.is_simulated() {
        Some(report::NOT_SIMULATED)
    } else if node.metadata.is_deleting() {
        Some(report::TERMINATING)
    } else if node.is_lost() {
        Some(report::LOST)
    } else {
        None
    };
    if let Some(rule) = left_alone {
        return Ok(Step::rest(Report::new(rule)));
    }
    let due = Due::of(settings, seen, node, now);
    // A lease is made last, once a write has shown that the node is still the one that was seen:
    // that of a node that is gone would be collected, and made again, and so on.
    let pace = match seen.lease {
        Some(_) => Pace::Together,
        None => Pace::InOrder,
    };
    let writes = || due.writes(settings, seen, node, now);
    Ok(match sync.run_some("report", pace, writes)? {
        Some(round) => reported(settings, seen, &due, round, now),
        None => Step::rest_for(due.next(now), Report::new(report::ALIVE)),
    })
}

fn register(settings: &Settings, sync: &Sync<'_, Observation>) -> Flow<Step> {
    let (seen, now) = (sync.seen, sync.now);
    let round = sync.run("register", Pace::InOrder, || {
        let body = json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": seen.name,
                "labels": status::labels(settings, &seen.name),
                "annotations": {
                    SIMULATED: "true",
                    "volumes.kubernetes.io/controller-managed-attach-detach": "true",
                },
            },
            "status": status::status(settings, &seen.name, &[], now),
        });
        vec![Write::create(Node::KIND, "", Body::of(&body)).into()]
    })?;
    Ok(match round.first_error() {
        // It is there, and the cache will show it: as ours or as somebody else's.
        Some(error) if !error.is_already_exists() => {
            Step::retry(error, Report::new(report::MISSING))
        }
        _ => Step::rest(report::registered(&seen.name)),
    })
}

/// What is to be written now, and when something is to be written next.
struct Due {
    labels: bool,
    taint: bool,
    status: bool,
    lease: bool,
    heartbeat_at: Timestamp,
    renew_at: Timestamp,
}

impl Due {
    fn of(settings: &Settings, seen: &Observation, node: &Node, now: Timestamp) -> Self {
        let after = |last: Option<Timestamp>, every| {
            // A stamp from the future is no reason to be silent until then.
            let last = last.filter(|last| *last <= now);
            last.map_or(now, |last| last.saturating_add(jittered(every, &seen.name)))
        };
        let renewed = seen.lease.as_ref().and_then(|lease| lease.spec.renew_time);
        let renewed = renewed.map(Timestamp::from);
        let renew_at = after(renewed, settings.renew_every);
        let heartbeat_at = after(status::last_heartbeat(node), settings.heartbeat_every);
        let held = seen.lease.as_ref().is_some_and(|lease| {
            lease.spec.holder_identity == seen.name
                && lease.spec.lease_duration_seconds == Some(settings.lease_duration_seconds)
        });
        Self {
            labels: !status::labels_missing(settings, node).is_empty(),
            taint: taints::is_due(node),
            status: heartbeat_at <= now || !status::is_right(settings, node),
            lease: renew_at <= now || !held,
            heartbeat_at,
            renew_at,
        }
        .vouching(seen)
    }

    /// Tells the status too where a lease is to be made and nothing else would be written.
    fn vouching(self, seen: &Observation) -> Self {
        let is_vouched = seen.lease.is_some() || self.labels || self.taint;
        Self {
            status: self.status || !is_vouched,
            ..self
        }
    }

    fn writes(
        &self,
        settings: &Settings,
        seen: &Observation,
        node: &Node,
        now: Timestamp,
    ) -> Vec<Action> {
        let mut items = Vec::new();
        if self.labels || self.taint {
            let mut change =
                json!({"metadata": {"labels": status::labels_missing(settings, node)}});
            let mut precondition = Precondition::incarnation(&node.metadata);
            if self.taint {
                // A list is replaced as a whole, so it must be the one that was seen.
                change["spec"]["taints"] = taints::without_not_ready(node).into();
                precondition = Precondition::unchanged(&node.metadata);
            }
            items.push(patch(node, Subresource::NONE, precondition, change));
        }
        if self.status {
            let before = &node.status.conditions;
            let status = status::status(settings, &seen.name, before, now);
            let precondition = Precondition::incarnation(&node.metadata);
            let change = json!({"status": status});
            items.push(patch(node, Subresource::STATUS, precondition, change));
        }
        if self.lease {
            items.push(renewal(settings, node, seen.lease.as_deref(), now));
        }
        items
    }

    /// How long until something is due, if nothing is due now.
    fn next(&self, now: Timestamp) -> Duration {
        self.heartbeat_at.min(self.renew_at).saturating_since(now)
    }
}

fn reported(
    settings: &Settings,
    seen: &Observation,
    due: &Due,
    round: &Round,
    now: Timestamp,
) -> Step {
    let report = Report::new(report::REPORTS);
    if let Some(error) = round.first_error() {
        // Also a namespace of leases that is not there yet.
        return Step::retry(error, report);
    }
    // What was written just now is due after a whole interval; what was not, when it was anyway.
    let next = |wrote: bool, every: Duration, at: Timestamp| match wrote {
        true => jittered(every, &seen.name),
        false => at.saturating_since(now),
    };
    let renewed = round.actions.items.iter().any(is_renewal);
    let told = round.actions.items.iter().any(is_heartbeat);
    let renewal = next(renewed, settings.renew_every, due.renew_at);
    let heartbeat = next(told, settings.heartbeat_every, due.heartbeat_at);
    Step::rest_for(renewal.min(heartbeat), report)
}

fn is_renewal(action: &Action) -> bool {
    action.kind() == Some(Lease::KIND)
}

fn is_heartbeat(action: &Action) -> bool {
    let write = action.write();
    write.is_some_and(|write| write.subresource == Subresource::STATUS)
}

fn patch(
    node: &Node,
    subresource: Subresource,
    precondition: Precondition,
    change: Value,
) -> Action {
    let target = Target::of(Node::KIND, &node.metadata);
    Write::patch(target, precondition, change)
        .to_subresource(subresource)
        .into()
}

/// Renews the lease of a node, or creates it.
fn renewal(settings: &Settings, node: &Node, lease: Option<&Lease>, now: Timestamp) -> Action {
    let name = &node.metadata.name;
    let spec = json!({
        "holderIdentity": name,
        "leaseDurationSeconds": settings.lease_duration_seconds,
        "renewTime": now.micro(),
    });
    // Upstream makes the node an owner, not the controller, so that the lease goes with it.
    let owner = OwnerReference {
        controller: None,
        block_owner_deletion: None,
        ..OwnerReference::controller_of(Node::KIND, name, &node.metadata.uid)
    };
    let Some(lease) = lease else {
        let body = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name, "namespace": LEASES, "ownerReferences": [owner]},
            "spec": spec,
        });
        return Write::create(Lease::KIND, LEASES, Body::of(&body)).into();
    };
    let mut change = json!({"spec": spec});
    if lease.metadata.owner_references.is_empty() {
        change["metadata"] = json!({"ownerReferences": [owner]});
    }
    let precondition = Precondition::incarnation(&lease.metadata);
    let target = Target::of(Lease::KIND, &lease.metadata);
    Write::patch(target, precondition, change).into()
}

/// An interval and up to 4 % more, the same for the same name.
fn jittered(every: Duration, name: &str) -> Duration {
    let thousandths = u32::try_from(hash::of(name) % 1_000).unwrap_or(0);
    every + every / JITTER_PARTS * thousandths / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_do_not_stay_in_step() {
        let every = Duration::from_secs(10);
        let times: Vec<Duration> = (0..100)
            .map(|i| jittered(every, &format!("node-{i}")))
            .collect();
        let longest = every + every / JITTER_PARTS;
        assert!(times.iter().all(|time| *time >= every && *time <= longest));
        let early = times
            .iter()
            .filter(|time| **time < every + every / 50)
            .count();
        assert!((25..75).contains(&early), "{early}");
    }
}
