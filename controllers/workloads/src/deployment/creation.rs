//! The new ReplicaSet: found and brought up to date, or created.
//!
//! Upstream: `getNewReplicaSet` in `sync.go`.

use std::sync::Arc;

use flyball_api::views::{Deployment, ReplicaSet, ReplicaSetSpec};
use flyball_api::{
    ApiError, Class, ConditionStatus, DecodeError, LeanMeta, Meta, Object, OwnerReference, Remedy,
    Template, digest,
};
use flyball_plan::rules::splice;
use flyball_plan::{
    Answer, Body, Flow, Pace, Read, RecordKind, Step, Target, Write, failed, stuck,
};
use serde::Serialize;

use super::Sync;
use super::annotations::{self, REVISION};
use super::conditions::{self, PROGRESSING, condition, reason};
use super::draft::Draft;
use super::edits::{Edit, record, scaled};
use super::limits::{Limits, Strategy};
use super::observe::same_template;
use super::progress::deadline;
use super::sets::{Family, Set};
use super::{POD_TEMPLATE_HASH, report, revisions};

/// The longest name of an object whose name is a DNS subdomain.
const NAME_LENGTH_MAX: usize = 253;

/// What must change on the new ReplicaSet, if there is one, for it to be up to date. The draft
/// learns the revision and, if nobody has said anything about progress yet, that it was found.
pub(super) fn take_up(sync: &Sync<'_>, family: &Family, draft: &mut Draft) -> Option<Edit> {
    let deployment = sync.deployment();
    let new = family.new.as_ref()?;
    let revision = next_revision(family);
    let edit = annotations::bring_up_to_date(deployment, new, revision);
    if let Some(revision) = edit.annotation(REVISION) {
        draft.set_revision(revision);
    }
    if deadline(deployment).is_some() && draft.condition(PROGRESSING).is_none() {
        let message = format!("Found new replica set \"{}\"", new.name());
        let found = condition(
            PROGRESSING,
            ConditionStatus::True,
            reason::FOUND,
            &message,
            sync.now,
        );
        conditions::set(&mut draft.status, found);
    }
    Some(edit)
}

/// Creates the new ReplicaSet, in the size that the limits leave room for.
pub(super) fn create(sync: &Sync<'_>, family: &Family, draft: &mut Draft) -> Flow<Set> {
    const STAGE: &str = "create";
    let deployment = sync.deployment();
    let limits = Limits::of(deployment);
    let size = limits
        .size_of_new(&Strategy::of(deployment), family.replicas(), 0)
        .map_err(|error| stuck(report::UNKNOWN_STRATEGY, error))?;
    let revision = next_revision(family).to_string();
    let collisions = draft.status.collision_count;
    let mut set = compose(deployment, collisions, &revision, &limits, size)
        .map_err(|error| stuck(report::TEMPLATE_UNUSABLE, error))?;

    let round = sync.run(STAGE, Pace::InOrder, || {
        let namespace = &deployment.metadata.namespace;
        let create = Write::create(ReplicaSet::KIND, namespace, body(&set)).into();
        let told = (size > 0).then(|| scaled(deployment, &set.metadata.name, 0, size));
        [create].into_iter().chain(told).collect()
    })?;
    match round.answers.first() {
        Some(Answer::Done(written)) => {
            set.metadata.uid = written.uid.clone();
            set.metadata.resource_version = written.resource_version.clone();
            draft.set_revision(&revision);
            say_created(sync, &set.metadata.name, draft);
            Ok(Set::new(Arc::new(set)))
        }
        Some(Answer::Failed(error)) => match error.class() {
            Class::AlreadyExists => {
                let existing = examine_namesake(sync, &set, error, draft)?;
                draft.set_revision(&revision);
                Ok(existing)
            }
            Class::NamespaceTerminating => Err(failed(STAGE, &set.metadata.namespace, error)),
            _ => Err(report_failure(sync, &set.metadata.name, error, draft)?),
        },
        _ => Err(stuck(
            report::CREATION_NOT_TRIED,
            "the creation was not tried",
        )),
    }
}

/// The revision after all old ones, which is the new ReplicaSet's.
pub(super) fn next_revision(family: &Family) -> i64 {
    revisions::highest(&family.old).saturating_add(1)
}

fn say_created(sync: &Sync<'_>, name: &str, draft: &mut Draft) {
    if deadline(sync.deployment()).is_some() {
        let message = format!("Created new replica set \"{name}\"");
        let created = condition(
            PROGRESSING,
            ConditionStatus::True,
            reason::CREATED,
            &message,
            sync.now,
        );
        conditions::set(&mut draft.status, created);
    }
}

/// Looks at the ReplicaSet that has the name already. If it is ours and has our template, it is
/// the new one, which the cache has not shown yet. If not, two templates have the same hash:
/// counting the collision makes the next try hash differently.
fn examine_namesake(
    sync: &Sync<'_>,
    wanted: &ReplicaSet,
    exists: &ApiError,
    draft: &Draft,
) -> Flow<Set> {
    let deployment = sync.deployment();
    let target = Target::of(ReplicaSet::KIND, &wanted.metadata);
    let round = sync.must("examine-namesake", || vec![Read::get(target).into()])?;
    let Some(Answer::Read(json)) = round.answers.first() else {
        return Err(failed("create", &wanted.metadata.namespace, exists));
    };
    let namesake = ReplicaSet::decode(json.json().as_bytes())
        .map_err(|error| stuck(report::REPLICA_SET_UNREADABLE, error))?;
    let same = same_template(deployment, &namesake)
        .map_err(|problem| stuck(report::REPLICA_SET_UNREADABLE, problem))?;
    if same && namesake.metadata.is_controlled_by(&deployment.metadata.uid) {
        return Ok(Set::new(Arc::new(namesake)));
    }
    sync.run("count-collision", Pace::InOrder, || {
        let mut counted = draft.clone();
        counted.status.collision_count = Some(counted.status.collision_count.unwrap_or(0) + 1);
        vec![counted.update()]
    })?;
    Err(failed("create", &wanted.metadata.namespace, exists))
}

/// Says in an event and, if progress matters, in the Progressing condition that the new
/// ReplicaSet could not be created; the sync fails whether or not that could be written.
fn report_failure(sync: &Sync<'_>, name: &str, error: &ApiError, draft: &Draft) -> Flow<Step> {
    let deployment = sync.deployment();
    let message = format!("Failed to create new replica set \"{name}\": {error}");
    sync.run("report-failure", Pace::InOrder, || {
        let mut failed = draft.clone();
        if deadline(deployment).is_some() {
            let (no, reason) = (ConditionStatus::False, reason::CREATE_FAILED);
            let failure = condition(PROGRESSING, no, reason, &message, sync.now);
            conditions::set(&mut failed.status, failure);
        }
        let update = failed.differs().then(|| failed.update());
        let told = record(
            deployment,
            RecordKind::Warning,
            reason::CREATE_FAILED,
            message.clone(),
        );
        [told].into_iter().chain(update).collect()
    })?;
    Ok(match error.remedy() {
        Remedy::Edit => Step::retry(error, report::template_refused(deployment, error)),
        Remedy::Retry | Remedy::LookAgain => {
            failed("create", &deployment.metadata.namespace, error)
        }
    })
}

/// The ReplicaSet to be created: the Deployment's template with a label that is its own, spliced
/// in without touching anything else.
fn compose(
    deployment: &Deployment,
    collisions: Option<i32>,
    revision: &str,
    limits: &Limits,
    size: i32,
) -> Result<ReplicaSet, DecodeError> {
    let meta = &deployment.metadata;
    let template = deployment.spec.template.json();
    let hash = digest::template_hash(template, collisions);
    let template = splice::set(template, &["metadata", "labels", POD_TEMPLATE_HASH], &hash)?;
    let template = Template::new(&template)?;
    let mut selector = deployment.spec.selector.clone().unwrap_or_default();
    selector
        .match_labels
        .insert(POD_TEMPLATE_HASH.into(), hash.as_str().into());
    let owner = OwnerReference::controller_of(Deployment::KIND, &meta.name, &meta.uid);
    let metadata = LeanMeta {
        name: name(&meta.name, &hash).into(),
        namespace: meta.namespace.clone(),
        labels: template.labels().clone(),
        annotations: annotations::of_created(deployment, revision, limits),
        owner_references: [owner].into(),
        ..LeanMeta::default()
    };
    let spec = ReplicaSetSpec {
        replicas: Some(size),
        min_ready_seconds: deployment.spec.min_ready_seconds,
        selector: Some(selector),
        template,
    };
    Ok(ReplicaSet {
        metadata: metadata.into(),
        spec,
        ..ReplicaSet::default()
    })
}

/// The name of a ReplicaSet: the same for the same template, so that creating it twice shows.
pub(super) fn name(deployment: &str, hash: &str) -> String {
    let room = NAME_LENGTH_MAX.saturating_sub(1 + hash.len());
    let kept = if room > 0 {
        deployment.get(..room).unwrap_or(deployment)
    } else {
        deployment
    };
    format!("{kept}-{hash}")
}

fn body(set: &ReplicaSet) -> Body {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Created<'a> {
        api_version: String,
        kind: &'static str,
        metadata: &'a Meta,
        spec: &'a ReplicaSetSpec,
    }
    let (api_version, kind) = (ReplicaSet::KIND.api_version(), ReplicaSet::KIND.kind);
    Body::of(&Created {
        api_version,
        kind,
        metadata: &set.metadata,
        spec: &set.spec,
    })
}
