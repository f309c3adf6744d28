//! What is so: every object that is stored, as the server has it at this moment.
//!
//! Replicas see parts of it, late; invariants compare what they do with this.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use flyball_api::views::{
    Deployment, Lease, Namespace, Node, Pod, ReplicaSet, ReplicationController,
};
use flyball_api::{LeanMeta, ObjectName, Uid};
use flyball_kubelets::annotations::BEHAVIOUR;
use flyball_registry::Stored;
use flyball_storage::Event;
use serde_json::Value;

use crate::server::Backup;

/// An object, as far as anybody here looks at it.
#[derive(Clone, Debug)]
pub enum Thing {
    /// A Deployment.
    Deployment(Deployment),
    /// A ReplicaSet.
    ReplicaSet(ReplicaSet),
    /// A ReplicationController.
    ReplicationController(ReplicationController),
    /// A pod.
    Pod(Pod),
    /// A node.
    Node(Node),
    /// A Lease.
    Lease(Lease),
    /// A namespace.
    Namespace(Namespace),
    /// Anything else, whole.
    Other(LeanMeta, Value),
}

impl Thing {
    /// Its metadata.
    pub fn meta(&self) -> &LeanMeta {
        match self {
            Self::Deployment(it) => &it.metadata,
            Self::ReplicaSet(it) => &it.metadata,
            Self::ReplicationController(it) => &it.metadata,
            Self::Pod(it) => &it.metadata,
            Self::Node(it) => &it.metadata,
            Self::Lease(it) => &it.metadata,
            Self::Namespace(it) => &it.metadata,
            Self::Other(meta, _) => meta,
        }
    }

    fn read(resource: &str, json: &[u8]) -> Self {
        fn view<T: serde::de::DeserializeOwned + Default>(json: &[u8]) -> T {
            // The server wrote it; what no view can read counts as empty, and is found out soon.
            serde_json::from_slice(json).unwrap_or_default()
        }
        match resource {
            "deployments.apps" => Self::Deployment(view(json)),
            "replicasets.apps" => Self::ReplicaSet(view(json)),
            "replicationcontrollers" => Self::ReplicationController(view(json)),
            "pods" => Self::Pod(view(json)),
            "nodes" => Self::Node(view(json)),
            "leases.coordination.k8s.io" => Self::Lease(view(json)),
            "namespaces" => Self::Namespace(view(json)),
            _ => {
                let whole: Value = view(json);
                let meta = serde_json::from_value(whole["metadata"].clone());
                Self::Other(meta.unwrap_or_default(), whole)
            }
        }
    }
}

/// One change of what is so.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The resource and its group, such as `replicasets.apps`.
    pub resource: String,
    /// Which object.
    pub name: ObjectName,
    /// The state before; `None` if it was not there.
    pub before: Option<Arc<Thing>>,
    /// The state after; `None` if it is gone.
    pub after: Option<Arc<Thing>>,
}

impl Changed {
    /// The metadata before, or after for what was not there.
    pub fn meta(&self) -> Option<&LeanMeta> {
        let thing = self.before.as_ref().or(self.after.as_ref());
        thing.map(|thing| thing.meta())
    }

    /// Whether somebody asked for it to go: it went, or is on its way out since.
    pub fn is_deletion(&self) -> bool {
        let leaving =
            |thing: &Option<Arc<Thing>>| thing.as_ref().is_none_or(|it| it.meta().is_deleting());
        self.before.is_some() && leaving(&self.after) && !leaving(&self.before)
    }
}

/// Everything that is stored, but for what a cluster has from its start.
#[derive(Debug, Default)]
pub struct Truth {
    things: BTreeMap<String, Arc<Thing>>,
    /// Pods that were asked not to do well.
    misbehaving: BTreeSet<Uid>,
}

impl Truth {
    /// What a copy of the server's state holds.
    pub(crate) fn of((_, items): &Backup) -> Self {
        let mut truth = Self::default();
        for item in items {
            let (resource, name) = place(&item.key);
            let key = path(resource, &name.namespace, &name.name);
            let thing = Thing::read(resource, item.value.bare());
            truth.note_misbehaviour(&thing, item.value.bare());
            truth.things.insert(key, Arc::new(thing));
        }
        truth
    }

    fn note_misbehaviour(&mut self, thing: &Thing, json: &[u8]) {
        if let Thing::Pod(pod) = thing
            && misbehaves(json)
        {
            self.misbehaving.insert(pod.metadata.uid.clone());
        }
    }

    /// Takes in a change, and says what it was.
    pub(crate) fn take(&mut self, event: &Event<Arc<Stored>>) -> Changed {
        let (resource, name) = place(event.key());
        let key = path(resource, &name.namespace, &name.name);
        let before = self.things.remove(&key).or_else(|| {
            let item = event.previous.as_ref()?;
            Some(Arc::new(Thing::read(resource, item.value.bare())))
        });
        let after = event.item.as_ref();
        let after = after.map(|item| Arc::new(Thing::read(resource, item.value.bare())));
        if let Some(after) = &after {
            self.things.insert(key, after.clone());
        }
        if let (Some(item), Some(after)) = (&event.item, after.as_deref()) {
            self.note_misbehaviour(after, item.value.bare());
        }
        Changed {
            resource: resource.to_owned(),
            name,
            before,
            after,
        }
    }

    /// The objects of a resource in one namespace, or in all if it is empty.
    pub fn all<'a>(
        &'a self,
        resource: &str,
        namespace: &str,
    ) -> impl Iterator<Item = &'a Thing> + use<'a> {
        let prefix = path(resource, namespace, "");
        let after = self.things.range(prefix.clone()..);
        let within = after.take_while(move |(key, _)| key.starts_with(&prefix));
        within.map(|(_, thing)| &**thing)
    }

    /// One object.
    pub fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<&Thing> {
        self.things
            .get(&path(resource, namespace, name))
            .map(|thing| &**thing)
    }

    /// All Deployments.
    pub fn deployments(&self) -> impl Iterator<Item = &Deployment> {
        self.all("deployments.apps", "")
            .filter_map(|thing| match thing {
                Thing::Deployment(it) => Some(it),
                _ => None,
            })
    }

    /// The ReplicaSets of one namespace, or all.
    pub fn replica_sets<'a>(&'a self, namespace: &str) -> impl Iterator<Item = &'a ReplicaSet> {
        self.all("replicasets.apps", namespace)
            .filter_map(|thing| match thing {
                Thing::ReplicaSet(it) => Some(it),
                _ => None,
            })
    }

    /// All ReplicationControllers.
    pub fn replication_controllers(&self) -> impl Iterator<Item = &ReplicationController> {
        self.all("replicationcontrollers", "")
            .filter_map(|thing| match thing {
                Thing::ReplicationController(it) => Some(it),
                _ => None,
            })
    }

    /// The pods of one namespace, or all.
    pub fn pods<'a>(&'a self, namespace: &str) -> impl Iterator<Item = &'a Pod> {
        self.all("pods", namespace).filter_map(|thing| match thing {
            Thing::Pod(it) => Some(it),
            _ => None,
        })
    }

    /// The pods that an owner manages.
    pub fn pods_of<'a>(&'a self, owner: &'a LeanMeta) -> impl Iterator<Item = &'a Pod> {
        self.pods(&owner.namespace)
            .filter(|pod| pod.metadata.is_controlled_by(&owner.uid))
    }

    /// The ReplicaSets that a Deployment manages.
    pub fn sets_of<'a>(&'a self, owner: &'a LeanMeta) -> impl Iterator<Item = &'a ReplicaSet> {
        self.replica_sets(&owner.namespace)
            .filter(|set| set.metadata.is_controlled_by(&owner.uid))
    }

    /// Whether a pod was asked not to do well, so that it will never be ready.
    pub fn misbehaves(&self, pod: &Pod) -> bool {
        self.misbehaving.contains(&pod.metadata.uid)
    }

    /// The metadata of the object of this identity, if it is there.
    pub fn find(&self, uid: &Uid) -> Option<&LeanMeta> {
        let mut all = self.things.values().map(|thing| thing.meta());
        all.find(|meta| meta.uid == *uid)
    }

    /// Everything there is, with its resource, namespace and name.
    pub fn things(&self) -> impl Iterator<Item = (&str, &Thing)> {
        let all = self.things.iter();
        all.map(|(key, thing)| (key.as_str(), &**thing))
    }
}

/// Whether a pod carries the annotation that asks for it; views leave it out.
fn misbehaves(json: &[u8]) -> bool {
    let sought = format!("\"{BEHAVIOUR}\":\"");
    std::str::from_utf8(json).is_ok_and(|text| text.contains(&sought))
}

/// Sorts all of one resource together, and all of one namespace within it.
fn path(resource: &str, namespace: &str, name: &str) -> String {
    match (namespace, name) {
        ("", "") => format!("{resource}/"),
        (namespace, name) => format!("{resource}/{namespace}/{name}"),
    }
}

/// The resource and name that a key of the store speaks of.
fn place(key: &str) -> (&str, ObjectName) {
    let rest = key.strip_prefix("/registry/").unwrap_or(key);
    let (resource, rest) = rest.split_once('/').unwrap_or((rest, ""));
    let (namespace, name) = rest.split_once('/').unwrap_or(("", rest));
    (resource, ObjectName::new(namespace, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_name_resource_namespace_and_name() {
        let (resource, name) = place("/registry/replicasets.apps/blue/web-1");
        assert_eq!(
            (resource, name.to_string().as_str()),
            ("replicasets.apps", "blue/web-1")
        );
        let (resource, name) = place("/registry/nodes/node-0");
        assert_eq!((resource, name.name.as_str()), ("nodes", "node-0"));
        assert_eq!(name.namespace, "");
    }
}
