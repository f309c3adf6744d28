//! What a sync decides, from top to bottom.

use std::collections::HashSet;
use std::sync::Arc;

use flyball_api::{ApiError, Timestamp, Uid};
use flyball_plan::{Action, Answer, Flow, Pace, Round, Step, Sync, Write};

use super::{Observation, SchedulerSettings, report, status};
use crate::placing::{Decision, FAILURES_MAX, Failure, Nomination};
use crate::views::Pod;

pub(super) fn plan(settings: &SchedulerSettings, sync: &Sync<'_, Observation>) -> Flow<Step> {
    let (seen, now) = (sync.seen, sync.now);
    let decision = seen.decision();
    let (news, untold) = news(decision);
    let doomed = doomed(decision);

    let place = || place(settings, decision, &news, &doomed, now);
    let Some(placed) = sync.run_some("place", Pace::Together, place)? else {
        return Ok(report::rest(seen, decision, false, None));
    };
    let going = going(placed, decision, &doomed);
    let settle = || settle(placed, decision, &going, now);
    let settled = sync.run_some("settle", Pace::Together, settle)?;
    if let Some(settled) = settled {
        sync.run_some("tell", Pace::Together, || tell(settled, &going))?;
    }
    let error = first_error([Some(placed), settled]);
    Ok(report::rest(seen, decision, untold, error))
}

/// A pod that goes, and the failure of the pod it goes for.
type Doomed<'a> = (&'a Arc<Pod>, &'a Failure);

fn doomed(decision: &Decision) -> Vec<Doomed<'_>> {
    let failed = decision.failed.iter();
    failed
        .flat_map(|failure| failure.victims.iter().map(move |it| (it, failure)))
        .collect()
}

/// The failures that have to be written, as many as one sync writes; and whether there are more.
fn news(decision: &Decision) -> (Vec<&Failure>, bool) {
    let failed = decision.failed.iter();
    let mut news: Vec<&Failure> = failed.filter(|it| status::is_news(it)).collect();
    let untold = news.len() > FAILURES_MAX;
    // Whoever others go for must be told, else they would go in vain.
    news.sort_by_key(|it| it.victims.is_empty());
    news.truncate(FAILURES_MAX);
    (news, untold)
}

/// Bindings first, then those who go, then why others wait: answers come in the same order.
fn place(
    settings: &SchedulerSettings,
    decision: &Decision,
    news: &[&Failure],
    doomed: &[Doomed<'_>],
    now: Timestamp,
) -> Vec<Action> {
    let mut items: Vec<Action> = decision
        .placed
        .iter()
        .map(|(pod, node)| Write::bind(pod.target(), pod.unchanged(), node).into())
        .collect();
    let dooms = doomed
        .iter()
        .map(|(pod, _)| status::doom(pod, settings, now));
    items.extend(dooms);
    for failure in news {
        items.push(status::refuse(failure, now));
        items.push(status::tell_failed(&failure.pod, &failure.message));
    }
    items.extend(displaced(decision).map(|pod| status::displace(pod)));
    items
}

/// Pods that lose their nominated node to a more important one, and are not told another way.
fn displaced(decision: &Decision) -> impl Iterator<Item = &Arc<Pod>> {
    let bound = decision.placed.iter().map(|(pod, _)| &pod.uid);
    let failed = decision.failed.iter();
    let told = failed.filter(|it| it.nomination != Nomination::Keep);
    let told: HashSet<&Uid> = told.map(|it| &it.pod.uid).chain(bound).collect();
    let displaced = decision.failed.iter().flat_map(|it| &it.displaced);
    displaced.filter(move |pod| !told.contains(&pod.uid))
}

/// Those who go and know why.
fn going<'a>(placed: &Round, decision: &Decision, doomed: &[Doomed<'a>]) -> Vec<Doomed<'a>> {
    let answers = placed.answers.iter().skip(decision.placed.len());
    let told = doomed.iter().zip(answers);
    told.filter(|(_, answer)| matches!(answer, Answer::Done(_)))
        .map(|(doomed, _)| *doomed)
        .collect()
}

/// Deletions first: the next stage looks for their answers.
fn settle(
    placed: &Round,
    decision: &Decision,
    going: &[Doomed<'_>],
    now: Timestamp,
) -> Vec<Action> {
    let deletions = going.iter();
    let deletions =
        deletions.map(|(victim, _)| Write::delete_if(victim.target(), victim.incarnation()).into());
    let mut items: Vec<Action> = deletions.collect();
    for ((pod, node), answer) in decision.placed.iter().zip(&placed.answers) {
        match answer {
            Answer::Done(_) => items.push(status::tell_scheduled(pod, node)),
            Answer::Failed(error) if !error.is_gone_or_replaced() && !error.is_conflict() => {
                let message = format!("running Bind plugin \"DefaultBinder\": {error}");
                items.push(status::tell_failed(pod, &message));
                items.push(status::unbound(pod, &message, now));
            }
            _ => {}
        }
    }
    items
}

fn tell(settled: &Round, going: &[Doomed<'_>]) -> Vec<Action> {
    let deleted = going.iter().zip(&settled.answers);
    let gone = deleted.filter(|(_, answer)| matches!(answer, Answer::Done(_)));
    let told = gone.filter_map(|((victim, by), _)| match &by.nomination {
        Nomination::To(node) => Some(status::tell_preempted(victim, &by.pod, node)),
        _ => None,
    });
    told.collect()
}

fn first_error(rounds: [Option<&Round>; 2]) -> Option<&ApiError> {
    let answers = rounds.into_iter().flatten().flat_map(|it| &it.answers);
    let mut errors = answers.filter_map(Answer::error);
    errors.find(|error| !error.is_gone_or_replaced())
}
