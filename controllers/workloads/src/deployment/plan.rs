//! All branching of a sync, top to bottom.

use flyball_api::ApiError;
use flyball_api::views::Deployment;
use flyball_plan::{Flow, Pace, RecordKind, Report, Rule, Step, stuck};

use super::Sync;
use super::draft::Draft;
use super::edits::{self, Edit, record};
use super::limits::Strategy;
use super::sets::{Family, Set};
use super::{
    claims, cleanup, creation, pausing, progress, recreate, report, rollback, rolling, scaling,
    status,
};

pub(super) fn plan(sync: &Sync<'_>) -> Flow<Step> {
    let deployment = sync.deployment();
    if selects_everything(deployment) {
        return refuse_to_select_everything(sync);
    }
    if let Some(problem) = &sync.seen.problem {
        return Err(stuck(report::UNDECIDABLE, problem));
    }
    let family = claims::claim(sync)?;
    let mut draft = Draft::of(deployment);
    if deployment.metadata.is_deleting() {
        return finish_counting(sync, &family, draft, report::TERMINATING);
    }
    pausing::note(sync, &mut draft)?;
    if deployment.spec.paused {
        return resize(sync, &family, draft, report::PAUSED);
    }
    // Before anything else moves: the revisions that it speaks of are those of now.
    if let Some(revision) = rollback::requested(deployment) {
        return rollback::roll_back(sync, &family, draft, revision);
    }
    if scaling::is_due(deployment, &family) {
        return resize(sync, &family, draft, report::SCALING);
    }
    match Strategy::of(deployment) {
        Strategy::Recreate => recreate::roll_out(sync, family, draft),
        Strategy::RollingUpdate => rolling::roll_out(sync, family, draft),
        Strategy::Unknown(kind) => {
            let error = format!("unexpected deployment strategy type: {kind}");
            Err(stuck(report::UNKNOWN_STRATEGY, error))
        }
    }
}

/// Whether the selector is there but says nothing. An absent one selects nothing.
fn selects_everything(deployment: &Deployment) -> bool {
    deployment
        .spec
        .selector
        .as_ref()
        .is_some_and(|selector| selector.is_empty())
}

fn refuse_to_select_everything(sync: &Sync<'_>) -> Flow<Step> {
    let deployment = sync.deployment();
    sync.run("refuse", Pace::InOrder, || {
        let message = "This deployment is selecting all pods. A non-empty selector is required.";
        let told = record(
            deployment,
            RecordKind::Warning,
            "SelectingAll",
            message.to_owned(),
        );
        let mut draft = Draft::of(deployment);
        let generation = deployment.metadata.generation;
        draft.status.observed_generation = draft.status.observed_generation.max(generation);
        let update = draft.differs().then(|| draft.update());
        [told].into_iter().chain(update).collect()
    })?;
    Ok(Step::rest(report::selects_everything(deployment)))
}

/// Sizes the ReplicaSets of a Deployment that is paused or was scaled; no roll-out moves on.
fn resize(sync: &Sync<'_>, family: &Family, mut draft: Draft, rule: Rule) -> Flow<Step> {
    let deployment = sync.deployment();
    let mut changes = scaling::scale(deployment, family);
    if let Some(known) = creation::take_up(sync, family, &mut draft) {
        let is_new = |edit: &&mut Edit| edit.set.meta().uid == known.set.meta().uid;
        // What is known about the new ReplicaSet by now and its size make one write.
        match changes.iter_mut().find(is_new) {
            Some(sized) => sized.merge(known),
            None => changes.push(known),
        }
    }
    changes.retain(|edit| !edit.is_empty());
    if !changes.is_empty() {
        sync.must("sizes", || edits::actions(deployment, &changes))?;
    }
    if deployment.spec.paused && rollback::requested(deployment).is_none() {
        let left_over = cleanup::clean_up(sync, &family.old)?;
        if let Some(error) = left_over {
            finish_counting(sync, family, draft, rule)?;
            let report = Report::new(report::CLEANUP_FAILED).saw("error", error);
            return Err(Step::retry(error, report));
        }
    }
    finish_counting(sync, family, draft, rule)
}

/// The new ReplicaSet and what is to change on it; created if there is none.
pub(super) fn ensure_new(
    sync: &Sync<'_>,
    mut family: Family,
    draft: &mut Draft,
) -> Flow<(Family, Set, Edit)> {
    let edit = match creation::take_up(sync, &family, draft) {
        Some(edit) => edit,
        None => {
            let created = creation::create(sync, &family, draft)?;
            let edit = Edit::of(&created);
            family.new = Some(created);
            edit
        }
    };
    let new = edit.set.clone();
    Ok((family, new, edit))
}

/// Cleans up the history once the stored status says that the roll-out is complete.
pub(super) fn clean_up_when_complete<'a>(
    sync: &Sync<'a>,
    family: &Family,
) -> Flow<Option<&'a ApiError>> {
    let deployment = sync.deployment();
    if !progress::is_complete(deployment, &deployment.status) {
        return Ok(None);
    }
    cleanup::clean_up(sync, &family.old)
}

/// Ends a sync that rolled nothing out: counts, but no judgement of progress.
fn finish_counting(sync: &Sync<'_>, family: &Family, mut draft: Draft, rule: Rule) -> Flow<Step> {
    let deployment = sync.deployment();
    status::count(sync, family, &mut draft);
    draft.write(sync)?;
    Ok(Step::rest(report::report(
        rule,
        deployment,
        family,
        &draft.status,
    )))
}

/// Ends a sync of a roll-out: counts, how it goes and when to look again. `error` is what went
/// wrong with something that did not keep the status from being written.
pub(super) fn finish_rollout(
    sync: &Sync<'_>,
    family: &Family,
    mut draft: Draft,
    rule: Rule,
    error: Option<&ApiError>,
) -> Flow<Step> {
    let deployment = sync.deployment();
    status::judge(sync, family, &mut draft);
    let written = draft.write(sync)?;
    let mut report = report::report(rule, deployment, family, &draft.status);
    if let Some(error) = error {
        // What is sent again comes before what the roll-out waits for.
        report.waits_for = None;
        return Err(Step::retry(error, report));
    }
    // A status that was written comes back as a change, which is looked at soon enough.
    let wait = match written {
        true => None,
        false => progress::judge_again_after(deployment, &draft.status, sync.now),
    };
    Ok(match wait {
        Some(wait) => Step::rest_for(wait, report),
        None => Step::rest(report),
    })
}
