//! Statuses: written whole, with whole metadata, to the object as it was seen.

use flyball_api::{ApiError, Kind, LeanMeta, Meta};
use serde::Serialize;

use crate::{
    Action, Body, Flow, OBJECT_GONE, Pace, Precondition, Report, Round, StageId, Step, Subresource,
    Sync, Target, Until, Wait, Write, failed,
};

/// Writes a status. Metadata is sent whole, because the server takes labels, annotations and owners
/// from what is sent to the status, too; the spec it keeps. Lean metadata has no JSON, so that a
/// kind which is cached without its annotations cannot be written this way.
///
/// A status type that is written whole must be read whole: see
/// [`Lossless`](flyball_api::Lossless).
pub fn put(kind: Kind, metadata: &Meta, status: &impl Serialize) -> Action {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct WithStatus<'a, S> {
        api_version: String,
        kind: &'static str,
        metadata: &'a Meta,
        status: &'a S,
    }
    let body = Body::of(&WithStatus {
        api_version: kind.api_version(),
        kind: kind.kind,
        metadata,
        status,
    });
    let precondition = Precondition::unchanged(metadata);
    Write::update(Target::of(kind, metadata), precondition, body)
        .to_subresource(Subresource::STATUS)
        .into()
}

/// Writes the object that a sync is about, in a stage of its own. The sync ends here if that fails:
/// quietly if the object is gone, with a failure otherwise.
pub fn write_own<'a, S>(
    sync: &Sync<'a, S>,
    stage: impl Into<StageId>,
    kind: Kind,
    metadata: &LeanMeta,
    write: impl FnOnce() -> Action,
) -> Flow<&'a Round> {
    let stage = stage.into();
    let round = sync.run(stage, Pace::InOrder, || vec![write()])?;
    match round.first_error() {
        None => Ok(round),
        Some(error) if is_gone(error) => Err(gone(kind, metadata)),
        Some(error) => Err(failed(stage, &metadata.namespace, error)),
    }
}

/// Whether the incarnation that a write was meant for was deleted or replaced. A 404 that names no
/// object says nothing about it.
pub fn is_gone(error: &ApiError) -> bool {
    error.is_object_not_found() || error.is_other_incarnation()
}

/// The end of a sync whose own object is gone. Nothing is tried again: the deletion, once the cache
/// shows it, is a change that enqueues the key.
pub fn gone(kind: Kind, metadata: &LeanMeta) -> Step {
    let target = Target::of(kind, metadata);
    let report = Report::new(OBJECT_GONE).waits_for(Wait::object(target, Until::CacheUpdated));
    Step::rest(report)
}
