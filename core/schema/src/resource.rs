//! Resources: what a server offers under which path, and what it does with it.

use flyball_api::Text;

use crate::TypeId;

/// A collection that a server offers.
#[derive(Clone, Debug)]
pub struct Resource {
    /// The API group; empty for the core group.
    pub group: Text,
    /// The version within the group.
    pub version: Text,
    /// The kind as written in objects, such as `ReplicaSet`.
    pub kind: Text,
    /// The kind of its lists, such as `ReplicaSetList`.
    pub list_kind: Text,
    /// The name in paths, such as `replicasets`.
    pub plural: Text,
    /// The name for one, such as `replicaset`.
    pub singular: Text,
    /// Other names that people type, such as `rs`.
    pub short_names: Box<[Text]>,
    /// The groups of resources it belongs to, such as `all`.
    pub categories: Box<[Text]>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// What can be done with it, in upstream's words and order: `create`, `delete`, …
    pub verbs: Box<[Text]>,
    /// Parts of its objects that have paths of their own.
    pub subresources: Box<[Subresource]>,
    /// What its objects look like.
    pub of: TypeId,
}

/// A part of an object that has a path of its own.
#[derive(Clone, Debug)]
pub struct Subresource {
    /// The name in paths, such as `status`.
    pub name: Text,
    /// The group of what is sent and answered there.
    pub group: Text,
    /// The version of what is sent and answered there.
    pub version: Text,
    /// The kind of what is sent and answered there, such as `Scale`.
    pub kind: Text,
    /// What can be done with it.
    pub verbs: Box<[Text]>,
}

impl Resource {
    /// `v1` or `apps/v1`, as written in objects.
    pub fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.to_string(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// The subresource of this name.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|part| part.name == name)
    }
}
