//! The two finalizers by which a server asks the collector to act before an object goes.

use flyball_api::{Lineage, Text};
use flyball_informer::Brief;
use flyball_plan::{Action, Body, Precondition, Target};
use serde_json::{Value, json};

/// Dependents are to be set free first.
pub(super) const ORPHAN: &str = "orphan";

/// Dependents are to be gone first.
pub(super) const FOREGROUND: &str = "foregroundDeletion";

/// Whether an object has been asked to go and waits for its dependents to be gone.
pub(super) fn waits_for_dependents(seen: &Brief<'_>) -> bool {
    seen.deleting && has(&seen.lineage, FOREGROUND)
}

/// Whether an object has been asked to go and waits for its dependents to be set free.
pub(super) fn waits_for_freedom(seen: &Brief<'_>) -> bool {
    seen.deleting && has(&seen.lineage, ORPHAN)
}

fn has(lineage: &Lineage<'_>, finalizer: &str) -> bool {
    lineage.finalizers.iter().any(|one| one == finalizer)
}

/// Takes a finalizer off an object that is as it was seen.
pub(super) fn without(
    finalizer: &str,
    all: &[Text],
    target: &Target,
    precondition: &Precondition,
) -> Action {
    let rest: Vec<&str> = all
        .iter()
        .map(Text::as_str)
        .filter(|one| *one != finalizer)
        .collect();
    // Null takes the list away; an empty one would stay on some servers.
    let rest = if rest.is_empty() {
        Value::Null
    } else {
        json!(rest)
    };
    merge(target, precondition, json!({"finalizers": rest}))
}

/// Changes the metadata of an object that is as it was seen.
pub(super) fn merge(target: &Target, precondition: &Precondition, metadata: Value) -> Action {
    Action::Merge {
        target: target.clone(),
        precondition: precondition.clone(),
        body: Body::patch(precondition, json!({"metadata": metadata})),
    }
}
