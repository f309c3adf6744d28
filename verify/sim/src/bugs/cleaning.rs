//! Deliberate bugs of those who delete what others have made: the collector of garbage and the
//! controller of namespaces.

use std::sync::Arc;

use flyball_accounts::ConfigMap;
use flyball_api::discovery::Discovery;
use flyball_api::{ApiError, Object, Opaque};
use flyball_informer::Snapshot;
use flyball_plan::{Action, Actions, Answer, Listing, Propagation, Written};
use serde_json::Value;

use super::Bug;

const COLLECTOR: &str = "garbage-collector-controller";

/// What a controller is shown of the caches.
pub(super) fn spoil_sight(bug: Bug, controller: &str, shown: &Snapshot) -> Option<Snapshot> {
    match bug {
        Bug::OverlooksDependents if controller == COLLECTOR => {
            Some(shown.without(ConfigMap::kind()))
        }
        _ => None,
    }
}

/// Changes what the collector planned; never how much.
pub(super) fn spoil_plan(bug: Bug, controller: &str, actions: &mut Actions) {
    if controller != COLLECTOR {
        return;
    }
    let stage = actions.stage;
    for action in &mut actions.items {
        let Action::Merge {
            target,
            precondition,
            ..
        } = action
        else {
            continue;
        };
        let (target, precondition) = (target.clone(), precondition.clone());
        match bug {
            Bug::IgnoresOtherOwners if stage == "strip" => {
                *action = Action::Delete {
                    target,
                    precondition,
                    propagation: Some(Propagation::Background),
                    grace_seconds: None,
                };
            }
            Bug::LetsGoBeforeFreeing if stage.starts_with("free") => {
                let uid = precondition.uid.unwrap_or_default();
                *action = Action::Confirm { target, uid };
            }
            _ => {}
        }
    }
}

/// Changes what is heard of an action.
pub(super) fn spoil_answer(
    bug: Bug,
    controller: &str,
    seen: &Snapshot,
    action: &Action,
    answer: Answer,
) -> Answer {
    let collects = controller == COLLECTOR;
    match (bug, action, answer) {
        (Bug::CollectsByName, Action::Confirm { uid, .. }, Answer::Read(found)) if collects => {
            Answer::Read(named(found, &uid.to_string()))
        }
        (Bug::TrustsItsCache, Action::Confirm { target, uid }, Answer::Read(_))
            if collects && seen.find(uid).is_none() =>
        {
            Answer::Failed(ApiError::not_found(target.kind, &target.name.name))
        }
        (Bug::LosesFinalizerRemovals, Action::Merge { body, .. }, Answer::Failed(_))
            if collects && body.json().contains("\"finalizers\"") =>
        {
            Answer::Done(Written::default())
        }
        (
            Bug::TakesFailedListsForEmpty,
            Action::List { .. } | Action::Survey { .. },
            Answer::Failed(_),
        ) => Answer::Listed(Arc::new(Listing::default())),
        (Bug::PassesOverGroups, Action::Discover { .. }, Answer::Discovered(found)) => {
            let resources = found.resources().iter().copied();
            let failed = |kind: &flyball_api::Kind| {
                let mut failures = found.failures().iter();
                failures.any(|failure| failure.group == kind.group)
            };
            let resources = resources.filter(|resource| !failed(&resource.kind));
            Answer::Discovered(Arc::new(Discovery::of(resources, [])))
        }
        (_, _, answer) => answer,
    }
}

/// The same object under another identity.
fn named(found: Opaque, uid: &str) -> Opaque {
    let Ok(mut object) = serde_json::from_str::<Value>(found.json()) else {
        return found;
    };
    object["metadata"]["uid"] = uid.into();
    Opaque::new(&object.to_string()).unwrap_or(found)
}
