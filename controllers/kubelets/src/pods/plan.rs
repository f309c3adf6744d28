//! What is to be done about the pods of a node: each goes on as far as it is due.

use std::time::Duration;

use flyball_api::Timestamp;
use flyball_plan::{
    Action, DETAILS_MAX, Detail, Flow, Pace, Report, Round, Step, Subresource, Sync, Wait, Write,
};

use super::addresses::Addresses;
use super::advance::{Held, Traveller};
use super::asks::Asks;
use super::conditions::{changed, refresh};
use super::life::{Next, Stage, next};
use super::point::Point;
use super::{Observation, WRITES_MAX, report, status};
use crate::Settings;
use crate::views::{Pod, PodStatus};

/// More than any pod does at one moment: a life that goes round in circles goes on later.
const STEPS_MAX: usize = 64;

/// How long a pod that cannot go on waits before it tries again.
const HELD: Duration = Duration::from_secs(10);

pub(super) fn plan(
    settings: &Settings,
    life: &[Stage],
    sync: &Sync<'_, Observation>,
) -> Flow<Step> {
    let (seen, now) = (sync.seen, sync.now);
    let left_alone = match (seen.node.is_lost(), seen.node.metadata.is_deleting()) {
        (true, _) => Some(report::NODE_LOST),
        (_, true) => Some(report::NODE_TERMINATING),
        _ => None,
    };
    if let Some(rule) = left_alone {
        return Ok(Step::rest(Report::new(rule)));
    }
    let mut plan = Plan::of(settings, life, seen, now);
    let details = std::mem::take(&mut plan.details);
    let mut report = Report::new(report::PODS_RUN).saw("pods", seen.pods.len());
    report.waits_for = plan.held.take();
    let report = report.details(details);
    let writes = std::mem::take(&mut plan.writes);
    Ok(match sync.run_some("pods", Pace::Together, || writes)? {
        None => rest(plan.due, now, report),
        Some(round) => wrote(round, &plan, now, report),
    })
}

fn rest(due: Option<Timestamp>, now: Timestamp, report: Report) -> Step {
    match due {
        Some(at) => Step::rest_for(at.saturating_since(now), report),
        None => Step::rest(report),
    }
}

/// After the writes: comes back when the next pod is due, or sooner if a write failed.
fn wrote(round: &Round, plan: &Plan, now: Timestamp, report: Report) -> Step {
    let report = report.saw("written", round.written().count());
    let error = round.answers.iter().find_map(|answer| {
        let error = answer.error()?;
        // What is gone needs nothing more.
        (!error.is_gone_or_replaced()).then_some(error)
    });
    match (error, plan.due) {
        (Some(error), None) => Step::retry(error, report),
        // The growing delay of a retry would hold up all other pods of the node.
        (Some(error), Some(at)) => {
            let soon = HELD.min(at.saturating_since(now));
            Step::rest_for(
                soon,
                report.waits_for(Wait::answer(error, round.failed_namespace())),
            )
        }
        (None, due) => rest(due, now, report),
    }
}

/// What all pods of a node come to.
struct Plan {
    writes: Vec<Action>,
    /// When the next pod is due.
    due: Option<Timestamp>,
    /// What a pod waits for that has no address.
    held: Option<Wait>,
    /// Why pods wait, as many as a report holds.
    details: Vec<Detail>,
}

impl Plan {
    fn of(settings: &Settings, life: &[Stage], seen: &Observation, now: Timestamp) -> Self {
        let mut addresses = Addresses::of(settings, &seen.node, &seen.pods);
        let mut plan = Self {
            writes: Vec::new(),
            due: None,
            held: None,
            details: Vec::new(),
        };
        for pod in &seen.pods {
            if plan.writes.len() >= WRITES_MAX {
                plan.due_at(now);
                break;
            }
            let asks = Asks::of(settings, pod);
            let fate = fate(life, seen, pod, &asks, &mut addresses, now);
            plan.explain(pod, fate.held);
            if let Some(at) = fate.due {
                plan.due_at(at);
            }
            plan.writes.extend(fate.write);
        }
        plan
    }

    fn explain(&mut self, pod: &Pod, held: Option<Held>) {
        if self.details.len() >= DETAILS_MAX {
            return;
        }
        let detail = match held {
            Some(Held::NoAddress) => Some(report::no_address(pod)),
            None => report::detail(pod, Point::of(pod, &pod.status)),
        };
        if held.is_some() && self.held.is_none() {
            self.held = detail.as_ref().map(|it| it.waits_for.clone());
        }
        self.details.extend(detail);
    }

    fn due_at(&mut self, at: Timestamp) {
        self.due = Some(self.due.map_or(at, |known| known.min(at)));
    }
}

/// What one pod comes to.
#[derive(Default)]
struct Fate {
    write: Option<Action>,
    due: Option<Timestamp>,
    held: Option<Held>,
}

fn fate(
    life: &[Stage],
    seen: &Observation,
    pod: &Pod,
    asks: &Asks,
    addresses: &mut Addresses<'_>,
    now: Timestamp,
) -> Fate {
    let stamp = now.floor_to_second();
    // What only conditions of others change, such as an open readiness gate, has no stage.
    let point = Point::of(pod, &pod.status);
    let reports = !matches!(point, Point::Bound | Point::Ended | Point::Stopping);
    let due = next(life, asks, pod, &pod.status).map(|(at, _)| at);
    let is_due = due.is_some_and(|at| at <= now);
    if !is_due && (!reports || changed(pod, &pod.status, stamp).is_empty()) {
        // Nearly all pods at nearly all times.
        return Fate {
            due,
            ..Fate::default()
        };
    }
    let traveller = Traveller {
        pod,
        node: &seen.node,
        asks,
        addresses,
        status: pod.status.clone(),
    };
    travel(life, traveller, now, stamp)
}

/// Lets a pod go on as far as it is due.
fn travel(
    life: &[Stage],
    mut traveller: Traveller<'_, '_>,
    now: Timestamp,
    stamp: Timestamp,
) -> Fate {
    let (mut fate, pod) = (Fate::default(), traveller.pod);
    for step in 0.. {
        let Some((at, what)) = next(life, traveller.asks, pod, &traveller.status) else {
            break;
        };
        if at > now {
            fate.due = Some(at);
            break;
        }
        if step == STEPS_MAX {
            fate.due = Some(now.saturating_add(Duration::from_secs(1)));
            break;
        }
        if what == Next::Finish {
            return finish(traveller, now, stamp);
        }
        if let Err(held) = traveller.go(what, stamp) {
            fate.due = Some(now.saturating_add(HELD));
            fate.held = Some(held);
            break;
        }
    }
    refresh(pod, &mut traveller.status, stamp);
    fate.write = report(pod, &traveller.status);
    fate
}

/// Takes a pod away whose containers have stopped. Whoever holds it wants to see how it ended:
/// then this is told first. Nobody else could see it for longer than a moment.
fn finish(mut traveller: Traveller<'_, '_>, now: Timestamp, stamp: Timestamp) -> Fate {
    let pod = traveller.pod;
    let mut fate = Fate::default();
    if pod.metadata.is_held && !pod.status.phase.is_terminal() {
        // Ending never fails: it needs no address.
        let _ = traveller.go(Next::Finish, stamp);
        refresh(pod, &mut traveller.status, stamp);
        fate.write = report(pod, &traveller.status);
        return fate;
    }
    // A server stores that there is no grace left before it takes the pod away, and shows both.
    // Should it have failed in between, it is asked again.
    let asked = pod.metadata.deletion_grace_period_seconds == Some(0);
    let again_at = pod
        .metadata
        .deletion_timestamp
        .map(|at| at.saturating_add(HELD));
    match (asked, pod.metadata.is_held, again_at) {
        (true, true, _) => {}
        (true, false, Some(at)) if at > now => fate.due = Some(at),
        _ => {
            let delete = Write::delete_if(pod.target(), pod.unchanged());
            fate.write = Some(delete.within(0).into());
        }
    }
    fate
}

fn report(pod: &Pod, new: &PodStatus) -> Option<Action> {
    (pod.status != *new).then(|| {
        Write::patch(pod.target(), pod.unchanged(), status::patch(pod, new))
            .to_subresource(Subresource::STATUS)
            .into()
    })
}
