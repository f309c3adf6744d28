//! Deliberate bugs of those who delete what others have made: the collector of garbage and the
//! controller of namespaces.

use std::sync::Arc;

use flyball_api::discovery::Discovery;
use flyball_api::views::ConfigMap;
use flyball_api::{ApiError, Object, Opaque};
use flyball_informer::Snapshot;
use flyball_plan::{
    Action, Actions, Answer, Listing, Propagation, Question, Read, Verb, Write, Written,
};
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
        let Some(write) = action
            .write()
            .filter(|write| write.verb == Verb::MergePatch)
        else {
            continue;
        };
        let (target, precondition) = (write.target.clone(), write.precondition.clone());
        match bug {
            Bug::IgnoresOtherOwners if stage == "strip" => {
                let delete = Write::delete_if(target, precondition);
                *action = delete.propagating(Propagation::Background).into();
            }
            Bug::LetsGoBeforeFreeing if stage.starts_with("free") => {
                let uid = precondition.uid.unwrap_or_default();
                *action = Read::exists(target, uid).into();
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
    let question = action.read().map(|read| &read.question);
    let merges = action
        .write()
        .filter(|write| write.verb == Verb::MergePatch);
    match (bug, question, answer) {
        (Bug::CollectsByName, Some(Question::Exists { uid, .. }), Answer::Read(found))
            if collects =>
        {
            Answer::Read(named(found, &uid.to_string()))
        }
        (Bug::TrustsItsCache, Some(Question::Exists { target, uid }), Answer::Read(_))
            if collects && seen.find(uid).is_none() =>
        {
            Answer::Failed(ApiError::not_found(target.kind, &target.name.name))
        }
        (Bug::LosesFinalizerRemovals, None, Answer::Failed(_))
            if collects
                && merges.is_some_and(|write| write.body.json().contains("\"finalizers\"")) =>
        {
            Answer::Done(Written::default())
        }
        (Bug::TakesFailedListsForEmpty, Some(Question::List { .. }), Answer::Failed(_)) => {
            Answer::Listed(Arc::new(Listing::default()))
        }
        (Bug::PassesOverGroups, Some(Question::Discovery), Answer::Discovered(found)) => {
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
