//! What a sync decides, from top to bottom.

use std::cmp::Ordering;
use std::time::Duration;

use flyball_api::views::{Pod, ReplicaSetStatus};
use flyball_api::{Class, Lossless, Object, Selector, Timestamp};
use flyball_plan::rules::pods::available_in;
use flyball_plan::rules::ranking::Ranking;
use flyball_plan::rules::status::put;
use flyball_plan::{
    Action, Answer, Failure, Flow, Found, Pace, Read, Report, Round, Step, Sync, Target,
};

use super::outcome::Outcome;
use super::report::report;
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
            let report = Report::new("no usable selector").saw("because", why);
            let fix = "a selector that selects something in particular";
            return Ok(Step::rest(report.waits_for(fix)));
        }
    };
    let pods = adoption::settle(sync, &owner, selector)?;
    let outcome = manage(settings, sync, &owner, selector, &pods)?;

    let terminating =
        (settings.terminating_replicas && K::COUNTS_TERMINATING).then_some(seen.terminating);
    let failure = outcome.failure.as_ref();
    let status_of = |owner: &Owner<'_>| status::next(owner, &pods, terminating, failure, now);
    let status = status_of(&owner);
    let report = report(&owner, &pods, &outcome, &status, now);
    match tell::<K>(sync, &owner, &status_of)? {
        Told::Done => {}
        Told::Gone => return Ok(Step::rest(report.waits_for("its own deletion to be seen"))),
        Told::Failed(error) => return Ok(Step::retry(error, report)),
    }
    if let Some(failure) = outcome.failure {
        let (text, remedy) = (failure.message, failure.remedy);
        return Ok(Step::retry(Failure { text, remedy }, report));
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
                Err(failure) => return Ok(Outcome::refused(failure)),
            };
            let missing = (owner.replicas - pods.len()).min(BURST);
            let creates = || vec![create; missing];
            let round = sync.run(creation::STAGE, Pace::SlowStart, creates)?;
            Ok(creation::outcome(round))
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
    Failed(String),
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
    match told.and_then(status_error) {
        None => return Ok(Told::Done),
        Some((Class::NotFound, _)) => return Ok(Told::Gone),
        Some(_) => {}
    }
    let target = || Read::get(Target::of(owner.kind, owner.meta));
    let live = match sync.found("refresh", target)? {
        Found::Nothing => return Ok(Told::Gone),
        Found::Unknown(error) => return Ok(Told::Failed(error)),
        Found::Object(json) => match K::Object::decode(json.json().as_bytes()) {
            Ok(live) if *live.uid() == owner.meta.uid => live,
            Ok(_) => return Ok(Told::Gone),
            Err(error) => return Ok(Told::Failed(error.to_string())),
        },
    };
    let again = sync.run("tell-again", Pace::InOrder, || {
        let live = K::owner(&live);
        // The generation observed is that of the spec that was acted on.
        let mut status = status_of(&live);
        status.observed_generation = owner.meta.generation;
        vec![put(owner.kind, live.meta, &status)]
    })?;
    Ok(match status_error(again) {
        None => Told::Done,
        Some((_, error)) => Told::Failed(error),
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

/// Why the status write of a stage failed, if there was one and it did.
fn status_error(round: &Round) -> Option<(Class, String)> {
    let write = round.actions.items.iter().position(Action::is_write)?;
    match round.answers.get(write)? {
        Answer::Failed(error) => Some((error.class(), error.to_string())),
        Answer::Skipped => Some((
            Class::Transient,
            "the status write was not tried".to_owned(),
        )),
        _ => None,
    }
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
