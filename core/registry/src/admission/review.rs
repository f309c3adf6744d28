//! A write as admission plugins see it, and what they want done beside it.

use std::sync::Arc;

use flyball_api::Timestamp;
use flyball_rbac::User;
use flyball_schema::{Resource, builtin};
use flyball_storage::{Expect, Item, Revision, Transaction};

use crate::failure::Failure;
use crate::object::{Meta, Object};
use crate::registry::{Call, Registry, key, prefix};
use crate::stored::Stored;

/// What is done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// It is made; of a subresource, what is sent to it.
    Create,
    /// It is changed.
    Update,
    /// It is removed.
    Delete,
}

/// A write, and the cluster that it is to happen in.
pub(crate) struct Review<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) operation: Operation,
    pub(crate) resource: &'a Resource,
    pub(crate) subresource: &'a str,
    /// The namespace that the request is about; empty for what is in none.
    pub(crate) namespace: &'a str,
    /// The name that the request says; empty if one is to be generated.
    pub(crate) name: &'a str,
    /// Who asks.
    pub(crate) user: &'a User,
    /// When.
    pub(crate) now: Timestamp,
    /// The state before an update or a removal.
    pub(crate) old: Option<&'a Object>,
}

impl<'a> Review<'a> {
    /// A review of the creation of an object, or of what is sent to a subresource.
    pub(crate) fn of_create(registry: &'a Registry, call: &'a Call<'_>, object: &'a str) -> Self {
        Self::new(registry, call, Operation::Create, object, None)
    }

    /// A review of a change.
    pub(crate) fn of_update(registry: &'a Registry, call: &'a Call<'_>, old: &'a Object) -> Self {
        Self::new(registry, call, Operation::Update, old.name(), Some(old))
    }

    /// A review of a removal.
    pub(crate) fn of_delete(registry: &'a Registry, call: &'a Call<'_>, old: &'a Object) -> Self {
        Self::new(registry, call, Operation::Delete, old.name(), Some(old))
    }

    fn new(
        registry: &'a Registry,
        call: &'a Call<'_>,
        operation: Operation,
        name: &'a str,
        old: Option<&'a Object>,
    ) -> Self {
        Self {
            registry,
            operation,
            resource: &call.resource,
            subresource: &call.path.subresource,
            namespace: &call.path.namespace,
            name,
            user: call.request.user,
            now: call.request.now,
            old,
        }
    }

    /// Whether this is about objects of a resource themselves, not about a part of them.
    pub(crate) fn is_about(&self, group: &str, plural: &str) -> bool {
        self.subresource.is_empty() && self.is_of(group, plural)
    }

    /// Whether this is about a resource or a part of it.
    pub(crate) fn is_of(&self, group: &str, plural: &str) -> bool {
        self.resource.group == group && self.resource.plural == plural
    }

    /// What is stored of a built-in kind under a name.
    pub(crate) fn find(
        &self,
        (group, plural): (&str, &str),
        namespace: &str,
        name: &str,
    ) -> Option<Arc<Object>> {
        let resource = builtin().resource(group, "v1", plural)?;
        let found = self.registry.store().get(&key(resource, namespace, name))?;
        Some(found.value.looked_up(resource))
    }

    /// All that is stored of a built-in kind of which there are few in a namespace, or in all, in
    /// order of names.
    pub(crate) fn list(&self, kind: (&str, &str), namespace: &str) -> Vec<Arc<Object>> {
        self.listed(kind, namespace, |resource, item| {
            item.value.looked_up(resource)
        })
    }

    /// All that is stored of any built-in kind, with the revisions at which they were last written.
    pub(crate) fn list_seen(&self, kind: (&str, &str), namespace: &str) -> Vec<(Revision, Object)> {
        self.listed(kind, namespace, |resource, item| {
            (item.modified, item.value.object(resource))
        })
    }

    fn listed<T>(
        &self,
        (group, plural): (&str, &str),
        namespace: &str,
        read: impl Fn(&Resource, &Item<Arc<Stored>>) -> T,
    ) -> Vec<T> {
        let Some(resource) = builtin().resource(group, "v1", plural) else {
            return Vec::new();
        };
        let place = prefix(resource, namespace);
        let query = flyball_storage::Query::prefix(&place);
        // The present can always be read.
        let found = self.registry.store().range(&query);
        let items = found.map(|page| page.items).unwrap_or_default();
        items.iter().map(|item| read(resource, item)).collect()
    }

    /// A refusal. An object whose name is yet to be generated is told by the prefix of it.
    pub(crate) fn forbidden(&self, object: Option<&Object>, why: impl AsRef<str>) -> Failure {
        let told = [self.name]
            .into_iter()
            .chain(object.map(Meta::name))
            .chain(object.map(|object| object.meta_text("generateName")));
        let name = told.into_iter().find(|name| !name.is_empty());
        Failure::forbidden(self.resource, name.unwrap_or("Unknown"), why.as_ref())
    }
}

/// What plugins want beside an answer of yes or no.
#[derive(Default)]
pub(crate) struct Effects {
    /// What to tell whoever asked.
    pub(crate) warnings: Vec<String>,
    /// What is to be written together with the object: where, over which state, and what.
    pub(crate) writes: Vec<(String, Revision, Arc<Stored>)>,
}

impl Effects {
    /// Adds the writes to the one of the object, so that all of them happen or none.
    pub(crate) fn join(self, transaction: Transaction<Arc<Stored>>) -> Transaction<Arc<Stored>> {
        let writes = self.writes.into_iter();
        writes.fold(transaction, |joined, (place, seen, stored)| {
            joined
                .given(place.clone(), Expect::ModifiedAt(seen))
                .put(place, stored)
        })
    }
}
