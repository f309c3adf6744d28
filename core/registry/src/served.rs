//! What is served: the built-in kinds that this server can do everything with that it says of them,
//! and whatever joins them later.
//!
//! The schema knows more than that. What is left out here is not discovered and not found, so nobody is
//! promised what would fail: parts of objects that nothing answers for.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use flyball_schema::openapi::Offered;
use flyball_schema::{Resource, Schema, builtin};
use serde_json::Value;

use crate::custom::Custom;
use crate::deprecated;
use crate::object::Object;
use crate::stored::Stored;
use crate::versions;
use crate::{kinds, reviews};

/// The parts of objects that are answered for.
const PARTS: &[&str] = &[
    "approval",
    "binding",
    "ephemeralcontainers",
    "eviction",
    "finalize",
    "resize",
    "scale",
    "status",
    "token",
];

/// A resource that is served, with what its objects look like and what is particular about them.
#[derive(Debug)]
pub(crate) struct Kind {
    resource: Resource,
    /// What its definition says, if it has one.
    custom: Option<Arc<Custom>>,
    /// Whether its definition is on its way out, so that nothing new is made.
    terminating: bool,
}

impl Kind {
    fn built_in(resource: &Resource) -> Self {
        Self {
            resource: with_parts(resource),
            custom: None,
            terminating: false,
        }
    }

    /// A kind that a definition adds.
    pub(crate) fn custom(resource: Resource, custom: Arc<Custom>, terminating: bool) -> Self {
        Self {
            resource,
            custom: Some(custom),
            terminating,
        }
    }

    /// Something that is sent to a part of an object and has no place of its own.
    pub(crate) fn alone(resource: Resource) -> Self {
        Self {
            resource,
            custom: None,
            terminating: false,
        }
    }

    /// What is told whoever uses the kind at all.
    pub(crate) fn warnings(&self) -> Vec<String> {
        match &self.custom {
            Some(custom) => custom.warnings().to_vec(),
            None => {
                let told = deprecated::warning(&self.resource);
                told.map(str::to_owned).into_iter().collect()
            }
        }
    }

    /// An object of the kind in which nothing is set, without its head.
    pub(crate) fn blank(&self) -> Object {
        let mut blank = Object::new();
        // Custom objects hold nothing by value.
        if self.custom.is_none() {
            flyball_protobuf::settle(
                &self.resource.api_version(),
                &self.resource.kind,
                &mut blank,
            );
        }
        blank
    }

    /// Gives an object the form that it has in upstream's types, and says where it held something empty; custom
    /// objects have no such form.
    pub(crate) fn settle(&self, object: &mut Object) -> Vec<String> {
        match self.typed() {
            Some(kept) => flyball_protobuf::settle(&kept.api_version(), &kept.kind, object),
            None => Vec::new(),
        }
    }

    /// Gives an object the form that it has when it comes back from upstream's store.
    pub(crate) fn store(&self, object: &mut Object) {
        if let Some(kept) = self.typed() {
            flyball_protobuf::store(&kept.api_version(), &kept.kind, object);
        }
    }

    /// The resource as it is kept, if upstream has a type for it that objects take the form of.
    fn typed(&self) -> Option<&Resource> {
        // Mistakes in definitions are told of what was sent.
        let has_form = self.custom.is_none() && self.resource.group != "apiextensions.k8s.io";
        has_form.then(|| versions::kept(&self.resource).unwrap_or(&self.resource))
    }

    /// What its definition says, if it has one.
    pub(crate) fn of_definition(&self) -> Option<&Arc<Custom>> {
        self.custom.as_ref()
    }

    /// Whether its definition is on its way out, so that nothing new is made.
    pub(crate) fn is_terminating(&self) -> bool {
        self.terminating
    }

    /// The resource as discovery tells it.
    pub(crate) fn told(&self) -> Cow<'_, Resource> {
        if !self.terminating {
            return Cow::Borrowed(&self.resource);
        }
        let mut told = self.resource.clone();
        let verbs = told.verbs.iter().cloned();
        let left = verbs.filter(|verb| !matches!(verb.as_str(), "create" | "patch" | "update"));
        told.verbs = left.collect();
        Cow::Owned(told)
    }

    /// An object of this kind as it is stored.
    pub(crate) fn stored(&self, object: &Object) -> Arc<Stored> {
        match &self.custom {
            Some(custom) => custom.stored(object),
            None => match kinds::of(&self.resource).hide(object) {
                Some((told, hidden)) => Stored::hiding(&told, &hidden),
                None => Stored::new(object),
            },
        }
    }

    /// A stored object as this kind shows it, without `apiVersion` and `kind`.
    pub(crate) fn bare(&self, stored: &Stored) -> Bytes {
        match &self.custom {
            Some(custom) => custom.bare(stored),
            None => stored.bare().clone(),
        }
    }

    /// A stored object as this kind shows it, with `apiVersion` and `kind`.
    pub(crate) fn object(&self, stored: &Stored) -> Object {
        let Some(custom) = &self.custom else {
            return stored.object(&self.resource);
        };
        let mut object = custom.shown(stored);
        object.insert("apiVersion".to_owned(), self.resource.api_version().into());
        object.insert("kind".to_owned(), self.resource.kind.as_str().into());
        object
    }

    /// A custom kind as documents take it.
    pub(crate) fn offered(&self) -> Option<Offered<'_>> {
        let custom = self.custom.as_ref()?;
        Some(Offered {
            resource: &self.resource,
            types: custom.types(),
            selectable: custom.selectable(),
        })
    }

    /// The columns of a custom kind's tables.
    pub(crate) fn columns(&self) -> Option<&[Value]> {
        self.custom.as_ref().map(|custom| custom.columns())
    }

    /// What its objects look like.
    pub(crate) fn schema(&self) -> Schema<'_> {
        match &self.custom {
            Some(custom) => custom.schema(),
            None => builtin().types.schema(self.resource.of),
        }
    }

    /// What is particular about its objects.
    pub(crate) fn rules(&self) -> &dyn kinds::Rules {
        match &self.custom {
            Some(custom) => &**custom,
            None => kinds::of(&self.resource),
        }
    }
}

/// A kind is a resource first of all: most who hold one ask only for its names.
impl Deref for Kind {
    type Target = Resource;

    fn deref(&self) -> &Resource {
        &self.resource
    }
}

/// Everything that is served.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    /// In order of group, version and plural name.
    kinds: Vec<Arc<Kind>>,
}

impl Served {
    /// The built-in kinds alone.
    pub(crate) fn built_in() -> Self {
        static BUILT_IN: OnceLock<Vec<Arc<Kind>>> = OnceLock::new();
        let kinds = BUILT_IN.get_or_init(|| {
            let all = builtin().resources.iter().filter(|one| is_served(one));
            all.map(|one| Arc::new(Kind::built_in(one))).collect()
        });
        Self {
            kinds: kinds.clone(),
        }
    }

    /// All kinds, in order of group, version and plural name.
    pub(crate) fn kinds(&self) -> &[Arc<Kind>] {
        &self.kinds
    }

    /// Whether anything of this group is served.
    pub(crate) fn has_group(&self, group: &str) -> bool {
        self.kinds.iter().any(|kind| kind.group == group)
    }

    /// What changes when the schemas of a version of a group do: those that are built in change with the
    /// program only.
    pub(crate) fn schema_version(&self, group: &str, version: &str) -> String {
        let kinds = self.kinds.iter();
        let kinds = kinds.filter(|kind| kind.group == group && kind.version == version);
        let customs = kinds.filter_map(|kind| kind.of_definition());
        let numbers = customs.map(|custom| format!("-{:016x}", custom.digest()));
        let built_in = flyball_schema::digest();
        std::iter::once(format!("{}-{built_in:016X}", env!("CARGO_PKG_VERSION")))
            .chain(numbers)
            .collect()
    }

    /// Whether a version of a group may be asked for: of those that are built in, any.
    pub(crate) fn has_version(&self, group: &str, version: &str) -> bool {
        let mut kinds = self.kinds.iter().filter(|kind| kind.group == group);
        kinds.any(|kind| kind.custom.is_none() || kind.version == version)
    }

    /// Whether anything of this group is built in.
    pub(crate) fn has_built_in(&self, group: &str) -> bool {
        let mut kinds = self.kinds.iter();
        kinds.any(|kind| kind.custom.is_none() && kind.group == group)
    }

    /// The kind with this name in paths.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Kind>> {
        let order = |of: &Arc<Kind>| {
            let of = (of.group.as_str(), of.version.as_str(), of.plural.as_str());
            of.cmp(&(group, version, plural))
        };
        let at = self.kinds.binary_search_by(order).ok()?;
        self.kinds.get(at)
    }
}

impl Served {
    /// Serves these kinds for a definition, and no others.
    pub(crate) fn set_custom(&mut self, definition: &str, kinds: Vec<Arc<Kind>>) {
        let is_of = |kind: &Arc<Kind>| {
            let custom = kind.of_definition();
            custom.is_some_and(|custom| custom.is_named(definition))
        };
        self.kinds.retain(|kind| !is_of(kind));
        self.kinds.extend(kinds);
        self.kinds.sort_by(|one, other| {
            let order = |of: &Arc<Kind>| (of.group.clone(), of.version.clone(), of.plural.clone());
            order(one).cmp(&order(other))
        });
    }

    /// Whether a kind is served as it was when a watch of it began.
    pub(crate) fn has(&self, kind: &Kind) -> bool {
        let Some(custom) = kind.of_definition() else {
            return true;
        };
        let now = self.find(&kind.group, &kind.version, &kind.plural);
        let now = now.and_then(|now| now.of_definition());
        now.is_some_and(|now| now.is_of(custom))
    }
}

fn is_served(resource: &Resource) -> bool {
    let is_stored = resource.verbs.iter().any(|verb| verb == "get");
    is_stored || reviews::is_review(resource) || is_bindings(resource)
}

/// Whether it is the collection to which bindings are sent, of which nothing is kept.
pub(crate) fn is_bindings(resource: &Resource) -> bool {
    resource.plural == "bindings" && resource.group.is_empty()
}

fn with_parts(resource: &Resource) -> Resource {
    let parts = resource.subresources.iter();
    let answered = parts.filter(|part| PARTS.contains(&part.name.as_str()));
    Resource {
        subresources: answered.cloned().collect(),
        ..resource.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_answered_is_not_served() {
        let served = Served::built_in();
        let find = |group, version, plural| served.find(group, version, plural);
        assert!(find("", "v1", "pods").is_some());
        assert!(find("autoscaling", "v2", "horizontalpodautoscalers").is_some());
        assert!(find("autoscaling", "v1", "horizontalpodautoscalers").is_some());
        assert!(find("authorization.k8s.io", "v1", "selfsubjectaccessreviews").is_some());
        assert!(find("", "v1", "bindings").is_some());
        let pods = find("", "v1", "pods").unwrap();
        assert!(pods.subresource("status").is_some());
        assert!(pods.subresource("eviction").is_some());
        assert!(pods.subresource("exec").is_none());
    }
}
