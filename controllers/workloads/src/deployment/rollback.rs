//! Rollback, asked for by a deprecated annotation: the template of an earlier revision comes back.
//!
//! This is the one write to a Deployment that is not about its status, and the role of the
//! controller allows it only as a whole update. A view cannot be sent as a whole, so the
//! Deployment is read anew and changed as text: what is not ours to change goes back untouched.
//! Upstream: `rollback.go`.

use flyball_api::views::Deployment;
use flyball_api::{DecodeError, Object};
use flyball_plan::rules::splice;
use flyball_plan::{
    Action, Answer, Body, Flow, Precondition, Read, RecordKind, Report, Step, Target, Until, Wait,
    Write, stuck,
};

use super::Sync;
use super::annotations::{REVISION, ROLLBACK_TO, of_rolled_back};
use super::draft::Draft;
use super::edits::{self, record};
use super::observe::same_template;
use super::sets::{Family, Set};
use super::{POD_TEMPLATE_HASH, creation, report, revisions};

const NOT_FOUND: &str = "DeploymentRollbackRevisionNotFound";
const UNCHANGED: &str = "DeploymentRollbackTemplateUnchanged";
const DONE: &str = "DeploymentRollback";

/// The revision that a rollback is asked to; 0 for the previous one. What is no number asks for
/// nothing.
pub(super) fn requested(deployment: &Deployment) -> Option<i64> {
    deployment
        .metadata
        .annotations
        .get(ROLLBACK_TO)?
        .parse()
        .ok()
}

/// Rolls back, or tells why not; either way the request is taken off.
///
/// A template that has no ReplicaSet yet gets none. Upstream creates it first, and so starts pods
/// of what is about to go, for a recreation even beside the old ones.
pub(super) fn roll_back(
    sync: &Sync<'_>,
    family: &Family,
    mut draft: Draft,
    revision: i64,
) -> Flow<Step> {
    let deployment = sync.deployment();
    // The new ReplicaSet's revision is what it becomes in this sync, or would.
    let new_revision = match creation::take_up(sync, family, &mut draft) {
        Some(edit) => {
            if !edit.is_empty() {
                sync.must("new", || edits::actions(deployment, [&edit]))?;
            }
            edit.annotation(REVISION).and_then(|text| text.parse().ok())
        }
        None => Some(creation::next_revision(family)),
    };
    let verdict = verdict(deployment, family, new_revision, revision)
        .map_err(|problem| stuck(report::ROLLBACK, problem))?;

    let ask = || {
        let target = Target::of(Deployment::KIND, &deployment.metadata);
        vec![Read::get(target).into()]
    };
    let round = sync.must("read-for-rollback", ask)?;
    let Some(Answer::Read(live)) = round.answers.first() else {
        return Err(stuck(report::ROLLBACK, "the deployment was not read"));
    };
    let update = rewrite(deployment, live.json(), verdict.to())
        .map_err(|problem| stuck(report::ROLLBACK, problem))?;
    sync.must("rollback", || {
        let warn =
            |reason, message: String| record(deployment, RecordKind::Warning, reason, message);
        let name = &deployment.metadata.name;
        match &verdict {
            Verdict::NotFound(message) => vec![warn(NOT_FOUND, (*message).to_owned()), update],
            Verdict::Unchanged => {
                let message = format!(
                    "The rollback revision contains the same template as current deployment \
                     \"{name}\""
                );
                vec![warn(UNCHANGED, message), update]
            }
            // Told only if it happened.
            Verdict::To(_, revision) => {
                let message = format!("Rolled back deployment \"{name}\" to revision {revision}");
                vec![
                    update,
                    record(deployment, RecordKind::Normal, DONE, message),
                ]
            }
        }
    })?;
    Ok(Step::rest(
        Report::new(report::ROLLBACK)
            .saw("asked for revision", revision)
            .saw("outcome", verdict.name())
            .waits_for(Wait::object(
                Target::of(Deployment::KIND, &deployment.metadata),
                Until::CacheUpdated,
            )),
    ))
}

/// What a request for a rollback comes to.
pub(super) enum Verdict<'a> {
    /// There is no such revision, for this reason.
    NotFound(&'static str),
    /// The revision has the template that the Deployment has already.
    Unchanged,
    /// To the template of this ReplicaSet, which has this revision.
    To(&'a Set, i64),
}

impl<'a> Verdict<'a> {
    fn to(&self) -> Option<&'a Set> {
        match self {
            Self::To(set, _) => Some(set),
            Self::NotFound(_) | Self::Unchanged => None,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "no such revision",
            Self::Unchanged => "same template",
            Self::To(..) => "rolled back",
        }
    }
}

/// Decides about a request; 0 asks for the previous revision.
pub(super) fn verdict<'a>(
    deployment: &Deployment,
    family: &'a Family,
    new_revision: Option<i64>,
    requested: i64,
) -> Result<Verdict<'a>, String> {
    let old = family
        .old
        .iter()
        .map(|set| (Some(set), revisions::revision(set)));
    let new = (family.new.as_ref(), new_revision);
    let numbered: Vec<(Option<&Set>, i64)> = old
        .chain([new])
        .filter_map(|(set, revision)| Some((set, revision?)))
        .collect();
    let revision = match requested {
        0 => revisions::previous(numbered.iter().map(|(_, revision)| *revision)),
        other => other,
    };
    if revision == 0 {
        return Ok(Verdict::NotFound("Unable to find last revision."));
    }
    match numbered.into_iter().find(|(_, number)| *number == revision) {
        None => Ok(Verdict::NotFound(
            "Unable to find the revision to rollback to.",
        )),
        Some((Some(set), _)) if !same_template(deployment, &set.view)? => {
            Ok(Verdict::To(set, revision))
        }
        Some(_) => Ok(Verdict::Unchanged),
    }
}

/// The update of the Deployment as the server has it now: without the request and, if there is a
/// ReplicaSet to go back to, with its template and annotations.
fn rewrite(deployment: &Deployment, live: &str, to: Option<&Set>) -> Result<Action, String> {
    let now = Deployment::decode(live.as_bytes()).map_err(|error| error.to_string())?;
    let same = now.metadata.uid == deployment.metadata.uid
        && now.metadata.generation == deployment.metadata.generation
        && now.metadata.annotations.get(ROLLBACK_TO)
            == deployment.metadata.annotations.get(ROLLBACK_TO);
    if !same {
        return Err("the deployment has changed since the rollback was decided".to_owned());
    }
    let json = rewritten(&now, live, to).map_err(|error| error.to_string())?;
    let target = Target::of(Deployment::KIND, &now.metadata);
    let precondition = Precondition::unchanged(&now.metadata);
    Ok(Write::update(target, precondition, Body::new(json)).into())
}

fn rewritten(now: &Deployment, live: &str, to: Option<&Set>) -> Result<String, DecodeError> {
    let annotations = ["metadata", "annotations"];
    let Some(set) = to else {
        return splice::remove(live, &[annotations[0], annotations[1], ROLLBACK_TO]);
    };
    let template = set.view.spec.template.json();
    let template = splice::remove(template, &["metadata", "labels", POD_TEMPLATE_HASH])?;
    let template = flyball_api::Opaque::new(&template)?;
    let json = splice::set(live, &["spec", "template"], &template)?;
    let restored = of_rolled_back(&now.metadata.annotations, &set.meta().annotations);
    splice::set(&json, &annotations, &restored)
}
