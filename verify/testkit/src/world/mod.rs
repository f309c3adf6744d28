//! The world of a test: the objects of a cluster as an API server would hold them.
//!
//! Everything is plain JSON and everything is deterministic: versions count up from 1, identities
//! are made of kind and name (`pod-web-1`, then `pod-web-1-2` for the next of that name), names
//! made up by the server end in a counter, time stands still until it is told to move.
//!
//! Modelled as kube-apiserver does it: optimistic concurrency, UID preconditions, generation,
//! the status subresource, strategic merge patches, finalizers, graceful deletion of pods,
//! refusal of creates in terminating namespaces, one controller per object, namespaces that stay until
//! they are finalized, collections and discovery. Not modelled:
//! defaulting, validation beyond that, cascading deletion, admission, missing namespaces.

mod collections;
mod errors;
mod faults;
mod merge;
mod serve;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use flyball_api::discovery::{Failure, Verbs};
use flyball_api::views::{Deployment, Namespace, Node, Pod, ReplicaSet, ReplicationController};
use flyball_api::{Kind, Object, ObjectName, Timestamp, Uid};
use flyball_informer::Snapshot;
use flyball_plan::{Record, Target};
use serde_json::{Value, json};

use crate::caches::{Cacher, Caches};
use crate::flow;
pub use faults::Fault;
use faults::Faults;
pub(crate) use merge::{json_merge, merge};

/// Names one object: its kind, its namespace and name.
pub type Id = (Kind, ObjectName);

/// One change of one object, as the world's history keeps it.
#[derive(Clone, Debug)]
pub struct Written {
    /// The version the world got to by it.
    pub revision: u64,
    /// The object.
    pub id: Id,
    /// Its state afterwards; `None` if it went.
    pub state: Option<Arc<Value>>,
}

/// The objects of a cluster, their history, and the clock on the wall.
#[derive(Clone)]
pub struct World {
    kinds: Vec<Cacher>,
    objects: BTreeMap<Id, Arc<Value>>,
    history: Vec<Written>,
    revision: u64,
    revision_at_start: u64,
    now: Timestamp,
    names_made: u64,
    incarnations: BTreeMap<Id, u32>,
    faults: Faults,
    records: Vec<Record>,
    pods_linger: bool,
    verbs: BTreeMap<Kind, Verbs>,
    undiscovered: Vec<Failure>,
}

impl Default for World {
    fn default() -> Self {
        Self::new(Timestamp::from_unix_seconds(1_767_225_600)) // 2026-01-01T00:00:00Z
    }
}

impl World {
    /// An empty world that knows the kinds of the workload controllers.
    pub fn new(now: Timestamp) -> Self {
        let world = Self {
            kinds: Vec::new(),
            objects: BTreeMap::new(),
            history: Vec::new(),
            revision: 0,
            revision_at_start: 0,
            now,
            names_made: 0,
            incarnations: BTreeMap::new(),
            faults: Faults::default(),
            records: Vec::new(),
            pods_linger: true,
            verbs: BTreeMap::new(),
            undiscovered: Vec::new(),
        };
        let world = world
            .knowing::<Pod>()
            .knowing::<ReplicaSet>()
            .knowing::<ReplicationController>();
        world
            .knowing::<Deployment>()
            .knowing::<Namespace>()
            .knowing::<Node>()
    }

    /// A world with these objects in it.
    pub fn of(objects: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        let mut world = Self::default();
        for object in objects {
            world.put(object);
        }
        world
    }

    /// Adds a kind of object, or another view of a known one: caches show the view named last.
    pub fn knowing<T: Object>(mut self) -> Self {
        self.kinds.retain(|known| known.kind != T::kind());
        self.kinds.push(Cacher::of::<T>());
        self
    }

    /// Adds a kind of object of which caches show no more than the metadata.
    pub fn knowing_partly(mut self, kind: Kind) -> Self {
        self.kinds.retain(|known| known.kind != kind);
        self.kinds.push(Cacher::partial(kind));
        self
    }

    /// Makes deleted pods go at once, instead of when a kubelet has stopped them.
    pub fn deleting_pods_at_once(mut self) -> Self {
        self.pods_linger = false;
        self
    }

    /// The kind with this `apiVersion` and `kind`, if the world knows it.
    pub fn kind(&self, api_version: &str, kind: &str) -> Option<Kind> {
        self.kinds()
            .find(|known| known.kind == kind && known.api_version() == api_version)
    }

    /// The kinds that the world knows.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> {
        self.kinds.iter().map(|cacher| cacher.kind)
    }

    pub(crate) fn cachers(&self) -> &[Cacher] {
        &self.kinds
    }

    // ---- time ----

    /// The time of day.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Lets time pass.
    pub fn advance(&mut self, by: Duration) {
        self.now = self.now.saturating_add(by);
    }

    // ---- reading ----

    /// The version of the newest change.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Everything that ever changed, oldest first.
    pub fn history(&self) -> &[Written] {
        &self.history
    }

    /// The world as it was at a version (its clock, faults and records are today's).
    pub fn at(&self, revision: u64) -> World {
        let mut past = self.clone();
        past.history.retain(|written| written.revision <= revision);
        past.revision = revision.min(self.revision);
        past.objects.clear();
        for Written { id, state, .. } in &past.history {
            match state {
                Some(state) => past.objects.insert(id.clone(), state.clone()),
                None => past.objects.remove(id),
            };
        }
        past
    }

    /// The world as it was when the controller was let loose on it, before any upset: see
    /// [`World::start`].
    pub fn at_start(&self) -> World {
        self.at(self.revision_at_start)
    }

    /// Remembers this as the start. The laws do so with the worlds they are given.
    pub fn start(&mut self) {
        self.revision_at_start = self.revision;
    }

    /// All objects, by kind, namespace and name.
    pub fn objects(&self) -> impl Iterator<Item = (&Id, &Arc<Value>)> {
        self.objects.iter()
    }

    /// One object as JSON.
    pub fn json(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Value> {
        self.objects
            .get(&(kind, ObjectName::new(namespace, name)))
            .map(|object| &**object)
    }

    /// The object that an action is about.
    pub fn target(&self, target: &Target) -> Option<&Value> {
        self.json(target.kind, &target.name.namespace, &target.name.name)
    }

    /// One object as its view.
    pub fn get<T: Object>(&self, namespace: &str, name: &str) -> Option<T> {
        self.json(T::kind(), namespace, name).map(decode)
    }

    /// The objects of a namespace, or all if it is empty, as their views.
    pub fn list<T: Object>(&self, namespace: &str) -> Vec<T> {
        let wanted =
            |id: &Id| id.0 == T::kind() && (namespace.is_empty() || id.1.namespace == namespace);
        self.objects
            .iter()
            .filter(|(id, _)| wanted(id))
            .map(|(_, object)| decode(object))
            .collect()
    }

    /// Every state one object ever had, oldest first, whatever its incarnation.
    pub fn states<T: Object>(&self, namespace: &str, name: &str) -> Vec<T> {
        let id = (T::kind(), ObjectName::new(namespace, name));
        let states = self.history.iter().filter(|written| written.id == id);
        states
            .filter_map(|written| written.state.as_deref().map(decode))
            .collect()
    }

    /// What controllers told people.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// What caches that have seen everything show.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot_at(self.revision)
    }

    /// What caches that have seen everything up to a version show.
    pub fn snapshot_at(&self, revision: u64) -> Snapshot {
        let mut caches = Caches::of(self);
        caches.catch_up_to(self, revision);
        caches.snapshot()
    }

    // ---- changes by anybody but the controller ----

    /// Puts an object in as it is, in place of one of the same name. What a server would have
    /// given it and it does not say is filled in: namespace `default`, UID, version, creation
    /// time, generation.
    pub fn put(&mut self, object: impl Into<Value>) -> Target {
        let mut object: Value = object.into();
        let text = |field: &Value| field.as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let Some(kind) = self.kind(&api_version, &kind) else {
            panic!("this world does not know {api_version:?} {kind:?}: see World::knowing");
        };
        let metadata = &mut object["metadata"];
        if kind.namespaced && metadata["namespace"].is_null() {
            metadata["namespace"] = "default".into();
        }
        let name = ObjectName::new(&text(&metadata["namespace"]), &text(&metadata["name"]));
        assert!(!name.name.is_empty(), "an object needs a name: {object}");
        let id = (kind, name.clone());
        let same = self
            .objects
            .get(&id)
            .map(|old| text(&old["metadata"]["uid"]));
        let defaults = [
            ("uid", same.unwrap_or_else(|| self.make_uid(&id)).into()),
            ("creationTimestamp", json!(self.now)),
            ("generation", 1.into()),
        ];
        for (field, value) in defaults {
            let metadata = &mut object["metadata"];
            if metadata[field].is_null() {
                metadata[field] = value;
            }
        }
        self.write(&id, Some(object));
        Target { kind, name }
    }

    /// Changes an object that is there, by hand: the version goes up, the generation if the spec
    /// changed. Says whether there was such an object.
    pub fn edit(&mut self, target: &Target, change: impl FnOnce(&mut Value)) -> bool {
        let id = (target.kind, target.name.clone());
        let Some(old) = self.objects.get(&id).cloned() else {
            return false;
        };
        let mut new = Value::clone(&old);
        change(&mut new);
        self.store(&id, &old, new);
        true
    }

    /// Takes an object out, at once.
    pub fn remove(&mut self, target: &Target) -> bool {
        let id = (target.kind, target.name.clone());
        let there = self.objects.contains_key(&id);
        if there {
            self.write(&id, None);
        }
        there
    }

    /// Lets a request of the controller fail: the next is number 0, the one after it number 1, and
    /// so on. Writes and live reads are requests, records are not.
    pub fn fail(&mut self, nth: u64, fault: Fault) {
        self.faults.plan(nth, fault);
    }

    /// Takes back all faults that have not happened yet.
    pub fn heal(&mut self) {
        self.faults.clear();
    }

    // ---- what all changes go through ----

    /// Stores a changed object: nothing happens if it is the same, the generation grows if the
    /// desired state changed, and an object whose last finalizer went goes.
    fn store(&mut self, id: &Id, old: &Value, mut new: Value) {
        new["metadata"]["generation"] = old["metadata"]["generation"].clone();
        if bumps_generation(id.0, old, &new) {
            let generation = old["metadata"]["generation"].as_i64().unwrap_or(0);
            new["metadata"]["generation"] = (generation + 1).into();
        }
        if new == *old {
            return;
        }
        let metadata = &new["metadata"];
        let any = |list: &Value| list.as_array().is_some_and(|list| !list.is_empty());
        let held = any(&metadata["finalizers"])
            || id.0 == Namespace::KIND && any(&new["spec"]["finalizers"]);
        let grace = metadata["deletionGracePeriodSeconds"].as_i64().unwrap_or(0);
        let gone = !metadata["deletionTimestamp"].is_null() && !held && grace == 0;
        self.write(id, (!gone).then_some(new));
    }

    fn write(&mut self, id: &Id, state: Option<Value>) {
        self.revision += 1;
        let state = state.map(|mut state| {
            state["metadata"]["resourceVersion"] = self.revision.to_string().into();
            Arc::new(state)
        });
        match &state {
            Some(state) => self.objects.insert(id.clone(), state.clone()),
            None => self.objects.remove(id),
        };
        self.history.push(Written {
            revision: self.revision,
            id: id.clone(),
            state,
        });
    }

    fn make_uid(&mut self, id: &Id) -> String {
        let count = self.incarnations.entry(id.clone()).or_insert(0);
        *count += 1;
        let uid = uid_of(id.0.kind, &id.1.name).to_string();
        if *count == 1 {
            uid
        } else {
            format!("{uid}-{count}")
        }
    }
}

/// The identity that a world gives to the first object of this kind and name.
pub(crate) fn uid_of(kind: &str, name: &str) -> Uid {
    Uid::new(&format!("{}-{name}", kind.to_lowercase()))
}

/// Upstream, `pkg/registry/apps/deployment/strategy.go`: for Deployments annotations count too,
/// because they are copied to ReplicaSets.
fn bumps_generation(kind: Kind, old: &Value, new: &Value) -> bool {
    let annotations = |object: &Value| object["metadata"]["annotations"].clone();
    old["spec"] != new["spec"] || (kind == Deployment::KIND && annotations(old) != annotations(new))
}

/// Reads an object as its view.
pub(crate) fn decode<T: Object>(object: &Value) -> T {
    match T::decode(object.to_string().as_bytes()) {
        Ok(view) => view,
        Err(error) => panic!("no {:?}: {error}: {object}", T::kind()),
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "world at version {}, {}", self.revision, self.now)?;
        self.objects
            .values()
            .try_for_each(|object| writeln!(f, "  {}", flow(object)))
    }
}
