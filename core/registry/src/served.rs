//! What is served: the built-in kinds that this server can do everything with that it says of them.
//!
//! The schema knows more than that. What is left out here is not discovered and not found, so nobody is
//! promised what would fail: kinds that are only answered and never stored (reviews), second versions
//! of a kind, which need conversion, and parts of objects that nothing answers for.

use std::sync::OnceLock;

use flyball_schema::{Resource, builtin};

/// Second versions of kinds that are stored in another one.
const SECOND_VERSIONS: &[(&str, &str)] = &[("autoscaling", "v1"), ("events.k8s.io", "v1")];

/// The parts of objects that are answered for.
const PARTS: &[&str] = &["binding", "finalize", "scale", "status"];

/// Everything that is served, in order of group, version and plural name.
pub(crate) fn all() -> &'static [Resource] {
    static ALL: OnceLock<Vec<Resource>> = OnceLock::new();
    ALL.get_or_init(|| {
        let built_in = builtin().resources.iter();
        built_in
            .filter(|one| is_served(one))
            .map(with_parts)
            .collect()
    })
}

/// The resource with this name in paths.
pub(crate) fn find(group: &str, version: &str, plural: &str) -> Option<&'static Resource> {
    let order = |of: &Resource| {
        let of = (of.group.as_str(), of.version.as_str(), of.plural.as_str());
        of.cmp(&(group, version, plural))
    };
    let at = all().binary_search_by(order).ok()?;
    all().get(at)
}

fn is_served(resource: &Resource) -> bool {
    let version = (resource.group.as_str(), resource.version.as_str());
    let is_stored = resource.verbs.iter().any(|verb| verb == "get");
    is_stored && !SECOND_VERSIONS.contains(&version)
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
        assert!(find("", "v1", "pods").is_some());
        assert!(find("autoscaling", "v2", "horizontalpodautoscalers").is_some());
        assert!(find("autoscaling", "v1", "horizontalpodautoscalers").is_none());
        assert!(find("authorization.k8s.io", "v1", "selfsubjectaccessreviews").is_none());
        let pods = find("", "v1", "pods").unwrap();
        assert!(pods.subresource("status").is_some());
        assert!(pods.subresource("eviction").is_none());
    }
}
