//! What a sync looks at: the Deployment and the ReplicaSets that are or may become its own.

use std::sync::Arc;

use flyball_api::views::{BY_CONTROLLER, Deployment, Pod, ReplicaSet, controller_value};
use flyball_api::{LabelSelector, ObjectName, semantic};
use flyball_informer::Snapshot;
use flyball_plan::rules::claim::{Claim, claim};
use flyball_plan::rules::pods;

use super::limits::Strategy;
use super::sets::Set;
use super::{DeploymentSettings, POD_TEMPLATE_HASH};

/// Everything a sync of one Deployment looks at.
#[derive(Debug)]
pub struct Observation {
    /// What flags and feature gates say.
    pub(super) settings: DeploymentSettings,
    /// The Deployment.
    pub(super) deployment: Arc<Deployment>,
    /// Why nothing can be decided, if so: a selector that makes no sense, a template that cannot
    /// be compared.
    pub(super) problem: Option<String>,
    /// The ReplicaSets that are its own or could be, oldest first.
    pub(super) candidates: Vec<Candidate>,
    /// Which of them is the new one, provided it is ours or becomes so.
    pub(super) new_at: Option<usize>,
}

/// A ReplicaSet and what to do about its ownership.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) set: Set,
    pub(super) claim: Claim,
}

impl Observation {
    /// The Deployment.
    pub(super) fn deployment(&self) -> &Deployment {
        &self.deployment
    }
}

pub(super) fn observe(
    settings: DeploymentSettings,
    key: &ObjectName,
    store: &Snapshot,
) -> Option<Observation> {
    let deployment = store.get::<Deployment>(&key.namespace, &key.name)?.clone();
    let selector = match LabelSelector::compile_optional(deployment.spec.selector.as_ref()) {
        Ok(selector) => selector,
        Err(error) => {
            let problem = format!("deployment {key} has invalid label selector: {error}");
            return Some(Observation {
                settings,
                deployment,
                problem: Some(problem),
                candidates: Vec::new(),
                new_at: None,
            });
        }
    };

    let namespace = &key.namespace;
    let own = controller_value(namespace, Some(&deployment.metadata.uid));
    let orphans = controller_value(namespace, None);
    let mut candidates: Vec<Candidate> = store
        .indexed::<ReplicaSet>(BY_CONTROLLER, &own)
        .filter(|set| set.metadata.namespace == *namespace)
        .chain(store.indexed::<ReplicaSet>(BY_CONTROLLER, &orphans))
        .filter_map(|set| {
            let matches = selector.matches_with(|label| set.metadata.labels.get(label));
            match claim(&deployment.metadata, &set.metadata, matches) {
                Claim::Ignore => None,
                claim => Some(Candidate {
                    set: Set::new(set.clone()),
                    claim,
                }),
            }
        })
        .collect();
    candidates.sort_by(|a, b| a.set.by_age(&b.set));
    if Strategy::of(&deployment) == Strategy::Recreate {
        for candidate in &mut candidates {
            candidate.set.has_live_pods = has_live_pods(&candidate.set, store);
        }
    }
    let claimable = candidates
        .iter()
        .map(|candidate| (candidate.claim != Claim::Release).then_some(&candidate.set));
    let (new_at, problem) = match position_of_new(&deployment, claimable) {
        Ok(new_at) => (new_at, None),
        Err(problem) => (None, Some(problem)),
    };
    Some(Observation {
        settings,
        deployment,
        problem,
        candidates,
        new_at,
    })
}

/// The new ReplicaSet: the oldest one whose template means the same as the Deployment's. Never by
/// hash: another manager, or another version of this one, may hash differently, and taking over
/// must restart nothing. For the same reason a template that cannot be compared is an error, not
/// a difference.
pub(super) fn position_of_new<'a>(
    deployment: &Deployment,
    sets: impl Iterator<Item = Option<&'a Set>>,
) -> Result<Option<usize>, String> {
    for (at, set) in sets.enumerate() {
        if let Some(set) = set
            && same_template(deployment, &set.view)?
        {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Whether a ReplicaSet runs what the Deployment asks for, whatever the hash on its label.
pub(super) fn same_template(deployment: &Deployment, set: &ReplicaSet) -> Result<bool, String> {
    let (wanted, has) = (&deployment.spec.template, &set.spec.template);
    semantic::template_equal(wanted.json(), has.json(), Some(POD_TEMPLATE_HASH)).map_err(|error| {
        let (deployment, set) = (&deployment.metadata.name, &set.metadata.name);
        format!("cannot compare the templates of deployment {deployment} and {set}: {error}")
    })
}

fn has_live_pods(set: &Set, store: &Snapshot) -> bool {
    let value = controller_value(&set.meta().namespace, Some(&set.meta().uid));
    store
        .indexed::<Pod>(BY_CONTROLLER, &value)
        .any(|pod| !pods::is_terminal(pod))
}
