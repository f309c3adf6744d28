//! What a request wants, as far as authorization looks at it.

use crate::User;

/// A request: who wants to do what to what.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// Who asks.
    pub user: &'a User,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection` or a verb
    /// of its own; for a path, the HTTP method in lower case.
    pub verb: &'a str,
    /// What it is about.
    pub target: Target<'a>,
}

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// Objects.
    Resource(Resource<'a>),
    /// A path of the server that serves no objects, such as `/version`.
    Path(&'a str),
}

/// The objects that a request is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resource<'a> {
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The plural in the path, such as `pods`.
    pub resource: &'a str,
    /// The part of the object, such as `status`; empty if it is all of it.
    pub subresource: &'a str,
    /// The namespace; empty if the request is not about one. A request for a Namespace object has
    /// the name of that object here, too.
    pub namespace: &'a str,
    /// The object; empty if the request names none, as a list or a create does.
    pub name: &'a str,
}

impl Attributes<'_> {
    /// The namespace whose roles matter; empty if only the cluster's do.
    pub fn namespace(&self) -> &str {
        match &self.target {
            Target::Resource(resource) => resource.namespace,
            Target::Path(_) => "",
        }
    }
}
