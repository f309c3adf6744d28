//! The registry: what is stored, and what else a server knows. How it answers is in `handle`.

mod handle;

use std::collections::VecDeque;
use std::sync::Arc;

use flyball_rbac::RoleIndex;
use flyball_schema::Resource;
use flyball_storage::{
    CommitError, Committed, Item, Limits, ReadError, Revision, Store, Transaction,
};

pub(crate) use crate::call::Call;
use crate::custom::Definitions;
use crate::failure::Failure;
use crate::managed::Note;
use crate::object::Object;
use crate::path::ResourcePath;
use crate::request::Chance;
use crate::served::Served;
use crate::services::NodePorts;
use crate::stored::Stored;
use crate::tokens::Issuer;
use crate::{bootstrap, versions};
pub(crate) use handle::path_verb;

/// An API server's state and rules.
pub struct Registry {
    store: Store<Arc<Stored>>,
    committed: VecDeque<Committed<Arc<Stored>>>,
    roles: RoleIndex,
    served: Served,
    node_ports: NodePorts,
    definitions: Definitions,
    issuer: Option<Issuer>,
    /// Where clients reach the server: ranges of clients, and the address that they should use.
    addresses: Vec<(String, String)>,
    requires_accounts: bool,
    forgets_field_owners: bool,
}

impl Registry {
    /// A registry over what was stored before, or over nothing.
    pub fn new(store: Store<Arc<Stored>>) -> Self {
        let mut registry = Self {
            store,
            committed: VecDeque::new(),
            roles: RoleIndex::default(),
            served: Served::built_in(),
            node_ports: NodePorts::default(),
            definitions: Definitions::default(),
            issuer: None,
            addresses: Vec::new(),
            requires_accounts: false,
            forgets_field_owners: false,
        };
        registry.read_roles();
        registry.read_node_ports();
        registry.read_definitions();
        registry
    }

    /// A registry of an empty cluster.
    pub fn empty() -> Self {
        Self::new(Store::new(Self::limits()))
    }

    /// How much of the past is kept for watches: some minutes of a busy cluster, weighed by the text of objects,
    /// so that large ones cannot fill the memory.
    pub fn limits() -> Limits<Arc<Stored>> {
        Limits {
            weigh: |stored| stored.weight(),
            ..Limits::default()
        }
    }

    /// What is stored, and nothing else.
    pub fn into_store(self) -> Store<Arc<Stored>> {
        self.store
    }

    /// Makes what every cluster has from its start: namespaces and roles. Finishes what a crash has interrupted.
    pub fn bootstrap(&mut self, now: flyball_api::Timestamp, chance: &mut Chance<'_>) {
        self.finish_deletes();
        bootstrap::run(self, now, chance);
        self.settle_definitions(now, chance);
        self.settle_api_services(now, chance);
    }

    /// The newest revision.
    pub fn revision(&self) -> Revision {
        self.store.revision()
    }

    /// The oldest revision that can be read and watched from.
    pub fn oldest(&self) -> Revision {
        self.store.oldest()
    }

    /// Forgets what happened before this revision: a watch that has not come so far is told that it
    /// cannot go on.
    pub fn compact(&mut self, before: Revision) -> Result<(), ReadError> {
        self.store.compact(before)
    }

    /// From now on discovery tells clients to reach the server at this address.
    pub(crate) fn tell_address(&mut self, address: String) {
        self.addresses = vec![("0.0.0.0/0".to_owned(), address)];
    }

    /// Whether what a path names is served.
    pub fn serves(&self, path: &ResourcePath) -> bool {
        let kind = self.served.find(&path.group, &path.version, &path.resource);
        kind.is_some_and(|kind| {
            path.subresource.is_empty() || kind.subresource(&path.subresource).is_some()
        })
    }

    /// How many objects there are: by group and resource.
    pub fn object_counts(&self) -> Vec<(String, String, usize)> {
        let mut counts = std::collections::BTreeMap::<&str, usize>::new();
        for item in self.store.iter() {
            let kind = item.key.split('/').nth(2).unwrap_or_default();
            *counts.entry(kind).or_default() += 1;
        }
        let named = counts.into_iter().map(|(kind, count)| {
            let (resource, group) = kind.split_once('.').unwrap_or((kind, ""));
            (group.to_owned(), resource.to_owned(), count)
        });
        named.collect()
    }

    /// The paths of documents: discovery, schemas, version.
    pub fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = ["/api", "/apis", "/apis/", "/openapi/v2", "/openapi/v3"]
            .map(str::to_owned)
            .to_vec();
        paths.extend(["/openapi/v3/", "/version"].map(str::to_owned));
        if self.issuer().is_some() {
            paths.extend(
                ["/.well-known/openid-configuration", "/openid/v1/jwks"].map(str::to_owned),
            );
        }
        for kind in self.served.kinds() {
            match kind.group.as_str() {
                "" => paths.push(format!("/api/{}", kind.version)),
                group => {
                    paths.push(format!("/apis/{group}"));
                    paths.push(format!("/apis/{group}/{}", kind.version));
                }
            }
        }
        paths.sort();
        paths.dedup();
        paths
    }

    /// Whether something was committed that nobody has taken yet.
    pub fn has_committed(&self) -> bool {
        !self.committed.is_empty()
    }

    /// The oldest commit that nobody has taken yet, to be made durable before anything that was
    /// answered since is told to anybody.
    pub fn take_committed(&mut self) -> Option<Committed<Arc<Stored>>> {
        self.committed.pop_front()
    }

    /// The object at a path, if there is one.
    pub(crate) fn find(&self, call: &Call<'_>) -> Option<&Item<Arc<Stored>>> {
        let key = key(&call.resource, &call.path.namespace, &call.path.name);
        self.store.get(&key)
    }

    /// The object at a path.
    pub(crate) fn read(&self, call: &Call<'_>) -> Result<(Revision, Object), Failure> {
        let found = self.find(call);
        let found = found.ok_or_else(|| Failure::not_found(&call.resource, &call.path.name))?;
        Ok((found.modified, call.kept_object(&found.value)))
    }

    /// What is stored.
    pub fn store(&self) -> &Store<Arc<Stored>> {
        &self.store
    }

    /// Commits a transaction that was made from what is stored now.
    pub(crate) fn commit(
        &mut self,
        transaction: Transaction<Arc<Stored>>,
    ) -> Result<(), CommitError<Arc<Stored>>> {
        let committed = self.store.commit(transaction)?;
        for event in &committed.events {
            self.note_role(event);
            self.note_service(event);
            self.note_definition(event);
        }
        if !committed.events.is_empty() {
            self.committed.push_back(committed);
        }
        Ok(())
    }

    /// Lets this registry issue tokens from now on.
    pub fn issue_with(&mut self, issuer: Issuer) {
        self.issuer = Some(issuer);
    }

    /// Refuses pods from now on whose service account does not exist: somebody gives every namespace
    /// its account.
    pub fn require_accounts(&mut self) {
        self.requires_accounts = true;
    }

    /// Writes down no longer who set which field: for whoever has many clusters and nobody in them
    /// who applies anything. It is a third of the work of a write.
    pub fn forget_field_owners(&mut self) {
        self.forgets_field_owners = true;
    }

    /// Whether a write is to be written down.
    pub(crate) fn notes(&self, note: Note) -> bool {
        note == Note::Update && !self.forgets_field_owners
    }

    pub(crate) fn requires_accounts(&self) -> bool {
        self.requires_accounts
    }

    pub(crate) fn issuer(&self) -> Option<&Issuer> {
        self.issuer.as_ref()
    }

    /// What is served now.
    pub(crate) fn served(&self) -> &Served {
        &self.served
    }

    pub(crate) fn node_ports(&self) -> &NodePorts {
        &self.node_ports
    }

    pub(crate) fn node_ports_mut(&mut self) -> &mut NodePorts {
        &mut self.node_ports
    }

    pub(crate) fn served_mut(&mut self) -> &mut Served {
        &mut self.served
    }

    pub(crate) fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    pub(crate) fn definitions_mut(&mut self) -> &mut Definitions {
        &mut self.definitions
    }

    pub(crate) fn roles(&self) -> &RoleIndex {
        &self.roles
    }

    pub(crate) fn roles_mut(&mut self) -> &mut RoleIndex {
        &mut self.roles
    }
}

/// Where the objects of a kind are kept; versions of one resource share the place.
pub(crate) fn prefix(resource: &Resource, namespace: &str) -> String {
    let kept = versions::kept(resource).unwrap_or(resource);
    let mut prefix = format!("/registry/{}/", crate::failure::qualified(kept));
    if !namespace.is_empty() && resource.namespaced {
        prefix.push_str(namespace);
        prefix.push('/');
    }
    prefix
}

/// Where an object is kept.
pub(crate) fn key(resource: &Resource, namespace: &str, name: &str) -> String {
    let mut key = prefix(resource, namespace);
    key.push_str(name);
    key
}
