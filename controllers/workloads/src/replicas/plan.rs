//! What a sync decides, from top to bottom.

use std::cmp::Ordering;
use std::time::Duration;

use flyball_api::views::{Pod, ReplicaSetStatus};
use flyball_api::{Lossless, Object, Selector, Timestamp};
use flyball_plan::rules::pods::available_in;
use flyball_plan::rules::ranking::Ranking;
use flyball_plan::rules::status::{gone, is_gone, put};
use flyball_plan::{
    Action, Answer, Failure, Flow, Found, Pace, Read, Report, Round, Step, Sync, Target, Wait,
};

use super::outcome::Outcome;
use super::report;
use super::{
    BURST, Observation, Owner, ReplicaKind, ReplicasSettings, adoption, creation, deletion, status,
};

const TELL: &str = "tell";

pub(super) fn plan<K: ReplicaKind>(
    settings: &ReplicasSettings,
    sync: &Sync<'_, Observation<K>>,
) -> Flow<Step> {
    let (seen, now) = (sync.seen, sync.now);
    let owner = K::owner(&seen.object);
    let selector = match &seen.selector {
        Ok(selector) => selector,
        Err(why) => {
            let target = Target::of(owner.kind, owner.meta);
            let report = Report::new(report::NO_SELECTOR).saw("because", why);
            let edit = Wait::edit(target, "spec.selector");
            return Ok(Step::rest(report.waits_for(edit)));
        }
    };
    let pods = adoption::settle(sync, &owner, selector)?;
    let outcome = manage(settings, sync, &owner, selector, &pods)?;

    let terminating =
        (settings.terminating_replicas && K::COUNTS_TERMINATING).then_some(seen.terminating);
    let refusal = outcome.refusal.as_ref();
    let status_of = |owner: &Owner<'_>| status::next(owner, &pods, terminating, refusal, now);
    let status = status_of(&owner);
    let report = report::report(&owner, &pods, &outcome, &status, now);
    match tell::<K>(sync, &owner, &status_of)? {
        Told::Done => {}
        Told::Gone => return Ok(gone(owner.kind, owner.meta)),
        Told::Failed(failure) => {
            let report = report.waits_for(failure.wait.as_ref().clone());
            return Ok(Step::retry(failure, report));
        }
    }
    if let Some(refusal) = outcome.refusal {
        return Ok(Step::retry(refusal.failure, report));
    }
    Ok(match next_availability(&owner, &pods, &status, now) {
        Some(delay) => Step::rest_for(delay, report),
        None => Step::rest(report),
    })
}

/// Brings the number of pods to what is desired, or as far as one sync may.
fn manage<K: ReplicaKind>(
    settings: &ReplicasSettings,
    sync: &Sync<'_, Observation<K>>,
    owner: &Owner<'_>,
    selector: &Selector,
    pods: &[&Pod],
) -> Flow<Outcome> {
    if owner.meta.is_deleting() {
        return Ok(Outcome::default());
    }
    match pods.len().cmp(&owner.replicas) {
        Ordering::Equal => Ok(Outcome::default()),
        Ordering::Less => {
            let create = match creation::create(owner, selector) {
                Ok(create) => create,
                Err(refusal) => return Ok(Outcome::refused(refusal)),
            };
            let missing = (owner.replicas - pods.len()).min(BURST);
            let creates = || vec![create; missing];
            let round = sync.run(creation::STAGE, Pace::SlowStart, creates)?;
            Ok(creation::outcome(owner, round))
        }
        Ordering::Greater => {
            let ranking = Ranking {
                on_node: &sync.seen.on_node,
                deletion_cost: settings.deletion_cost,
                now: sync.now,
            };
            let excess = (pods.len() - owner.replicas).min(BURST);
            let deletes = || deletion::deletes(pods, excess, ranking);
            let round = sync.run(deletion::STAGE, Pace::Together, deletes)?;
            Ok(deletion::outcome(round))
        }
    }
}

enum Told {
    Done,
    Gone,
    Failed(Failure),
}

/// Tells people what was done and the owner how its pods fare; should the owner have changed
/// meanwhile, once more from its newest state.
fn tell<K: ReplicaKind>(
    sync: &Sync<'_, Observation<K>>,
    owner: &Owner<'_>,
    status_of: &dyn Fn(&Owner<'_>) -> Lossless<ReplicaSetStatus>,
) -> Flow<Told> {
    let told = sync.run_some(TELL, Pace::InOrder, || {
        let mut items = records(sync, owner);
        let status = status_of(owner);
        if status::is_news(owner, &status) {
            items.push(put(owner.kind, owner.meta, &status));
        }
        items
    })?;
    match told.and_then(status_answer) {
        None | Some(Answer::Done(_)) => return Ok(Told::Done),
        Some(Answer::Failed(error)) if is_gone(error) => return Ok(Told::Gone),
        Some(_) => {}
    }
    let target = || Read::get(Target::of(owner.kind, owner.meta));
    let live = match sync.found("refresh", target)? {
        Found::Nothing => return Ok(Told::Gone),
        Found::Unknown(failure) => return Ok(Told::Failed(failure)),
        Found::Object(json) => match K::Object::decode(json.json().as_bytes()) {
            Ok(live) if *live.uid() == owner.meta.uid => live,
            Ok(_) => return Ok(Told::Gone),
            Err(error) => return Ok(Told::Failed(error.into())),
        },
    };
    let again = sync.run("tell-again", Pace::InOrder, || {
        let live = K::owner(&live);
        // The generation observed is that of the spec that was acted on.
        let mut status = status_of(&live);
        status.observed_generation = owner.meta.generation;
        vec![put(owner.kind, live.meta, &status)]
    })?;
    Ok(match status_answer(again) {
        Some(Answer::Failed(error)) => Told::Failed(error.into()),
        Some(Answer::Skipped) => Told::Failed("the status write was not tried".into()),
        _ => Told::Done,
    })
}

fn records<S>(sync: &Sync<'_, S>, owner: &Owner<'_>) -> Vec<Action> {
    if let Some(round) = sync.has_run(creation::STAGE) {
        creation::records(owner, round)
    } else if let Some(round) = sync.has_run(deletion::STAGE) {
        deletion::records(owner, round)
    } else {
        Vec::new()
    }
}

/// What became of the status write of a stage, if there was one.
fn status_answer(round: &Round) -> Option<&Answer> {
    let (_, answer) = round.writes().next()?;
    Some(answer)
}

/// When the next pod will have been ready for long enough, if that is all it takes. A pod that
/// does not say since when it is ready is looked at again after the whole time.
fn next_availability(
    owner: &Owner<'_>,
    pods: &[&Pod],
    status: &ReplicaSetStatus,
    now: Timestamp,
) -> Option<Duration> {
    if owner.min_ready_seconds <= 0 || status.ready_replicas == status.available_replicas {
        return None;
    }
    let waits = pods
        .iter()
        .filter_map(|pod| available_in(pod, owner.min_ready_seconds, now));
    let longest = Duration::from_secs(owner.min_ready_seconds.unsigned_abs().into());
    Some(
        waits
            .filter(|wait| !wait.is_zero())
            .min()
            .unwrap_or(longest),
    )
}
