//! What is to be done about garbage: asked for, marked, taken away.

use std::collections::HashMap;
use std::time::Duration;

use flyball_api::views::{Node, Pod};
use flyball_api::{ApiError, ObjectName, Timestamp};
use flyball_plan::{Action, Actions, Answer, Answers, Step, Target};

use super::marking::{is_unended, mark, take_away};
use super::observe::{Observation, Reason};
use super::victims::is_held;
use super::{QUARANTINE, status};

/// How many pods go in one sync; the others follow in the next.
const PODS_MAX: usize = 500;

pub(super) fn step(seen: &Observation, answers: &Answers, now: Timestamp) -> Step {
    if let Reason::Orphaned(node) = &seen.reason {
        let Some(round) = answers.stage("ask") else {
            let target = Target {
                kind: Node::KIND,
                name: ObjectName::new("", node),
            };
            return Step::Do(Actions::in_order("ask", vec![Action::Ask { target }]));
        };
        match round.first_error() {
            // The cache has yet to learn of it; should it never, it is asked for again.
            None => return Step::rest_for(QUARANTINE, status::node_exists(node)),
            Some(error) if error.is_not_found() => {}
            Some(error) => return Step::retry(error, status::cannot_ask(node)),
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
        return Step::rest(status::held(seen));
    }
    let unended: Vec<&Pod> = pods.iter().copied().filter(|pod| is_unended(pod)).collect();
    if !unended.is_empty() && answers.stage("mark").is_none() {
        let gone = matches!(seen.reason, Reason::Orphaned(_));
        let marks = unended.iter().map(|pod| mark(pod, gone, now)).collect();
        return Step::Do(Actions::together("mark", marks));
    }
    let marked = outcomes(answers, "mark");
    let is_ready = |pod: &Pod| {
        let failed = marked.get(&pod.metadata.object_name());
        !is_held(pod) && failed.is_none_or(|answer| answer.error().is_none())
    };
    let ready: Vec<&Pod> = pods.iter().copied().filter(|pod| is_ready(pod)).collect();
    if !ready.is_empty() && answers.stage("take away").is_none() {
        let take = |pod: &&Pod| match marked.get(&pod.metadata.object_name()) {
            Some(Answer::Done(written)) => take_away(pod, Some(&written.resource_version)),
            _ => take_away(pod, None),
        };
        let takes = ready.iter().map(take).collect();
        return Step::Do(Actions::together("take away", takes));
    }
    end(seen, &pods, answers)
}

/// Counts what was done, and comes back for what failed or is left.
fn end(seen: &Observation, pods: &[&Pod], answers: &Answers) -> Step {
    let stages = ["mark", "take away"].map(|stage| outcomes(answers, stage));
    let failure = |pod: &Pod| {
        let name = pod.metadata.object_name();
        let mut answers = stages.iter().filter_map(|stage| stage.get(&name));
        answers.find_map(|it| it.error().filter(|error| !is_gone(error)))
    };
    let failures = || pods.iter().filter_map(|pod| failure(pod));
    let tallies = status::tallies(&seen.reason, pods, |pod| failure(pod).is_some());
    let taken = pods.iter().filter(|pod| {
        let taken = stages[1].get(&pod.metadata.object_name());
        taken.is_some() && failure(pod).is_none()
    });
    let report = status::taken_away(seen, taken.count(), failures().count()).tallies(tallies);
    match failures().next() {
        Some(error) => Step::retry(error, report),
        None if pods.len() == PODS_MAX => Step::rest_for(Duration::ZERO, report),
        None => Step::rest(report),
    }
}

/// Gone, or another of the same name: either way the one that was meant is no more.
fn is_gone(error: &ApiError) -> bool {
    error.is_not_found() || error.is_other_incarnation()
}

/// What became of each pod that a stage was about.
fn outcomes<'a>(answers: &'a Answers, stage: &str) -> HashMap<&'a ObjectName, &'a Answer> {
    let Some(round) = answers.stage(stage) else {
        return HashMap::new();
    };
    let names = round.actions.items.iter().map(|action| match action {
        Action::Patch { target, .. } | Action::Delete { target, .. } => Some(&target.name),
        _ => None,
    });
    let both = names.zip(&round.answers);
    both.filter_map(|(name, answer)| Some((name?, answer)))
        .collect()
}
