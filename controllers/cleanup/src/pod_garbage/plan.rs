//! What is to be done about garbage: asked for, marked, taken away.

use std::collections::HashMap;
use std::time::Duration;

use flyball_api::ObjectName;
use flyball_api::views::{Node, Pod};
use flyball_plan::{Answer, Flow, Pace, Read, Round, Step, Sync, Target};

use super::marking::{is_unended, mark, take_away};
use super::observe::{Observation, Reason};
use super::victims::is_held;
use super::{QUARANTINE, report};

/// How many pods go in one sync; the others follow in the next.
const PODS_MAX: usize = 500;

pub(super) fn plan(sync: &Sync<'_, Observation>) -> Flow<Step> {
    let (seen, now) = (sync.seen, sync.now);
    if let Reason::Orphaned(node) = &seen.reason {
        let target = || Target {
            kind: Node::KIND,
            name: ObjectName::new("", node),
        };
        match sync.ask("ask", || Read::get(target()))? {
            Answer::Failed(error) if error.is_not_found() => {}
            Answer::Failed(error) => return Ok(Step::retry(error, report::cannot_ask(node))),
            // The cache has yet to learn of it; should it never, it is asked for again.
            _ => return Ok(Step::rest_for(QUARANTINE, report::node_exists(node))),
        }
    }
    let pods: Vec<&Pod> = seen
        .pods
        .iter()
        .map(|pod| &**pod)
        .filter(|pod| is_unended(pod) || !is_held(pod))
        .take(PODS_MAX)
        .collect();
    if pods.is_empty() {
        return Ok(Step::rest(report::held(seen)));
    }
    let marked = sync.run_some("mark", Pace::Together, || {
        let gone = matches!(seen.reason, Reason::Orphaned(_));
        let unended = pods.iter().filter(|pod| is_unended(pod));
        unended.map(|pod| mark(pod, gone, now)).collect()
    })?;
    let marked = outcomes(marked);
    let taken = sync.run_some("take away", Pace::Together, || {
        let is_ready = |pod: &&&Pod| {
            let marked = marked.get(&pod.metadata.object_name());
            !is_held(pod) && marked.is_none_or(|answer| answer.error().is_none())
        };
        let take = |pod: &&Pod| match marked.get(&pod.metadata.object_name()) {
            Some(Answer::Done(written)) => take_away(pod, Some(&written.resource_version)),
            _ => take_away(pod, None),
        };
        pods.iter().filter(is_ready).map(take).collect()
    })?;
    Ok(end(seen, &pods, &[marked, outcomes(taken)]))
}

/// What became of each pod that a stage was about.
type Outcomes<'a> = HashMap<&'a ObjectName, &'a Answer>;

/// Counts what was done, and comes back for what failed or is left.
fn end(seen: &Observation, pods: &[&Pod], stages: &[Outcomes<'_>; 2]) -> Step {
    let failure = |pod: &Pod| {
        let name = pod.metadata.object_name();
        let mut answers = stages.iter().filter_map(|stage| stage.get(&name));
        answers.find_map(|it| it.error().filter(|error| !error.is_gone_or_replaced()))
    };
    let failures = || pods.iter().filter_map(|pod| failure(pod));
    let tallies = report::tallies(&seen.reason, pods, |pod| failure(pod).is_some());
    let taken = pods.iter().filter(|pod| {
        let taken = stages[1].get(&pod.metadata.object_name());
        taken.is_some() && failure(pod).is_none()
    });
    let report = report::taken_away(seen, taken.count(), failures().count()).tallies(tallies);
    match failures().next() {
        Some(error) => Step::retry(error, report),
        None if pods.len() == PODS_MAX => Step::rest_for(Duration::ZERO, report),
        None => Step::rest(report),
    }
}

fn outcomes(round: Option<&Round>) -> Outcomes<'_> {
    let both = round.into_iter().flat_map(Round::writes);
    both.map(|(write, answer)| (&write.target.name, answer))
        .collect()
}
