//! What is to be done about a namespace on its way out, from the first question to its end.

use std::time::Duration;

use flyball_api::views::Namespace;
use flyball_plan::{Action, Flow, Found, Pace, Read, Step, Sync, Target};

use super::content::{OTHERS, PODS, Portion};
use super::findings::{Findings, since};
use super::live::Live;
use super::observe::Observation;
use super::resources::{PORTION, Resources};
use super::{conditions, report};

/// How old an answer may be that is not about this namespace alone: it was left alone for longer
/// than that, so whatever is in it was there by then.
pub(super) const AGE_MAX: Duration = Duration::from_secs(1);

pub(super) fn plan(sync: &Sync<'_, Observation>) -> Flow<Step> {
    let target = || Read::get(Target::of(Namespace::KIND, &sync.seen.namespace.metadata));
    let mut live = match sync.found("ask", target)? {
        Found::Object(found) => {
            Live::read(found).map_err(|why| Step::retry(why, report::unreadable()))?
        }
        Found::Nothing => return Ok(Step::rest(report::gone())),
        Found::Unknown(error) => return Ok(Step::retry(error, report::unreadable())),
    };
    if live.uid() != sync.seen.namespace.metadata.uid {
        return Ok(Step::rest(report::another()));
    }
    let Some(deleted_at) = live.deleted_at() else {
        return Ok(Step::rest(report::stays()));
    };
    if live.phase() != "Terminating" {
        live.set_phase("Terminating");
        written(sync, "phase", &mut live, Live::update_status)?;
    }
    if live.is_finalized() {
        return Ok(Step::rest(report::finalized(&sync.seen.namespace)));
    }
    let found = empty(sync, &live, since(deleted_at, sync.now))?;
    if let Some(updated) = conditions::updated(live.conditions(), &found, sync.now) {
        live.set_conditions(updated);
        written(sync, "conditions", &mut live, Live::update_status)?;
    }
    let report = report::found(&found);
    if found.has_failed() {
        return Ok(Step::retry(found.error(), report));
    }
    if found.unfinished {
        return Ok(Step::rest_for(Duration::ZERO, report));
    }
    if !found.remaining.is_empty() {
        return Ok(Step::rest_for(found.pause(), report));
    }
    written(sync, "finalize", &mut live, Live::finalize)?;
    Ok(Step::rest(report::empty()))
}

/// Makes a write to the namespace, unless it was made already in this sync.
fn written(
    sync: &Sync<'_, Observation>,
    stage: &'static str,
    live: &mut Live,
    write: fn(&Live) -> Action,
) -> Flow<()> {
    let round = sync.run(stage, Pace::InOrder, || vec![write(live)])?;
    match round.first_error() {
        Some(error) if error.is_not_found() => Err(Step::rest(report::gone())),
        Some(error) => Err(Step::retry(error, report::unwritten())),
        None => {
            if let Some(written) = round.written().next() {
                live.set_version(&written.resource_version);
            }
            Ok(())
        }
    }
}

/// Empties the namespace as far as that goes: pods first, everything else when there are none.
fn empty(sync: &Sync<'_, Observation>, live: &Live, since: Duration) -> Flow<Findings> {
    let discover = || Read::discovery().not_older_than(AGE_MAX);
    let resources = Resources::of(Some(sync.ask("discover", discover)?));
    let mut found = Findings {
        discovery_failure: resources.failure,
        parsing_failure: resources.malformed,
        ..Findings::default()
    };
    let pods = [(&PODS, 0, resources.pods.as_slice())];
    let others = resources.others.chunks(PORTION).enumerate();
    let others = others.map(|(index, portion)| (&OTHERS, index, portion));
    for (stages, index, resources) in pods.into_iter().chain(others) {
        Portion::new(sync, live.name(), resources, stages, index).empty(since, &mut found)?;
        // Nothing else is touched before it is certain that there is no pod any more.
        let is_pods = stages.look == PODS.look;
        let uncertain = resources.is_empty() && found.discovery_failure.is_some();
        let pods_stay = !found.remaining.is_empty() || !found.failures.is_empty() || uncertain;
        if (is_pods && pods_stay) || found.unfinished {
            return Ok(found);
        }
    }
    Ok(found)
}
