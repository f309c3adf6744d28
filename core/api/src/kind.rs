//! Kinds: what the API calls a type of object and where it lives under the server's root.

mod learnt;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A kind of object: group, version, kind, plural and scope.
///
/// `Copy` and cheap to compare; the strings of built-in kinds are constants.
#[derive(Clone, Copy)]
pub struct Kind {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The version within the group.
    pub version: &'static str,
    /// The kind as written in objects, such as `ReplicaSet`.
    pub kind: &'static str,
    /// The resource as written in paths, such as `replicasets`.
    pub plural: &'static str,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
}

impl Kind {
    /// A namespaced kind.
    pub const fn namespaced(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self {
            group,
            version,
            kind,
            plural,
            namespaced: true,
        }
    }

    /// A cluster-scoped kind.
    pub const fn cluster(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self {
            group,
            version,
            kind,
            plural,
            namespaced: false,
        }
    }

    /// A kind that is known only at run time; `None` if too many were learnt already.
    pub fn learnt(
        group: &str,
        version: &str,
        kind: &str,
        plural: &str,
        namespaced: bool,
    ) -> Option<Self> {
        Some(Self {
            group: learnt::learn(group)?,
            version: learnt::learn(version)?,
            kind: learnt::learn(kind)?,
            plural: learnt::learn(plural)?,
            namespaced,
        })
    }

    /// Whether both are the same resource, maybe in different versions.
    pub fn is_same_resource(&self, other: &Self) -> bool {
        self.group == other.group && self.plural == other.plural
    }

    /// `v1` or `apps/v1`, as written in objects.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// The path of the collection: of one namespace, or of all when `namespace` is empty.
    pub fn collection_path(&self, namespace: &str) -> String {
        let root = if self.group.is_empty() {
            "/api"
        } else {
            "/apis/"
        };
        let (group, version, plural) = (self.group, self.version, self.plural);
        if self.namespaced && !namespace.is_empty() {
            format!("{root}{group}/{version}/namespaces/{namespace}/{plural}")
        } else {
            format!("{root}{group}/{version}/{plural}")
        }
    }

    /// The path of one object.
    pub fn object_path(&self, namespace: &str, name: &str) -> String {
        format!("{}/{name}", self.collection_path(namespace))
    }
}

/// Kinds are compared far more often than anything else: a snapshot is searched by kind. The plural
/// comes first, because nearly all kinds differ in it.
impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.plural == other.plural
            && self.group == other.group
            && self.version == other.version
            && self.kind == other.kind
            && self.namespaced == other.namespaced
    }
}

impl Eq for Kind {}

/// In order of group, version, kind and plural.
impl Ord for Kind {
    fn cmp(&self, other: &Self) -> Ordering {
        in_order(self.group, other.group)
            .then_with(|| in_order(self.version, other.version))
            .then_with(|| in_order(self.kind, other.kind))
            .then_with(|| in_order(self.plural, other.plural))
            .then_with(|| self.namespaced.cmp(&other.namespaced))
    }
}

impl PartialOrd for Kind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Kind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.plural.hash(state);
        self.group.hash(state);
        self.version.hash(state);
    }
}

/// Compares two strings that are often one and the same constant, or differ in their first byte.
fn in_order(one: &'static str, other: &'static str) -> Ordering {
    if std::ptr::eq(one, other) {
        return Ordering::Equal;
    }
    let first = |text: &str| text.as_bytes().first().copied();
    first(one).cmp(&first(other)).then_with(|| one.cmp(other))
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            write!(f, "{}", self.plural)
        } else {
            write!(f, "{}.{}", self.plural, self.group)
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: Kind = Kind::namespaced("", "v1", "Pod", "pods");
    const NODE: Kind = Kind::cluster("", "v1", "Node", "nodes");
    const DEPLOYMENT: Kind = Kind::namespaced("apps", "v1", "Deployment", "deployments");

    #[test]
    fn paths_follow_group_and_scope() {
        assert_eq!(POD.collection_path(""), "/api/v1/pods");
        assert_eq!(POD.object_path("a", "b"), "/api/v1/namespaces/a/pods/b");
        assert_eq!(NODE.object_path("", "n"), "/api/v1/nodes/n");
        assert_eq!(
            DEPLOYMENT.object_path("a", "b"),
            "/apis/apps/v1/namespaces/a/deployments/b"
        );
    }

    #[test]
    fn a_kind_learnt_at_run_time_equals_the_constant() {
        let learnt = Kind::learnt("apps", "v1", "Deployment", "deployments", true).unwrap();
        assert_eq!(learnt, DEPLOYMENT);
        let older = Kind {
            version: "v1beta1",
            ..learnt
        };
        assert!(older != DEPLOYMENT && older.is_same_resource(&DEPLOYMENT));
    }

    #[test]
    fn api_version_leaves_the_core_group_out() {
        assert_eq!(POD.api_version(), "v1");
        assert_eq!(DEPLOYMENT.api_version(), "apps/v1");
    }
}
