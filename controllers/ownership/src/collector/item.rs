//! What the collector looks at: an object, or an owner that nobody has seen.

use std::fmt;

use flyball_api::{Kind, ObjectName, OwnerReference, Text, Uid};
use flyball_informer::Brief;
use flyball_plan::{Key, Target};

/// Something to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// One incarnation of an object.
    Object {
        /// Its kind, as it is cached.
        kind: Kind,
        /// Its namespace and name.
        name: ObjectName,
        /// Its identity.
        uid: Uid,
    },
    /// An owner that dependents name and no cache shows. Dependents may be wrong about it, so what
    /// they say is kept as they say it.
    Owner {
        /// Group and version.
        api_version: Text,
        /// The kind.
        kind: Text,
        /// The namespace of the dependents; where it is of no namespaced kind, it means nothing.
        namespace: Text,
        /// The name.
        name: Text,
        /// The identity.
        uid: Uid,
    },
}

impl Item {
    /// The object of this kind that a cache shows.
    pub(super) fn object(kind: Kind, seen: &Brief<'_>) -> Self {
        Self::Object {
            kind,
            name: seen.object_name(),
            uid: seen.uid.clone(),
        }
    }

    /// The owner that an object of this namespace names.
    pub(super) fn owner(reference: &OwnerReference, namespace: &str) -> Self {
        Self::Owner {
            api_version: reference.api_version.clone(),
            kind: reference.kind.clone(),
            namespace: namespace.into(),
            name: reference.name.clone(),
            uid: reference.uid.clone(),
        }
    }
}

/// Whether two references mean the same object: upstream's coordinates.
pub(super) fn same_coordinates(one: &OwnerReference, other: &OwnerReference) -> bool {
    one.uid == other.uid
        && one.name == other.name
        && one.kind == other.kind
        && one.api_version == other.api_version
}

/// The place of an owner that an object of this namespace names.
pub(super) fn place(kind: Kind, namespace: &str, name: &str) -> Target {
    let namespace = if kind.namespaced { namespace } else { "" };
    Target {
        kind,
        name: ObjectName::new(namespace, name),
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object { kind, name, uid } => {
                let (version, kind) = (kind.api_version(), kind.kind);
                let ObjectName { namespace, name } = name;
                write!(
                    f,
                    "[{version}/{kind}, namespace: {namespace}, name: {name}, uid: {uid}]"
                )
            }
            Self::Owner {
                api_version,
                kind,
                namespace,
                name,
                uid,
            } => write!(
                f,
                "unseen [{api_version}/{kind}, namespace: {namespace}, name: {name}, uid: {uid}]"
            ),
        }
    }
}

impl Key for Item {
    fn namespace(&self) -> &str {
        match self {
            Self::Object { name, .. } => &name.namespace,
            Self::Owner { namespace, .. } => namespace,
        }
    }
}
