//! What an action is about, and what must still be true of it.

use std::fmt;

use flyball_api::{Kind, LeanMeta, ObjectName, Text, Uid};

/// The object that an action is about. A name that is empty stands for the collection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace and name.
    pub name: ObjectName,
}

impl Target {
    /// The target with this metadata.
    pub fn of(kind: Kind, meta: &LeanMeta) -> Self {
        let name = meta.object_name();
        Self { kind, name }
    }

    /// The namespace of this name.
    pub fn namespace(name: &str) -> Self {
        let kind = Kind::cluster("", "v1", "Namespace", "namespaces");
        let name = ObjectName::new("", name);
        Self { kind, name }
    }

    /// The ResourceQuota of this name.
    pub fn quota(namespace: &str, name: &str) -> Self {
        let kind = Kind::namespaced("", "v1", "ResourceQuota", "resourcequotas");
        let name = ObjectName::new(namespace, name);
        Self { kind, name }
    }

    /// All objects of a kind in a namespace, or in all of them if it is empty.
    pub fn collection(kind: Kind, namespace: &str) -> Self {
        let name = ObjectName::new(namespace, "");
        Self { kind, name }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.name.is_empty() {
            true => f.write_str(self.kind.plural),
            false => write!(f, "{} {}", self.kind.kind, self.name),
        }
    }
}

/// What must still be true of an object for a write to it to be right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Precondition {
    /// It is this incarnation.
    pub uid: Option<Uid>,
    /// It is in this state.
    pub resource_version: Option<Text>,
}

impl Precondition {
    /// The object must be this incarnation, in whatever state.
    pub fn incarnation(meta: &LeanMeta) -> Self {
        Self {
            uid: Some(meta.uid.clone()),
            resource_version: None,
        }
    }

    /// The object must be exactly as it was seen.
    pub fn unchanged(meta: &LeanMeta) -> Self {
        Self {
            uid: Some(meta.uid.clone()),
            resource_version: Some(meta.resource_version.clone()),
        }
    }

    /// Whether it names an incarnation: the server takes an empty value for none at all.
    pub fn has_uid(&self) -> bool {
        self.uid.as_ref().is_some_and(|uid| !uid.is_empty())
    }

    /// Whether it names a version.
    pub fn has_version(&self) -> bool {
        let version = self.resource_version.as_ref();
        version.is_some_and(|version| !version.is_empty())
    }
}
