//! What a server says about whole collections, and about the collections that it has.

use flyball_api::discovery::{Discovery, Failure, Resource, Verb, Verbs};
use flyball_api::{ApiError, Kind};
use flyball_plan::{Answer, Listed, Listing, Precondition, Propagation, Target, Written};
use serde_json::Value;

use super::{World, errors};

impl World {
    /// Lets no more than this be done with a kind.
    pub fn offering(mut self, kind: Kind, verbs: &[&str]) -> Self {
        self.verbs.insert(kind, Verbs::named(verbs.iter().copied()));
        self
    }

    /// Lets the server fail to tell about a version of a group, for as long as this is not empty.
    pub fn undiscovered(&mut self, failures: Vec<Failure>) {
        self.undiscovered = failures;
    }

    /// Which resources the server has: every kind that the world knows, but for those of groups
    /// that it cannot tell about.
    pub fn discovery(&self) -> Discovery {
        let told = |kind: &Kind| {
            let failed = |it: &Failure| it.group == kind.group && it.version == kind.version;
            !self.undiscovered.iter().any(failed)
        };
        let resources = self.kinds().filter(told).map(|kind| Resource {
            kind,
            verbs: self.verbs_of(kind),
            preferred: true,
        });
        Discovery::of(resources, self.undiscovered.iter().cloned())
    }

    fn verbs_of(&self, kind: Kind) -> Verbs {
        self.verbs.get(&kind).copied().unwrap_or_else(Verbs::all)
    }

    /// The objects of a kind in a namespace, or in all of them.
    pub(super) fn list_metadata(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        items_max: usize,
    ) -> Result<Answer, ApiError> {
        self.offered(kind, Verb::List)?;
        let inside = |id: &super::Id| {
            id.0 == kind && namespace.is_none_or(|namespace| id.1.namespace == namespace)
        };
        let found = self.objects.iter().filter(|(id, _)| inside(id));
        let mut items: Vec<Listed> = found.map(|(_, object)| listed(object)).collect();
        let more = items.len().saturating_sub(items_max) as u64;
        items.truncate(items_max);
        Ok(Answer::Listed(Listing { items, more }.into()))
    }

    pub(super) fn delete_collection(
        &mut self,
        kind: Kind,
        namespace: &str,
        propagation: Option<Propagation>,
    ) -> Result<Answer, ApiError> {
        self.offered(kind, Verb::DeleteCollection)?;
        let inside = |id: &&super::Id| id.0 == kind && id.1.namespace == namespace;
        let ids: Vec<super::Id> = self.objects.keys().filter(inside).cloned().collect();
        for (kind, name) in ids {
            let target = Target { kind, name };
            self.delete(&target, &Precondition::default(), propagation, None)?;
        }
        Ok(Answer::Done(Written::default()))
    }

    fn offered(&self, kind: Kind, verb: Verb) -> Result<(), ApiError> {
        match self.verbs_of(kind).has(verb) {
            true => Ok(()),
            false => Err(errors::not_allowed()),
        }
    }
}

fn listed(object: &Value) -> Listed {
    let metadata = &object["metadata"];
    let text = |field: &str| metadata[field].as_str().unwrap_or_default();
    let finalizers = metadata["finalizers"].as_array();
    let finalizers = finalizers.into_iter().flatten().filter_map(Value::as_str);
    Listed {
        namespace: text("namespace").into(),
        name: text("name").into(),
        uid: text("uid").into(),
        deleting: !metadata["deletionTimestamp"].is_null(),
        grace_seconds: metadata["deletionGracePeriodSeconds"].as_i64().unwrap_or(0),
        finalizers: finalizers.map(Into::into).collect(),
        object: None,
    }
}
