//! Statuses: written whole, with whole metadata, to the object as it was seen.

use flyball_api::{Kind, Meta};
use serde::Serialize;

use crate::{Action, Body, Precondition, Subresource, Target, Write};

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
