//! What is served: the built-in kinds that this server can do everything with that it says of them,
//! and whatever joins them later.
//!
//! The schema knows more than that. What is left out here is not discovered and not found, so nobody is
//! promised what would fail: second versions of a kind, which need conversion, and parts of objects
//! that nothing answers for.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use flyball_schema::{Resource, Schema, builtin};

use crate::kinds;

use crate::reviews;

/// Second versions of kinds that are stored in another one.
const SECOND_VERSIONS: &[(&str, &str)] = &[("autoscaling", "v1"), ("events.k8s.io", "v1")];

/// The parts of objects that are answered for.
const PARTS: &[&str] = &["binding", "finalize", "scale", "status"];

/// A resource that is served, with what its objects look like and what is particular about them.
#[derive(Debug)]
pub(crate) struct Kind {
    resource: Resource,
}

impl Kind {
    fn built_in(resource: &Resource) -> Self {
        Self {
            resource: with_parts(resource),
        }
    }

    /// What its objects look like.
    pub(crate) fn schema(&self) -> Schema<'_> {
        builtin().types.schema(self.resource.of)
    }

    /// What is particular about its objects.
    pub(crate) fn rules(&self) -> &dyn kinds::Rules {
        kinds::of(&self.resource)
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

fn is_served(resource: &Resource) -> bool {
    let version = (resource.group.as_str(), resource.version.as_str());
    let is_stored = resource.verbs.iter().any(|verb| verb == "get");
    (is_stored || reviews::is_review(resource)) && !SECOND_VERSIONS.contains(&version)
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
        assert!(find("autoscaling", "v1", "horizontalpodautoscalers").is_none());
        assert!(find("authorization.k8s.io", "v1", "selfsubjectaccessreviews").is_some());
        assert!(find("", "v1", "bindings").is_none());
        let pods = find("", "v1", "pods").unwrap();
        assert!(pods.subresource("status").is_some());
        assert!(pods.subresource("eviction").is_none());
    }
}
